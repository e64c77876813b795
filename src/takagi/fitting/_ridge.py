"""Ridge regression as one rule: the line that rules are compared and mixed with."""

from collections.abc import Callable

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV

from takagi._checks import are_finite
from takagi._typing import FloatArray
from takagi.fitting._rows import Rows, measure_columns
from takagi.rulebase import RuleBase

_ALPHAS = np.logspace(-6, 5, 23)  # the smallest for targets that are sums of columns, as in many tables
_MAX_CELLS = 2 * 10**7


def fit_ridge(rows: Rows, slopes: float = 1.0) -> RuleBase:
    """Return ridge regression, its penalty chosen by leave-one-out, as one rule, with so much of its slopes.

    A missing value counts as the mean of its column, or as another number where that does better in leave-one-out.
    """
    mean, scale = measure_columns(rows.X, rows.weight)
    y_mean, y_scale = measure_columns(rows.y, rows.weight)
    sample = slice(None, None, -(-rows.X.size // _MAX_CELLS))
    X, y, weight = ((rows.X - mean) / scale)[sample], ((rows.y - y_mean) / y_scale)[sample], rows.weight[sample]
    usual = np.zeros(X.shape[1])
    line = _regress(Rows(_fill(X, usual), y, weight))
    if not are_finite(X) and len(X) > 2:
        other = place_missing(Rows(X, y, weight), lambda both: np.reshape(_regress(both).coef_, (y.shape[1], -1)))
        tried = _regress(Rows(_fill(X, other), y, weight))
        if tried.best_score_ > line.best_score_:
            usual, line = other, tried
    coef, intercept = np.reshape(line.coef_, (y.shape[1], -1)), np.reshape(line.intercept_, -1)
    consequents = slopes * np.concatenate([intercept[:, None], coef], axis=1)[None]
    nothing = np.zeros((1, X.shape[1]))
    standard = RuleBase(nothing, np.full(nothing.shape, np.inf), consequents, usual=usual[None])
    return standard.rescale(mean, scale, y_mean, y_scale)


def _regress(rows: Rows) -> Ridge | RidgeCV:
    mode = "svd" if len(rows.X) > rows.X.shape[1] else "eigen"  # whichever is quicker
    ridge = RidgeCV(_ALPHAS, gcv_mode=mode) if len(rows.X) > 2 else Ridge()  # two rows cannot choose
    return ridge.fit(rows.X, rows.y, rows.weight)


def _fill(X: FloatArray, usual: FloatArray) -> FloatArray:
    return X if are_finite(X) else np.where(np.isnan(X), usual, X)


def place_missing(rows: Rows, regress: Callable[[Rows], FloatArray]) -> FloatArray:
    r"""Return what each feature counts as where it is missing, given rows in standard units: 0 is the mean.

    With a slope :math:`w_m` of a feature and a constant :math:`b_m` for the rows that lack it, found together by a
    regression that returns slopes of shape (n_outputs, n_features), it is :math:`b_m / w_m`, at most one range beyond
    the data.
    """
    absent = np.isnan(rows.X)
    marked = np.flatnonzero(absent.any(axis=0) & ~absent.all(axis=0))
    mean, scale = measure_columns(absent[:, marked].astype(float), rows.weight)
    marks = (absent[:, marked] - mean) / scale
    weights = regress(rows._replace(X=np.hstack([np.nan_to_num(rows.X), marks])))
    slopes, constants = weights[:, marked], weights[:, rows.X.shape[1] :] / scale
    usual = np.zeros(rows.X.shape[1])
    usual[marked] = _divide(constants, slopes, rows.X[:, marked])
    return usual


def mix_usual(line: RuleBase, rules: RuleBase, part: float, X: FloatArray) -> FloatArray:
    """Return what a missing value counts as if formulas are so much of the rules' and the rest of the line's.

    Each formula then says the mixture of what rule and line say without the value, as far as that takes a number at
    most one range beyond the columns of X.
    """
    assert rules.usual is not None
    assert line.usual is not None
    own = part * rules.consequents[:, :, 1:]
    away, slopes = rules.usual - line.usual, own + (1 - part) * line.consequents[:, :, 1:]
    found = [_divide(*one, X - line.usual) for one in zip(own * away[:, None, :], slopes, strict=True)]
    return line.usual + np.array(found)


def _divide(products: FloatArray, slopes: FloatArray, X: FloatArray) -> FloatArray:
    """Return for each feature a number whose products with its slopes, one for each output, are nearest to given ones.

    It lies at most one range beyond the columns of X, and is zero, if that is within reach, where slopes are zero.
    """
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    size = np.maximum(np.abs(slopes).max(axis=0), np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        found = (slopes / size * products / size).sum(axis=0) / np.maximum(1.0, ((slopes / size) ** 2).sum(axis=0))
    return np.where(np.isnan(low), 0.0, np.clip(found, 2 * low - high, 2 * high - low))
