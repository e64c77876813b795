"""The noise of the target: the cross-validated error of a support vector machine."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import KFold
from sklearn.svm import SVR

from takagi._typing import FloatArray, IntArray
from takagi.fitting._pilots import EXACT, measure_step
from takagi.fitting._ridge import fit_ridge
from takagi.fitting._rows import Rows, draw_order, is_clearly_less, measure_columns
from takagi.fitting._screening import spread_rules
from takagi.rulebase import RuleBase

_MAX_ROWS = 1_500
_FOLDS = 5
_LEAST = 1e-4


class Noise(NamedTuple):
    """The results of cross-validation."""

    part: float  # of the target's variance that is noise
    is_all: bool  # whether nothing is clearly better than the mean
    is_exact: bool = False  # whether ridge regression has almost no error


def measure_noise(rows: Rows, rng: np.random.Generator, max_rows: int = _MAX_ROWS) -> Noise:
    """Return the noise of standardized targets, by cross-validation on at most 1,500 rows, or the given number.

    It is the mean squared error of a support vector machine, or of ridge regression if that is smaller.
    """
    order = draw_order(rows, rng)[0][:max_rows]
    if len(order) < 2 * _FOLDS:
        return Noise(0.5, is_all=False)
    rows = rows.take(order)
    found = [_cross_validate(rows, predict) for predict in (_predict_smoothly, _predict_linearly)]
    of_mean = (rows.y**2).mean(axis=1)
    means = [float(np.average(errors, weights=rows.weight)) for errors in found]
    is_all = not any(is_clearly_less(errors, of_mean, rows.weight) for errors in found)
    return Noise(float(np.clip(min(means), _LEAST, 1.0)), is_all, is_exact=means[1] < EXACT)


def measure_few_slopes(rows: Rows, n_terms: int, rng: np.random.Generator) -> float:
    """Return the best factor for the slopes of ridge regression with few features, by cross-validation.

    It is 0 if the gain may be chance. If the factor is uncertain, a larger one is chosen, since the penalty has already
    shrunk the slopes.
    """
    rows = rows.take(draw_order(rows, rng)[0][:_MAX_ROWS])
    if len(rows.X) < 2 * _FOLDS:
        return 0.0
    target, said = np.empty((2, *rows.y.shape))
    for training, judged in KFold(_FOLDS).split(rows.X):
        known = rows.take(training)
        mean = np.average(known.y, axis=0, weights=known.weight)
        target[judged] = rows.y[judged] - mean
        said[judged] = fit_few_slopes(known, n_terms).predict_raw(rows.X[judged]) - mean
    part, doubt = measure_step(target, said, rows.weight)
    return min(1.0, part + doubt) if part > doubt else 0.0


def _cross_validate(rows: Rows, predict: Callable[[Rows, FloatArray], FloatArray]) -> FloatArray:
    """Return the out-of-fold squared errors of rows, averaged over targets."""
    errors = np.empty_like(rows.y)
    for training, judged in KFold(_FOLDS).split(rows.X):
        errors[judged] = rows.y[judged] - predict(rows.take(training), rows.X[judged])
    return (errors**2).mean(axis=1)


def _predict_smoothly(rows: Rows, X: FloatArray) -> FloatArray:
    machines = [SVR(C=10.0).fit(rows.X, y, rows.weight) for y in rows.y.T]
    return np.column_stack([machine.predict(X) for machine in machines])


def _predict_linearly(rows: Rows, X: FloatArray) -> FloatArray:
    return fit_ridge(rows).predict_raw(X)


def fit_few_slopes(rows: Rows, n_terms: int, slopes: float = 1.0) -> RuleBase:
    """Return ridge regression with the `n_terms` most important features as one rule; slopes are times a factor."""
    features = choose_slopes(rows, n_terms)
    return spread_rules(fit_ridge(rows.take_features(features), slopes), features, rows.X.shape[1])


def choose_slopes(rows: Rows, n_terms: int) -> IntArray:
    """Return a given number of features, those with the most important slopes in ridge regression."""
    spread = measure_columns(rows.X, rows.weight)[1], measure_columns(rows.y, rows.weight)[1]
    size = (np.abs(fit_ridge(rows).consequents[0, :, 1:]) * spread[0] / spread[1][:, None]).sum(axis=0)
    return np.sort(np.argsort(-size, kind="stable")[:n_terms])
