"""A trial of `classification.py`: one method on one split of one dataset.

Before its first trial in a process a method is fitted once to an invented problem, so that imports and compilation are
not timed.
"""

import warnings
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, log_loss

from _apart import limit_processor_seconds
from _class_methods import METHODS
from _class_sets import Split, load_split
from _trials import Trial, time_call
from takagi._typing import FloatArray, IntArray
from takagi.experiments._plan import derive_seed
from takagi.experiments._run import format_error

TIME_LIMIT = 1200.0  # processor seconds of a fit
N_BINS = 15
_LONGEST_NOTE = 120


def _rounded() -> Any:
    return field(default=np.nan, metadata={"digits": 6})


@dataclass(frozen=True)
class ClassOutcome:
    """What a trial gave, on test rows; a method that failed counts as the class frequencies of the training rows.

    Attributes
    ----------
    run : Trial
    n_rows : int
        Rows of the dataset.
    accuracy, balanced_accuracy : float
        Part of the rows, and mean part of the rows of a class, whose most probable class is right.
    log_loss : float
        Mean of minus the log of the probability of the right class; zeros count as the smallest double above 1 minus 1.
    calibration_error : float
        Expected calibration error of the most probable class, see `measure_calibration`.
    chance_error : float
        What that error would be in the mean if the probabilities were exactly right.
    seconds : float
        Processor seconds of the fit.
    note, error : str
        How the method failed, and why there is no outcome, else empty.
    """

    run: Trial
    n_rows: int = 0
    accuracy: float = _rounded()
    balanced_accuracy: float = _rounded()
    log_loss: float = _rounded()
    calibration_error: float = _rounded()
    chance_error: float = _rounded()
    seconds: float = _rounded()
    note: str = ""
    error: str = ""


def run_class_trial(trial: Trial, limit: float = TIME_LIMIT, data_home: str | None = None) -> ClassOutcome:
    """Fit and measure."""
    warnings.simplefilter("ignore")
    try:
        split = load_split(trial.dataset, trial.repeat, data_home)
    except Exception as error:
        return ClassOutcome(trial, error=format_error(error))
    try:
        with limit_processor_seconds(limit):
            warm_up(trial.method)
        seed = derive_seed(0, "fit", trial.dataset, trial.repeat, trial.method) % 2**31
        with limit_processor_seconds(limit):
            model, seconds = time_call(partial(METHODS[trial.method].fit, split.X_train, split.y_train, seed))
        return make_outcome(trial, split, predict_classes(model, split), seconds=seconds)
    except Exception as error:
        return fail_class_trial(trial, f"raised {format_error(error)}", data_home)


def fail_class_trial(trial: Trial, reason: str, data_home: str | None = None) -> ClassOutcome:
    """Return the outcome of a method that failed: that of the class frequencies."""
    split = load_split(trial.dataset, trial.repeat, data_home)
    frequencies = np.bincount(split.y_train, minlength=split.n_classes) / len(split.y_train)
    return make_outcome(trial, split, np.tile(frequencies, (len(split.y_test), 1)), note=reason[:_LONGEST_NOTE])


def predict_classes(model: Any, split: Split) -> FloatArray:
    """Return probabilities of all classes; those of a class without training rows are zero."""
    found = np.asarray(model.predict_proba(split.X_test), dtype=float)
    if not np.isfinite(found).all():
        raise ValueError("its probabilities are not finite")
    probabilities = np.zeros((len(found), split.n_classes))
    probabilities[:, np.unique(split.y_train)] = found
    return probabilities


def make_outcome(trial: Trial, split: Split, probabilities: FloatArray, **fields: Any) -> ClassOutcome:
    """Return the measures of probabilities of the test rows."""
    y, chosen = split.y_test, probabilities.argmax(axis=1)
    return ClassOutcome(
        trial,
        n_rows=len(split.y_train) + len(y),
        accuracy=float(np.mean(chosen == y)),
        balanced_accuracy=float(balanced_accuracy_score(y, chosen)),
        log_loss=float(log_loss(y, probabilities, labels=np.arange(split.n_classes))),
        calibration_error=measure_calibration(probabilities, y),
        chance_error=expect_calibration(probabilities),
        **fields,
    )


def measure_calibration(probabilities: FloatArray, y: IntArray, n_bins: int = N_BINS) -> float:
    """Return the expected calibration error of the most probable class, with bins of equally many rows.

    Rows are sorted by that probability and cut into bins; the error is the mean over bins, weighted with their rows, of
    the distance between the mean probability and the part of the rows that are right (Guo et al., 2017; bins of equal
    mass as in Nixon et al., 2019).
    """
    confidence, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    bins = _cut(confidence, n_bins)
    return float(sum(abs(confidence[rows].sum() - is_right[rows].sum()) for rows in bins) / len(y))


def expect_calibration(probabilities: FloatArray, n_bins: int = N_BINS) -> float:
    """Return the mean of that error if the probabilities are exactly right: the number of right rows of a bin varies.

    Each bin has a normal deviate of the variance of the sum of its rows, whose distance from zero is sqrt(2 / pi)
    standard deviations in the mean.
    """
    confidence = probabilities.max(axis=1)
    variances = [(confidence[rows] * (1 - confidence[rows])).sum() for rows in _cut(confidence, n_bins)]
    return float(np.sqrt(2 / np.pi) * np.sqrt(variances).sum() / len(confidence))


def _cut(confidence: FloatArray, n_bins: int) -> list[IntArray]:
    """Return the rows of bins of equal mass."""
    return np.array_split(np.argsort(confidence, kind="stable"), min(n_bins, len(confidence)))


@cache
def warm_up(method: str) -> None:
    """Fit a method to an invented problem, for imports and what is compiled; a failure shows in the trial."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, (0.3, 1.5))
    try:
        METHODS[method].fit(X, y, 0).predict_proba(X)
    except Exception:
        return
