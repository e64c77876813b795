"""A default fit where features are many: test RMSE over ridge regression's (alpha 0.05), rules and processor seconds.

Invented targets of 5 features among 200 and 2,000 (Friedman's first function and a linear one, noise of deviation 1),
and Tecator's 100 raw absorbances. ``TAKAGI_DATA`` names the folder of the datasets. A quick run takes one seed. The
option ``--part "never ridge"`` leaves that part of the recipe out, and so with the others of `ablation.py`.
"""

from _measure import parse_arguments, print_table  # first: it limits the threads

# isort: split
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ablation import PARTS, WHOLE
from takagi._typing import FloatArray, IntArray
from takagi.datasets import find_dataset
from takagi.datasets._parse import read_source
from takagi.datasets._registry import describe_dataset
from takagi.experiments import paper_algorithm
from takagi.experiments._run import draw_partition_of

SIZES = ((500, 200), (2_000, 200), (500, 2_000))
N_TEST = 1_000
N_ABSORBANCES = 100
SINGLE = [name for name, part in PARTS.items() if part.whole == WHOLE]


class Problem(NamedTuple):
    """Rows for training and test."""

    name: str
    X: FloatArray
    y: FloatArray
    train: IntArray
    test: IntArray


def invent(n_rows: int, n_features: int, is_linear: bool, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows + N_TEST, n_features))
    if is_linear:
        signal = X[:, :5] @ np.array([10.0, 8.0, 6.0, 4.0, 2.0])
    else:
        signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    y = signal + rng.normal(size=len(X))
    return Problem("linear" if is_linear else "Friedman 1", X, y, *np.split(np.arange(len(X)), [n_rows]))


def load_spectra(target: str, repeat: int) -> Problem:
    dataset = describe_dataset(f"Tecator-{target}")
    path = find_dataset(dataset.name)
    if path is None:
        raise SystemExit("Tecator is not here: takagi data fetch Tecator-fat")
    table = np.asarray(read_source(dataset.source, path.read_bytes()), dtype=float)
    y = table[:, list(dataset.source.columns).index(target)]
    partition = draw_partition_of(dataset.name, repeat, len(y), 0)
    rows = np.concatenate([partition.train, partition.val])
    return Problem(f"Tecator {target}, raw", table[:, :N_ABSORBANCES], y, rows, partition.test)


def list_problems(seed: int) -> Iterator[Problem]:
    yield from (load_spectra(target, seed + 1) for target in ("fat", "moisture", "protein"))
    for n_rows, n_features in SIZES:
        yield from (invent(n_rows, n_features, is_linear, seed) for is_linear in (False, True))


def measure(problem: Problem, seed: int, part: str = WHOLE) -> tuple[float, int, float]:
    """Return the error over ridge's, the number of rules and the seconds of the fit."""
    _, X, y, train, test = problem
    start = time.process_time()
    with warnings.catch_warnings(), PARTS[part].applied():
        warnings.simplefilter("ignore")
        model = PARTS[part].make_model(seed).fit(X[train], y[train])
    seconds = time.process_time() - start
    ridge = paper_algorithm("RR").fit(X[train], y[train])
    errors = [np.sqrt(np.mean((one.predict(X[test]) - y[test]) ** 2)) for one in (model, ridge)]
    return errors[0] / errors[1], model.model_.first.n_rules, seconds


def main() -> None:
    arguments = parse_arguments(__doc__, n_repeats=3, part={"default": WHOLE, "choices": SINGLE})
    n_seeds = 1 if arguments.quick else arguments.repeats
    measure(invent(100, 5, False, 0), 0)  # compiles
    rows = []
    for problems in zip(*(list_problems(seed) for seed in range(n_seeds)), strict=True):
        found = [measure(problem, seed, arguments.part) for seed, problem in enumerate(problems)]
        ratios = ", ".join(f"{ratio:.3f}" for ratio, _, _ in found)
        rules = "/".join(dict.fromkeys(str(n_rules) for _, n_rules, _ in found))
        seconds = np.mean([seconds for _, _, seconds in found])
        first = problems[0]
        rows.append([first.name, f"{len(first.train):,}", f"{first.X.shape[1]:,}", ratios, rules, f"{seconds:.1f}"])
    print_table(["problem", "rows", "features", "RMSE over ridge's, by seed", "rules", "s"], rows)


if __name__ == "__main__":
    main()
