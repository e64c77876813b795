"""Simplification: the same model in fewer words, and what that costs."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from takagi._checks import validate_rows
from takagi._messages import need_extra
from takagi._model import list_steps, open_model
from takagi._notebook import ShowsText
from takagi._text import count, format_number
from takagi._typing import FloatArray, Table
from takagi.estimators import with_one_blas_thread
from takagi.fitting import AGREEMENT, Limits, Rows, add_profile, draw_order
from takagi.inspection import check_rules
from takagi.profile import spread_rows
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.simplification._curve import Point, trace_curve

_NO_LIMIT = 10**9
_TRUTH_ROWS = 2_000  # that tell how true rules are
_TRUE_ENOUGH = 0.95  # for rules that were truer still
_SHORT = {"max_rules": 5, "max_conditions": 3, "max_terms": 4}  # where no limit is given
_VALIDATION_PART = 0.25


@with_one_blas_thread
def simplify(
    model: Any,
    X: Table,
    y: Table,
    *,
    max_loss: float | None = None,
    max_rules: int | None = None,
    max_conditions: int | None = None,
    max_terms: int | None = None,
    X_val: Table = None,
    y_val: Table = None,
    random_state: Any = 0,
    verbose: int = 0,
    callback: Callable[[Point], object] | None = None,
) -> "Simplification":
    """Make a model smaller, with fewer rules, conditions and terms, and measure what that costs.

    Step by step a rule, conditions or terms of formulas are dropped, whatever costs least per word (a rule, a condition
    or a term), and what is left is trained together, as estimators with the recipe "short" train: rules that
    disagree about the same rows cost something, sets stay within the data, and each condition gets an interval of
    values that its words mean. A model of many rules, or of longer ones than the limits allow, teaches short rules
    first, and these become smaller. From all models on the way, down to a single number, the limits choose:

    - `max_loss` alone: the fewest words within the loss;
    - `max_rules`, `max_conditions` or `max_terms` without it: the smallest validation error within the limits;
    - both kinds: the fewest words within all limits;
    - none: as ``max_rules=5, max_conditions=3, max_terms=4``, the limits of short rules.

    A model is passed over if its rules are less true than those of the fitted model: if, of the given rows, its
    conditions hold for a smaller part of those that a rule governs, or a rule governs a smaller part of those that
    satisfy its conditions (see `takagi.inspection.check_rules`). 95 % are enough for both.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model.
    X : array or data frame of shape (n_rows, n_columns)
        Data, best those of training; at most 4,000 rows of them train.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Their targets, or labels of classes.
    max_loss : float, optional
        Relative growth of the validation RMSE, or of the log loss of classes, that is allowed: 0.05 is 5 %.
    max_rules : int, optional
        Most rules.
    max_conditions, max_terms : int, optional
        Most conditions and most terms in a rule. They hold from the first step on.
    X_val, y_val : as X and y, optional
        Rows to measure the loss on, at most 5,000 of them; by default a random quarter of X, of classes a quarter of
        each. Best are rows that the model was not fitted on.
    random_state : int, RandomState instance or None, default=0
        Draws that quarter and other samples.
    verbose : int, default=0
        Whether to print each step.
    callback : callable, optional
        Called with each `Point` of the curve as soon as it is there. Ctrl-C keeps the points so far, with a warning;
        it is raised as long as there is only the fitted model.

    Returns
    -------
    Simplification

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.simplification import simplify
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> X = X[["bmi", "bp", "s5"]]
    >>> model = TSKRegressor(n_rules=4, max_iter=200, random_state=0).fit(X, y)
    >>> result = simplify(model, X, y, max_loss=0.05)
    >>> result.loss <= 0.05, result.n_words < result.curve[0].n_words
    (True, True)
    >>> result.at(max_rules=2).rule_base.n_rules <= 2
    True
    >>> simplify(model, X, y, max_rules=3, max_conditions=2, max_terms=3).point.max_terms <= 3
    True
    """
    sizes = {"max_rules": max_rules, "max_conditions": max_conditions, "max_terms": max_terms}
    _check_limits(max_loss, sizes)
    if max_loss is None and all(value is None for value in sizes.values()):
        sizes = dict(_SHORT)
    model = getattr(model, "best_estimator_", model)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**32, size=4, dtype=np.uint64))
    rows = _read_rows(model, X, y)
    training, validation = _split(rows, model, X_val, y_val, rng)
    n_rules, most_conditions, most_terms = (_NO_LIMIT if most is None else most for most in sizes.values())
    limits = Limits(n_rules, most_conditions, most_terms, AGREEMENT)

    def tell(point: Point) -> None:
        if verbose:
            _show(point)
        if callback is not None:
            callback(point)

    points = trace_curve(_find_rules(model), training, validation, limits, rng, tell)
    return Simplification(curve=tuple(points), step=0, model=model, rows=rows).at(max_loss=max_loss, **sizes)


@dataclass(frozen=True, eq=False, repr=False)
class Simplification(ShowsText):
    """A smaller model, and the curve that it was chosen from. Use `simplify`.

    Attributes
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A copy of the model with the smaller rules; an ordinary fitted model. Its parameters, `n_rules` among them, and
        its training history are still those that the original was fitted with.
    curve : tuple of Point
        All models on the way from large to small. A point has `step`, `action` (what was done), `n_rules`,
        `n_conditions`, `n_terms`, `max_conditions` and `max_terms` (in a rule), `n_words`, `val_loss`, `loss`,
        `train_loss` and `model`, the last a `RuleModel` as the final step of a pipeline sees it.
    step : int
        Which point of the curve was chosen.
    rule_base : RuleBase
        The smaller rules, in the user's units, where they are one rule base and not a sum.
    measure : {"RMSE", "log loss"}
        What the error of a model is; the log loss for classes.
    loss : float
        Relative growth of the validation error; negative if it fell.
    n_words : int
        Rules, conditions and terms of the smaller model.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.simplification import simplify
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> X = X[["bmi", "bp", "s5"]]
    >>> model = TSKRegressor(n_rules=4, max_iter=200, random_state=0).fit(X, y)
    >>> result = simplify(model, X, y, max_rules=2)
    >>> result.model.predict(X).shape, result.curve[-1].n_words
    ((442,), 1)
    >>> list(result.to_frame().columns[:4])
    ['step', 'action', 'n_rules', 'n_conditions']
    """

    curve: tuple[Point, ...]
    step: int
    model: Any
    rows: Rows

    @property
    def point(self) -> Point:
        """The chosen point of the curve."""
        return self.curve[self.step]

    @property
    def rule_base(self) -> RuleBase:
        """The smaller rules, in the user's units."""
        return open_model(self.model).rules

    @property
    def measure(self) -> str:
        """What the error of a model is: RMSE, or log loss of classes."""
        return "RMSE" if self.point.model.link == "identity" else "log loss"

    @property
    def loss(self) -> float:
        """Relative growth of the validation error."""
        return self.point.loss

    @property
    def n_words(self) -> int:
        """Rules, conditions and terms of the smaller model."""
        return self.point.n_words

    def at(
        self,
        *,
        max_loss: float | None = None,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        max_terms: int | None = None,
    ) -> "Simplification":
        """Choose by other limits from the same curve; see `simplify` for what they mean.

        Parameters
        ----------
        max_loss : float, optional
            Relative growth of the validation error that is allowed.
        max_rules, max_conditions, max_terms : int, optional
            Most rules, and most conditions and terms in a rule. Few conditions and terms in each rule are better given
            to `simplify`, whose steps then aim at them.

        Returns
        -------
        Simplification
        """
        sizes = {"max_rules": max_rules, "max_conditions": max_conditions, "max_terms": max_terms}
        _check_limits(max_loss, sizes)
        given = {name: value for name, value in sizes.items() if value is not None}
        if max_loss is None and not given:
            given = _SHORT
        ranked = _rank(self.curve, max_loss, given) or [self.curve[0]]  # none if it was interrupted
        step = next((point for point in ranked if self._is_as_true(point)), ranked[0]).step
        parts = (add_profile(part, self.rows, self.rows) for part in self.curve[step].model.parts)
        return replace(self, step=step, model=_replace_rules(self.model, RuleModel(tuple(parts))))

    def _is_as_true(self, point: Point) -> bool:
        """Return whether the rules of a point hold and govern as often as those of the fitted model."""
        sample = self.rows.take(spread_rows(len(self.rows.X), _TRUTH_ROWS))
        measured, fitted = (check_rules(p.model, sample.X, sample.y).summary for p in (point, self.curve[0]))
        return all(not measured[name] < min(fitted[name], _TRUE_ENOUGH) for name in ("holds", "governs"))

    def find_pareto(self) -> list[int]:
        """Return the Pareto-optimal steps: no other point has fewer words and a smaller validation error."""
        best, steps = np.inf, []
        for point in sorted(self.curve, key=lambda point: (point.n_words, point.val_loss, point.step)):
            if point.val_loss < best:
                best = point.val_loss
                steps.append(point.step)
        return sorted(steps)

    def to_frame(self) -> Any:
        """Return the curve as a data frame, with "is_pareto" for points that no other beats in both words and error."""
        pandas = need_extra("pandas", "report")
        names = [field.name for field in fields(Point) if field.name != "model"]
        names.insert(names.index("val_loss"), "n_words")
        table = pandas.DataFrame([[getattr(point, name) for name in names] for point in self.curve], columns=names)
        table["is_pareto"] = table["step"].isin(self.find_pareto())
        return table

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SimplificationDisplay
        """
        from takagi.inspection import SimplificationDisplay

        return SimplificationDisplay(self).plot(ax)

    def __str__(self) -> str:
        first, here = self.curve[0], self.point
        words = f"{first.n_words} -> {here.n_words}"
        error = f"{format_number(first.val_loss)} -> {format_number(here.val_loss)}"
        lines = [
            f"{_describe(first)} -> {_describe(here)} at {100 * self.loss:+.1f} % {self.measure}",
            f"Words (rules, conditions, terms): {words}; validation {self.measure}: {error}",
            "Other choices: .at(max_loss=0.05), .at(max_rules=3); curve: .to_frame(), .plot()",
        ]
        if not self.step:
            lines.insert(1, "No smaller model is within the limits with rules that hold and govern as often.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Simplification: {_describe(self.point)}, loss {self.loss:.3g}>"


# -- limits ------------------------------------------------------------------------------------------------------------


def _check_limits(max_loss: Any, sizes: dict[str, Any]) -> None:
    if max_loss is not None and not (isinstance(max_loss, Real) and float(max_loss) >= 0):
        raise ValueError(f"max_loss must be a number of at least 0, such as 0.05 for 5 %, got {max_loss!r}.")
    for name, value in sizes.items():
        least = 1 if name == "max_rules" else 0
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < least):
            raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def _rank(curve: tuple[Point, ...], max_loss: float | None, sizes: dict[str, int]) -> list[Point]:
    """Return the points within the limits, best first; none if the curve ended before it was within the sizes."""
    small = [point for point in curve if all(_measure(point, name) <= value for name, value in sizes.items())]
    if max_loss is None or not small:
        return sorted(small, key=lambda point: (point.val_loss, point.n_words))
    good = [point for point in small if point.loss <= max_loss]
    if not good:
        least = min(point.loss for point in small)
        limits = " and ".join(f"{name}={value}" for name, value in sizes.items())
        raise ValueError(
            f"max_loss={max_loss} is out of reach with {limits}: the smallest loss there is {least:.4g}. "
            "Raise one of the limits, or leave max_loss out."
        )
    return sorted(good, key=lambda point: (point.n_words, point.val_loss))


def _measure(point: Point, limit: str) -> int:
    return point.n_rules if limit == "max_rules" else int(getattr(point, limit))


# -- rows and models ---------------------------------------------------------------------------------------------------


def _read_rows(model: Any, X: Table, y: Table) -> Rows:
    """Return rows as the final step of a model sees them, and their targets."""
    opened, rows = open_model(model), _transform(model, X)
    return Rows(rows, opened.read_targets(y, len(rows)), np.ones(len(rows)))


def _transform(model: Any, X: Table) -> FloatArray:
    if isinstance(model, RuleBase | RuleModel):
        return model.check_rows(X)
    *first, last = list_steps(model)
    for step in first:
        X = step.transform(X)
    return validate_rows(last, X)


def _split(rows: Rows, model: Any, X_val: Table, y_val: Table, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return training and validation rows."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together, got one of them.")
    if X_val is not None:
        try:
            return rows, _read_rows(model, X_val, y_val)
        except ValueError as error:
            raise ValueError(f"In X_val and y_val: {error}") from error
    if len(rows.X) < 2:
        raise ValueError("X must have at least two rows, for training and for validation, got one; or give X_val.")
    order = draw_order(rows, rng, by_class=_find_rules(model).link != "identity")[0]
    n_validation = max(1, round(_VALIDATION_PART * len(order)))
    return rows.take(np.sort(order[n_validation:])), rows.take(np.sort(order[:n_validation]))


def _find_rules(model: Any) -> RuleModel:
    """Return the rules of a model in the units of its final step."""
    return RuleModel(model.parts) if isinstance(model, RuleBase | RuleModel) else open_model(model).regressor.model_


def _replace_rules(model: Any, rules: RuleModel) -> Any:
    """Return a copy of a model with other rules."""
    if isinstance(model, RuleBase | RuleModel):
        return rules.first if isinstance(model, RuleBase) and len(rules.parts) == 1 else rules
    copied = deepcopy(model)
    regressor = open_model(copied).regressor
    regressor.model_ = rules
    for name in ("scores_", "set_scores_"):  # which are of the rules before
        regressor.__dict__.pop(name, None)
    return copied


def _describe(point: Point) -> str:
    return f"{count(point.n_rules, 'rule')}, {count(point.n_conditions, 'condition')}"


def _show(point: Point) -> None:
    print(  # noqa: T201
        f"[takagi] step {point.step}, {point.action}: {_describe(point)}, {point.n_words} words, "
        f"loss {100 * point.loss:.1f} %"
    )
