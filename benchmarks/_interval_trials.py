"""A trial of `intervals.py`: one method on one partition of one table, 85 % of the rows to fit and 15 % to test."""

import os
import warnings
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from _apart import limit_processor_seconds
from _interval_methods import COVERAGE, Fitted, list_methods
from _trials import Trial, time_call
from takagi._typing import FloatArray
from takagi.datasets import list_datasets, load_dataset
from takagi.experiments._run import format_error

TIME_LIMIT = 600.0  # processor seconds of a fit
TEST_PART = 0.15
SUITE = "suite2"
_FEWEST_ROWS = 10  # of a rule whose coverage is looked at
_LONGEST_NOTE = 120


def _rounded() -> Any:
    return field(default=np.nan, metadata={"digits": 6})


@dataclass(frozen=True)
class IntervalOutcome:
    """What a trial gave.

    Attributes
    ----------
    run : Trial
    n_rows, n_test : int
        Rows of the table, and those that are tested.
    coverage : float
        The part of the test rows in their intervals.
    winkler : float
        Mean interval score: the width, and 2 / (1 - coverage) times the way from the interval to a row outside, in
        standard deviations of the target.
    width : float
        Mean width in the same units.
    even : float
        The score of intervals of one width for all rows that hold as many of the test rows, for takagi's models.
    gap, even_gap : float
        How far the coverage of the rows that one rule governs is from the wanted one, on average over these rows: of
        the intervals, and of those of one width.
    seconds : float
        Processor seconds of the fit.
    note, error : str
        How the method failed, and why there is no outcome, else empty.
    """

    run: Trial
    n_rows: int = 0
    n_test: int = 0
    coverage: float = _rounded()
    winkler: float = _rounded()
    width: float = _rounded()
    even: float = _rounded()
    gap: float = _rounded()
    even_gap: float = _rounded()
    seconds: float = _rounded()
    note: str = ""
    error: str = ""


# -- tables ------------------------------------------------------------------------------------------------------------


def list_tables() -> list[str]:
    """Return the paper's datasets, and the tables of the second suite that are here."""
    return [*list_datasets(), *(f"{SUITE}/{path.name.split('.')[0]}" for path in sorted(_find_suite().glob("*.csv*")))]


def _find_suite() -> Path:
    return Path(os.environ.get("TAKAGI_DATA", ".")) / SUITE


@cache
def load_table(name: str) -> tuple[FloatArray, FloatArray]:
    """Return features and target; categories become columns of 0 and 1, and missing numbers the mean."""
    if not name.startswith(SUITE):
        data = load_dataset(name)
        return np.asarray(data.data, dtype=float), np.asarray(data.target, dtype=float).reshape(-1)
    import pandas as pd

    path = next(_find_suite().glob(f"{name.split('/')[1]}.csv*"))
    frame = pd.read_csv(path)
    X = pd.get_dummies(frame.drop(columns="target"), dtype=float)
    return X.fillna(X.mean()).to_numpy(float), frame["target"].to_numpy(float)


def count_partitions(n_rows: int) -> int:
    """Return how many partitions a table has: two, and more of a small one, whose few test rows tell little."""
    return int(np.clip(round(600 / (TEST_PART * n_rows)), 2, 6))


# -- a trial -----------------------------------------------------------------------------------------------------------


def run_interval_trial(trial: Trial, limit: float = TIME_LIMIT) -> IntervalOutcome:
    """Fit and measure; a method that fails has a note and no score."""
    warnings.simplefilter("ignore")
    try:
        X, y = load_table(trial.dataset)
    except Exception as error:
        return IntervalOutcome(trial, error=format_error(error))
    order = np.random.default_rng(trial.repeat).permutation(len(y))
    train, test = np.split(order, [round((1 - TEST_PART) * len(y))])
    try:
        with limit_processor_seconds(limit):
            fit = list_methods()[trial.method].fit
            fitted, seconds = time_call(partial(fit, X[train], y[train], trial.repeat))
        measured = measure_intervals(fitted, X[test], y[test])
    except Exception as error:
        return IntervalOutcome(trial, len(y), len(test), note=f"raised {format_error(error)}"[:_LONGEST_NOTE])
    for name in ("winkler", "width", "even"):
        measured[name] /= y[train].std()
    return IntervalOutcome(trial, len(y), len(test), seconds=seconds, **measured)


def fail_interval_trial(trial: Trial, reason: str) -> IntervalOutcome:
    """Return the outcome of a method whose process ended."""
    n_rows = len(load_table(trial.dataset)[1])
    return IntervalOutcome(trial, n_rows, round(TEST_PART * n_rows), note=reason[:_LONGEST_NOTE])


def measure_intervals(fitted: Fitted, X: FloatArray, y: FloatArray) -> dict[str, float]:
    """Return coverage, scores and widths on test rows, and for rules how coverage varies between them."""
    limits = np.sort(np.asarray(fitted.limits(X), dtype=float).reshape(len(y), 2), axis=1)
    inside = (limits[:, 0] <= y) & (y <= limits[:, 1])
    measured = {
        "coverage": float(inside.mean()),
        "winkler": score_intervals(limits, y),
        "width": float(np.ptp(limits, axis=1).mean()),
        "even": np.nan,
        "gap": np.nan,
        "even_gap": np.nan,
    }
    if fitted.model is None:
        return measured
    predicted = fitted.model.predict(X)
    reach = float(np.quantile(np.abs(y - predicted), inside.mean()))
    even = np.column_stack([predicted - reach, predicted + reach])
    governs = fitted.model.firing_share(X).argmax(axis=1)
    is_even = (even[:, 0] <= y) & (y <= even[:, 1])
    measured |= {
        "even": score_intervals(even, y),
        "gap": measure_gap(inside, governs),
        "even_gap": measure_gap(is_even, governs),
    }
    return measured


def score_intervals(limits: FloatArray, y: FloatArray) -> float:
    """Return the mean interval score (Winkler, 1972; Gneiting and Raftery, 2007)."""
    low, high = limits.T
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return float(np.mean(high - low + 2 / (1 - COVERAGE) * outside))


def measure_gap(inside: np.ndarray, governs: np.ndarray) -> float:
    """Return the mean distance of the coverage of each rule from the wanted one, over rows of rules with enough."""
    rules, counts = np.unique(governs, return_counts=True)
    rules, counts = rules[counts >= _FEWEST_ROWS], counts[counts >= _FEWEST_ROWS]
    if not len(rules):
        return np.nan
    return float(np.average([abs(inside[governs == r].mean() - COVERAGE) for r in rules], weights=counts))
