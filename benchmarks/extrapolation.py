"""What holding values far beyond the data changes on test rows, relative to formulas that go on.

Three ways to split each dataset, each with one fit of ``TSKRegressor(max_iter=1000, n_teachers=0, random_state=0)`` and
at most 3,000 rows to train and to test on:

- random: 70 % of the rows train. The ratio of the RMSE of held values to that of values as they are.
- wrong units: the same test rows, but in 5 % of them one value, of a column with more than five different ones, is a
  thousand times too large. How many times larger the RMSE is than without, for both.
- sorted: the 70 % of the rows with the smallest values of the column that has the largest correlation with the target
  train, and the others test. The ratio as before, and the same for values held at the very ends of the training rows.

Prints a Markdown table, and geometric means over the datasets.
"""

import _measure  # first: it limits the threads  # isort: skip

import warnings
from typing import NamedTuple

import numpy as np

from takagi import RuleModel, TSKRegressor
from takagi.datasets import list_datasets, load_dataset

MOST_ROWS = 3_000
PLANTED = 0.05
FACTOR = 1_000.0
COLUMNS = (
    "dataset", "rows held, random", "held / linear", "wrong units, held", "wrong units, linear", "rows held, sorted",
    "held / linear", "held at the ends / linear",
)  # fmt: skip


class Outcome(NamedTuple):
    """What one dataset gave: numbers of held rows, and ratios of errors, in the order of the table."""

    n_random: int
    random: float
    planted_held: float
    planted_linear: float
    n_sorted: int
    sorted: float
    ends: float


def measure(X, y) -> Outcome:
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    training, test = (part[:MOST_ROWS] for part in np.split(order, [int(0.7 * len(y))]))
    held, linear = fit(X[training], y[training])
    rows, target = X[test], y[test]
    wrong = plant(rows, [m for m, column in enumerate(X[training].T) if len(np.unique(column)) > 5], rng)
    errors = [find_error(model, rows, target) for model in (held, linear)]
    planted = [find_error(model, wrong, target) for model in (held, linear)]

    some = order[: 2 * MOST_ROWS]
    lead = X[some, find_lead(X[some], y[some])]
    is_low = lead <= np.quantile(lead, 0.7)
    training, test = some[is_low], some[~is_low]
    low_held, low_linear = fit(X[training], y[training])
    ends = low_linear.hold_at(np.column_stack([X[training].min(axis=0), X[training].max(axis=0)]))
    beyond = [find_error(model, X[test], y[test]) for model in (low_held, low_linear, ends)]
    return Outcome(
        count_held(held, rows),
        errors[0] / errors[1],
        planted[0] / errors[0],
        planted[1] / errors[1],
        count_held(low_held, X[test]),
        beyond[0] / beyond[1],
        beyond[2] / beyond[1],
    )


def fit(X, y) -> tuple[RuleModel, RuleModel]:
    """Return fitted rules that hold, and the same ones that go on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = TSKRegressor(max_iter=1000, n_teachers=0, random_state=0).fit(X, y).model_
    return rules, rules.hold_at(None)


def plant(rows, columns: list[int], rng):
    """Return rows of which some have one value that is far too large; one row at least."""
    wrong = rows.copy()
    chosen = np.flatnonzero(rng.random(len(rows)) < PLANTED)
    for i in chosen if len(chosen) else [0]:
        wrong[i, rng.choice(columns)] *= FACTOR
    return wrong


def find_lead(X, y) -> int:
    """Return the column of more than ten values that has the largest correlation with the target."""
    many = [m for m, column in enumerate(X.T) if len(np.unique(column)) > 10]
    return max(many, key=lambda m: abs(np.corrcoef(X[:, m], y)[0, 1]))


def find_error(model: RuleModel, X, y) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def count_held(model: RuleModel, X) -> int:
    return int((model.hold_rows(X) != X).any(axis=1).sum())


def write_line(name: str, outcome: Outcome) -> str:
    cells = [f"{value}" if isinstance(value, int) else f"{value:,.3f}" for value in outcome]
    return f"| {' | '.join([name, *cells])} |"


def main() -> None:
    arguments = _measure.parse_arguments(__doc__, n_repeats=1, datasets={"nargs": "*", "help": "names, all by default"})
    names = arguments.datasets or (list_datasets()[:3] if arguments.quick else list_datasets())
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * (len(COLUMNS) - 1)}", flush=True)
    outcomes = []
    for name in names:
        outcomes.append(measure(*load_dataset(name, return_X_y=True)))
        print(write_line(name, outcomes[-1]), flush=True)
    table = np.array(outcomes, dtype=float)
    totals = [int(table[:, k].sum()) if k in (0, 4) else float(np.exp(np.log(table[:, k]).mean())) for k in range(7)]
    print(write_line("sum, or geometric mean", Outcome(*totals)))


if __name__ == "__main__":
    main()
