"""Fitted models that go on with new rows."""

from typing import Any

import numpy as np

from takagi._model import list_steps, open_model
from takagi._typing import Table
from takagi.fitting import Rows, calibrate_model, cross_validate, update_formulas
from takagi.rulemodel import RuleModel

_FEWEST_ROWS = 50  # for how far an updated model is off
_N_FOLDS = 5


def update(model: Any, X: Table, y: Table) -> Any:
    """Let a fitted model go on with new rows: its formulas move, its conditions and columns stay.

    The model need not be fitted anew, and the rows that it was fitted on need not be there. They count as much as they
    are many: 50 new rows move the formulas of a model of 500 rows by a tenth of the way. Where the new rows need other
    conditions, columns or levels of categories, a new fit to all rows is better. All recipes can be updated, short
    rules too; `partial_fit`, which trains conditions as well, is for streams of many rows.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier or Pipeline
        A fitted model; a pipeline ends in one.
    X : array or data frame of shape (n_rows, n_features)
        New rows, which the model was not fitted on.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Their targets, or labels of classes that the model knows.

    Returns
    -------
    TSKRegressor, TSKClassifier or Pipeline
        The model itself. Scores of the fit are dropped. If it knew how far it is off, it is found out again from 50 new
        rows or more.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor, update
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TSKRegressor(recipe="short", n_rules=2, random_state=0).fit(X[:300], y[:300])
    >>> before = model.predict(X[300:]).mean()
    >>> model = update(model, X[300:], y[300:] + 100)
    >>> bool(20 < model.predict(X[300:]).mean() - before < 60)  # a third of the rows say 100 more
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
    return model


def read_new_rows(model: Any, X: Table, y: Table) -> tuple[RuleModel, Rows]:
    """Return the rules of a model as its last step has them, and checked rows in their units."""
    opened = open_model(model)
    if opened.regressor is None:
        raise TypeError("model must be a fitted TSKRegressor or TSKClassifier, or a pipeline that ends in one.")
    target = opened.read_targets(y, len(opened.encode(X)))
    for step in list_steps(getattr(model, "best_estimator_", model))[:-1]:
        X = step.transform(X)
    rules = opened.regressor.model_
    return rules, Rows(rules.check_rows(X), target, np.ones(len(target)))


def _calibrate(rules: RuleModel, updated: RuleModel, rows: Rows) -> RuleModel:
    """Return updated rules with the errors of updates on rows left out, or with the old ones where rows are few."""
    if len(rows.X) < _FEWEST_ROWS:
        return RuleModel(updated.parts, rules.calibration)
    rng = np.random.default_rng(0)
    errors = cross_validate(rows, lambda part: update_formulas(rules, part), rng, _N_FOLDS)
    return calibrate_model(updated, errors, "folds")
