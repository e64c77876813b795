"""Update of a model with new rows, and what changed."""

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from takagi._typing import FloatArray
from takagi.estimators import read_new_rows, update
from takagi.fitting import cross_validate, update_formulas
from takagi.rulemodel import RuleModel
from takagi.tables import DatasetError, RequestError
from takagi.training import LOSSES
from takagi.workflow._models import LabeledRows, LoadedModel

_FEWEST_ROWS = 5
_N_FOLDS = 5
_MOST_SEEN = 0.5  # fraction of known rows from which on the rows are not new


@dataclass(frozen=True)
class MovedRule:
    """The mean output of a rule over the new rows that it governs, before and after, for each output."""

    number: int
    share: float  # of the new rows
    before: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True)
class ModelUpdate:
    """An updated model, and what changed.

    Attributes
    ----------
    model : TSKRegressor, TSKClassifier or Pipeline
        The updated model.
    n_before, n_rows : int
        Number of rows it was fitted to, and number of new rows.
    measure : str
        Name of the error, "RMSE" or "log loss".
    before, after : float
        The error on the new rows of the old model, and of updates in cross-validation.
    rules : tuple of MovedRule
        The rules in their order.
    seen : float
        Which part of the new rows trained the model before; NaN if it does not know its rows.
    """

    model: Any
    n_before: int
    n_rows: int
    measure: str
    before: float
    after: float
    rules: tuple[MovedRule, ...]
    seen: float


def update_model(loaded: LoadedModel, rows: LabeledRows) -> ModelUpdate:
    """Let a model go on with rows that are new to it; the model that was loaded stays as it is."""
    seen = _check(loaded, rows)
    old, new = read_new_rows(loaded.model, rows.X, rows.y)
    assert old.profile is not None
    model = update(deepcopy(loaded.model), rows.X, rows.y)
    now = read_new_rows(model, rows.X[:1], rows.y[:1])[0]
    left = cross_validate(new, partial(update_formulas, old), np.random.default_rng(0), _N_FOLDS).y
    measure, loss = ("RMSE", LOSSES["squared"]) if old.link == "identity" else ("log loss", LOSSES["log"])
    before, after = (
        loss.report(loss.measure_rows(outputs, new.y).mean()) for outputs in (old.predict_raw(new.X), new.y - left)
    )
    moved = _list_moved(old, now, new.X)
    return ModelUpdate(model, old.profile.n_rows, len(new.X), measure, before, after, moved, seen)


def _check(loaded: LoadedModel, rows: LabeledRows) -> float:
    """Return which part of rows trained a model; raise an error where it cannot go on with them."""
    if hasattr(loaded.last, "estimators_"):
        raise RequestError(
            "a committee is fitted as a whole and cannot go on; fit one anew to the old and the new rows.", "committee"
        )
    if not hasattr(loaded.last, "model_") or loaded.opened.model.profile is None:
        raise RequestError("the file holds rules without what is known of their rows; fit a model to all rows.")
    if len(rows.y) < _FEWEST_ROWS:
        raise DatasetError(f"there are {len(rows.y)} new rows with a target; an update takes {_FEWEST_ROWS} at least.")
    seen = loaded.find_seen(rows)
    if seen > _MOST_SEEN:
        raise RequestError(
            f"{100 * seen:.0f} % of these rows trained the model already, and would count twice. Give the new rows "
            "alone, or fit a model to all rows anew."
        )
    return seen


def _list_moved(old: RuleModel, new: RuleModel, X: FloatArray) -> tuple[MovedRule, ...]:
    found = []
    for before, after in zip(old.parts, new.parts, strict=True):
        share = before.firing_share(X)
        weight = share / np.maximum(share.sum(axis=0), np.finfo(float).tiny)
        said, says = (np.einsum("nr,nro->ro", weight, part.rule_outputs(X)) for part in (before, after))
        for rule in range(before.n_rules):
            found.append((float(share[:, rule].mean()), tuple(said[rule].tolist()), tuple(says[rule].tolist())))
    return tuple(MovedRule(number, *one) for number, one in enumerate(found, start=1))
