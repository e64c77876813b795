"""Models of rules as `frontier.py` reads them: how much there is to read, and whether each rule is true by itself.

Every reader turns a fitted model into a `Readable`: its size, where its conditions are, and what its rules say about
rows. Words are rules, conditions and terms. A constant is not counted, since every rule has one. Two thresholds of a
column in a rule are an interval and one condition. A tree is read as a tree: a split that several leaves share is one
condition.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from _rows import Scaled
from takagi._typing import FloatArray

HALF = 0.5  # the membership from which a fuzzy condition holds
_MARGIN = 0.1  # of the target's range, which a formula may leave


class Size(NamedTuple):
    """How much there is to read; not a number for a model without rules."""

    n_rules: float = np.nan
    n_conditions: float = np.nan
    n_terms: float = np.nan
    max_conditions: float = np.nan
    max_terms: float = np.nan


class Truth(NamedTuple):
    """Whether rules are true one by one, on rows that took no part in the fit.

    Attributes
    ----------
    strongest : float
        RMSE if only the strongest rule of a row speaks.
    holds : float
        Of the rows that a rule governs, by being the strongest, the part that satisfies all its conditions.
    governs : float
        Of the rows that satisfy all conditions of a rule, the part that it governs.
    outside : float
        Of the conditions, the part whose center or threshold is outside the column's training range.
    wild : float
        Of the rows, the part for which the formula of the strongest rule leaves the target's training range by over
        10 % of it.
    """

    strongest: float = np.nan
    holds: float = np.nan
    governs: float = np.nan
    outside: float = np.nan
    wild: float = np.nan


class Reading(NamedTuple):
    """What rules say about rows; arrays are of shape (n_rows, n_rules) if not said otherwise.

    Attributes
    ----------
    held : ndarray of bool
        Whether a row satisfies all conditions of a rule.
    strength : ndarray
        The weight of a rule in the prediction; rules of equal strength share a row.
    said : ndarray
        The prediction, if this rule alone speaks.
    otherwise : ndarray of shape (n_rows,)
        The prediction where no rule has any strength.
    unlimited : ndarray or None
        `said`, without the limits of the rules; None if there are none.
    """

    held: NDArray[np.bool_]
    strength: FloatArray
    said: FloatArray
    otherwise: FloatArray
    unlimited: FloatArray | None = None


@dataclass(frozen=True)
class Readable:
    """A model of rules, as it is read.

    Attributes
    ----------
    size : Size
    places : list of (int, float)
        Column, and center or threshold, of each condition.
    read : callable
        From rows to a `Reading`.
    """

    size: Size
    places: list[tuple[int, float]]
    read: Callable[[FloatArray], Reading]


def judge(readable: Readable, X_train: FloatArray, y_train: FloatArray, X: FloatArray, y: FloatArray) -> Truth:
    """Return whether the rules are true one by one, on rows that took no part in the fit."""
    reading = readable.read(X)
    share, silent = share_rows(reading.strength)
    formulas = reading.said if reading.unlimited is None else reading.unlimited
    span = _MARGIN * np.ptp(y_train)

    def average(of_rules: FloatArray, of_silence: FloatArray) -> float:
        return float(np.mean((share * of_rules).sum(axis=1) + silent * of_silence))

    def is_wild(said: FloatArray) -> NDArray[np.bool_]:
        return (said < y_train.min() - span) | (said > y_train.max() + span)

    errors = average((reading.said - y[:, None]) ** 2, (reading.otherwise - y) ** 2)
    return Truth(
        strongest=errors**0.5,
        holds=_divide((share * reading.held).sum(), share.sum()),
        governs=_divide((share * reading.held).sum(), reading.held.sum()),
        outside=find_outside(readable.places, X_train),
        wild=average(is_wild(formulas), is_wild(reading.otherwise)),
    )


def share_rows(strength: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return how much each rule governs each row, 1 for the strongest one, and the rows that no rule governs."""
    best = strength.max(axis=1, initial=0.0, keepdims=True)
    governs = (strength == best) & (best > 0)
    return governs / np.maximum(governs.sum(axis=1, keepdims=True), 1), ~governs.any(axis=1)


def find_outside(places: list[tuple[int, float]], X: FloatArray) -> float:
    """Return the part of the conditions that are outside their columns' ranges, by more than single precision."""
    margin = 1e-6 * np.abs(X).max(axis=0)
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    return _divide(sum(not low[column] <= value <= high[column] for column, value in places), len(places))


def _divide(part: float, whole: float) -> float:
    return float(part / whole) if whole else np.nan


# -- thresholds --------------------------------------------------------------------------------------------------------


class Condition(NamedTuple):
    """A threshold: a column is at most so much, or more."""

    column: int
    is_upper: bool
    threshold: float

    def holds(self, X: FloatArray) -> NDArray[np.bool_]:
        """Return the rows for which it holds."""
        is_below = X[:, self.column] <= self.threshold
        return is_below if self.is_upper else ~is_below


class Rule(NamedTuple):
    """Thresholds, the formula behind them (a constant and a coefficient per column), and limits of what it says."""

    conditions: tuple[Condition, ...]
    formula: FloatArray
    low: float = -np.inf
    high: float = np.inf

    def holds(self, X: FloatArray) -> NDArray[np.bool_]:
        """Return the rows for which all conditions hold."""
        return np.all([np.ones(len(X), dtype=bool), *(condition.holds(X) for condition in self.conditions)], axis=0)


