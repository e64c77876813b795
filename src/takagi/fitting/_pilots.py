"""Pilot fits: how much of the target is noise, and how smooth the rules should therefore be.

A penalty acts as a prior: its best strength is the variance of the noise over that of what is penalised. So pilots are
fitted to a part of the rows, their error on the rest is taken for the noise, and the penalties of the final fit are in
proportion to it. Where the held-out rows are many enough to tell, they also choose how strongly narrow sets are
penalised. And where a straight line clearly does better on them than the pilots, or nearly as well if there are many
features, a straight line it is.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV

from takagi._typing import FloatArray
from takagi.fitting._rows import MAX_VALIDATION_ROWS, Rows, draw_order, measure_columns
from takagi.rulebase import RuleBase

MANY_FEATURES = 24  # beyond which penalties grow, and a straight line has the benefit of the doubt
L2_PER_NOISE = 3.0
SMOOTHNESS_PER_NOISE = (3.0, 0.02, 0.1, 0.6, 15.0)  # the usual one first
_FIRST = (0.02, 0.03)  # penalties of the pilots that measure the noise: l2 per batch, smoothness per row
_ENOUGH_ROWS = 75  # held-out rows that tell the noise
_MAX_ROWS = 50_000  # that pilots are given
_MAX_RULES = (16, 32)  # of the pilots that measure the noise, and of those that choose
_LEAST_NOISE = 1e-8
_HUGE = 1e100  # an error that is as good as infinite
_ALPHAS = np.logspace(-2, 5, 22)
_MAX_LINE_CELLS = 2 * 10**7


class Strength(NamedTuple):
    """Penalties of a fit, both for a whole pass over the rows; a batch gets its part."""

    l2: float
    smoothness: float


class Pilot(NamedTuple):
    """What to fit: rows, held-out rows to choose the iterate by (None for the last one), penalties, most rules."""

    training: Rows
    validation: Rows | None
    strength: Strength
    max_rules: int


class Advice(NamedTuple):
    """What pilots found: the penalties, and whether a straight line is to be preferred to rules with them."""

    strength: Strength
    prefers_line: bool


def run_pilots(
    fit: Callable[[Pilot], RuleBase],
    rows: Rows,
    held_out: Rows | None,
    fraction: float,
    batch_size: int,
    rng: np.random.Generator,
) -> Advice:
    """Return what pilots that are validated on a part of the rows, or on given rows, advise for a fit to all rows."""
    if len(rows.X) > _MAX_ROWS:
        rows = rows.take(rng.choice(len(rows.X), _MAX_ROWS, replace=False))
    splits = [(rows, held_out)] if held_out is not None else list(_split(rows, fraction, rng))
    errors = [_first_errors(fit, *split, batch_size) for split in splits]
    weight = np.concatenate([validation.weight for _, validation in splits])
    noise, factor = float(np.average(np.concatenate(errors), weights=weight)), SMOOTHNESS_PER_NOISE[0]
    if len(splits) == 1 and rows.X.shape[1] <= len(rows.X):  # else too few rows to choose by
        factor, errors = _choose_smoothness(fit, *splits[0], noise)
        noise = min(noise, float(np.average(errors[0], weights=weight)))
    line = [squared_errors(fit_line(training), training, validation) for training, validation in splits]
    of_line, of_rules = np.concatenate(line), np.concatenate(errors)
    if rows.X.shape[1] > MANY_FEATURES:
        prefers_line = not _is_clearly_less(of_rules, of_line, weight)
    else:
        prefers_line = _is_clearly_less(of_line, of_rules, weight)
    return Advice(_strength(noise, factor), prefers_line)


def fit_line(rows: Rows) -> RuleBase:
    """Return ridge regression, its penalty chosen by leave-one-out, as one rule without conditions."""
    mean, scale = measure_columns(rows.X, rows.weight)
    y_mean, y_scale = measure_columns(rows.y, rows.weight)
    sample = slice(None, None, -(-rows.X.size // _MAX_LINE_CELLS))
    ridge = RidgeCV(_ALPHAS) if len(rows.X) > 2 else Ridge()  # two rows cannot choose
    ridge.fit(((rows.X - mean) / scale)[sample], ((rows.y - y_mean) / y_scale)[sample], rows.weight[sample])
    coef, intercept = np.reshape(ridge.coef_, (rows.y.shape[1], -1)), np.reshape(ridge.intercept_, -1)
    consequents = np.concatenate([intercept[:, None], coef], axis=1)[None]
    n_features = rows.X.shape[1]
    standard = RuleBase(np.zeros((1, n_features)), np.full((1, n_features), np.inf), consequents)
    return standard.rescale(mean, scale, y_mean, y_scale)


def squared_errors(rules: RuleBase, training: Rows, validation: Rows) -> FloatArray:
    """Return squared errors in units of the target's variance in training, of shape (n_rows,)."""
    scale = measure_columns(training.y, training.weight)[1]
    prediction = rules.predict(validation.X).reshape(validation.y.shape)
    with np.errstate(over="ignore"):
        return np.minimum((prediction / scale - validation.y / scale) ** 2, _HUGE).mean(axis=1)


def _first_errors(fit: Callable[[Pilot], RuleBase], training: Rows, validation: Rows, batch_size: int) -> FloatArray:
    strength = Strength(_FIRST[0] * len(training.X) / batch_size, _FIRST[1])
    return squared_errors(fit(Pilot(training, validation, strength, _MAX_RULES[0])), training, validation)


def _choose_smoothness(
    fit: Callable[[Pilot], RuleBase], training: Rows, validation: Rows, noise: float
) -> tuple[float, list[FloatArray]]:
    """Return the penalty on narrow sets in units of the noise, the usual one in doubt, and the smallest errors."""
    errors = np.array(
        [
            squared_errors(fit(Pilot(training, None, _strength(noise, factor), _MAX_RULES[1])), training, validation)
            for factor in SMOOTHNESS_PER_NOISE
        ]
    )
    best = int(np.average(errors, axis=1, weights=validation.weight).argmin())
    chosen = best if _is_clearly_less(errors[best], errors[0], validation.weight) else 0
    return SMOOTHNESS_PER_NOISE[chosen], [errors[best]]


def _is_clearly_less(errors: FloatArray, others: FloatArray, weight: FloatArray) -> bool:
    """Whether errors are smaller by more than the standard error of the mean difference."""
    gain = others - errors
    doubt = np.sqrt(np.average((gain - gain.mean()) ** 2, weights=weight) / len(gain))
    return bool(np.average(gain, weights=weight) > doubt)


def _strength(noise: float, factor: float) -> Strength:
    noise = float(np.clip(noise, _LEAST_NOISE, 1.0))  # no more than the mean would leave
    return Strength(L2_PER_NOISE * noise, factor * noise)


def _split(rows: Rows, fraction: float, rng: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
    """Yield parts to train on and to validate on, until enough rows have been validated on; one row serves as both."""
    order, heavy = draw_order(rows, rng)
    n_rows = len(order)
    if n_rows == 1:
        yield rows, rows
        return
    n_val = int(np.clip(round(fraction * n_rows), 1, min(MAX_VALIDATION_ROWS, n_rows - 1)))
    for start in range(0, min(_ENOUGH_ROWS, n_rows - n_val + 1), n_val):
        chosen = order[start : start + n_val]
        training = np.setdiff1d(np.r_[order, heavy], chosen)
        yield rows.take(training), rows.take(np.r_[chosen, heavy])
