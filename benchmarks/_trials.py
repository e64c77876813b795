"""A trial of `accuracy.py`: one method on one partition of one dataset, by the paper's protocol.

The partitions are those of the paper's experiments. Before its first trial in a process a method is fitted once to an
invented problem, so that imports and compilation are not timed.
"""

import pickle
import time
import warnings
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from _apart import limit_processor_seconds
from _methods import METHODS, Adapter
from _rows import Rows
from _suites import load_parts
from takagi._typing import FloatArray
from takagi.experiments._plan import derive_seed
from takagi.experiments._run import format_error

TIME_LIMIT = 120.0  # processor seconds of a fit
N_PREDICTIONS = 10_000
_LONGEST_NOTE = 120


@dataclass(frozen=True, order=True)
class Trial:
    """One method on one partition, repeats counted from 1."""

    dataset: str
    repeat: int
    method: str


@dataclass(frozen=True)
class Outcome:
    """What a trial gave.

    Attributes
    ----------
    run : Trial
    rmse_test : float
        That of the mean of the rows it was given, if the method failed.
    seconds : float
        Processor seconds of the fit.
    predict_seconds : float
        Processor seconds of 10,000 predictions in one call.
    n_bytes : int
        Length of the fitted model's pickle.
    note : str
        How the method failed, else empty.
    error : str
        Why there is no outcome, else empty; such a trial is tried again.
    """

    run: Trial
    rmse_test: float = np.nan
    seconds: float = field(default=np.nan, metadata={"digits": 4})
    predict_seconds: float = field(default=np.nan, metadata={"digits": 4})
    n_bytes: int = 0
    note: str = ""
    error: str = ""


def make_trials(methods: list[str], datasets: list[str], repeats: list[int]) -> list[Trial]:
    """Return the trials, all of the first partition before the second one."""
    return [Trial(dataset, repeat, method) for repeat in repeats for method in methods for dataset in datasets]


def run_trial(trial: Trial, base_seed: int = 0, data_home: str | None = None, limit: float = TIME_LIMIT) -> Outcome:
    """Fit and measure; a method that fails counts as the mean predictor."""
    warnings.simplefilter("ignore")
    try:
        rows, X_test, y_test = load_trial(trial, base_seed, data_home)
    except Exception as error:
        return Outcome(trial, error=format_error(error))
    try:
        with limit_processor_seconds(limit):
            warm_up(trial.method)
        seed = derive_seed(base_seed, "fit", trial.dataset, trial.repeat, trial.method) % 2**31
        with limit_processor_seconds(limit):
            model, seconds = time_call(partial(METHODS[trial.method].fit, rows, seed))
        return measure(trial, model, seconds, X_test, y_test)
    except Exception as error:
        return fail_trial(trial, f"raised {format_error(error)}", base_seed, data_home)


def fail_trial(trial: Trial, reason: str, base_seed: int = 0, data_home: str | None = None) -> Outcome:
    """Return the outcome of a method that failed: the error of the mean."""
    rows, _, y_test = load_trial(trial, base_seed, data_home)
    mean = rows.both[1].mean()
    return Outcome(trial, root_mean_square(mean - y_test), note=reason[:_LONGEST_NOTE])


def load_trial(trial: Trial, base_seed: int, data_home: str | None) -> tuple[Rows, FloatArray, FloatArray]:
    """Return the rows that a method gets, and the test part."""
    train, val, test = load_parts(trial.dataset, trial.repeat, base_seed, data_home)
    return Rows(*train, *val), *test


def measure(trial: Trial, model: Any, seconds: float, X_test: FloatArray, y_test: FloatArray) -> Outcome:
    """Return test error, time of predictions and size of a fitted model."""
    predicted = np.asarray(model.predict(X_test), dtype=float).reshape(len(y_test))
    if not np.isfinite(predicted).all():
        raise ValueError("its predictions are not finite")
    many = X_test[np.resize(np.arange(len(X_test)), N_PREDICTIONS)]
    predict_seconds = time_repeatedly(partial(model.predict, many))
    n_bytes = len(pickle.dumps(model, protocol=5))
    return Outcome(trial, root_mean_square(predicted - y_test), seconds, predict_seconds, n_bytes)


@cache
def warm_up(method: str) -> None:
    """Fit a method to an invented problem."""
    fit_invented(METHODS[method].fit)


def fit_invented(fit: Adapter) -> None:
    """Fit to an invented problem, for imports and what is compiled; a failure shows in the trial."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=80)
    try:
        fit(Rows(X[:60], y[:60], X[60:], y[60:]), 0).predict(X)
    except Exception:
        return


def time_call(call: partial) -> tuple[Any, float]:
    """Return what a call returns and its processor seconds."""
    start = time.process_time()
    value = call()
    return value, time.process_time() - start


def time_repeatedly(call: partial) -> float:
    """Return the processor seconds of a call: the mean of as many as take a tenth of a second; clocks are coarse."""
    seconds, n_calls = 0.0, 0
    while seconds < 0.1 and n_calls < 1000:
        seconds += time_call(call)[1]
        n_calls += 1
    return seconds / n_calls


def root_mean_square(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(errors**2)))
