"""The curve: ever smaller models, and what each costs on rows that did not train it."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.estimators import TSKClassifier
from takagi.fitting import (
    AGREEMENT,
    Limits,
    Rows,
    Watch,
    can_be_reduced,
    fit_short_classes,
    make_plan,
    measure_columns,
    reduce_model,
    teach_short,
)
from takagi.inspection import measure_size
from takagi.rulemodel import RuleModel
from takagi.training import LOSSES, Loss

_MOST_ROWS = 5_000  # that measure an error
_PUPIL = Limits(7, 3, 4, AGREEMENT)  # of short rules that learn from a large model
_NO_ERROR = 1e-9  # in spreads of the target


@dataclass(frozen=True)
class Point:
    """A model on the way from large to small, and its cost."""

    step: int  # number of steps; 0 is the fitted model
    action: str  # what the step did
    n_rules: int
    n_conditions: int
    n_terms: int  # of the formulas, without constants
    max_conditions: int  # in a rule
    max_terms: int  # in a rule
    # RMSE on validation rows, of one target in its units, of several in units of their spreads; log loss of classes
    val_loss: float
    loss: float  # relative growth of the validation error over that of the fitted model
    train_loss: float  # the same on training rows
    model: RuleModel

    @property
    def n_words(self) -> int:
        """Rules, conditions and terms together."""
        return self.n_rules + self.n_conditions + self.n_terms


@dataclass(frozen=True)
class Gauge:
    """What costs are measured with: the fitted model and rows."""

    fitted: RuleModel
    training: Rows
    validation: Rows

    @property
    def measure(self) -> Loss:
        """The squared error, or the log loss of classes."""
        return LOSSES["squared" if self.fitted.link == "identity" else "log"]

    @cached_property
    def scale(self) -> FloatArray:
        """The spreads of the targets; 1 for classes."""
        spread = measure_columns(self.training.y, self.training.weight)[1]
        return spread if self.fitted.link == "identity" else np.ones_like(spread)

    @property
    def unit(self) -> float:
        """What errors in spreads are multiplied by: the spread of one target, 1 of several."""
        return float(self.scale[0]) if len(self.scale) == 1 else 1.0

    @cached_property
    def first(self) -> float:
        """The validation error of the fitted model."""
        return self.score(self.fitted, self.validation)

    def score(self, model: RuleModel, rows: Rows) -> float:
        """Return the RMSE, of one target in its units, of several in units of their spreads, or the log loss."""
        losses = self.measure.measure_rows(model.predict_raw(rows.X) / self.scale, rows.y / self.scale)
        return self.measure.report(float(losses.mean())) * self.unit

    def mark(self, step: int, action: str, model: RuleModel) -> Point:
        """Return a point of the curve."""
        error, no_error = self.score(model, self.validation), _NO_ERROR * self.unit
        return Point(
            step,
            action,
            *measure_size(model),
            val_loss=error,
            loss=max(error, no_error) / max(self.first, no_error) - 1,
            train_loss=self.score(model, self.training),
            model=model,
        )


def trace_curve(
    model: RuleModel,
    training: Rows,
    validation: Rows,
    limits: Limits,
    rng: np.random.Generator,
    tell: Callable[[Point], None],
) -> list[Point]:
    """Make a model smaller step by step, down to a single number, and return all models on the way.

    Ctrl-C ends it, and what there is by then is returned; it is raised as long as there is nothing smaller.
    """
    gauge = Gauge(model, _draw(training, rng), _draw(validation, rng))
    points = [gauge.mark(0, "as fitted", model)]
    tell(points[0])
    try:
        for action, smaller in _take_steps(model, training, limits, rng):
            smaller = smaller.rename(model.feature_names, model.output_names).hold_at(model.limits)
            points.append(gauge.mark(len(points), action, smaller))
            tell(points[-1])
    except KeyboardInterrupt:
        if len(points) == 1:  # there is nothing smaller to choose
            raise
        warn_user("Simplification was interrupted; the curve ends here.")
    return points


def _take_steps(
    model: RuleModel, training: Rows, limits: Limits, rng: np.random.Generator
) -> Iterator[tuple[str, RuleModel]]:
    """Yield actions and smaller models; one that is too large or too long, or has projections, teaches short rules."""
    size = measure_size(model)
    is_long = size.max_conditions > limits.max_conditions or size.max_terms > limits.max_terms
    noise = None
    if is_long or not can_be_reduced(model):
        pupil = Limits(
            min(_PUPIL.n_rules, limits.n_rules),
            max(1, min(_PUPIL.max_conditions, limits.max_conditions)),
            max(1, min(_PUPIL.max_terms, limits.max_terms)),
            AGREEMENT,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if model.link == "identity":
                model, noise = teach_short(model, training, pupil, rng)
            else:
                model = _teach_classes(model, training, pupil, rng)
    yield from reduce_model(model, training, limits, rng, noise)


def _teach_classes(model: RuleModel, training: Rows, limits: Limits, rng: np.random.Generator) -> RuleModel:
    """Return short rules for classes, whose teacher is the larger model."""
    n_rows, n_features = training.X.shape
    params = TSKClassifier(
        limits.n_rules, recipe="short", max_conditions=limits.max_conditions, max_terms=limits.max_terms
    ).get_params(deep=False)
    plan = make_plan(params, n_rows, n_features, "log")
    return fit_short_classes(training, model, plan, rng, Watch()).model


def _draw(rows: Rows, rng: np.random.Generator) -> Rows:
    n_rows = len(rows.X)
    return rows if n_rows <= _MOST_ROWS else rows.take(np.sort(rng.choice(n_rows, _MOST_ROWS, replace=False)))
