"""The training loop: mini-batches, DropRule, the update, validation."""

import math

import numpy as np
from numba import njit

from takagi.kernels._arrays import ADABELIEF, ADABOUND, DIVERGED, GOES_ON, LANES, MOMENTUM, STALLED
from takagi.kernels._batch import add_gradient, finish_gradient, forward, measure_errors
from takagi.kernels._compile import entry_point, inner
from takagi.kernels._lanes import (
    copy_sign,
    load_vector,
    prefetch,
    store,
    vector_abs,
    vector_max,
    vector_min,
    vector_sqrt,
)
from takagi.kernels._layout import clear, invert_widths
from takagi.kernels._prediction import weighted_loss
from takagi.kernels._prices import price_disagreement, price_unevenness


@inner
def apply_powerball(grad, exponent):
    """Replace g by sign(g) |g|^exponent."""
    if exponent == 0.5:
        for i in range(0, len(grad), LANES):
            g = load_vector(grad, i)
            store(grad, i, copy_sign(vector_sqrt(vector_abs(g)), g))
    elif exponent != 1.0:
        for i in range(len(grad)):
            if grad[i] != 0.0:
                grad[i] = math.copysign(abs(grad[i]) ** exponent, grad[i])


@inner
def update_parameters(state, limits, t, rate, settings):
    """Make step t (from 1) of the optimizer on all parameters, and move those beyond a bound to it.

    The equations are in `takagi.optimizers`. What is not a number stays so, and ends training.
    """
    theta, grad, mean, spread = state.theta, state.grad, state.mean, state.spread
    lowest, highest = limits
    beta1, beta2, epsilon = settings.beta1, settings.beta2, settings.epsilon
    correct1, correct2 = 1.0 / (1.0 - beta1**t), 1.0 / (1.0 - beta2**t)
    lower = rate * (1.0 - 1.0 / ((1.0 - beta2) * t + 1.0))
    upper = rate * (1.0 + 1.0 / ((1.0 - beta2) * t)) if beta2 < 1.0 else rate
    for i in range(0, len(theta), LANES):
        g, m, v = load_vector(grad, i), load_vector(mean, i), load_vector(spread, i)
        if settings.rule == MOMENTUM:
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
        moved = vector_max(load_vector(lowest, i), load_vector(theta, i) - step)
        store(theta, i, vector_min(load_vector(highest, i), moved))


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


@njit(inline="always")
def copy_to(target, source):
    """Copy one vector of parameters."""
    for i in range(0, len(source), LANES):
        store(target, i, load_vector(source, i))


@inner
def follow_average(state, decay):
    """Take the parameters into their running mean, if there is one."""
    if decay > 0.0:
        for i in range(0, len(state.theta), LANES):
            average = load_vector(state.average, i) * decay + load_vector(state.theta, i) * (1.0 - decay)
            store(state.average, i, average)


@inner
def choose_candidate(state, decay, t):
    """Set the parameters to validate: theta itself, or its running mean corrected for its start at zero."""
    if decay == 0.0:
        copy_to(state.candidate, state.theta)
        return
    correction = 1.0 / (1.0 - decay**t)
    for i in range(0, len(state.theta), LANES):
        store(state.candidate, i, load_vector(state.average, i) * correction)


@njit(inline="always")
def choose_kept(shape, work, keep, b, start, end):
    """Return which rules rows of batch b use: those that DropRule kept; all where it is off and `keep` is empty."""
    if len(keep) == 0:
        return work.every_rule
    spread_kept(keep[b, start:end], work.kept, shape.n_rules, shape.n_blocks * LANES)
    return work.kept


@inner
def report_loss(mean, loss):
    """Return the loss of a batch as training tells it: the mean, or the root of the mean square."""
    return math.sqrt(mean) if loss is None else mean


@inner
def prefetch_rows(data, rows):
    """Ask for the rows of a batch, which lie anywhere in memory, before they are needed."""
    X, y, weight = data
    n_features, n_outputs = X.shape[1], y.shape[1]
    for i in range(len(rows)):
        row = rows[i]
        for k in range(0, n_features, LANES):
            prefetch(X, row * n_features + k)
        prefetch(X, (row + 1) * n_features - 1)
        prefetch(y, row * n_outputs)
        prefetch(weight, row)


