"""Logistic regression as one rule, and steps in log-odds: the counterpart of ridge regression for classes."""

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq, minimize

from takagi._checks import are_finite
from takagi._typing import BoolArray, FloatArray
from takagi.fitting._ridge import place_missing
from takagi.fitting._rows import Rows, is_clearly_less, measure_columns, shrink_share, standardize_columns
from takagi.rulebase import RuleBase, apply_link
from takagi.rulemodel import RuleModel
from takagi.training import LOSSES

_PENALTIES = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.01)  # on half the squared slopes; the strongest first
_USUAL = 1.0
_N_FOLDS = 4
_MAX_CELLS = 2 * 10**6
_MAX_ITER = 200
_FARTHEST = 20.0  # that log-odds are moved
_MOST = 3.0  # largest factor of a step, and by which log-odds are multiplied or divided


def fit_logistic(rows: Rows, slopes: float = 1.0, penalty: float = 1.0) -> RuleBase:
    """Return logistic regression as one rule, with the given share of its distance from the class frequencies.

    A missing value counts as the number that suits its rows best, see `place_missing`.
    """
    usual = _find_usual(rows, penalty)
    rows = _fill(rows, usual)
    mean, scale = measure_columns(rows.X, rows.weight)
    scaled = rows._replace(X=standardize_columns(rows.X, mean, scale))
    start, n_features = _start(scaled), rows.X.shape[1]
    consequents = start + slopes * (_descend(scaled, start, penalty) - start)
    nothing, no_conditions = np.zeros((1, n_features)), np.full((1, n_features), np.inf)
    standard = RuleBase(nothing, no_conditions, consequents[None], link=find_link(rows.y))
    return replace(standard.rescale(mean, scale, np.zeros(1), np.ones(1)), usual=usual[None])


def _find_usual(rows: Rows, penalty: float) -> FloatArray:
    """Return what each feature counts as where it is missing, in its own units; the mean if it never is."""
    mean, scale = measure_columns(rows.X, rows.weight)
    if are_finite(rows.X):
        return mean
    standard = rows._replace(X=(rows.X - mean) / scale)
    return mean + scale * place_missing(standard, lambda both: _descend(both, _start(both), penalty)[:, 1:])


def _fill(rows: Rows, usual: FloatArray) -> Rows:
    return rows if are_finite(rows.X) else rows._replace(X=np.where(np.isnan(rows.X), usual, rows.X))


def _scale(rows: Rows, is_out: BoolArray) -> tuple[Rows, Rows]:
    """Return rows that train and rows that are held out, in the units of the former, without missing values."""
    part, judges = rows.take(np.flatnonzero(~is_out)), rows.take(np.flatnonzero(is_out))
    usual = _find_usual(part, _USUAL)
    part, judges = _fill(part, usual), _fill(judges, usual)
    mean, scale = measure_columns(part.X, part.weight)
    return part._replace(X=(part.X - mean) / scale), judges._replace(X=(judges.X - mean) / scale)


