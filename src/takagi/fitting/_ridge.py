"""Ridge regression as one rule, and how much of a model should be ridge regression.

On a small, noisy or wide table the best model lies between something simple and something that could follow every
detail: simple + share * (detailed - simple). The share that has the smallest squared error on rows that neither has
seen is a regression with one slope, and as such it has a standard error, which tells how far to trust it. Ridge
regression is detailed beside the mean of the target, and rules are beside ridge regression. The firing shares of rules
sum to 1, so that rules that are mixed with a line are rules again, with other consequents.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV

from takagi._typing import FloatArray
from takagi.fitting._rows import Rows, measure_columns
from takagi.fitting._screening import spread_rules
from takagi.rulebase import RuleBase

_ALPHAS = np.logspace(-6, 5, 23)  # the smallest for targets that are sums of columns, as in many tables
_MAX_CELLS = 2 * 10**7
_DOUBT = 2.0  # weight of the squared standard error of the rules' share
_LITTLE, _MUCH = 0.1, 0.8  # shares that are as good as none, and as all
_HUGE = 1e100  # a square that is as good as infinite
EXACT = 1e-4  # of the target's variance: a line that leaves less than that is a law, which holds beyond the data, too


class Mix(NamedTuple):
    """How much of a model is what: mean + slopes * (ridge - mean), and from there `rules` of the way to the rules."""

    slopes: float = 1.0
    rules: float = 1.0
    is_exact: bool = False  # whether ridge regression alone leaves next to nothing

    @property
    def has_rules(self) -> bool:
        """Whether rules are worth anything."""
        return self.rules > 0

    def apply(self, rules: RuleBase, rows: Rows) -> RuleBase:
        """Return trained rules, mixed with the ridge regression of their rows where that is wanted.

        Consequents of projected inputs cannot be mixed with it.
        """
        if self.rules == 1 or rules.consequent_projection is not None:
            return rules
        ridge = fit_ridge(rows, self.slopes)
        return replace(rules, consequents=self.rules * rules.consequents + (1 - self.rules) * ridge.consequents)


def fit_ridge(rows: Rows, slopes: float = 1.0) -> RuleBase:
    """Return ridge regression, its penalty chosen by leave-one-out, as one rule, with so much of its slopes."""
    mean, scale = measure_columns(rows.X, rows.weight)
    y_mean, y_scale = measure_columns(rows.y, rows.weight)
    sample = slice(None, None, -(-rows.X.size // _MAX_CELLS))
    ridge = RidgeCV(_ALPHAS) if len(rows.X) > 2 else Ridge()  # two rows cannot choose
    ridge.fit(((rows.X - mean) / scale)[sample], ((rows.y - y_mean) / y_scale)[sample], rows.weight[sample])
    coef, intercept = np.reshape(ridge.coef_, (rows.y.shape[1], -1)), np.reshape(ridge.intercept_, -1)
    consequents = slopes * np.concatenate([intercept[:, None], coef], axis=1)[None]
    n_features = rows.X.shape[1]
    standard = RuleBase(np.zeros((1, n_features)), np.full((1, n_features), np.inf), consequents)
    return standard.rescale(mean, scale, y_mean, y_scale)


def fit_few_slopes(rows: Rows, n_terms: int) -> RuleBase:
    """Return ridge regression with the so many features whose slopes say most, as one rule."""
    n_features = rows.X.shape[1]
    spread = measure_columns(rows.X, rows.weight)[1], measure_columns(rows.y, rows.weight)[1]
    size = (np.abs(fit_ridge(rows).consequents[0, :, 1:]) * spread[0] / spread[1][:, None]).sum(axis=0)
    features = np.sort(np.argsort(-size, kind="stable")[:n_terms])
    return spread_rules(fit_ridge(rows.take_features(features)), features, n_features)


def choose_mix(target: FloatArray, ridge: FloatArray, rules: FloatArray, weight: FloatArray) -> Mix:
    """Return the mix for rows that neither ridge regression nor rules have seen.

    In doubt, ridge regression keeps its slopes, whose size its penalty has chosen already, and rules are given up: of
    the slope b of the regression with standard error e, they get b * b^2 / (b^2 + 2 e^2).

    Parameters
    ----------
    target, ridge, rules : ndarray of shape (n_rows, n_outputs)
        Targets and predictions, all minus the mean of the rows that trained, in units of the target's deviation.
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    Mix

    Examples
    --------
    >>> import numpy as np
    >>> line = np.linspace(-1, 1, 100)[:, None]
    >>> bend, weight = line**2 - 0.34, np.ones(100)
    >>> choose_mix(line + bend, line, line + bend, weight), choose_mix(line, line, line + bend, weight)
    (Mix(slopes=1.0, rules=1.0, is_exact=False), Mix(slopes=1.0, rules=0.0, is_exact=True))
    """
    slopes = _round(sum(measure_step(target, ridge, weight)))
    simple = slopes * ridge
    part, doubt = measure_step(target - simple, rules - simple, weight)
    is_exact = bool(np.average(((target - simple) ** 2).mean(axis=1), weights=weight) < EXACT)
    return Mix(slopes, _round(part**3 / (part**2 + _DOUBT * doubt**2)) if part > 0 else 0.0, is_exact)


def measure_step(left: FloatArray, step: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return how much of a step leads to what is left, both of shape (n_rows, n_outputs), and the standard error.

    It is a regression through the origin; the error heeds that rows differ in their noise (White, 1980).

    References
    ----------
    .. [1] H. White, "A heteroskedasticity-consistent covariance matrix estimator and a direct test for
       heteroskedasticity", Econometrica 48 (4), 1980.
    """
    with np.errstate(over="ignore"):
        size = float(weight @ (step**2).sum(axis=1))
    if not 0 < size < _HUGE:  # both are the same, or the detailed one is beyond all bounds
        return 0.0, 0.0
    part = float(weight @ (left * step).sum(axis=1)) / size
    errors = ((left - part * step) * step).sum(axis=1)
    return part, float(np.sqrt(weight**2 @ errors**2)) / size


def _round(share: float) -> float:
    """Return a share from 0 to 1; a little is none, and much is all."""
    return 0.0 if share < _LITTLE else 1.0 if share > _MUCH else share
