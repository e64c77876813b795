"""Ridge and logistic regression within the limits of short rules: sums of formulas that always hold.

They are the rivals of rules: whichever has the smaller expected loss on new rows is the model.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from takagi._typing import FloatArray, IntArray
from takagi.fitting._logistic import choose_penalty, find_link, fit_logistic
from takagi.fitting._ridge import fit_ridge
from takagi.fitting._rows import Rows, measure_columns, standardize_columns
from takagi.fitting._screening import spread_rules
from takagi.fitting._short._likelihood import count_parameters, measure_log_loss
from takagi.fitting._short._workshop import Limits, say_mean
from takagi.rulebase import RuleBase, apply_link
from takagi.rulemodel import RuleModel

_PART = 3  # one in this many of the surplus slopes is dropped at a time
_EXACT = 1e-10  # of the target's variance: a smaller error is rounding
_MOST_USED = 0.9  # of the rows, by parameters

Fit = Callable[[Rows], RuleBase]


def fit_ridge_formulas(rows: Rows, limits: Limits) -> tuple[RuleModel, float]:
    """Return ridge regression as a sum of formulas with a limited number of terms, and its expected squared error.

    There is one formula, or up to as many as there may be rules, whichever number has the smallest expected error.
    Slopes that are k of p count log(p / k) times if that is more than once, because chance helps to choose them [1]_.

    References
    ----------
    .. [1] D. P. Foster and E. I. George, The risk inflation criterion for multiple regression, Annals of Statistics 22
       (4), 1994.
    """
    sizes, n_features = range(limits.n_rules * limits.max_terms, 0, -limits.max_terms), rows.X.shape[1]
    found = []
    for features in _eliminate(rows, sizes, fit_ridge):
        model = _cut(fit_ridge(rows.take_features(features)), rows, features, limits.max_terms)
        found.append((model, expect_error(model, rows, max(1.0, np.log(n_features / len(features))))))
    found = found or [(say_mean(rows), 1.0)]  # all features are constant
    return min(reversed(found), key=lambda one: one[1])  # of equal ones, the shortest


def expect_error(model: RuleModel, rows: Rows, per_parameter: float = 1.0) -> float:
    """Return the expected squared error on new rows over the target's variance, by generalized cross-validation [1]_.

    Each parameter counts so many times. Errors that are as small as rounding count as equal.

    References
    ----------
    .. [1] P. Craven and G. Wahba, Smoothing noisy data with spline functions, Numerische Mathematik 31, 1979.
    """
    errors = (model.predict_raw(rows.X) - rows.y) / measure_columns(rows.y, rows.weight)[1]
    error = float(np.average((errors**2).mean(axis=1), weights=rows.weight))
    used = min(_MOST_USED, per_parameter * count_parameters(model) / len(rows.X))
    return max(_EXACT, error / (1 - used) ** 2)


def fit_logistic_formulas(rows: Rows, limits: Limits) -> tuple[RuleModel, float]:
    """Return logistic regression with as many slopes as all rules may have terms, and its expected log loss.

    It is a sum of formulas with a limited number of terms. The expected loss on new rows is that on the training rows
    plus the effective number of slopes over the number of rows.
    """
    penalty = choose_penalty(rows)
    fit = partial(fit_logistic, penalty=penalty)
    (features,) = _eliminate(rows, [limits.n_rules * limits.max_terms], fit)
    few = rows.take_features(features)
    line = fit(few)
    loss, n_parameters = measure_log_loss(RuleModel((line,)), few), _count_effective(few, line, penalty)
    return _cut(line, rows, features, limits.max_terms), loss + n_parameters / len(rows.X)


def _eliminate(rows: Rows, sizes: Iterable[int], fit: Fit) -> Iterator[IntArray]:
    """Yield the features that remain of each of some falling numbers, those with the smallest slopes left out in turn.

    Of numbers that are larger than that of all features, the last one counts.
    """
    features = np.flatnonzero(np.ptp(rows.fill().X, axis=0) > 0)
    sizes = list(sizes)
    for size, smaller in zip(sizes, [*sizes[1:], 0], strict=True):
        if len(features) <= smaller:
            continue
        while len(features) > size:
            few = rows.take_features(features)
            order = np.argsort(_size_slopes(few, fit(few)), kind="stable")
            features = np.sort(features[order[max(1, (len(features) - size) // _PART) :]])
        yield features


def _size_slopes(rows: Rows, line: RuleBase) -> FloatArray:
    """Return the change of the outputs per standard deviation of each feature, the sum of all outputs."""
    return np.abs(line.consequents[0, :, 1:]).sum(axis=0) * measure_columns(rows.X, rows.weight)[1]


def _count_effective(rows: Rows, line: RuleBase, penalty: float) -> float:
    """Return the effective number of slopes of penalized logistic regression: the trace of (H + penalty)^-1 H.

    What a missing value of a feature counts as is one parameter more.
    """
    n_missing = int(np.isnan(rows.X).any(axis=0).sum())
    mean, scale = measure_columns(rows.X, rows.weight)
    Z, p = standardize_columns(rows.X, mean, scale), apply_link(line.predict_raw(rows.X), find_link(rows.y))
    total = 0.0
    for chance in p.T:
        curvature = Z.T @ (Z * (rows.weight * chance * (1 - chance))[:, None])
        total += float(np.trace(np.linalg.solve(curvature + penalty * np.eye(len(curvature)), curvature)))
    return total * max(1, p.shape[1] - 1) / p.shape[1] + n_missing


def _cut(line: RuleBase, rows: Rows, features: IntArray, max_terms: int) -> RuleModel:
    """Return a formula about some features as the sum of several with some of its slopes each, the steepest first.

    All but the first have mean zero.
    """
    few = rows.take_features(features)
    order, mean = np.argsort(-_size_slopes(few, line), kind="stable"), measure_columns(few.X, few.weight)[0]
    parts = []
    for start in range(0, len(order), max_terms):
        group, weights = order[start : start + max_terms], np.zeros_like(line.consequents)
        weights[:, :, 1 + group] = line.consequents[:, :, 1 + group]
        weights[:, :, 0] = -(weights[:, :, 1:] @ mean)
        if start == 0:
            weights[:, :, 0] += line.consequents[:, :, 0] + line.consequents[:, :, 1:] @ mean
        parts.append(spread_rules(replace(line, consequents=weights), features, rows.X.shape[1]))
    return RuleModel(tuple(parts))
