"""Ridge regression as one rule, and how much of a model should be ridge regression, or logistic regression for classes.

On a small, noisy or wide table the best model lies between something simple and something that could follow every
detail: simple + share * (detailed - simple). The share that has the smallest squared error on rows that neither has
seen is a regression with one slope, and as such it has a standard error, which tells how far to trust it. Ridge
regression is detailed beside the mean of the target, and rules are beside ridge regression. The firing shares of rules
sum to 1, so that rules that are mixed with a line are rules again, with other consequents.

For classes all of this is said of log-odds and log loss, with the class frequencies for the mean. Their log-odds are
then multiplied by one number more, the inverse of a temperature (Guo et al., 2017), so that probabilities are those
that rows held out have.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from sklearn.linear_model import Ridge, RidgeCV

from takagi._typing import FloatArray, IntArray
from takagi.fitting._logistic import find_link, fit_logistic
from takagi.fitting._rows import Rows, measure_columns
from takagi.fitting._screening import spread_rules
from takagi.rulebase import RuleBase, apply_link

_ALPHAS = np.logspace(-6, 5, 23)  # the smallest for targets that are sums of columns, as in many tables
_MAX_CELLS = 2 * 10**7
_DOUBT = 2.0  # weight of the squared standard error of the rules' share
_LITTLE, _MUCH = 0.1, 0.8  # shares that are as good as none, and as all
_HUGE = 1e100  # a square that is as good as infinite
EXACT = 1e-4  # of the target's variance: a line that leaves less than that is a law, which holds beyond the data, too
_MOST = 3.0  # times a step, and the most that log-odds are multiplied with or divided by


class Mix(NamedTuple):
    """How much of a model is what: mean + slopes * (ridge - mean), and from there `rules` of the way to the rules."""

    slopes: float = 1.0
    rules: float = 1.0
    penalty: float = 1.0  # of logistic regression; ridge regression finds its own
    sharpness: float = 1.0  # what log-odds are multiplied with
    is_exact: bool = False  # whether ridge regression alone leaves next to nothing

    @property
    def has_rules(self) -> bool:
        """Whether rules are worth anything."""
        return self.rules > 0

    def apply(self, rules: RuleBase, rows: Rows) -> RuleBase:
        """Return trained rules, mixed with the ridge or logistic regression of their rows where that is wanted.

        Consequents of projected inputs cannot be mixed with it.
        """
        if self.rules < 1 and rules.consequent_projection is None:
            line = self.fit_line(rows, rules.link != "identity")
            rules = replace(rules, consequents=self.rules * rules.consequents + (1 - self.rules) * line.consequents)
        return rules if self.sharpness == 1 else sharpen(rules, self.sharpness)

    def fit_line(self, rows: Rows, has_classes: bool) -> RuleBase:
        """Return ridge regression, or logistic regression for classes, as one rule, with so much of its slopes."""
        return fit_logistic(rows, self.slopes, self.penalty) if has_classes else fit_ridge(rows, self.slopes)


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


def fit_few_slopes(rows: Rows, n_terms: int, slopes: float = 1.0) -> RuleBase:
    """Return ridge regression with the so many features whose slopes say most, as one rule, with so much of these."""
    features = choose_slopes(rows, n_terms)
    return spread_rules(fit_ridge(rows.take_features(features), slopes), features, rows.X.shape[1])


def choose_slopes(rows: Rows, n_terms: int) -> IntArray:
    """Return the so many features whose slopes in ridge regression say most."""
    spread = measure_columns(rows.X, rows.weight)[1], measure_columns(rows.y, rows.weight)[1]
    size = (np.abs(fit_ridge(rows).consequents[0, :, 1:]) * spread[0] / spread[1][:, None]).sum(axis=0)
    return np.sort(np.argsort(-size, kind="stable")[:n_terms])


def choose_mix(
    target: FloatArray, ridge: FloatArray, rules: FloatArray, weight: FloatArray, prior: FloatArray | None = None
) -> Mix:
    """Return the mix for rows that neither ridge regression nor rules have seen.

    In doubt, ridge regression keeps its slopes, whose size its penalty has chosen already, and rules are given up: of
    the slope b of the regression with standard error e, they get b * b^2 / (b^2 + 2 e^2).

    Parameters
    ----------
    target, ridge, rules : ndarray of shape (n_rows, n_outputs)
        Targets and predictions, all minus the mean of the rows that trained, in units of the target's deviation. For
        classes, probabilities and outputs before the link.
    weight : ndarray of shape (n_rows,)
    prior : ndarray of shape (n_rows, n_outputs), optional
        For classes, the outputs that stand for the class frequencies of the rows that trained.

    Returns
    -------
    Mix

    Examples
    --------
    >>> import numpy as np
    >>> line = np.linspace(-1, 1, 100)[:, None]
    >>> bend, weight = line**2 - 0.34, np.ones(100)
    >>> [choose_mix(target, line, line + bend, weight).rules for target in (line + bend, line)]
    [1.0, 0.0]
    """
    if prior is None:
        slopes = _round(sum(measure_step(target, ridge, weight)))
        simple = slopes * ridge
        part, doubt = measure_step(target - simple, rules - simple, weight)
        is_exact = bool(np.average(((target - simple) ** 2).mean(axis=1), weights=weight) < EXACT)
    else:
        slopes = _round(sum(measure_log_step(target, prior, ridge - prior, weight)))
        simple = prior + slopes * (ridge - prior)
        part, doubt = measure_log_step(target, simple, rules - simple, weight)
        is_exact = False
    return Mix(slopes, _round(_shrink(part, doubt)) if part > 0 else 0.0, is_exact=is_exact)


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


def measure_log_step(
    target: FloatArray, start: FloatArray, step: FloatArray, weight: FloatArray
) -> tuple[float, float]:
    """Return how much of a step from some outputs before the link has the least log loss, and the standard error.

    What `measure_step` is to numbers. Where classes are told apart without an error, no step would be long enough, and
    it is three times as long at most. The loss is flat there, so that its curvature is taken as the mean along the way.
    A few rows have hardly any errors: the standard error is at least what the curvature says.
    """

    def measure_slopes(part: float) -> FloatArray:
        return ((target - apply_link(start + part * step, find_link(target))) * step).sum(axis=1)

    ends = [float(weight @ measure_slopes(end)) for end in (-_MOST, _MOST)]
    if not np.isfinite(ends).all() or ends[0] == ends[1]:  # beyond all bounds, or both are the same
        return 0.0, 0.0
    part = _MOST if ends[1] >= 0 else -_MOST
    if ends[0] > 0 > ends[1]:
        part = float(brentq(lambda at: weight @ measure_slopes(at), -_MOST, _MOST, xtol=1e-6))
    slopes, ahead = measure_slopes(part), part + (1e-3 if abs(part) < 1e-3 else 0.0)
    curvature = (measure_slopes(0.0) - measure_slopes(ahead)) / ahead
    return part, float(np.sqrt(weight**2 @ np.maximum(slopes**2, curvature)) / (weight @ curvature))


def measure_sharpness(target: FloatArray, outputs: FloatArray, weight: FloatArray) -> float:
    """Return what log-odds or logits of rows held out are to be multiplied with; in doubt 1.

    Rows that are all told apart would make it infinite, but for the chance of one row in all that it is not so.
    """
    n_classes = max(target.shape[1], 2)
    smoothed = target + (1 / n_classes - target) / (len(target) + 1)
    part, doubt = measure_log_step(smoothed, np.zeros_like(outputs), outputs, weight)
    return float(np.clip(1 + _shrink(part - 1, doubt), 1 / _MOST, _MOST))


def sharpen(rules: RuleBase, factor: float) -> RuleBase:
    """Return rules with their outputs before the link multiplied by a factor."""
    return replace(rules, consequents=factor * rules.consequents)


def _shrink(part: float, doubt: float) -> float:
    """Return a number that was measured with a standard error, the nearer to zero the greater the doubt is."""
    return part**3 / (part**2 + _DOUBT * doubt**2) if part else 0.0


def _round(share: float) -> float:
    """Return a share from 0 to 1; a little is none, and much is all."""
    return 0.0 if share < _LITTLE else 1.0 if share > _MUCH else share
