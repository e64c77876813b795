"""Speed of training: microseconds per iteration and GFLOP/s beside the machine's own dgemm rate.

    python benchmarks/train.py [--quick] [--repeats N] [--sketch ../shared/sketch/kernel_sketch.py]

FCM-RDpA at the paper's settings (batch 64, DropRule 0.5, Powerball AdaBelief), one thread, with and without the
validation pass on 15 % of the rows, at most 2,000. An iteration counts 12 operations per row of the batch, rule and
feature (forward and backward) and 6 per validation row, rule and feature. Its time is the slope between one iteration
and many; the rest, copies of the data for the most part, is shown as set-up. With a kernel sketch, its training is
timed in the same run (it validates on one row) and compared with ours without validation.
"""

from _measure import (  # first: it limits the threads
    Contestants,
    count_runs,
    dgemm_rate,
    make_dgemm,
    parse_arguments,
    print_table,
    slope,
    time_by_turns,
    time_once,
)

# isort: split
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from _problem import BATCH_SIZE, KEEP_PROB, Problem, make_problem
from takagi import TrainConfig, train

SIZES = [(500, 8, 16), (2000, 10, 16), (2000, 10, 64), (5000, 100, 16), (50_000, 100, 64)]
FLOPS_PER_BATCH_ROW, FLOPS_PER_VALIDATION_ROW = 12, 6


def load_sketch(path: str) -> ModuleType:
    """Import a kernel sketch from its file."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_takagi(problem: Problem, n_iter: int, with_validation: bool) -> None:
    """Train takagi's rules."""
    validation = (problem.X_val, problem.y_val) if with_validation else (None, None)
    config = TrainConfig(batch_size=BATCH_SIZE, keep_prob=KEEP_PROB, max_iter=n_iter)
    train(problem.start, problem.X, problem.y, *validation, config, rng=np.random.default_rng(0))


def run_sketch(sketch: ModuleType, problem: Problem, n_iter: int) -> None:
    """Train the sketch's rules; it needs at least one validation row."""
    start = problem.start
    data = problem.X, problem.y, problem.X_val[:1], problem.y_val[:1]
    rules = start.centers.copy(), start.widths.copy(), start.consequents[:, 0].copy()
    sketch.train(*data, *rules, n_iter, BATCH_SIZE, 0.01, 0.05, KEEP_PROB, 1)


def make_contestants(problem: Problem, n_iter: int, sketch: ModuleType | None) -> Contestants:
    """Return a run of many iterations and one of a single iteration for each contestant, and the matrix product."""
    runs: dict[str, Callable[[int], None]] = {
        "plain": lambda count: run_takagi(problem, count, with_validation=False),
        "validated": lambda count: run_takagi(problem, count, with_validation=True),
    }
    if sketch is not None:
        runs["sketch"] = lambda count: run_sketch(sketch, problem, count)
    contestants: Contestants = {"dgemm": make_dgemm()}
    for name, run in runs.items():
        contestants |= count_runs(name, run, n_iter)
    return contestants


def describe(problem: Problem, seconds: dict[str, float], n_iter: int) -> list[list[str]]:
    """Return the table's lines of one size: without and with validation."""
    us = {name: slope(seconds, name, n_iter) * 1e6 for name in ("plain", "validated", "sketch") if name in seconds}
    lines = []
    for name, n_val in (("plain", 0), ("validated", len(problem.X_val))):
        work = FLOPS_PER_BATCH_ROW * min(BATCH_SIZE, len(problem.X)) + FLOPS_PER_VALIDATION_ROW * n_val
        gigaflops = work * problem.start.centers.size / us[name] / 1e3
        size = len(problem.X) + len(problem.X_val), *problem.start.centers.shape[::-1], n_val
        line = [*size, f"{us[name]:.1f}", f"{gigaflops:.1f}"]
        line += [f"{gigaflops / dgemm_rate(seconds['dgemm']):.0%}", f"{seconds[f'{name} once'] * 1e3:.1f}"]
        if "sketch" in us:
            compared = name == "plain"
            line += [f"{us['sketch']:.1f}", f"{us['sketch'] / us['plain']:.2f}"] if compared else ["", ""]
        lines.append(list(map(str, line)))
    return lines


def main() -> None:
    """Print the table."""
    arguments = parse_arguments(__doc__, 40, sketch={"metavar": "PATH", "help": "a kernel_sketch.py to compare with"})
    sketch = load_sketch(arguments.sketch) if arguments.sketch else None
    n_iter = 200
    first = make_problem(*SIZES[0])
    print(f"first call (loads from numba's cache or compiles): {time_once(lambda: run_takagi(first, 1, True)):.2f} s")
    if sketch is not None:
        print(f"first call of the sketch: {time_once(lambda: run_sketch(sketch, first, 1)):.2f} s")
    lines, rates = [], []
    for size in SIZES[:4] if arguments.quick else SIZES:
        problem = make_problem(*size)
        seconds = time_by_turns(make_contestants(problem, n_iter, sketch), arguments.repeats)
        lines += describe(problem, seconds, n_iter)
        rates.append(dgemm_rate(seconds["dgemm"]))
    print(f"dgemm 256 x 256 x 256: {min(rates):.1f} to {max(rates):.1f} GFLOP/s, measured with each size")
    print(f"batch {BATCH_SIZE}, {n_iter} iterations, one thread, best of {arguments.repeats} by turns\n")
    columns = ["rows", "features", "rules", "val. rows", "us/iter", "GFLOP/s", "of dgemm", "set-up ms"]
    print_table(columns + (["sketch us", "ratio"] if sketch else []), lines)


if __name__ == "__main__":
    main()