def choose_penalty(rows: Rows) -> float:
    """Return the penalty of logistic regression that cross-validation prefers; in doubt, one near the usual one.

    Folds follow the order of the rows, which must be independent of the classes.
    """
    rows = Rows(*(part[:: -(-rows.X.size // _MAX_CELLS)] for part in rows))
    if len(rows.X) < 2 * _N_FOLDS:
        return _USUAL
    is_out = np.arange(len(rows.X)) % _N_FOLDS == np.arange(_N_FOLDS)[:, None]
    parts, judges = zip(*(_scale(rows, here) for here in is_out), strict=True)
    weights, weight = [_start(part) for part in parts], np.concatenate([part.weight for part in judges])
    losses: dict[float, FloatArray] = {}
    for penalty in _PENALTIES:
        weights = [_descend(*one, penalty) for one in zip(parts, weights, strict=True)]
        losses[penalty] = np.concatenate([*map(_judge, judges, weights)])
    return prefer_usual(losses, weight)


def prefer_usual(losses: dict[float, FloatArray], weight: FloatArray) -> float:
    """Return the penalty nearest to the usual one whose loss is not clearly larger than the smallest.

    That is the rule of one standard error [1]_, with the usual penalty in place of the simplest model. The losses of
    held-out rows are given by penalty.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen and C. Stone, Classification and Regression Trees, 1984, section 3.4.3.
    """
    best = min(losses, key=lambda tried: float(weight @ losses[tried]))
    low, high = sorted((best, _USUAL))
    between = sorted((tried for tried in losses if low <= tried <= high), reverse=best < _USUAL)
    return next(tried for tried in between if not is_clearly_less(losses[best], losses[tried], weight))


def _judge(rows: Rows, weights: FloatArray) -> FloatArray:
    return LOSSES["log"].measure_rows(weights[:, 0] + rows.X @ weights[:, 1:].T, rows.y)


def find_logits(y: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the log-odds of a class, or the logits of several, from the weighted class frequencies.

    One additional row of each class keeps them finite. The logits of several classes sum to zero. Weights of shape
    (n_rows, n_rules) give logits for each rule, of shape (n_rules, n_outputs).

    >>> find_logits(np.array([[1.0], [0.0], [1.0], [1.0]]), np.ones(4)).round(3)
    array([0.693])
    """
    mass = weight.T @ y
    if y.shape[1] == 1:
        return np.log((mass + 1) / (weight.sum(axis=0)[..., None] - mass + 1))
    logits = np.log(mass + 1)
    return logits - logits.mean(axis=-1, keepdims=True)


def find_link(y: FloatArray) -> str:
    """Return the link of rules whose targets are probabilities of one class or of several."""
    return LOSSES["log"].links[y.shape[1] > 1]


def _start(rows: Rows) -> FloatArray:
    """Return biases and slopes, of shape (n_outputs, n_features + 1), that predict the class frequencies."""
    biases = find_logits(rows.y, rows.weight)
    return np.column_stack([biases, np.zeros((len(biases), rows.X.shape[1]))])


def _descend(rows: Rows, start: FloatArray, penalty: float) -> FloatArray:
    """Return biases and slopes of standardized features with the smallest penalized loss.

    The loss is the sum over rows, whose weights should have mean 1; only slopes are penalized.
    """
    Z, n_outputs, weight = rows.X, rows.y.shape[1], rows.weight / rows.weight.sum()
    part, link = penalty / len(Z), find_link(rows.y)

    def measure(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(n_outputs, -1)
        outputs = weights[:, 0] + Z @ weights[:, 1:].T
        loss = weight @ LOSSES["log"].measure_rows(outputs, rows.y) + 0.5 * part * (weights[:, 1:] ** 2).sum()
        errors = (apply_link(outputs, link) - rows.y) * weight[:, None]
        slopes = errors.T @ Z + part * weights[:, 1:]
        return float(loss), np.column_stack([errors.sum(axis=0), slopes]).ravel()

    options = {"maxiter": _MAX_ITER, "gtol": 1e-5, "ftol": 1e-9}
    return minimize(measure, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(n_outputs, -1)


# -- steps in log-odds -------------------------------------------------------------------------------------------------


def measure_log_step(
    target: FloatArray, start: FloatArray, step: FloatArray, weight: FloatArray
) -> tuple[float, float]:
    """Return the multiple of a step in outputs before the link with the smallest log loss, and its standard error.

    This is `measure_step` for classes. If classes are separated without an error, no step would be long enough; the
    multiple is at most three. The loss is flat there, so its mean curvature along the step is used. Few rows may have
    hardly any errors: the standard error is at least that of the curvature.
    """

    def measure_slopes(part: float) -> FloatArray:
        return ((target - apply_link(start + part * step, find_link(target))) * step).sum(axis=1)

    ends = [float(weight @ measure_slopes(end)) for end in (-_MOST, _MOST)]
    if not np.isfinite(ends).all() or ends[0] == ends[1]:  # not finite, or both outputs are the same
        return 0.0, 0.0
    part = _MOST if ends[1] >= 0 else -_MOST
    if ends[0] > 0 > ends[1]:
        part = float(brentq(lambda at: weight @ measure_slopes(at), -_MOST, _MOST, xtol=1e-6))
    slopes, ahead = measure_slopes(part), part + (1e-3 if abs(part) < 1e-3 else 0.0)
    curvature = (measure_slopes(0.0) - measure_slopes(ahead)) / ahead
    return part, float(np.sqrt(weight**2 @ np.maximum(slopes**2, curvature)) / (weight @ curvature))


def measure_sharpness(target: FloatArray, outputs: FloatArray, weight: FloatArray) -> float:
    """Return the best factor of log-odds or logits (the inverse temperature) for held-out rows, shrunk toward 1.

    Targets are smoothed by one row in all: if the classes of all rows were separated, the factor would be infinite.
    Smoothing alone is no reason for a factor below 1: the rows themselves must ask for it.
    """
    n_classes, start = max(target.shape[1], 2), np.zeros_like(outputs)
    smoothed = target + (1 / n_classes - target) / (len(target) + 1)
    part, doubt = measure_log_step(smoothed, start, outputs, weight)
    if part < 1 <= measure_log_step(target, start, outputs, weight)[0]:
        return 1.0
    return float(np.clip(1 + shrink_share(part - 1, doubt), 1 / _MOST, _MOST))


def level(model: RuleModel, rows: Rows) -> RuleModel:
    """Return a model whose mean probabilities in rows are the frequencies of their classes, as in logistic regression.

    A constant is added to the outputs before the link. Training leaves such a constant nearly at zero; but to multiply
    the log-odds of a rare class moves its probabilities far from its frequency. If a class has no rows, the model stays
    as it is.
    """
    outputs, weight, link = model.predict_raw(rows.X), rows.weight / rows.weight.sum(), find_link(rows.y)
    frequencies = weight @ rows.y
    if not ((frequencies > 0) & (frequencies < 1)).all():
        return model

    def measure(shift: FloatArray) -> tuple[float, FloatArray]:
        moved = outputs + shift
        loss = float(weight @ LOSSES["log"].measure_rows(moved, rows.y))
        return loss, weight @ apply_link(moved, link) - frequencies

    bounds, options = [(-_FARTHEST, _FARTHEST)] * len(frequencies), {"gtol": 1e-9, "ftol": 1e-15}
    found = minimize(measure, np.zeros(len(frequencies)), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    consequents = model.first.consequents.copy()
    consequents[:, :, 0] += found.x
    return replace(model, parts=(replace(model.first, consequents=consequents), *model.parts[1:]))


def sharpen(rules: RuleBase, factor: float) -> RuleBase:
    """Return rules with their outputs before the link multiplied by a factor."""
    return replace(rules, consequents=factor * rules.consequents)
