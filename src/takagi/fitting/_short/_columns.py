"""Columns of formulas: slopes, and candidate bends."""

from typing import NamedTuple

import numpy as np

from takagi._rounding import round_between
from takagi._typing import FloatArray, IntArray
from takagi.bend import Bend
from takagi.fitting._rows import Rows, measure_columns
from takagi.fitting._screening import choose_forward

MOST_SLOPES = 24  # that the first formula has
_MOST_BENDS = 6  # the same
_KNOTS = (0.15, 0.3, 0.5, 0.7, 0.85)  # quantiles
_FEWEST_VALUES = 5  # of a feature that bends
_LEAST_RATIO = 2.0  # smallest ratio of the largest to the smallest value, for a logarithm
BEND_SCALE = 0.5  # bends are this much smaller than slopes, so that their penalty is four times as large


class FormulaColumns(NamedTuple):
    """The inputs of formulas in standard units: the features, then bends of them."""

    bends: tuple[Bend, ...]  # in the units of the data
    mean: FloatArray  # of the bends
    scale: FloatArray

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the columns of rows, given both in the units of the data and in standard units."""
        bent = [bend.evaluate(X[:, bend.feature]) for bend in self.bends]
        return np.column_stack([Z, (np.array(bent).T - self.mean) / self.scale]) if bent else Z


def offer_bends(rows: Rows) -> FormulaColumns:
    """Return candidate bends of all features with enough values: a logarithm, and slopes above and up to some knots."""
    bends = []
    for j, column in enumerate(rows.X.T):
        column = column[~np.isnan(column)]
        values = np.unique(column)
        if len(values) < _FEWEST_VALUES:
            continue
        if values[0] > 0 and values[-1] > _LEAST_RATIO * values[0]:
            bends.append(Bend(j, "log", 0.0, floor=values[0]))
        for knot in np.unique(find_knots(column)):
            if values[0] < knot < values[-1]:
                bends += [Bend(j, "above", knot), Bend(j, "up to", knot)]
    return scale_bends(tuple(bends), rows.fill())


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


def choose_base(columns: FloatArray, target: FloatArray, weight: FloatArray, n_features: int, ridge: float) -> IntArray:
    """Return the columns of the first formula: slopes, the best ones if there are many, and a few bends."""
    slopes, none = np.arange(n_features), np.empty(0, dtype=np.intp)
    if n_features > MOST_SLOPES:
        slopes = choose_forward(columns[:, :n_features], target, weight, none, MOST_SLOPES, ridge)
    return choose_forward(columns, target, weight, slopes, _MOST_BENDS, ridge, first=n_features)
