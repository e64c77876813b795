"""Scores of predictions, and the linear models that rules are compared with."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi._checks import are_finite
from takagi._typing import FloatArray


def make_ridge() -> Pipeline:
    """Return ridge regression on standardized inputs, with its penalty chosen by leave-one-out."""
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15)))


def make_logistic() -> Pipeline:
    """Return logistic regression on standardized inputs."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def score_predictions(who: str, actual: FloatArray, predicted: FloatArray) -> dict[str, Any]:
    """Return RMSE and R2 (None if the target is constant) of predictions, also of very large numbers."""
    has_spread = len(actual) > 1 and np.ptp(actual) > 0
    peak = max(np.abs(actual).max(), np.abs(predicted).max()) or 1.0
    actual, predicted = actual / peak, predicted / peak
    return {
        "who": who,
        "rmse": float(peak * root_mean_squared_error(actual, predicted)),
        "r2": float(r2_score(actual, predicted)) if has_spread else None,
    }


def mark_missing(rows: FloatArray) -> FloatArray:
    """Return rows for models that cannot handle NaN: means instead of missing values, and columns that mark these.

    >>> mark_missing(np.array([[1.0, 2.0], [np.nan, 3.0], [5.0, 4.0]])).tolist()
    [[1.0, 2.0, 0.0], [3.0, 3.0, 1.0], [5.0, 4.0, 0.0]]
    """
    if are_finite(rows):
        return rows
    missing = np.isnan(rows)
    count = np.maximum((~missing).sum(axis=0), 1)
    mean = np.where(missing, 0.0, rows / count).sum(axis=0)
    return np.hstack([np.where(missing, mean, rows), missing[:, missing.any(axis=0)]])
