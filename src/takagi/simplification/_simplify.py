"""Simplification: the same model in fewer words, and what that costs."""

from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from takagi._messages import need_extra
from takagi._model import list_steps, open_model
from takagi._text import count, format_number
from takagi._typing import FloatArray, Table
from takagi._validation import check_targets, validate_rows
from takagi._wording import name_features
from takagi.fitting import Rows
from takagi.profile import measure_profile, sort_rules
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.simplification._tradeoff import Point, trace_tradeoff

_DEFAULT_LOSS = 0.02
_VALIDATION_PART = 0.25


def simplify(
    model: Any,
    X: Table,
    y: Table,
    *,
    max_loss: float | None = None,
    max_rules: int | None = None,
    max_conditions: int | None = None,
    X_val: Table = None,
    y_val: Table = None,
    random_state: Any = 0,
    verbose: int = 0,
) -> "Simplification":
    """Make a model smaller, with fewer rules, conditions and terms, and measure what that costs.

    Step by step, rules are dropped or merged, conditions and terms of the formulas are dropped, and neighboring sets of
    a feature are merged into one that rules share; what is left is re-estimated. Each step takes what costs least per
    word; words are conditions, terms (biases among them) and distinct sets. From all models on
    the way, down to a single number, the limits choose:

    - `max_loss` alone: the fewest words within the loss;
    - `max_rules` or `max_conditions` without it: the smallest validation error within the limits;
    - both kinds: the fewest words within all limits;
    - none: as ``max_loss=0.02``.

    Parameters
    ----------
    model : TSKRegressor, Pipeline, RuleBase or RuleModel
        A fitted model of one part.
    X : array or data frame of shape (n_rows, n_columns)
        Data, best those of training; at most 2,000 rows of them re-estimate.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Their targets.
    max_loss : float, optional
        Relative growth of the validation RMSE that is allowed: 0.05 is 5 %.
    max_rules, max_conditions : int, optional
        Most rules, and most conditions of all rules together.
    X_val, y_val : as X and y, optional
        Rows to measure the loss on, at most 5,000 of them; by default a random quarter of X. Best are rows that the
        model was not fitted on.
    random_state : int, RandomState instance or None, default=0
        Draws that quarter and other samples.
    verbose : int, default=0
        Whether to print each step.

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
    """
    _check_limits(max_loss, max_rules, max_conditions)
    model = getattr(model, "best_estimator_", model)
    opened_rules = open_model(model).rules
    model = opened_rules if isinstance(model, RuleModel) else model
    rng = np.random.default_rng(check_random_state(random_state).randint(2**32, size=4, dtype=np.uint64))
    rows = _read_rows(model, X, y, "")
    training, validation = _split(rows, model, X_val, y_val, rng)
    points = trace_tradeoff(
        _find_rules(model),
        training,
        validation,
        names=_name_inputs(opened_rules),
        rng=rng,
        tell=_show if verbose else lambda point: None,
    )
    curve = Simplification(curve=tuple(points), step=0, model=model, rows=rows)
    return curve.at(max_loss=max_loss, max_rules=max_rules, max_conditions=max_conditions)


