"""Columns of formulas: which features are looked at, and the bends that are offered beside them."""

from typing import NamedTuple

import numpy as np

from takagi._rounding import round_between
from takagi._typing import FloatArray, IntArray
from takagi.bend import Bend
from takagi.fitting._rows import Rows, measure_columns
from takagi.profile import spread_rows

MOST_FEATURES = 30  # that are looked at
_MOST_SLOPES = 24  # that the first formula has
_MOST_BENDS = 6  # the same
_KNOTS = (0.15, 0.3, 0.5, 0.7, 0.85)  # quantiles
_FEWEST_VALUES = 5  # of a feature that bends
_LEAST_RATIO = 2.0  # of the largest to the smallest value, for a logarithm
_N_BINS = 8
_CORRELATED_ROWS = 2_000  # that tell whether features are the same
BEND_SCALE = 0.5  # bends are this much smaller than slopes, so that their penalty is four times as large


class FormulaColumns(NamedTuple):
    """The inputs of formulas in standard units: the features, then bends of them."""

    bends: tuple[Bend, ...]  # in the units of the data
    mean: FloatArray  # of the bends
    scale: FloatArray

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the columns of rows, which are given in the units of the data and in standard units."""
        bent = [bend.evaluate(X[:, bend.feature]) for bend in self.bends]
        return np.column_stack([Z, (np.array(bent).T - self.mean) / self.scale]) if bent else Z


def offer_bends(rows: Rows) -> FormulaColumns:
    """Return bends of all features with enough values: a logarithm, and slopes above and up to some knots."""
    bends = []
    for j, column in enumerate(rows.X.T):
        values = np.unique(column)
        if len(values) < _FEWEST_VALUES:
            continue
        if values[0] > 0 and values[-1] > _LEAST_RATIO * values[0]:
            bends.append(Bend(j, "log", 0.0, floor=values[0]))
        for knot in np.unique(find_knots(column)):
            if values[0] < knot < values[-1]:
                bends += [Bend(j, "above", knot), Bend(j, "up to", knot)]
    return scale_bends(tuple(bends), rows)


def scale_bends(bends: tuple[Bend, ...], rows: Rows) -> FormulaColumns:
    """Return features and bends as columns of formulas."""
    if not bends:
        return FormulaColumns((), np.empty(0), np.empty(0))
    bent = np.array([bend.evaluate(rows.X[:, bend.feature]) for bend in bends]).T
    mean, scale = measure_columns(bent, rows.weight)
    return FormulaColumns(bends, mean, scale / BEND_SCALE)


def find_knots(column: FloatArray) -> list[float]:
    """Return round numbers near some quantiles of a column."""
    around = np.quantile(column, [[level - 0.02 for level in _KNOTS], [level + 0.02 for level in _KNOTS]])
    return [round_between(low, high) for low, high in around.T]


def screen_features(rows: Rows, Z: FloatArray, target: FloatArray) -> IntArray:
    """Return the features that are looked at: all of them, or those that tell most of the target.

    Half of the places go to the features that a linear formula takes one by one, the rest to those whose bins tell most
    of what is left then.
    """
    useful = np.flatnonzero(np.ptp(rows.X, axis=0) > 0)
    useful = np.setdiff1d(useful, [repeated for repeated, _ in find_repeats(Z)])
    if len(useful) <= MOST_FEATURES:
        return useful
    weight = rows.weight / rows.weight.sum()
    taken = useful[choose_forward(Z[:, useful], target, weight, np.empty(0, dtype=np.intp), MOST_FEATURES // 2, 1e-3)]
    inputs = np.column_stack([np.ones(len(Z)), Z[:, taken]])
    square = inputs.T @ (inputs * weight[:, None]) + 1e-3 * np.eye(inputs.shape[1])
    left = target - inputs @ np.linalg.solve(square, inputs.T @ (target * weight[:, None]))
    others = np.setdiff1d(useful, taken)
    told = [_measure_bins(Z[:, j], left, weight) + _measure_bins(Z[:, j], target, weight) for j in others]
    best = others[np.argsort(-np.array(told), kind="stable")[: MOST_FEATURES - len(taken)]]
    return np.sort(np.r_[taken, best])


def find_repeats(Z: FloatArray) -> list[tuple[int, int]]:
    """Return features that are others in other units, each with the first of these, given standardized features."""
    sample = Z[spread_rows(len(Z), _CORRELATED_ROWS)]
    sample = sample - sample.mean(axis=0)
    size = np.sqrt((sample**2).sum(axis=0))
    alike = np.abs(sample.T @ sample) >= (1 - 1e-9) * np.outer(size, size)
    alike &= (size > 0)[:, None] & (size > 0)
    return [(j, int(alike[j].argmax())) for j in range(Z.shape[1]) if size[j] > 0 and alike[j, :j].any()]


def _measure_bins(column: FloatArray, target: FloatArray, weight: FloatArray) -> float:
    """Return how much of the target's variance the means of bins of a column tell."""
    edges = np.unique(np.quantile(column, np.linspace(0, 1, _N_BINS + 1)[1:-1]))
    place = np.searchsorted(edges, column)
    mass = np.bincount(place, weights=weight, minlength=len(edges) + 1)
    sums = np.array([np.bincount(place, weights=weight * y, minlength=len(edges) + 1) for y in target.T])
    return float((sums**2 / np.maximum(mass, 1e-12)).sum() - (sums.sum(axis=1) ** 2).sum())


def choose_base(columns: FloatArray, target: FloatArray, weight: FloatArray, n_features: int, ridge: float) -> IntArray:
    """Return the columns of the first formula: slopes, the best ones if there are many, and a few bends."""
    slopes, none = np.arange(n_features), np.empty(0, dtype=np.intp)
    if n_features > _MOST_SLOPES:
        slopes = choose_forward(columns[:, :n_features], target, weight, none, _MOST_SLOPES, ridge)
    return choose_forward(columns, target, weight, slopes, _MOST_BENDS, ridge, first=n_features)


def choose_forward(
    columns: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    start: IntArray,
    n_more: int,
    ridge: float,
    first: int = 0,
) -> IntArray:
    """Return the start and up to so many columns, from `first` on, each of which gains most when it is taken."""
    chosen = list(start)
    for _ in range(n_more):
        left = np.array([j for j in range(first, columns.shape[1]) if j not in chosen], dtype=np.intp)
        if not len(left):
            break
        inputs = np.column_stack([np.ones(len(columns)), columns[:, chosen]])
        square = inputs.T @ (inputs * weight[:, None]) + ridge * np.eye(1 + len(chosen))
        both = np.column_stack([target, columns[:, left]])
        both = both - inputs @ np.linalg.solve(square, inputs.T @ (both * weight[:, None]))
        error, new = both[:, : target.shape[1]], both[:, target.shape[1] :]
        gain = (((error * weight[:, None]).T @ new) ** 2).mean(axis=0) / (weight @ new**2 + ridge)
        if first and gain.max() < 2 * ridge:
            break
        chosen.append(int(left[gain.argmax()]))
    return np.array(chosen, dtype=np.intp)
