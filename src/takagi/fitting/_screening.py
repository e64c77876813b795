"""Selection of features: those that explain most of the target, if there are many."""

from dataclasses import replace

import numpy as np

from takagi._typing import FloatArray, IntArray
from takagi.fitting._plan import Plan
from takagi.fitting._rows import Rows, measure_units
from takagi.profile import spread_rows
from takagi.rulebase import RuleBase

_N_BINS = 8
_CORRELATED_ROWS = 2_000  # used to check whether features are the same
_ALIKE = 1e-9  # features are the same if their correlation is within this distance of 1
_MOST_CELLS = 10**7  # that are binned at a time


def choose_features(rows: Rows, plan: Plan, start: RuleBase | None = None) -> IntArray:
    """Return the features that rules are about: all, those that tell most of the target, or those of the start."""
    n_features = rows.X.shape[1]
    if n_features <= plan.max_features or plan.has_fixed_rules:
        return np.arange(n_features)
    if start is not None:
        slopes = start.consequents[:, :, 1 : 1 + n_features]
        return np.flatnonzero(np.isfinite(start.widths).any(axis=0) | (slopes != 0).any(axis=(0, 1)))
    standard = measure_units(rows, scales_inputs=True, scales_target=True).standardize(rows)
    found = screen_features(rows, standard.fill().X, standard.y, plan.max_features)
    return found if len(found) else np.arange(plan.max_features)  # where all are constant, any will do


def screen_features(rows: Rows, Z: FloatArray, target: FloatArray, n_most: int) -> IntArray:
    """Return the features to use: all of them, or at most `n_most` that explain most of the target.

    `Z` are the standardized features, `target` is of shape (n_rows, n_outputs).

    Half of them are chosen by forward selection in a linear formula, the rest by how much their bins explain of the
    target and of the residuals.
    """
    useful = np.flatnonzero(np.ptp(rows.fill().X, axis=0) > 0)
    useful = np.setdiff1d(useful, [repeated for repeated, _ in find_repeats(Z)])
    if len(useful) <= n_most:
        return useful
    weight = rows.weight / rows.weight.sum()
    taken = useful[choose_forward(Z[:, useful], target, weight, np.empty(0, dtype=np.intp), n_most // 2, 1e-3)]
    inputs = np.column_stack([np.ones(len(Z)), Z[:, taken]])
    square = inputs.T @ (inputs * weight[:, None]) + 1e-3 * np.eye(inputs.shape[1])
    left = target - inputs @ np.linalg.solve(square, inputs.T @ (target * weight[:, None]))
    others = np.setdiff1d(useful, taken)
    parts = np.array_split(others, -(-Z[:, others].size // _MOST_CELLS))
    told = [_measure_bins(Z[:, part], left, weight) + _measure_bins(Z[:, part], target, weight) for part in parts]
    best = others[np.argsort(-np.concatenate(told), kind="stable")[: n_most - len(taken)]]
    return np.sort(np.r_[taken, best])


def find_repeats(Z: FloatArray) -> list[tuple[int, int]]:
    """Return features that repeat another one in other units, each with that one, given standardized features.

    Features with a correlation of 1 or -1 have nearly the same absolute projection on any direction. So only features
    with neighboring projections on one direction are compared.
    """
    sample = Z[spread_rows(len(Z), _CORRELATED_ROWS)]
    sample = sample - sample.mean(axis=0)
    size = np.sqrt((sample**2).sum(axis=0))
    left = np.flatnonzero(size > 0)
    sample = sample / np.where(size > 0, size, 1.0)
    direction = np.random.default_rng(0).normal(size=len(sample))
    place = np.abs(direction @ sample)
    window = np.sqrt(2 * _ALIKE) * np.linalg.norm(direction)
    left = left[np.argsort(place[left], kind="stable")]
    first: dict[int, int] = {}
    step = 1
    while step < len(left) and (near := place[left[step:]] - place[left[:-step]] <= window).any():
        one, other = left[:-step][near], left[step:][near]
        alike = np.abs((sample[:, one] * sample[:, other]).sum(axis=0)) >= 1 - _ALIKE
        repeated = np.maximum(one, other)[alike]
        first.update(zip(repeated.tolist(), np.minimum(one, other)[alike].tolist(), strict=True))
        left = left[~np.isin(left, repeated)]
        step += 1 if not len(repeated) else 0
    return [(j, _follow(first, j)) for j in sorted(first)]


def _follow(first: dict[int, int], feature: int) -> int:
    """Return the feature at the end of a chain."""
    while feature in first:
        feature = first[feature]
    return feature


def _measure_bins(columns: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Return how much of the target's variance the bin means of each column explain."""
    edges = np.quantile(columns, np.linspace(0, 1, _N_BINS + 1)[1:-1], axis=0)
    place = np.zeros(columns.shape, dtype=np.int8)
    for edge in edges:
        place += columns > edge
    weighted = target * weight[:, None]
    told = np.full(columns.shape[1], -(weighted.sum(axis=0) ** 2).sum())
    for k in range(_N_BINS):
        inside = (place == k).astype(float)
        told += ((weighted.T @ inside) ** 2).sum(axis=0) / np.maximum(weight @ inside, 1e-12)
    return told


def choose_forward(
    columns: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    start: IntArray,
    n_more: int,
    ridge: float,
    first: int = 0,
) -> IntArray:
    """Return `start` and up to `n_more` columns, from `first` on, by forward selection: each has the largest gain."""
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
    """Return rules for all features, given rules for some of them: no conditions and no slopes on the others."""
    if len(features) == n_features:
        return rules
    centers, widths = np.zeros((rules.n_rules, n_features)), np.full((rules.n_rules, n_features), np.inf)
    centers[:, features], widths[:, features] = rules.centers, rules.widths
    consequents = np.zeros((rules.n_rules, rules.n_outputs, 1 + n_features))
    consequents[:, :, np.r_[0, 1 + features]] = rules.consequents
    usual = None
    if rules.usual is not None:
        usual = np.zeros((rules.n_rules, n_features))
        usual[:, features] = rules.usual
    return replace(rules, centers=centers, widths=widths, consequents=consequents, usual=usual)


def narrow_rules(rules: RuleBase, features: IntArray) -> RuleBase:
    """Return rules about some features, given rules about all features that do not use the others."""
    consequents = rules.consequents[:, :, np.r_[0, 1 + features]]
    usual = None if rules.usual is None else rules.usual[:, features]
    return RuleBase(rules.centers[:, features], rules.widths[:, features], consequents, usual=usual, link=rules.link)
