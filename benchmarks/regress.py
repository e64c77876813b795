"""Compare the speed of two commits side by side, and fail on a slowdown of over 10 %.

    python benchmarks/regress.py [BASE] [--repeats N] [--quick]

BASE is a commit, by default main; it is compared with the files as they are now. Both run the same tasks, each in a
process of its own, by turns, and the smallest CPU time of each counts. A task that seems slower is measured again, up
to three times, before it is called so.
"""

import _measure  # first: it limits the threads  # isort: skip

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from _regress_tasks import TASKS

ROOT = Path(__file__).parents[1]
LIMIT = 1.10
_ROUNDS = 3  # of measurements, for what seems slower


class Contestant:
    """A process that runs tasks with the sources of one folder."""

    def __init__(self, source: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(source)}
        command = [sys.executable, str(Path(__file__).with_name("_regress_tasks.py"))]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **pipes, text=True, env=environment)

    def run(self, task: str) -> float:
        """Return the CPU seconds of one run."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(task, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def extract(commit: str, folder: Path) -> Path:
    """Put the sources of a commit into a folder; return what goes into PYTHONPATH."""
    packed = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def compare(base: Contestant, own: Contestant, task: str, n_repeats: int) -> tuple[float, float]:
    """Return the smallest seconds of both; while ours seem too many, the measurement goes on."""
    seconds = float("inf"), float("inf")
    for _ in range(_ROUNDS):
        for _ in range(n_repeats):
            seconds = min(seconds[0], base.run(task)), min(seconds[1], own.run(task))
        if seconds[1] <= LIMIT * seconds[0]:
            break
    return seconds


def main() -> None:
    """Print the table and judge it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", default="main", help="a commit")
    parser.add_argument("--quick", action="store_true", help="a short run, to see that all works")
    parser.add_argument("--repeats", type=int, default=0, help="repetitions of which the best one counts")
    arguments = parser.parse_args()
    n_repeats = arguments.repeats or (3 if arguments.quick else 15)
    with tempfile.TemporaryDirectory() as folder:
        contestants = Contestant(extract(arguments.base, Path(folder))), Contestant(ROOT / "src")
        results = {task: compare(*contestants, task, n_repeats) for task in TASKS}
        for contestant in contestants:
            contestant.close()
    rows = [[task, f"{1e3 * a:.2f}", f"{1e3 * b:.2f}", f"{b / a:.2f}"] for task, (a, b) in results.items()]
    _measure.print_table(["task, CPU ms", arguments.base, "now", "ratio"], rows)
    slower = [task for task, (a, b) in results.items() if b > LIMIT * a]
    sys.exit(f"more than {LIMIT - 1:.0%} slower: {'; '.join(slower)}" if slower else 0)


if __name__ == "__main__":
    main()
