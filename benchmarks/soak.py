"""Fits, predictions, saves and kills for some minutes: memory, leaks and damage.

    python benchmarks/soak.py [--quick] [--minutes M]

One process fits models of several kinds, predicts, saves, loads and explains, again and again, and compares the loaded
model with the saved one to the bit. Beside it, `takagi predict` and `takagi fit` write over one file, and are killed
(SIGKILL) at random moments; the file must always be an old one or a new one, whole. Memory, open files and threads are
counted after the first rounds and at the end. At last a process fits with machine code on disk that was cut short or
emptied, as by a power cut.
"""

from _measure import parse_arguments, print_table  # first: it limits the threads

# isort: split
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import takagi
from takagi import TSKCommittee, TSKRegressor
from takagi.inspection import explain_local

COMMAND = (sys.executable, "-m", "takagi")
WARM_UP = 8  # rounds before memory is compared
LINES = 200_000  # of the table that is predicted: some seconds, in which to be killed
FIT = (
    "import numpy as np; from takagi import TSKRegressor; X = np.arange(60.0).reshape(20, 3);"
    "TSKRegressor(2, recipe='droprule', max_iter=5, random_state=0).fit(X, X[:, 0])"
)


def make_rows(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    return table.assign(y=np.sin(table["a"]) + table["b"] * table["c"] + 0.1 * rng.normal(size=n_rows))


def make_models(seed: int) -> list:
    """Return models of several kinds, to be fitted."""
    return [
        TSKRegressor(4, recipe="droprule", max_iter=200, random_state=seed),
        TSKRegressor(recipe="short", random_state=seed),
        TSKRegressor(max_iter=200, random_state=seed),
        TSKCommittee(3, estimator=TSKRegressor(3, max_iter=100), random_state=seed),
    ]


def measure_process() -> dict[str, float]:
    """Return memory in MB, open files and threads of this process."""
    status = Path("/proc/self/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0]) * 1024 / 1e6
    return {
        "memory, MB": round(resident, 1),
        "open files": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
    }


def run_round(seed: int, folder: Path) -> int:
    """Fit, predict, save, load and explain; return how many loaded models differ from the saved ones."""
    table, n_damaged = make_rows(300, seed), 0
    X, y = table[list("abcd")], table["y"]
    model = make_models(seed)[seed % 4].fit(X, y)
    takagi.save(model, folder / "round.takagi")
    loaded = takagi.load(folder / "round.takagi")
    n_damaged += loaded.predict(X).tobytes() != model.predict(X).tobytes()
    explain_local(loaded, X[:3])
    return n_damaged


class Victim:
    """A command that writes over one file and is killed at a random moment, again and again, in a thread."""

    def __init__(self, words: tuple[str, ...], output: Path, is_whole) -> None:
        self.words, self.output, self.is_whole = words, output, is_whole
        self.n_kills = self.n_finished = self.n_damaged = 0
        self.usual = 0.0  # seconds of the command

    def run(self, deadline: float, rng: random.Random) -> None:
        """Let the command finish once, and then kill it until the deadline."""
        start = time.monotonic()
        subprocess.run([*COMMAND, *self.words], check=True, capture_output=True)
        self.usual = time.monotonic() - start
        while time.monotonic() < deadline:
            process = subprocess.Popen([*COMMAND, *self.words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=self.usual * rng.uniform(0.3, 1.1))
                self.n_finished += 1
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                self.n_kills += 1
            self.n_damaged += not self.is_whole(self.output)
        subprocess.run([*COMMAND, *self.words], check=True, capture_output=True)


def is_whole_table(path: Path) -> bool:
    return path.read_bytes().count(b"\n") == LINES + 1


def is_whole_model(path: Path) -> bool:
    try:
        takagi.load(path)
    except ValueError:
        return False
    return True


def make_victims(folder: Path) -> list[Victim]:
    make_rows(LINES, 1).to_csv(folder / "long.csv", index=False)
    make_rows(300, 2).to_csv(folder / "short.csv", index=False)
    table, model = str(folder / "short.csv"), str(folder / "model.takagi")
    fit = ("fit", table, "-t", "y", "-o", model, "--droprule", "--no-score", "--rules", "3", "--force")
    subprocess.run([*COMMAND, *fit], check=True, capture_output=True)
    (folder / "used.takagi").write_bytes(Path(model).read_bytes())
    predict = (
        "predict",
        str(folder / "used.takagi"),
        str(folder / "long.csv"),
        "-o",
        str(folder / "out.csv"),
        "--force",
    )
    return [Victim(predict, folder / "out.csv", is_whole_table), Victim(fit, folder / "model.takagi", is_whole_model)]


def try_damaged_caches(folder: Path) -> list[list[str]]:
    """Return whether a process fits with machine code on disk that was cut short, or emptied."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    rows = []
    for what, keep in (("cut short", 0.5), ("emptied", 0.0)):
        subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, check=False)
        for path in filter(Path.is_file, (folder / "cache").rglob("*")):
            os.truncate(path, int(keep * path.stat().st_size))
        done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, check=False)
        rows.append([f"machine code {what}", "fits" if done.returncode == 0 else "FAILS"])
    return rows


def main() -> None:
    options = {"minutes": {"type": float, "default": 10.0, "help": "how long to run; by default 10"}}
    arguments = parse_arguments(__doc__, 1, **options)
    seconds = 30.0 if arguments.quick else 60 * arguments.minutes
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), random.Random(0)
        victims = make_victims(folder)
        deadline = time.monotonic() + seconds
        threads = [threading.Thread(target=victim.run, args=(deadline, rng)) for victim in victims]
        for thread in threads:
            thread.start()
        first, n_rounds, n_damaged = {}, 0, 0
        while time.monotonic() < deadline:
            n_damaged += run_round(n_rounds, folder)
            n_rounds += 1
            if n_rounds == WARM_UP:
                first = measure_process()
        for thread in threads:
            thread.join()
        last = measure_process()
        print(f"{seconds / 60:g} minutes, {n_rounds} rounds, {n_damaged} loaded models differ from the saved ones\n")
        print_table(
            ["", f"after {WARM_UP} rounds", "at the end"], [[key, first.get(key, ""), last[key]] for key in last]
        )
        print()
        columns = ["command", "seconds", "killed", "finished", "damaged files"]
        rows = [[v.words[0], f"{v.usual:.1f}", v.n_kills, v.n_finished, v.n_damaged] for v in victims]
        print_table(columns, rows)
        print(f"\n{len(list(folder.glob('.*.part')))} temporary files left after the last run of each\n")
        print_table(["disk", "next process"], try_damaged_caches(folder))


if __name__ == "__main__":
    main()
