"""Which features a model is about: those that tell most of the target, if there are many."""

from dataclasses import replace

import numpy as np

from takagi._typing import FloatArray, IntArray
from takagi.fitting._rows import Rows
from takagi.profile import spread_rows
from takagi.rulebase import RuleBase

_N_BINS = 8
_CORRELATED_ROWS = 2_000  # that tell whether features are the same


def screen_features(rows: Rows, Z: FloatArray, target: FloatArray, n_most: int) -> IntArray:
    """Return the features that are looked at: all of them, or so many that tell most of the target.

    `Z` are the standardized features, `target` is of shape (n_rows, n_outputs).

    Half of the places go to the features that a linear formula takes one by one, the rest to those whose bins tell most
    of what is left then.
    """
    useful = np.flatnonzero(np.ptp(rows.X, axis=0) > 0)
    useful = np.setdiff1d(useful, [repeated for repeated, _ in find_repeats(Z)])
    if len(useful) <= n_most:
        return useful
    weight = rows.weight / rows.weight.sum()
    taken = useful[choose_forward(Z[:, useful], target, weight, np.empty(0, dtype=np.intp), n_most // 2, 1e-3)]
    inputs = np.column_stack([np.ones(len(Z)), Z[:, taken]])
    square = inputs.T @ (inputs * weight[:, None]) + 1e-3 * np.eye(inputs.shape[1])
    left = target - inputs @ np.linalg.solve(square, inputs.T @ (target * weight[:, None]))
    others = np.setdiff1d(useful, taken)
    told = [_measure_bins(Z[:, j], left, weight) + _measure_bins(Z[:, j], target, weight) for j in others]
    best = others[np.argsort(-np.array(told), kind="stable")[: n_most - len(taken)]]
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


def spread_rules(rules: RuleBase, features: IntArray, n_features: int) -> RuleBase:
    """Return rules about all features, given rules about some of them: no condition on the others, and no slope."""
    if len(features) == n_features:
        return rules
    centers, widths = np.zeros((rules.n_rules, n_features)), np.full((rules.n_rules, n_features), np.inf)
    centers[:, features], widths[:, features] = rules.centers, rules.widths
    consequents = np.zeros((rules.n_rules, rules.n_outputs, 1 + n_features))
    consequents[:, :, np.r_[0, 1 + features]] = rules.consequents
    return replace(rules, centers=centers, widths=widths, consequents=consequents)
