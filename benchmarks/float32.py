"""What kernels of single precision would gain, and what they would cost.

    python benchmarks/float32.py [--quick] [--repeats N]

1. The gain: the training of FCM-RDpA in plain NumPy in both precisions, and the matrix product.
2. The cost: the validation error of the same iterations in both, and predictions of trained rules in single precision
   beside those in double: in standard units, and in units in which a column lies far from zero, such as years.
"""

from _measure import (  # first: it limits the threads
    Contestants,
    parse_arguments,
    print_table,
    time_by_turns,
)

# isort: split
from typing import Any

import numpy as np

from _problem import BATCH_SIZE, KEEP_PROB, Problem, make_abalone, make_problem
from numpy_training import Recorded, expand, forward, train_numpy, view_rules

_PRECISIONS = {"double": np.float64, "single": np.float32}
_SIZE = 256
_SHIFTS = (0.0, 100.0, 1000.0)  # of all columns, in standard deviations


def record(problem: Problem, n_iter: int) -> Recorded:
    """Draw the batches and kept rules of all iterations."""
    rng, n_rows = np.random.default_rng(0), len(problem.X)
    batches = np.stack([rng.choice(n_rows, BATCH_SIZE, replace=False) for _ in range(n_iter)])
    return Recorded(batches, rng.random((n_iter, BATCH_SIZE, problem.start.n_rules)) < KEEP_PROB)


def make_contestants(problem: Problem, source: Recorded) -> Contestants:
    """Return the training and the matrix product in both precisions."""
    contestants: Contestants = {}
    for name, dtype in _PRECISIONS.items():
        matrix = np.random.default_rng(0).normal(size=(_SIZE, _SIZE)).astype(dtype)
        contestants[f"{name} product"] = lambda matrix=matrix: [matrix @ matrix for _ in range(8)]
        contestants[name] = lambda dtype=dtype: train_numpy(problem, source, len(source.batches), dtype)
    return contestants


def measure_losses(problem: Problem, source: Recorded) -> dict[str, float]:
    """Return the smallest validation RMSE of both precisions."""
    with np.errstate(all="ignore"):
        histories = {
            name: train_numpy(problem, source, len(source.batches), dtype)[1] for name, dtype in _PRECISIONS.items()
        }
    return {name: float(np.nanmin(history[:, 1])) for name, history in histories.items()}


def measure_drift(problem: Problem, source: Recorded, shift: float) -> float:
    """Return how far single predictions of rules are from double ones, at most, in parts of the target's deviation.

    All columns are moved by `shift` standard deviations, and the rules with them.
    """
    theta = train_numpy(problem, source, len(source.batches))[0]
    rules = view_rules(theta, *problem.start.centers.shape)
    bias = rules.weights[:, -1:] - shift * rules.weights[:, :-1].sum(axis=1, keepdims=True)
    moved = rules._replace(centers=rules.centers + shift, weights=np.hstack([rules.weights[:, :-1], bias]))
    said = {}
    for name, dtype in _PRECISIONS.items():
        parts = type(moved)(*(part.astype(dtype) for part in moved))
        said[name] = forward(parts, expand((problem.X_val + shift).astype(dtype)).T)[3]
    return float(np.abs(said["single"] - said["double"]).max() / problem.y_val.std())


def measure(n_repeats: int, n_iter: int) -> dict[str, Any]:
    """Return the gain and the cost."""
    abalone, data = make_abalone()
    problems = {data: abalone, "2,000 x 10, 64 rules": make_problem(2000, 10, 64)}
    found: dict[str, Any] = {"gain": {}, "loss": {}}
    for name, problem in problems.items():
        source = record(problem, n_iter)
        found["gain"][name] = time_by_turns(make_contestants(problem, source), n_repeats)
        found["loss"][name] = measure_losses(problem, source)
    source = record(abalone, n_iter)
    found["drift"] = {str(shift): measure_drift(abalone, source, shift) for shift in _SHIFTS}
    return found


def main() -> None:
    """Print the tables."""
    arguments = parse_arguments(__doc__, 10)
    found = measure(arguments.repeats, 200 if arguments.quick else 1000)
    lines = []
    for name, seconds in found["gain"].items():
        loss = found["loss"][name]
        gains = seconds["double"] / seconds["single"], seconds["double product"] / seconds["single product"]
        lines.append([name, *(f"{gain:.2f}" for gain in gains), f"{loss['double']:.6f}", f"{loss['single']:.6f}"])
    print_table(["training", "times faster", "matrix product", "RMSE, double", "RMSE, single"], lines)
    print()
    print_table(["columns moved by", "largest drift"], [[k, f"{v:.1e}"] for k, v in found["drift"].items()])


if __name__ == "__main__":
    main()
