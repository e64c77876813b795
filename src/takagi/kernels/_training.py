"""The training loop: mini-batches, DropRule, the update, validation."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from takagi.kernels._batch import backward, forward, measure_errors
from takagi.kernels._lanes import LANES, copy_sign, load, store, vector_abs, vector_max, vector_min, vector_sqrt
from takagi.kernels._layout import entry_point, inner, invert_widths, sections
from takagi.kernels._prediction import weighted_rmse

SGDM, ADAM, ADABOUND, ADABELIEF = 0, 1, 2, 3


class Settings(NamedTuple):
    """What the training loop needs to know, as scalars."""

    rule: int  # SGDM, ADAM, ADABOUND or ADABELIEF
    beta1: float
    beta2: float
    epsilon: float
    learning_rate: float
    powerball: float
    l2: float
    smoothness: float
    cosine: bool  # the rate falls to zero as half a cosine
    averaging: float  # decay of the running mean of the parameters, 0 for none
    width_floor: float
    max_iter: int
    patience: int  # iterations without improvement before training ends, 0 for no end
    tied_projection: bool


@inner
def apply_powerball(grad, exponent):
    """Replace g by sign(g) |g|^exponent."""
    if exponent == 0.5:
        for i in range(0, len(grad), LANES):
            g = load(grad, i)
            store(grad, i, copy_sign(vector_sqrt(vector_abs(g)), g))
    elif exponent != 1.0:
        for i in range(len(grad)):
            if grad[i] != 0.0:
                grad[i] = math.copysign(abs(grad[i]) ** exponent, grad[i])


@inner
def update_parameters(theta, grad, mean, spread, t, rate, settings):
    """Make step t (from 1) of the optimiser on all parameters; the equations are in `takagi.optimizers`."""
    beta1, beta2, epsilon = settings.beta1, settings.beta2, settings.epsilon
    correct1, correct2 = 1.0 / (1.0 - beta1**t), 1.0 / (1.0 - beta2**t)
    lower = rate * (1.0 - 1.0 / ((1.0 - beta2) * t + 1.0))
    upper = rate * (1.0 + 1.0 / ((1.0 - beta2) * t)) if beta2 < 1.0 else rate
    for i in range(0, len(theta), LANES):
        g, m, v = load(grad, i), load(mean, i), load(spread, i)
        if settings.rule == SGDM:
            m = m * beta1 + g
            step = m * rate
        else:
            m = m * beta1 + g * (1.0 - beta1)
            departure = g - m if settings.rule == ADABELIEF else g
            v = v * beta2 + departure * departure * (1.0 - beta2)
            scale = rate / (vector_sqrt(v * correct2) + epsilon)
            if settings.rule == ADABOUND:
                scale = vector_min(vector_max(scale, lower), upper)
            step = m * correct1 * scale
        store(mean, i, m)
        store(spread, i, v)
        store(theta, i, load(theta, i) - step)


@entry_point
def draw_batches(uniforms, order, batches):
    """Draw rows without replacement, one batch per row of `uniforms`: the head of a Fisher-Yates shuffle of `order`."""
    n = len(order)
    for t in range(uniforms.shape[0]):
        for i in range(uniforms.shape[1]):
            j = i + int(uniforms[t, i] * (n - i))
            order[i], order[j] = order[j], order[i]
            batches[t, i] = order[i]


@inner
def spread_kept(keep, kept, n_rules, stride):
    """Lay one batch's DropRule mask out in lanes; a row that lost all rules keeps all."""
    for i in range(keep.shape[0]):
        survivors = 0
        for r in range(n_rules):
            survivors += keep[i, r]
        for r in range(n_rules):
            kept[i * stride + r] = 1.0 if survivors == 0 or keep[i, r] else 0.0


class State(NamedTuple):
    """All that one iteration hands to the next."""

    theta: np.ndarray
    grad: np.ndarray
    mean: np.ndarray  # first moment
    spread: np.ndarray  # second moment
    average: np.ndarray  # running mean of theta, not yet corrected for its start
    candidate: np.ndarray  # what is validated: theta, or its running mean
    best: np.ndarray
    best_loss: np.ndarray  # one entry
    best_iter: np.ndarray  # one entry, from 1
    n_iter: np.ndarray  # one entry, iterations done


@njit(inline="always")
def copy_to(target, source):
    """Copy one vector of parameters."""
    for i in range(0, len(source), LANES):
        store(target, i, load(source, i))


@inner
def choose_candidate(state, decay, t):
    """Set the parameters to validate: theta itself, or its running mean corrected for its start at zero."""
    if decay == 0.0:
        copy_to(state.candidate, state.theta)
        return
    correction = 1.0 / (1.0 - decay**t)
    for i in range(0, len(state.theta), LANES):
        average = load(state.average, i) * decay + load(state.theta, i) * (1.0 - decay)
        store(state.average, i, average)
        store(state.candidate, i, average * correction)


@njit(inline="always")
def take_step(shape, settings, state, work, tied_sets, data, rows, kept, t):
    """Move theta by one batch with the given kept rules; return the batch's RMSE before that."""
    X, y, weight = data
    start_s, start_w = sections(shape)[1:3]
    invert_widths(state.theta, shape, 1.0, work.inverse, work.offset)
    forward(state.theta, shape, work, X, rows, kept)
    square, total = measure_errors(shape, work, rows, y, weight)
    backward(
        state.theta, shape, work, len(rows), state.grad, settings.l2, settings.smoothness, tied_sets,
        settings.tied_projection,
    )  # fmt: skip
    apply_powerball(state.grad, settings.powerball)
    rate = settings.learning_rate
    if settings.cosine:
        rate *= 0.5 * (1.0 + math.cos(math.pi * (t - 1) / settings.max_iter))
    update_parameters(state.theta, state.grad, state.mean, state.spread, t, rate, settings)
    for i in range(start_s, start_w):
        state.theta[i] = max(state.theta[i], settings.width_floor)
    return math.sqrt(square / total) if total > 0.0 else 0.0


@entry_point
def train_block(shape, settings, state, work, columns, tied_sets, data, validation, batches, keep, history):
    """Run one iteration per batch; return False when one ended with numbers that are not finite.

    `data` is (X, y, weight) and `validation` the same laid out by `lay_dataset`; without validation rows the last
    iterate is the best. `keep` has no entries where DropRule is off. `history` gets the batch's RMSE before and the
    validation RMSE after each update.
    """
    features, targets, weights = validation
    for b in range(len(batches)):
        t, rows = state.n_iter[0] + 1, batches[b]
        kept = work.every_rule
        if len(keep) > 0:
            spread_kept(keep[b], work.kept, shape.n_rules, shape.n_blocks * LANES)
            kept = work.kept
        batch_rmse = take_step(shape, settings, state, work, tied_sets, data, rows, kept, t)
        choose_candidate(state, settings.averaging, t)
        rmse = -t if np.isfinite(batch_rmse) else np.nan  # without validation rows every iterate beats the one before
        if len(weights) > 0:
            rmse = weighted_rmse(state.candidate, shape, columns, features, targets, weights)
        improved = rmse < state.best_loss[0]
        if not np.isfinite(rmse) or (improved and not np.isfinite(state.candidate.sum())):
            return False
        history[b, 0], history[b, 1] = batch_rmse, rmse
        state.n_iter[0] = t
        if improved:
            state.best_loss[0], state.best_iter[0] = rmse, t
            copy_to(state.best, state.candidate)
        elif t - state.best_iter[0] == settings.patience:
            return True
    return True
