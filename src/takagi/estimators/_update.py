"""Updates of fitted models with new rows."""

from typing import Any

import numpy as np

from takagi._model import list_steps, open_model
from takagi._typing import Table
from takagi.fitting import Rows, calibrate_model, cross_validate, update_formulas
from takagi.rulemodel import RuleModel

_FEWEST_ROWS = 50  # to measure the errors of an updated model
_N_FOLDS = 5


def update(model: Any, X: Table, y: Table) -> Any:
    """Update a fitted model with new rows: its formulas change, its conditions and columns stay.

    This needs neither a new fit nor the old rows. New rows count by their number: 50 new rows move the formulas of a
    model of 500 rows by a tenth of the way. If the new rows need other conditions, columns or category levels, a new
    fit to all rows is better. Models of all recipes can be updated, short rules included. `partial_fit`, which trains
    conditions as well, is for streams of many rows.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier or Pipeline
        A fitted model; a pipeline ends in one.
    X : array or data frame of shape (n_rows, n_features)
        New rows, which the model was not fitted on.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Their targets, or labels of known classes.

    Returns
    -------
    TSKRegressor, TSKClassifier or Pipeline
        The model itself. Scores of the fit are dropped. A calibration is computed again if there are 50 new rows or
        more.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from takagi import TSKRegressor, update
    >>> X, y = make_friedman1(450, n_features=5, random_state=0)
    >>> model = TSKRegressor(recipe="short", random_state=0).fit(X[:300], y[:300])
    >>> before = model.predict(X[300:]).mean()
    >>> model = update(model, X[300:], y[300:] + 10)
    >>> bool(2 < model.predict(X[300:]).mean() - before < 6)  # a third of the rows say 10 more
    True
    """
    estimator = list_steps(getattr(model, "best_estimator_", model))[-1]
    rules, rows = read_new_rows(model, X, y)
    updated = update_formulas(rules, rows)
    if rules.calibration is not None:
        updated = _calibrate(rules, updated, rows)
    estimator.model_ = updated
    for name in ("scores_", "stream_"):  # which are of another model
        estimator.__dict__.pop(name, None)
    if hasattr(estimator, "known_rows_"):
        estimator.known_rows_ = estimator.known_rows_.add(rows.X, rows.y)
    return model


def read_new_rows(model: Any, X: Table, y: Table) -> tuple[RuleModel, Rows]:
    """Return the rules of the last step of a model, and checked rows in the units of these rules."""
    opened = open_model(model)
    if opened.regressor is None:
        raise TypeError("model must be a fitted TSKRegressor or TSKClassifier, or a pipeline that ends in one.")
    target = opened.read_targets(y, len(opened.encode(X)))
    for step in list_steps(getattr(model, "best_estimator_", model))[:-1]:
        X = step.transform(X)
    rules = opened.regressor.model_
    return rules, Rows(rules.check_rows(X), target, np.ones(len(target)))


def _calibrate(rules: RuleModel, updated: RuleModel, rows: Rows) -> RuleModel:
    """Return updated rules with out-of-fold errors of updates, or with the old errors if there are few rows."""
    if len(rows.X) < _FEWEST_ROWS:
        return RuleModel(updated.parts, rules.calibration)
    rng = np.random.default_rng(0)
    errors = cross_validate(rows, lambda part: update_formulas(rules, part), rng, _N_FOLDS)
    return calibrate_model(updated, errors, "folds")