@dataclass(frozen=True, eq=False, repr=False)
class Simplification:
    """A smaller model, and the curve that it was chosen from. Use `simplify`.

    Attributes
    ----------
    model : TSKRegressor, Pipeline or RuleBase
        A copy of the model with the smaller rules; an ordinary fitted model. Its parameters, `n_rules` among them, and
        its training history are still those that the original was fitted with.
    curve : tuple of Point
        All models on the way from large to small. A point has `step`, `action` (what was done), `n_rules`,
        `n_conditions`, `n_terms`, `n_sets`, `n_words`, `val_loss`, `loss`, `train_loss` and `rule_base`, the last as
        the final step of a pipeline sees it.
    step : int
        Which point of the curve was chosen.
    rule_base : RuleBase
        The smaller rules, in the user's units.
    loss : float
        Relative growth of the validation RMSE; negative if it fell.
    n_words : int
        Conditions, terms and distinct sets of the smaller rules.

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
    def loss(self) -> float:
        """Relative growth of the validation RMSE."""
        return self.point.loss

    @property
    def n_words(self) -> int:
        """Conditions, terms and distinct sets of the smaller rules."""
        return self.point.n_words

    def at(
        self, *, max_loss: float | None = None, max_rules: int | None = None, max_conditions: int | None = None
    ) -> "Simplification":
        """Choose by other limits from the same curve; see `simplify` for what they mean.

        Parameters
        ----------
        max_loss : float, optional
            Relative growth of the validation RMSE that is allowed.
        max_rules, max_conditions : int, optional
            Most rules, and most conditions of all rules together.

        Returns
        -------
        Simplification
        """
        _check_limits(max_loss, max_rules, max_conditions)
        if max_loss is None and max_rules is None and max_conditions is None:
            max_loss = _DEFAULT_LOSS
        step = _choose(self.curve, max_loss, max_rules, max_conditions).step
        rules = self.curve[step].rule_base
        rules = sort_rules(rules, measure_profile((self.rows.X, self.rows.y), rules.firing_share))
        return replace(self, step=step, model=_replace_rules(self.model, rules))

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
        records = [asdict(replace(point, rule_base=None)) for point in self.curve]  # type: ignore[arg-type]
        table = pandas.DataFrame(records).drop(columns="rule_base")
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
            f"{_describe(first)} -> {_describe(here)} at {100 * self.loss:+.1f} % RMSE",
            f"Words (conditions, terms, sets): {words}; validation RMSE: {error}",
            "Other choices: .at(max_loss=0.05), .at(max_rules=3); curve: .to_frame(), .plot()",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Simplification: {_describe(self.point)}, loss {self.loss:.3g}>"


# -- limits ------------------------------------------------------------------------------------------------------------


def _check_limits(max_loss: Any, max_rules: Any, max_conditions: Any) -> None:
    if max_loss is not None and not (isinstance(max_loss, Real) and float(max_loss) >= 0):
        raise ValueError(f"max_loss must be a number of at least 0, such as 0.05 for 5 %, got {max_loss!r}.")
    for name, value, least in (("max_rules", max_rules, 1), ("max_conditions", max_conditions, 0)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < least):
            raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def _choose(
    curve: tuple[Point, ...], max_loss: float | None, max_rules: int | None, max_conditions: int | None
) -> Point:
    small = [
        point
        for point in curve
        if (max_rules is None or point.n_rules <= max_rules)
        and (max_conditions is None or point.n_conditions <= max_conditions)
    ]
    if max_loss is None:
        return min(small, key=lambda point: (point.val_loss, point.n_words))
    good = [point for point in small if point.loss <= max_loss]
    if not good:
        least = min(point.loss for point in small)
        limits = [f"{name}={value}" for name, value in _given(max_rules=max_rules, max_conditions=max_conditions)]
        raise ValueError(
            f"max_loss={max_loss} is out of reach with {' and '.join(limits)}: the smallest loss there is {least:.4g}. "
            "Raise one of the limits, or leave max_loss out."
        )
    return min(good, key=lambda point: (point.n_words, point.val_loss))


def _given(**limits: Any) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in limits.items() if value is not None]


# -- rows and models ---------------------------------------------------------------------------------------------------


def _read_rows(model: Any, X: Table, y: Table, suffix: str) -> Rows:
    """Return rows as the final step of a model sees them, and their targets."""
    rows = _transform(model, X)
    n_outputs = _find_rules(model).n_outputs
    return Rows(rows, check_targets(y, len(rows), n_outputs, suffix), np.ones(len(rows)))


def _transform(model: Any, X: Table) -> FloatArray:
    if isinstance(model, RuleBase):
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
        return rows, _read_rows(model, X_val, y_val, "_val")
    if len(rows.X) < 2:
        raise ValueError("X must have at least two rows, to re-estimate and to validate by, got one; or give X_val.")
    order = rng.permutation(len(rows.X))
    n_validation = max(1, round(_VALIDATION_PART * len(order)))
    return rows.take(np.sort(order[n_validation:])), rows.take(np.sort(order[:n_validation]))


def _find_rules(model: Any) -> RuleBase:
    """Return the rules of a model in the units of its final step."""
    return model if isinstance(model, RuleBase) else open_model(model).regressor.rule_base_


def _replace_rules(model: Any, rules: RuleBase) -> Any:
    """Return a copy of a model with other rules."""
    if isinstance(model, RuleBase):
        return rules
    copied = deepcopy(model)
    open_model(copied).regressor.model_ = RuleModel((rules,))
    return copied


def _name_inputs(rules: RuleBase) -> list[str]:
    """Return names of the inputs of the conditions, projections first."""
    n_projected = rules.n_projected
    return [*(f"p{j}" for j in range(n_projected)), *name_features(rules)]


def _describe(point: Point) -> str:
    return f"{count(point.n_rules, 'rule')}, {count(point.n_conditions, 'condition')}"


def _show(point: Point) -> None:
    print(  # noqa: T201
        f"[takagi] step {point.step}, {point.action}: {_describe(point)}, {point.n_words} words, "
        f"loss {100 * point.loss:.1f} %"
    )
