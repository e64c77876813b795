"""A trial of `frontier.py`: one method on one partition of one dataset, 85 % of the rows to fit and 15 % to test.

Methods that stop early take 15 of the 85 % to do so. Before its first trial in a process a method is fitted once to an
invented problem, so that imports and compilation are not timed.
"""

import warnings
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from _apart import OUT_OF_TIME, limit_processor_seconds
from _readable_methods import METHODS
from _rows import Rows
from _trials import Trial, fit_invented, root_mean_square, time_call
from takagi._typing import FloatArray
from takagi.datasets import load_dataset
from takagi.experiments._run import format_error

TIME_LIMIT = 600.0  # processor seconds of a fit
TEST_PART = VALIDATION_PART = 0.15
RIDGE_ALPHA = 0.05
_LONGEST_NOTE = 120


def _rounded() -> Any:
    return field(default=np.nan, metadata={"digits": 5})


@dataclass(frozen=True)
class ReadableOutcome:
    """What a trial gave.

    Attributes
    ----------
    run : Trial
    ratio : float
        Test RMSE over that of ridge regression; that of the mean of the training rows, if the method failed. Not a
        number if it ran out of time: the set is then left out for this method.
    n_rules, n_conditions, n_terms, max_conditions, max_terms : float
        Size of the model and of its largest rules; see `Size`. Not a number for a model without rules.
    strongest : float
        Test RMSE if only the strongest rule of a row speaks, over that of ridge regression.
    holds, governs, outside, wild : float
        Whether rules are true one by one; see `Truth`.
    seconds : float
        Processor seconds of the fit.
    note : str
        How the method failed, else empty.
    error : str
        Why there is no outcome, else empty; such a trial is tried again.
    """

    run: Trial
    ratio: float = np.nan
    n_rules: float = _rounded()
    n_conditions: float = _rounded()
    n_terms: float = _rounded()
    max_conditions: float = _rounded()
    max_terms: float = _rounded()
    strongest: float = np.nan
    holds: float = _rounded()
    governs: float = _rounded()
    outside: float = _rounded()
    wild: float = _rounded()
    seconds: float = _rounded()
    note: str = ""
    error: str = ""


@dataclass(frozen=True)
class Parts:
    """The rows of a trial and the error that counts as 1."""

    rows: Rows
    X_test: FloatArray
    y_test: FloatArray
    ridge: float

    def compare(self, predicted: FloatArray) -> float:
        """Return the test RMSE of predictions over that of ridge regression."""
        return root_mean_square(predicted - self.y_test) / self.ridge


def split_rows(X: FloatArray, y: FloatArray, seed: int) -> Parts:
    """Return the partition of a seed."""
    order = np.random.default_rng(seed).permutation(len(y))
    n_fit = round((1 - TEST_PART) * len(y))
    train, val, test = np.split(order, [n_fit - round(VALIDATION_PART * len(y)), n_fit])
    rows = Rows(X[train], y[train], X[val], y[val])
    ridge = make_pipeline(StandardScaler(), Ridge(RIDGE_ALPHA)).fit(*rows.both)
    return Parts(rows, X[test], y[test], root_mean_square(ridge.predict(X[test]) - y[test]))


def load_parts(trial: Trial, data_home: str | None = None) -> Parts:
    """Return the partition of a trial."""
    data = load_dataset(trial.dataset, data_home=data_home)
    return split_rows(data.data, data.target, trial.repeat)


def run_readable(trial: Trial, data_home: str | None = None, limit: float = TIME_LIMIT) -> ReadableOutcome:
    """Fit and measure; a method that fails counts as the mean predictor."""
    warnings.simplefilter("ignore")
    try:
        parts = load_parts(trial, data_home)
    except Exception as error:
        return ReadableOutcome(trial, error=format_error(error))
    try:
        with limit_processor_seconds(limit):
            warm_up(trial.method)
        with limit_processor_seconds(limit):
            model, seconds = time_call(partial(METHODS[trial.method].fit, parts.rows, trial.repeat))
        return measure_readable(trial, parts, model, seconds)
    except Exception as error:
        return fail_readable(trial, f"raised {format_error(error)}", data_home)


def measure_readable(trial: Trial, parts: Parts, model: Any, seconds: float) -> ReadableOutcome:
    """Return the test error of a fitted model, its size and the truth of its rules."""
    predicted = np.asarray(model.predict(parts.X_test), dtype=float).reshape(len(parts.y_test))
    if not np.isfinite(predicted).all():
        raise ValueError("its predictions are not finite")
    size, truth = METHODS[trial.method].describe(model, parts.rows, parts.X_test, parts.y_test)
    measured = {name: float(value) for name, value in {**size._asdict(), **truth._asdict()}.items()}
    measured["strongest"] /= parts.ridge
    return ReadableOutcome(trial, parts.compare(predicted), seconds=seconds, **measured)


def fail_readable(trial: Trial, reason: str, data_home: str | None = None) -> ReadableOutcome:
    """Return the outcome of a method that failed: the error of the mean, or none if it ran out of time."""
    if reason == OUT_OF_TIME:
        return ReadableOutcome(trial, note=reason)
    parts = load_parts(trial, data_home)
    return ReadableOutcome(trial, parts.compare(parts.rows.both[1].mean()), note=reason[:_LONGEST_NOTE])


@cache
def warm_up(method: str) -> None:
    """Fit a method to an invented problem."""
    fit_invented(METHODS[method].fit)
