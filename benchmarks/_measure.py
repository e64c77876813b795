"""What the benchmarks share: one thread, times side by side, the dgemm rate, peak memory, fresh processes, tables.

Import this module before NumPy: it limits every thread pool to one thread when it is imported, and libraries read those
variables when they load. Times are processor seconds, which do not count what other processes take, unless threads are
what is measured. They are the smallest of many short repetitions, and the contestants take turns, so that a busy moment
of the machine hits all of them.
"""

import argparse
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

THREAD_VARIABLES = ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "NUMBA")
os.environ.update({f"{name}_NUM_THREADS": "1" for name in THREAD_VARIABLES})

DGEMM_SIZE = 256
_DGEMM_CALLS = 4  # per repetition, so that one of them takes some milliseconds

Contestants = dict[str, Callable[[], object]]
Clock = Callable[[], float]


def parse_arguments(description: str, n_repeats: int, **options: dict[str, Any]) -> argparse.Namespace:
    """Read ``--quick``, ``--repeats`` (by default `n_repeats`, or 3 of a quick run) and the script's own options."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short run, to see that all works")
    parser.add_argument("--repeats", type=int, help="repetitions of which the best one counts")
    for name, option in options.items():
        parser.add_argument(f"--{name}", **option)
    arguments = parser.parse_args()
    arguments.repeats = arguments.repeats or (3 if arguments.quick else n_repeats)
    return arguments


def time_once(run: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Return the seconds of one call."""
    start = clock()
    run()
    return clock() - start


def time_by_turns(contestants: Contestants, n_repeats: int, clock: Clock = time.process_time) -> dict[str, float]:
    """Run all contestants in turn, `n_repeats` times, and return the smallest seconds of each."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(n_repeats):
        for name, run in contestants.items():
            best[name] = min(best[name], time_once(run, clock))
    return best


def count_runs(name: str, run: Callable[[int], object], count: int) -> Contestants:
    """Return two contestants, ``run(count)`` and ``run(1)``, from whose times `slope` takes the cost of one more."""
    return {name: lambda: run(count), f"{name} once": lambda: run(1)}


def slope(seconds: dict[str, float], name: str, count: int) -> float:
    """Return the seconds of one of `count`, without what a run costs once."""
    return (seconds[name] - seconds[f"{name} once"]) / (count - 1)


def make_dgemm() -> Callable[[], None]:
    """Return a contestant that multiplies two square matrices of doubles a few times; see `dgemm_rate`."""
    import numpy as np

    matrix = np.random.default_rng(0).normal(size=(DGEMM_SIZE, DGEMM_SIZE))
    out = np.empty_like(matrix)

    def multiply() -> None:
        for _ in range(_DGEMM_CALLS):
            np.matmul(matrix, matrix, out=out)

    return multiply


def dgemm_rate(seconds: float) -> float:
    """Return GFLOP/s from the seconds of the contestant of `make_dgemm`."""
    return _DGEMM_CALLS * 2 * DGEMM_SIZE**3 / seconds / 1e9


def reset_peak_memory() -> None:
    """Let `peak_megabytes` start again from what is in use now; without effect where the system has no such thing."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def peak_megabytes() -> float:
    """Return the largest memory that this process has held (resident, MB)."""
    try:
        with open("/proc/self/status") as file:
            peak = next(line for line in file if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024 / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def call_in_fresh_process(function: Callable[..., Any], *arguments: object) -> Any:
    """Return ``function(*arguments)`` of a new Python process, so that its peak memory is its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print words, the first column to the left and the others to the right."""
    table = [list(columns), *([str(word) for word in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [_align(row, widths) for row in table]
    print("\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]), flush=True)


def _align(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        word.rjust(width) if at else word.ljust(width) for at, (word, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *others])


def judge(name: str, value: str, target: str, met: bool) -> None:
    """Print one line that says whether a target is met."""
    print(f"{'met   ' if met else 'MISSED'}  {name}: {value} (target {target})", flush=True)
