"""How few words the datasets at hand need: rules, conditions and words at 2 % and 5 % loss, and the loss on test rows.

Each partition takes 70 % of the rows to fit, 15 % to stop training and to simplify by, and 15 % that only the last
columns see. The model is ``TSKRegressor(n_rules=16, recipe="droprule", random_state=0)``. Prints a Markdown table;
figures are means over the partitions, of words geometric ones; seconds are those of one core for the whole curve.
"""

import _measure  # first: it limits the threads  # isort: skip

import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from takagi import TSKRegressor
from takagi.datasets import list_datasets, load_dataset
from takagi.simplification import simplify

LOSSES = (0.02, 0.05)
MAX_ROWS = 20_000


class Outcome(NamedTuple):
    """What one partition gave: rules, conditions and words as fitted and at each loss, test losses, seconds."""

    sizes: list[tuple[int, int, int]]
    test_losses: list[float]
    seconds: float


def simplify_partition(X, y, seed: int) -> Outcome:
    order = np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]
    train, val, test = np.split(order, [round(0.7 * len(order)), round(0.85 * len(order))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TSKRegressor(n_rules=16, recipe="droprule", random_state=0).fit(
            X[train], y[train], X_val=X[val], y_val=y[val]
        )
    start = time.process_time()
    first = simplify(model, X[train], y[train], X_val=X[val], y_val=y[val], max_loss=LOSSES[0])
    seconds = time.process_time() - start
    chosen = [first.at(max_loss=loss) for loss in LOSSES]

    def error(fitted) -> float:
        return float(np.sqrt(np.mean((fitted.predict(X[test]) - y[test]) ** 2)))

    points = [first.curve[0], *(result.point for result in chosen)]
    return Outcome(
        [(point.n_rules, point.n_conditions, point.n_words) for point in points],
        [error(result.model) / error(model) - 1 for result in chosen],
        seconds,
    )


def make_line(name: str, outcomes: list[Outcome]) -> str:
    cells = [name]
    for k in range(1 + len(LOSSES)):
        sizes = np.array([outcome.sizes[k] for outcome in outcomes], dtype=float)
        cells += [f"{sizes[:, 0].mean():.1f}", f"{sizes[:, 1].mean():.0f}", f"{np.exp(np.log(sizes[:, 2]).mean()):.0f}"]
        if k:
            cells.append(f"{100 * np.mean([outcome.test_losses[k - 1] for outcome in outcomes]):+.1f} %")
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
    at_loss = [
        f"{what} at {100 * loss:.0f} %" for loss in LOSSES for what in ("rules", "conditions", "words", "test loss")
    ]
    columns = ["dataset", "rules", "conditions", "words", *at_loss, "seconds"]
    print(f"| {' | '.join(columns)} |\n|---|{'---:|' * (len(columns) - 1)}", flush=True)
    everything = []
    for name in names:
        X, y = load_dataset(name, return_X_y=True)
        outcomes = [simplify_partition(X, y, seed) for seed in range(arguments.partitions)]
        print(make_line(name, outcomes), flush=True)
        everything += outcomes
    print(make_line("mean", everything))
    for k, loss in enumerate(LOSSES):
        test = [100 * outcome.test_losses[k] for outcome in everything]
        print(f"Median test loss at {100 * loss:.0f} %: {np.median(test):+.1f} %")


if __name__ == "__main__":
    main()