def measure_rules(rules: Sequence[Rule], n_conditions: int | None = None) -> Size:
    """Return the size of rules; `n_conditions` if they share conditions, else those of every rule are counted."""
    conditions = [len({condition.column for condition in rule.conditions}) for rule in rules]
    terms = [np.count_nonzero(rule.formula[1:]) for rule in rules]
    n_conditions = sum(conditions) if n_conditions is None else n_conditions
    return Size(len(rules), n_conditions, sum(terms), max(conditions), max(terms))


def list_places(rules: Sequence[Rule]) -> list[tuple[int, float]]:
    """Return the column and the threshold of every condition."""
    return [(condition.column, condition.threshold) for rule in rules for condition in rule.conditions]


def apply_formulas(formulas: FloatArray, X: FloatArray) -> FloatArray:
    """Return what formulas say, of shape (n_rows, n_formulas)."""
    return formulas[:, 0] + X @ formulas[:, 1:].T


def find_held(rules: Sequence[Rule], X: FloatArray) -> NDArray[np.bool_]:
    """Return which rules hold for which rows, of shape (n_rows, n_rules); there may be no rule."""
    return np.array([rule.holds(X) for rule in rules], dtype=bool).reshape(len(rules), len(X)).T


def read_averaged(rules: Sequence[Rule], otherwise: float = 0.0) -> Callable[[FloatArray], Reading]:
    """Return the reading of rules of which those that hold are averaged; of a tree that is one.

    Rows are compared with thresholds in single precision, as scikit-learn, linear-tree and Cubist do.
    """

    def read(X: FloatArray) -> Reading:
        X = X.astype(np.float32).astype(float)
        held = find_held(rules, X)
        formulas = apply_formulas(np.array([rule.formula for rule in rules]), X)
        said = np.clip(formulas, [rule.low for rule in rules], [rule.high for rule in rules])
        return Reading(held, held.astype(float), said, np.full(len(X), otherwise), formulas)

    return read


def read_added(rules: Sequence[Rule], base: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], Reading]:
    """Return the reading of rules without terms that add their constants to a base, which always speaks."""

    def read(X: FloatArray) -> Reading:
        held, start = find_held(rules, X), base(X)
        constants = np.array([rule.formula[0] for rule in rules])
        return Reading(held, held * np.abs(constants), start[:, None] + constants, start)

    return read


# -- trees -------------------------------------------------------------------------------------------------------------

Path = tuple[Condition, ...]
Split = Callable[[Any], tuple[int, float, Any, Any] | None]


def list_leaves(node: Any, split: Split, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the conditions of each leaf, and the leaf.

    Parameters
    ----------
    node : object
        The root.
    split : callable
        From a node to the column, the threshold and the two nodes below; None of a leaf.
    path : tuple of Condition
        How the node is reached.
    """
    parts = split(node)
    if parts is None:
        yield keep_tightest(path), node
        return
    column, threshold, left, right = parts
    yield from list_leaves(left, split, (*path, Condition(int(column), True, float(threshold))))
    yield from list_leaves(right, split, (*path, Condition(int(column), False, float(threshold))))


def keep_tightest(path: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions that others do not imply; the last one of a column and a direction is the tightest."""
    return tuple({(condition.column, condition.is_upper): condition for condition in path}.values())


def make_formula(constant: float, coefficients: FloatArray) -> FloatArray:
    """Return a constant and coefficients as one array."""
    return np.r_[constant, coefficients].astype(float)


# -- fuzzy sets --------------------------------------------------------------------------------------------------------


def read_gaussians(
    centers: FloatArray, widths: FloatArray, formulas: FloatArray, X_train: FloatArray, floor: float = 0.0
) -> Readable:
    """Return a model of HTSK: shares are a softmax over rules of the mean logarithm of memberships over columns.

    A condition is there to be read if it excludes something: some training row has a membership below one half.

    Parameters
    ----------
    centers, widths : ndarray of shape (n_rules, n_features)
    formulas : ndarray of shape (n_rules, n_features + 1)
    X_train : ndarray
    floor : float, default=0.0
        The smallest membership.
    """
    lowest = np.log(floor) if floor else -np.inf

    def measure_logs(X: FloatArray) -> FloatArray:
        return np.maximum(-0.5 * ((X[:, None, :] - centers) / widths) ** 2, lowest)

    is_read = measure_logs(X_train).min(axis=0) < np.log(HALF)

    def read(X: FloatArray) -> Reading:
        logs = measure_logs(X)
        held = ((logs >= np.log(HALF)) | ~is_read).all(axis=2)
        return Reading(held, softmax(logs.mean(axis=2), axis=1), apply_formulas(formulas, X), np.zeros(len(X)))

    n_conditions, n_terms = is_read.sum(axis=1), np.count_nonzero(formulas[:, 1:], axis=1)
    size = Size(len(centers), n_conditions.sum(), n_terms.sum(), n_conditions.max(), n_terms.max())
    return Readable(size, [(int(column), centers[rule, column]) for rule, column in np.argwhere(is_read)], read)


def unscale(readable: Readable, scaled: Scaled) -> Readable:
    """Return a model that was fitted to scaled data, in the data's own units."""
    mean, deviation = scaled.x_scaler.mean_, scaled.x_scaler.scale_
    y_mean, y_deviation = scaled.y_scaler.mean_[0], scaled.y_scaler.scale_[0]

    def read(X: FloatArray) -> Reading:
        reading = readable.read(scaled.x_scaler.transform(X))
        units = ("said", "otherwise", "unlimited")
        return reading._replace(
            **{name: y_mean + y_deviation * values for name in units if (values := getattr(reading, name)) is not None}
        )

    places = [(column, mean[column] + deviation[column] * value) for column, value in readable.places]
    return replace(readable, places=places, read=read)
