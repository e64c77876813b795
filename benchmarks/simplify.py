"""How few words models need: sizes, truth and errors before and after `simplify`, on rows that nothing else saw.

Each partition takes 70 % of the rows to fit, 15 % to simplify by (and to stop training, where the recipe does), 15 %
only to measure. Two models: ``TSKRegressor(n_rules=16, recipe="droprule")`` and ``TSKRegressor()``; the limits are the
default ones, at most 5 rules with 3 conditions and 4 terms each. Prints Markdown tables: means over the partitions, of
words geometric ones; seconds are those of one core for the whole curve.
"""

import _measure  # first: it limits the threads  # isort: skip

import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from takagi import TSKRegressor
from takagi.datasets import list_datasets, load_dataset
from takagi.inspection import check_rules, measure_size
from takagi.simplification import simplify

MAX_ROWS = 20_000
CASES: dict[str, dict[str, Any]] = {"16 rules": {"n_rules": 16, "recipe": "droprule"}, "the default": {}}
COLUMNS = ("rules", "conditions", "words", "strongest", "holds", "governs")


class Outcome(NamedTuple):
    """What one partition gave: sizes and truth before and after, the test loss and seconds."""

    before: list[float]
    after: list[float]
    test_loss: float
    seconds: float


def describe(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[list[float], float]:
    """Return what the columns say, and the test error."""
    size, truth = measure_size(model), check_rules(model, X, y).summary
    words = size.n_rules + size.n_conditions + size.n_terms
    told = [truth["strongest"] / truth["error"], truth["holds"], np.nan_to_num(truth["governs"])]
    return [size.n_rules, size.n_conditions, words, *told], truth["error"]


def simplify_partition(X: np.ndarray, y: np.ndarray, seed: int, case: str) -> Outcome:
    settings = CASES[case]
    order = np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]
    train, val, test = np.split(order, [round(0.7 * len(order)), round(0.85 * len(order))])
    model = TSKRegressor(**settings, random_state=0)
    held_out = {"X_val": X[val], "y_val": y[val]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[train], y[train], **(held_out if settings else {}))
        start = time.process_time()
        result = simplify(model, X[train], y[train], **held_out)
        seconds = time.process_time() - start
    before, first = describe(model, X[test], y[test])
    after, last = describe(result.model, X[test], y[test])
    return Outcome(before, after, last / first - 1, seconds)


def make_line(name: str, outcomes: list[Outcome]) -> str:
    cells = [name]
    for k, column in enumerate(COLUMNS):
        pairs = np.array([(outcome.before[k], outcome.after[k]) for outcome in outcomes])
        if column == "words":
            shown = [f"{value:.0f}" for value in np.exp(np.log(pairs).mean(axis=0))]
        elif column in ("holds", "governs"):
            shown = [f"{100 * value:.0f} %" for value in pairs.mean(axis=0)]
        else:
            shown = [f"{value:.2f}" if column == "strongest" else f"{value:.1f}" for value in pairs.mean(axis=0)]
        cells.append(" -> ".join(shown))
    cells.append(f"{100 * np.mean([outcome.test_loss for outcome in outcomes]):+.1f} %")
    cells.append(f"{np.mean([outcome.seconds for outcome in outcomes]):.1f}")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    arguments = _measure.parse_arguments(
        __doc__,
        n_repeats=1,
        partitions={"type": int, "default": 2, "help": "random partitions of each dataset"},
        datasets={"nargs": "*", "help": "names, all by default"},
    )
    names = arguments.datasets or (list_datasets()[:3] if arguments.quick else list_datasets())
    for case in CASES:
        print(f"\n{case}\n\n| dataset | {' | '.join(COLUMNS)} | test loss | seconds |", flush=True)
        print(f"|---|{'---:|' * (len(COLUMNS) + 2)}")
        everything = []
        for name in names:
            X, y = load_dataset(name, return_X_y=True)
            outcomes = [simplify_partition(X, y, seed, case) for seed in range(arguments.partitions)]
            print(make_line(name, outcomes), flush=True)
            everything += outcomes
        print(make_line("**mean**", everything))
        test = [100 * outcome.test_loss for outcome in everything]
        print(f"\nMedian test loss: {np.median(test):+.1f} %", flush=True)


if __name__ == "__main__":
    main()
