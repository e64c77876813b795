"""Stability of rules: which of them are found again on bootstrap samples of the rows, and how much they vary."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from takagi._checks import check_targets
from takagi._conditions import name_features
from takagi._model import OpenModel, open_model
from takagi._notebook import ShowsText
from takagi._text import format_share, format_to_step, step_below, wrap
from takagi._typing import FloatArray, IntArray, Table
from takagi._wording import Reading, name_outputs, read_model
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.workflow._events import Event, Tell, ignore

LEAST_OVERLAP = 0.5  # overlap of the rows that two rules govern, above which they are the same
_LEVELS = (0.05, 0.95)  # of the intervals
_FEWEST = 5  # number of times that a rule must be found for its intervals to be shown


@dataclass(frozen=True)
class StableRule:
    """A rule, and its counterparts in refits.

    Attributes
    ----------
    reading : Reading
        The rule as text.
    n_found : int
        Number of refits that found it again.
    centers : ndarray of shape (n_features, 2)
        Limits that contain 90 % of the centers of its counterparts; NaN where it has no condition.
    slopes : ndarray of shape (n_outputs, n_features, 2)
        The same for slopes.
    """

    reading: Reading
    n_found: int
    centers: FloatArray
    slopes: FloatArray


@dataclass(frozen=True)
class RuleStability(ShowsText):
    """How often rules are found again in refits to bootstrap samples; print it.

    Attributes
    ----------
    rules : tuple of StableRule
        The rules of the model, those with the largest share first.
    n_refits : int
        Number of refits.
    feature_names, output_names : tuple of str
        Names of the features and outputs of the rules.
    """

    rules: tuple[StableRule, ...]
    n_refits: int
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]

    @property
    def found(self) -> float:
        """The fraction of the rules that are found again, averaged over rules and refits."""
        return float(np.mean([rule.n_found for rule in self.rules]) / self.n_refits)

    def __str__(self) -> str:
        head = f"{format_share(self.found)} of the rules are found again, on average over {self.n_refits} refits."
        return "\n".join([head, *(self._describe(rule) for rule in self.rules)])

    def _describe(self, rule: StableRule) -> str:
        first, *rest = [condition.text for condition in rule.reading.conditions] or ["anything"]
        lines = [
            f"Rule {rule.reading.number}: found in {rule.n_found} of {self.n_refits} refits",
            wrap("  IF", [first, *(f"and {text}" for text in rest)], " " * 5),
        ]
        if rule.n_found < _FEWEST:
            return "\n".join(lines)
        lines += _join(
            "  centers:", [_write_interval(*pair) for pair in zip(self.feature_names, rule.centers, strict=True)]
        )
        for name, slopes in zip(self.output_names, rule.slopes, strict=True):
            of = f" of {name}" if len(self.output_names) > 1 else ""
            pairs = zip(self.feature_names, slopes, strict=True)
            lines += _join(f"  slopes{of}:", [_write_interval(*pair) for pair in pairs])
        return "\n".join(lines)


def rule_stability(
    model: Any, X: Table, y: Table, *, n_refits: int = 20, random_state: int | None = 0, tell: Tell = ignore
) -> RuleStability:
    """Refit a model to bootstrap samples of its rows, and count how often each of its rules is found again.

    Two rules are the same if the rows that they govern overlap by more than one half. The overlap is the number of rows
    that both govern, divided by the number that at least one of them governs (the Jaccard index). Each rule is matched
    with at most one rule of a refit.

    Parameters
    ----------
    model : TSKRegressor or Pipeline
        A fitted model. It does not change; copies of it are fitted.
    X, y : array or data frame, and targets
        The rows that it was fitted on.
    n_refits : int, default=20
        Number of bootstrap samples; each takes as long as a fit.
    random_state : int, optional
        Seed of the samples.
    tell : callable, optional
        Called with an `Event` before each refit.

    Returns
    -------
    RuleStability
        The number of refits that found each rule, and intervals of its centers and slopes. The text shows intervals of
        rules that are found five times or more.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi import TSKRegressor
    >>> from takagi.workflow import rule_stability
    >>> rng, side = np.random.default_rng(0), np.repeat([-1.0, 1.0], 75)
    >>> X = np.column_stack([2 * side + rng.uniform(-1, 1, 150), rng.uniform(-1, 1, 150)])
    >>> y = side * X[:, 0] + 0.3 * X[:, 1]
    >>> model = TSKRegressor(2, recipe="droprule", init="kmeans", max_iter=200, random_state=0).fit(X, y)
    >>> stability = rule_stability(model, X, y, n_refits=3)
    >>> [rule.n_found for rule in stability.rules]
    [3, 3]
    """
    if isinstance(n_refits, bool) or not isinstance(n_refits, Integral) or n_refits < 1:
        raise ValueError(f"n_refits must be a whole number from 1 on, got {n_refits!r}.")
    opened = open_model(model)
    if opened.regressor is None:
        raise TypeError("model must be an estimator or a pipeline, which can be fitted again; got rules alone.")
    rows = opened.encode(X)
    check_targets(y, len(rows), opened.model.n_outputs)
    rng = np.random.default_rng(random_state)
    refits: list[_Refit] = []
    for i in range(n_refits):
        tell(Event("Refitting", i, n_refits, "fits"))
        drawn = rng.integers(len(rows), size=len(rows))
        refits.append(_refit(model, opened, X, y, drawn))
    own = _list_rules(opened.model)
    readings = read_model(opened.model.parts, columns=opened.columns)
    return RuleStability(
        tuple(_summarize(reading, *own[reading.number - 1], refits) for reading in readings),
        int(n_refits),
        name_features(opened.model),
        name_outputs(opened.model),
    )


# -- refits ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Refit:
    """The counterpart in a refit for each rule of the model, -1 if there is none; and the rules of the refit."""

    place: IntArray
    rules: list[tuple[FloatArray, FloatArray]]  # centers and slopes, for the features of the model


def _refit(model: Any, opened: OpenModel, X: Table, y: Table, drawn: IntArray) -> _Refit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = clone(getattr(model, "best_estimator_", model))
        again = open_model(again.fit(_safe_indexing(X, drawn), _safe_indexing(y, drawn)))
        rows = again.encode(X)  # which may have levels that are not in the sample
    place = match_rules(mark_governed(opened.model, opened.encode(X)), mark_governed(again.model, rows))
    return _Refit(place, _list_rules(again.model, name_features(opened.model)))


def mark_governed(model: RuleModel, rows: FloatArray) -> FloatArray:
    """Return 1 where a rule governs a row, that is, fires most in its part, of shape (n_rules, n_rows)."""
    strongest = (part.firing_share(rows).argmax(axis=1) for part in model.parts)
    return np.vstack(
        [(own == np.arange(part.n_rules)[:, None]) for own, part in zip(strongest, model.parts, strict=True)]
    ).astype(float)


def match_rules(one: FloatArray, other: FloatArray) -> IntArray:
    """Return for each rule of one model the rule of another that governs mostly the same rows, -1 if there is none.

    >>> match_rules(np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]]), np.array([[0.0, 0, 0, 1], [1, 1, 1, 0]])).tolist()
    [1, -1]
    """
    both = one @ other.T
    overlap = both / np.maximum(one.sum(axis=1)[:, None] + other.sum(axis=1) - both, 1e-300)
    first, second = linear_sum_assignment(np.where(overlap > LEAST_OVERLAP, -1 - overlap, 0))
    place = np.full(len(one), -1)
    is_same = overlap[first, second] > LEAST_OVERLAP
    place[first[is_same]] = second[is_same]
    return place


def _list_rules(model: RuleModel, names: tuple[str, ...] | None = None) -> list[tuple[FloatArray, FloatArray]]:
    """Return centers, NaN without a condition, and slopes of all rules; for features by name if names are given."""
    known = name_features(model)
    names = known if names is None else names
    index = np.array([known.index(name) if name in known else -1 for name in names])
    return [rule for part in model.parts for rule in _list_part(part, index)]


def _list_part(part: RuleBase, index: IntArray) -> list[tuple[FloatArray, FloatArray]]:
    plain = part.fold_consequents()
    centers = np.where(np.isinf(part.widths), np.nan, part.centers)[:, part.n_projected :]
    slopes = plain.consequents[:, :, 1 : 1 + part.n_features]
    there = index >= 0
    return [
        (np.where(there, centers[r, index], np.nan), np.where(there, slopes[r][:, index], np.nan))
        for r in range(part.n_rules)
    ]


# -- summaries ---------------------------------------------------------------------------------------------------------


def _summarize(reading: Reading, centers: FloatArray, slopes: FloatArray, refits: list[_Refit]) -> StableRule:
    places = [(refit, int(refit.place[reading.number - 1])) for refit in refits]
    found = [refit.rules[place] for refit, place in places if place >= 0]
    limits_of_centers = _find_limits([rule[0] for rule in found], centers)
    return StableRule(
        reading,
        len(found),
        np.where(np.isnan(centers)[:, None], np.nan, limits_of_centers),
        _find_limits([rule[1] for rule in found], slopes),
    )


def _find_limits(values: list[FloatArray], like: FloatArray) -> FloatArray:
    """Return limits that contain most values, with a last axis of two; NaN where there are none."""
    if not values:
        return np.full((*like.shape, 2), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # features without any value
        return np.moveaxis(np.nanquantile(values, _LEVELS, axis=0), 0, -1)


def _write_interval(name: str, limits: FloatArray) -> str:
    """Write limits with two digits of their distance, nothing where there are none."""
    low, high = limits.tolist()
    if not np.isfinite(limits).all() or low == high == 0:
        return ""
    step = step_below(max(high - low, 1e-12 * max(abs(low), abs(high)), 1e-300)) / 10
    return f"{name} {format_to_step(low, step)} to {format_to_step(high, step)}"


def _join(head: str, words: list[str]) -> list[str]:
    kept = [word for word in words if word]
    return [wrap(head, [*(f"{word}," for word in kept[:-1]), kept[-1]], " " * 5)] if kept else []
