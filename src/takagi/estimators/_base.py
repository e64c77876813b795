"""Checks of the data that an estimator is fitted on."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from takagi._compat import check_sample_weight
from takagi._typing import FloatArray, Table
from takagi._validation import reject_bad_target, reject_missing, reject_text
from takagi.fitting._rows import Rows


def validate_training(
    estimator: BaseEstimator, X: Table, y: Table, sample_weight: Table, min_rows: int = 2, reset: bool = True
) -> tuple[Rows, bool]:
    """Return checked rows, and whether the target came as one column of its own; without `reset` columns must stay."""
    reject_text(X)
    if y is not None:
        reject_bad_target(y, "y")
    X, y = validate_data(
        estimator, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_all_finite=False,
        ensure_min_samples=min_rows, reset=reset,
    )  # fmt: skip
    reject_missing(X, "X", getattr(estimator, "feature_names_in_", None), type(estimator).__name__)
    targets = _as_columns(y)
    return Rows(X, targets, validate_weight(sample_weight, X)), y.ndim == 1


def validate_held_out(estimator: BaseEstimator, X_val: Table, y_val: Table, n_outputs: int) -> Rows:
    """Return checked validation rows; they must have the columns of the training rows."""
    if X_val is None or y_val is None:
        missing = "y_val" if y_val is None else "X_val"
        raise ValueError(f"X_val and y_val go together, but {missing} is missing.")
    reject_bad_target(y_val, "y_val")
    try:
        reject_text(X_val)
        X, y = validate_data(
            estimator, X_val, y_val, reset=False, dtype=np.float64, multi_output=True, y_numeric=True,
            ensure_all_finite=False,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(f"In X_val and y_val: {error}") from error
    reject_missing(X, "X_val", getattr(estimator, "feature_names_in_", None), type(estimator).__name__)
    targets = _as_columns(y)
    if targets.shape[1] != n_outputs:
        raise ValueError(f"y_val must have {n_outputs} target(s) as y has, got {targets.shape[1]}.")
    return Rows(X, targets, np.ones(len(X)))


def validate_weight(sample_weight: Table, X: FloatArray) -> FloatArray:
    """Return row weights, ones if there are none."""
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weight / weight.max() if weight.max() > 1e100 else weight  # so that their sum stays finite


def _as_columns(y: FloatArray) -> FloatArray:
    return np.asarray(y, dtype=np.float64).reshape(len(y), -1)


def read_target_names(y: Table) -> list[str] | None:
    """Return the name or names of the target, if it has any."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [str(name)] if name else None


def make_rng(random_state: Any) -> np.random.Generator:
    """Return a generator that is seeded by scikit-learn's kind of random state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**32, size=4, dtype=np.uint64))


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` stands for, one by default."""
    from joblib import effective_n_jobs

    return effective_n_jobs(n_jobs) if n_jobs is not None else 1
