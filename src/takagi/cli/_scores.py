"""How well a model does: errors on rows held out, beside simple rivals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from takagi._typing import FloatArray, IntArray
from takagi.cli._console import console, count, make_table, write_errors
from takagi.cli._training import Settings, train_model
from takagi.cli._training_table import TrainingTable
from takagi.report._fit import make_ridge, score


@dataclass(frozen=True)
class Score:
    """The error of one way to predict, on rows that it has not seen."""

    who: str
    rmse: float
    r2: float


def score_settings(data: TrainingTable, training: IntArray, test: IntArray, settings: Settings) -> list[Score]:
    """Train without the test rows, and print and return the errors on them beside those of simple rivals."""
    if not len(test):
        return []
    label = f"Training {settings.words} on {len(training):,} rows"
    return score_model(train_model(*data.take(training), settings, label), data, training, test)


def score_model(model: Pipeline, data: TrainingTable, training: IntArray, test: IntArray) -> list[Score]:
    """Print and return the errors of a model on the test rows, beside those of simple rivals; nothing without rows."""
    if not len(test):
        return []
    scores = _score_rivals(model, data.take(training), data.take(test))
    table = make_table(f"Test on {count(len(test), 'row')} held out", ">RMSE", ">R2")
    for one, error in zip(scores, write_errors([one.rmse for one in scores]), strict=True):
        table.add_row(one.who, error, f"{one.r2:.2f}" if one.r2 == one.r2 else "")
    console.print(table)
    return scores


def _score_rivals(model: Pipeline, training: tuple[Any, Any], test: tuple[Any, Any]) -> list[Score]:
    """Return the errors of a model, of ridge regression on the same encoding, and of the mean."""
    encode = model[0].transform
    target, actual = (np.asarray(y, dtype=float) for y in (training[1], test[1]))
    ridge = make_ridge().fit(encode(training[0]), target)
    return [
        _score(f"takagi, {describe_rules(model)}", actual, model.predict(test[0])),
        _score("ridge regression", actual, ridge.predict(encode(test[0]))),
        _score("always the mean", actual, np.full(len(actual), target.mean())),
    ]


def count_rules(model: Pipeline) -> int:
    """Return how many rules a regressor has, or all members of a committee together."""
    return sum(member.n_rules_ for member in getattr(model[-1], "estimators_", [model[-1]]))


def describe_rules(model: Pipeline) -> str:
    """Return how many rules a model has, in words."""
    rules, members = count(count_rules(model), "rule"), getattr(model[-1], "estimators_", [])
    return f"{rules} in {len(members)} members" if members else rules


def _score(who: str, actual: FloatArray, predicted: FloatArray) -> Score:
    found = score(who, actual, predicted)
    return Score(who, found["rmse"], np.nan if found["r2"] is None else found["r2"])
