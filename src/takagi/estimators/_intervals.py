"""Prediction intervals of any model, pipelines included, and its calibration."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from takagi._model import list_steps
from takagi._typing import FloatArray, Table
from takagi._validation import TrainingData, validate_training
from takagi.fitting import Rows
from takagi.rulemodel import RuleModel

E = TypeVar("E", bound=BaseEstimator)


def predict_interval(model: Any, X: Table, coverage: float = 0.9) -> FloatArray:
    """Return prediction intervals of any model, including a pipeline, which has no such method.

    Parameters
    ----------
    model : TSKRegressor, TSKCommittee, Pipeline or RuleModel
        A fitted model, or a search over one.
    X : array or data frame of shape (n_rows, n_columns)
        Rows, as the model's `predict` takes them.
    coverage : float, default=0.9
        The fraction of new rows whose target lies in its interval, between 0 and 1.

    Returns
    -------
    ndarray of shape (n_rows, 2) or (n_rows, n_outputs, 2)
        Lower and upper limits; the latter shape for several targets. The coverage holds for each target separately.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from takagi import TSKRegressor, predict_interval
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), TSKRegressor(n_rules=2, max_iter=300, random_state=0)).fit(X, y)
    >>> predict_interval(model, X[:3], coverage=0.8).shape
    (3, 2)
    """
    if isinstance(model, RuleModel):
        return model.predict_interval(X, coverage)
    transform, regressor = _take_apart(model)
    return regressor.predict_interval(transform(X), coverage)


def calibrate(model: E, X: Table, y: Table, sample_weight: Table = None, *, cv: int | None = None) -> E:
    """Calibrate a model or the last step of a pipeline, in place, with its method `calibrate`.

    Parameters
    ----------
    model : TSKRegressor, TSKCommittee or Pipeline
        A fitted model.
    X, y, sample_weight : as in `TSKRegressor.calibrate`
        Held-out rows; with `cv`, the rows that the model was fitted on.
    cv : int, optional
        Folds of cross-validation; only for a `TSKRegressor`, since a committee has its own.

    Returns
    -------
    TSKRegressor, TSKCommittee or Pipeline
        The model itself.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from takagi import TSKRegressor, calibrate, predict_interval
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), TSKRegressor(n_rules=2, max_iter=300, random_state=0))
    >>> model = calibrate(model.fit(X[:300], y[:300]), X[300:], y[300:])
    >>> predict_interval(model, X[:3]).shape
    (3, 2)
    """
    transform, regressor = _take_apart(model)
    options = {} if cv is None else {"cv": cv}
    regressor.calibrate(transform(X), y, sample_weight, **options)
    return model


def _take_apart(model: Any) -> tuple[Callable[[Table], Any], Any]:
    """Return the transformers before the last step of a model, and that step."""
    model = getattr(model, "best_estimator_", model)
    steps = list_steps(model)
    if isinstance(model, type) or not steps or not hasattr(steps[-1], "predict_interval"):
        last = f" that ends in {type(steps[-1]).__name__}" if steps and steps[-1] is not model else ""
        raise TypeError(
            "model must be a fitted TSKRegressor, TSKCommittee or RuleModel, or a Pipeline that ends in one, got "
            f"{type(model).__name__}{last}."
        )

    def transform(X: Table) -> Any:
        for step in steps[:-1]:
            X = step.transform(X)
        return X

    return transform, steps[-1]


def read_rows(estimator: BaseEstimator, data: tuple[Table, Table, Table], n_outputs: int) -> Rows:
    """Return checked rows of positive weight for the calibration of a fitted estimator: X, y and weights."""
    checked: TrainingData = validate_training(estimator, *data, min_rows=1, reset=False)
    if checked.y.shape[1] != n_outputs:
        raise ValueError(f"y must have {n_outputs} target(s), like the model, got {checked.y.shape[1]}.")
    rows = Rows(*checked[:3])
    if not (rows.weight > 0).any():
        raise ValueError("At least one row must have a positive weight, got none.")
    return rows.take(np.flatnonzero(rows.weight > 0))
