"""Intervals of conditions: they contain the rows that a rule governs, and few others."""

import numpy as np

from takagi._rounding import round_between
from takagi._typing import BoolArray, FloatArray, IntArray

_N_CUTS = 40
_ROUNDING = 0.01  # fraction of the rows by which a limit may move to become a round number
_RECALL = 2.0  # cost of a governed row outside the interval, relative to that of another row inside it
_MAX_SWEEPS = 4


def fit_intervals(X: FloatArray, governs: BoolArray, asks: BoolArray, weight: FloatArray) -> FloatArray:
    """Return an interval for each rule and feature, of shape (n_rules, n_features, 2), infinite without a condition.

    For each rule, limits are set one feature after the other, so that the rows within all of its intervals are as far
    as possible those that it governs. `governs` has a column for each rule. At least one interval of a rule has a
    limit. A missing value lies in every interval, and does not affect the limits.
    """
    intervals = np.empty((*asks.shape, 2))
    intervals[...] = -np.inf, np.inf
    cuts = {int(j): find_cuts(X[:, j]) for j in np.flatnonzero(asks.any(axis=0))}
    for r, own in enumerate(asks):
        mine = governs[:, r]
        if mine.any() and own.any():
            _fit_rule(X, mine, weight, np.flatnonzero(own), cuts, intervals[r])
    return intervals


def find_cuts(column: FloatArray) -> FloatArray:
    """Return at most 40 round numbers between values of a column, and infinity at both ends."""
    values = np.sort(column[~np.isnan(column)])
    between = np.flatnonzero(values[1:] > values[:-1])  # a cut after these
    if len(between) > _N_CUTS:
        between = np.unique(between[np.linspace(0, len(between) - 1, _N_CUTS).astype(np.intp)])
    slack, last = int(_ROUNDING / 2 * len(values)), len(values) - 1
    lows, highs = values[np.maximum(between - slack, 0)], values[np.minimum(between + 1 + slack, last)]
    cuts = [round_between(low, high) for low, high in zip(lows, highs, strict=True)]
    cuts = [cut for cut in cuts if values[0] < cut < values[-1]]
    return np.r_[-np.inf, np.unique(cuts), np.inf]


def _fit_rule(
    X: FloatArray,
    mine: BoolArray,
    weight: FloatArray,
    asked: IntArray,
    cuts: dict[int, FloatArray],
    intervals: FloatArray,
) -> None:
    """Set the intervals of one rule."""
    best, n_mine = -1.0, float(weight[mine].sum())
    for _ in range(_MAX_SWEEPS):
        before = best
        for j in asked:
            others = [i for i in asked if i != j]
            rest = ~((X[:, others] < intervals[others, 0]) | (X[:, others] > intervals[others, 1])).any(axis=1)
            rest &= ~np.isnan(X[:, j])
            may_be_open = bool(np.isfinite(intervals[others]).any())
            low, high, value = _find_limits(X[rest, j], mine[rest], weight[rest], cuts[int(j)], (n_mine, may_be_open))
            if value > best + 1e-9:
                best, intervals[j] = value, (low, high)
        if best <= before + 1e-9:
            break


def _find_limits(
    x: FloatArray, mine: BoolArray, weight: FloatArray, cuts: FloatArray, aim: tuple[float, bool]
) -> tuple[float, float, float]:
    """Return the two limits for one feature, given the others, and their score.

    `aim` has the weight of all rows that the rule governs, and whether there may be no limit.
    """
    n_mine, may_be_open = aim
    place = np.searchsorted(cuts, x)  # x is above cuts[place - 1] and at most cuts[place]
    within = np.cumsum(np.bincount(place, weights=weight, minlength=len(cuts)))
    right = np.cumsum(np.bincount(place, weights=weight * mine, minlength=len(cuts)))
    n_within = np.maximum(within[None] - within[:, None], 0.0)
    value = (1 + _RECALL) * (right[None] - right[:, None]) / (n_within + _RECALL * n_mine)
    value[np.tril_indices(len(cuts))] = -1.0
    if not may_be_open:
        value[0, -1] = -1.0
    low, high = np.unravel_index(int(value.argmax()), value.shape)
    return float(cuts[low]), float(cuts[high]), float(value[low, high])