@njit(inline="always")
def differentiate(shape, settings, state, work, tied_sets, data, rows, following, keep, b):
    """Set the gradient of a batch, after Powerball, with the rules that `keep[b]` says; return its loss.

    The batch passes in parts that fill the buffers, which are small enough to stay in the cache.
    """
    X, y, weight = data
    lost, total, has_price = 0.0, 0.0, settings.agreement > 0.0
    invert_widths(state.theta, shape, 1.0, work.inverse, work.offset)
    clear(state.grad, 0, len(state.grad))
    n_most = len(work.price)
    drops = len(keep) > 0 or shape.n_rules < shape.n_blocks * LANES  # rules, or lanes that only fill up
    for start in range(0, len(rows), n_most):
        here = rows[start : start + n_most]
        prefetch_rows(data, following[start : start + n_most])
        kept = choose_kept(shape, work, keep, b, start, start + len(here))
        forward(state.theta, shape, work, X, here, kept, drops)
        lost, total = measure_errors(shape, work, here, y, weight, settings.loss, lost, total)
        if has_price:
            price_disagreement(shape, work, here, weight, settings.agreement)
        price_unevenness(shape, work, here, weight, settings.uniformity)
        add_gradient(state.theta, shape, work, len(here), state.grad, has_price)
    finish_gradient(state.theta, shape, work, state.grad, settings, tied_sets)
    apply_powerball(state.grad, settings.powerball)
    if settings.loss is None:
        total *= shape.n_outputs
    return report_loss(lost / total if total > 0.0 else 0.0, settings.loss)


@njit(inline="always")
def schedule_rate(settings, t):
    """Return the learning rate of iteration t, from 1."""
    if settings.cosine:
        return settings.learning_rate * (0.5 * (1.0 + math.cos(math.pi * (t - 1) / settings.max_iter)))
    return settings.learning_rate


@inner
def is_sound(candidate, limits):
    """Tell whether all parameters are finite, except those that are held where they are."""
    lower, upper = limits
    n_broken = 0
    for i in range(len(candidate)):
        n_broken += not np.isfinite(candidate[i]) and lower[i] != upper[i]
    return n_broken == 0


@njit(inline="always")
def judge(shape, settings, state, limits, columns, validation, batch_loss, is_judged, losses):
    """Finish an iteration: validate if it is to be judged, keep the best, write both losses; return how it ended.

    Without validation rows the last iterate that is judged is the best. The loss of what is not validated is NaN.
    """
    features, targets, weights = validation
    t = state.n_iter[0] + 1
    follow_average(state, settings.averaging)
    loss, improved, finite = np.nan, False, np.isfinite(batch_loss)
    if is_judged:
        choose_candidate(state, settings.averaging, t)
        improved = True
        if len(weights) > 0:
            loss = weighted_loss(state.candidate, shape, columns, features, targets, weights, settings.loss)
            improved, finite = loss < state.best_loss[0], np.isfinite(loss)
    if not finite or (improved and not is_sound(state.candidate, limits)):
        return DIVERGED
    losses[0], losses[1] = batch_loss, loss
    state.n_iter[0] = t
    if improved:
        state.best_loss[0], state.best_iter[0] = loss, t
        copy_to(state.best, state.candidate)
    elif is_judged and 0 < settings.patience <= t - state.best_iter[0]:
        return STALLED
    return GOES_ON


@entry_point
def train_block(shape, settings, state, limits, work, columns, tied_sets, data, validation, batches, keep, history):
    """Run one iteration per batch; return whether training goes on, and if not why.

    `limits` are the lower and upper bounds of theta. `data` is (X, y, weight) and `validation` the same in lanes of
    rows. `keep` has no entries where DropRule is off. `history` gets the batch's loss before each update and
    the validation loss after it.
    """
    for b in range(len(batches)):
        t = state.n_iter[0] + 1
        following = batches[min(b + 1, len(batches) - 1)]
        batch_loss = differentiate(shape, settings, state, work, tied_sets, data, batches[b], following, keep, b)
        update_parameters(state, limits, t, schedule_rate(settings, t), settings)
        is_judged = (b + 1) % settings.every == 0 or b + 1 == len(batches)
        ended = judge(shape, settings, state, limits, columns, validation, batch_loss, is_judged, history[b])
        if ended != GOES_ON:
            return ended
    return GOES_ON


# -- The same in three parts, for what is decided in Python between them -----------------------------------------------


@entry_point
def find_gradient(shape, settings, state, work, tied_sets, data, rows, keep):
    """Set the gradient of one batch; `keep` has one entry, or none where DropRule is off. Return the batch's loss."""
    return differentiate(shape, settings, state, work, tied_sets, data, rows, rows, keep, 0)


@entry_point
def move_parameters(settings, state, limits):
    """Make the step of one of the compiled update rules."""
    t = state.n_iter[0] + 1
    update_parameters(state, limits, t, schedule_rate(settings, t), settings)


@entry_point
def judge_iterate(shape, settings, state, limits, columns, validation, batch_loss, is_judged, losses):
    """Finish an iteration; return whether training goes on, and if not why."""
    return judge(shape, settings, state, limits, columns, validation, batch_loss, is_judged, losses)
