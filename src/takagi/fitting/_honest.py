"""Honest errors: those on rows that took no part in the training of the rules that made them."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from takagi._typing import FloatArray
from takagi.calibration import measure_calibration
from takagi.fitting._rows import Rows
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel


class Honest(NamedTuple):
    """Rows, and by how much predictions missed their targets, which is target minus prediction."""

    X: FloatArray
    errors: FloatArray  # (n_rows, n_outputs)
    weight: FloatArray
    source: str  # see `Calibration`


def measure_honest(rules: RuleBase | RuleModel, rows: Rows, source: str, most: float = np.inf) -> Honest:
    """Return the errors of rules on rows of at most some weight; heavier ones train and judge at once."""
    rows = rows.take(np.flatnonzero(rows.weight <= most))
    return Honest(rows.X, rows.y - rules.predict_raw(rows.X), rows.weight, source)


def stack_honest(parts: list[Honest]) -> Honest:
    """Return errors one after the other."""
    X, errors, weight = (np.concatenate(values) for values in list(zip(*parts, strict=True))[:3])
    return Honest(X, errors, weight, parts[0].source)


def calibrate_model(model: RuleModel, honest: Honest | None) -> RuleModel:
    """Return a model that knows how far it is off, if there are honest errors; they must be finite."""
    if model.link != "identity" or honest is None or not len(honest.X) or not np.isfinite(honest.errors).all():
        return replace(model, calibration=None)
    share = model.firing_share(honest.X)
    return replace(model, calibration=measure_calibration(share, honest.errors, honest.weight, honest.source))


def cross_validate(rows: Rows, fit: Callable[[Rows], RuleModel], rng: np.random.Generator, n_folds: int) -> Honest:
    """Return errors on all rows, each by a fit to the rows outside its fold; equal rows should be one.

    What these fits warn of is not about the model at work, and is not shown.
    """
    errors = np.empty_like(rows.y)
    for fold in np.array_split(rng.permutation(len(rows.X)), n_folds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = fit(rows.take(np.setdiff1d(np.arange(len(rows.X)), fold)))
        errors[fold] = rows.y[fold] - model.predict_raw(rows.X[fold])
    return Honest(rows.X, errors, rows.weight, "folds")
