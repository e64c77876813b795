"""Missing numbers: filled with the median, filled and marked by an indicator, or left to the rules.

    python benchmarks/missing.py [--sets Yacht,NO2] [--partitions 1,2] [--recipes short] [--workers N] [--store FILE]

Cells of the paper's datasets are made missing, in training and in test rows: at random, or large values three times as
often as small ones. `TSKRegressor` is fitted in three ways:

median     the median of the training rows takes the place of a missing value
indicator  the same, and an input for each column marks where its values were missing: `TableEncoder(missing="fill")`
native     values stay missing: they say nothing about conditions, and count as what is usual for a rule in its formula

Errors are divided by those of ridge regression on medians and indicators. ``TAKAGI_DATA`` names the datasets' folder.
Ctrl-C, and call again with the same ``--store`` to go on.
"""

from _measure import print_table  # first: it limits the threads

# isort: split
import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from _suites import PAPERS_SELECTION, load_parts
from accuracy import choose
from takagi import TableEncoder, TSKRegressor
from takagi._typing import BoolArray, FloatArray
from takagi.datasets import list_datasets
from takagi.experiments._plan import derive_seed

WAYS = {
    "median": [SimpleImputer(strategy="median")],
    "indicator": [TableEncoder(missing="fill")],
    "native": [],
}
RECIPES, MECHANISMS, RATES = ("accurate", "short"), ("at random", "large values"), (0.1, 0.3, 0.5)
MAX_ROWS = 1500  # of a part

Task = tuple[str, int, str, str, float]  # dataset, partition, recipe, mechanism, rate


def draw_missing(X: FloatArray, rate: float, mechanism: str, rng: np.random.Generator) -> BoolArray:
    """Return which cells are missing; of large values three times as many as of small ones, if so asked."""
    rates = np.full(X.shape, rate)
    if mechanism == "large values":
        rates = np.where(np.median(X, axis=0) < X, 1.5 * rate, 0.5 * rate)
    return rng.random(X.shape) < rates


def measure(way: object, parts: list[tuple[FloatArray, FloatArray]]) -> float:
    """Return the RMSE on the last part of a way that is fitted to the others."""
    X, y = (np.concatenate(values) for values in zip(*parts[:-1], strict=True))
    prediction = way.fit(X, y).predict(parts[-1][0])  # type: ignore[attr-defined]
    return float(np.sqrt(np.square(prediction - parts[-1][1]).mean()))


def run(task: Task) -> dict[str, float]:
    """Return the errors of the ways on a partition, divided by those of ridge regression."""
    dataset, repeat, recipe, mechanism, rate = task
    rng = np.random.default_rng(derive_seed(0, dataset, repeat))
    parts = [(X[:MAX_ROWS], y[:MAX_ROWS]) for X, y in load_parts(dataset, repeat, 0)]
    parts = [(np.where(draw_missing(X, rate, mechanism, rng), np.nan, X), y) for X, y in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        line = make_pipeline(TableEncoder(missing="fill"), StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))
        divisor = measure(line, parts)
        rules = TSKRegressor(recipe=recipe, random_state=0)
        return {name: measure(make_pipeline(*steps, rules), parts) / divisor for name, steps in WAYS.items()}


def run_all(tasks: list[Task], store: Path | None, n_workers: int) -> dict[Task, dict[str, float]]:
    """Return the errors of all tasks; those that are in the store are not run again."""
    lines = store.read_text().splitlines() if store is not None and store.exists() else []
    known = {tuple(task): errors for task, errors in map(json.loads, lines)}
    left = [task for task in tasks if task not in known]
    with ProcessPoolExecutor(n_workers) as pool:
        for task, errors in zip(left, pool.map(run, left), strict=True):
            known[task] = errors
            if store is not None:
                with store.open("a") as file:
                    file.write(json.dumps([task, errors]) + "\n")
    return {task: known[task] for task in tasks}


def main() -> None:
    """Print one row for each recipe, mechanism and rate, on the selection half and on the other sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="only these, with commas between")
    parser.add_argument("--recipes", help="only these, with commas between")
    parser.add_argument("--partitions", default="1", help="with commas between")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--store", type=Path, help="keeps what has been run")
    arguments = parser.parse_args()
    datasets = choose(arguments.sets, list_datasets(), "dataset")
    recipes = choose(arguments.recipes, list(RECIPES), "recipe")
    repeats = [int(word) for word in arguments.partitions.split(",")]
    tasks = [
        (dataset, repeat, recipe, mechanism, rate)
        for repeat, rate, mechanism, recipe, dataset in product(repeats, RATES, MECHANISMS, recipes, datasets)
    ]
    outcomes = run_all(tasks, arguments.store, arguments.workers)
    lines = []
    for recipe, half, mechanism, rate in product(recipes, ("selection half", "other sets"), MECHANISMS, RATES):
        chosen = [
            errors
            for (dataset, _, *how), errors in outcomes.items()
            if how == [recipe, mechanism, rate] and (dataset in PAPERS_SELECTION) == (half == "selection half")
        ]
        if chosen:
            table = np.array([[errors[way] for way in WAYS] for errors in chosen])
            wins = int((table[:, 2] < table[:, 1]).sum())
            means = [f"{mean:.3f}" for mean in table.mean(axis=0)]
            lines.append([recipe, half, mechanism, f"{rate:.0%}", *means, f"{wins} of {len(table)}"])
    print_table(["recipe", "sets", "missing", "cells", *WAYS, "native better than indicator"], lines)


if __name__ == "__main__":
    main()
