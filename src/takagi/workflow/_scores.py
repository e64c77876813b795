"""How well a model does: errors on rows held out, beside simple rivals."""

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline

from takagi._scoring import make_ridge, score_predictions
from takagi._text import count
from takagi._typing import FloatArray, IntArray
from takagi.workflow._events import Tell, ignore
from takagi.workflow._settings import ModelSettings
from takagi.workflow._table import TrainingTable
from takagi.workflow._training import train_model


@dataclass(frozen=True)
class Score:
    """The error of one way to predict, on rows that it has not seen."""

    who: str
    rmse: float
    r2: float


def score_settings(
    data: TrainingTable, training: IntArray, test: IntArray, settings: ModelSettings, tell: Tell = ignore
) -> list[Score]:
    """Train without the test rows, and return the errors on them beside those of simple rivals; none without rows."""
    if not len(test):
        return []
    return score_model(train_model(*data.take(training), settings, tell), data, training, test)


def score_model(model: Pipeline, data: TrainingTable, training: IntArray, test: IntArray) -> list[Score]:
    """Return the errors on the test rows of a model, of ridge regression on the same encoding, and of the mean."""
    if not len(test):
        return []
    (X, y), (X_test, y_test) = data.take(training), data.take(test)
    target, actual = np.asarray(y, dtype=float), np.asarray(y_test, dtype=float)
    ridge = make_ridge().fit(model[0].transform(X), target)
    return [
        _score(f"takagi, {describe_size(model)}", actual, model.predict(X_test)),
        _score("ridge regression", actual, ridge.predict(model[0].transform(X_test))),
        _score("always the mean", actual, np.full(len(actual), target.mean())),
    ]


def count_all_rules(model: Pipeline) -> int:
    """Return how many rules a regressor has, or all members of a committee together."""
    return sum(member.n_rules_ for member in getattr(model[-1], "estimators_", [model[-1]]))


def describe_size(model: Pipeline) -> str:
    """Return how many rules a model has, in words."""
    rules, members = count(count_all_rules(model), "rule"), getattr(model[-1], "estimators_", [])
    return f"{rules} in {len(members)} members" if members else rules


def _score(who: str, actual: FloatArray, predicted: FloatArray) -> Score:
    found = score_predictions(who, actual, predicted)
    return Score(who, found["rmse"], np.nan if found["r2"] is None else found["r2"])
