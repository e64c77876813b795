"""Training of all parameters of a draft together, by Levenberg-Marquardt steps (Marquardt, 1963).

The loss of a row with target t, in a sum of parts b with shares p, formulas f and means y_b = sum_r p_r f_r::

    (t - sum_b y_b)^2 + agreement * sum_b sum_{r in b} p_r (f_r - y_b)^2

plus ridge times the squared weights of the formulas, and smoothness times the sum of ``1 / widths**2``. With one part
and an agreement of 1, that is the mean over rules of ``p_r (t - f_r)^2``: each rule has to be right by itself.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dposv

from takagi._typing import FloatArray, IntArray
from takagi.fitting._short._draft import SumDraft, Task
from takagi.fitting._short._frame import Frame, Response, Values, open_frame

WIDTHS = (0.15, 2.0)  # the narrowest and the widest set, in standard deviations
_LARGEST_STEPS = (1.0, 0.7)  # of a center, and of the logarithm of a width
_DAMPING = (1e-2, 1e-6, 4.0, 5.0)  # initial and smallest damping, and the factors by which it falls and rises
_MOST_TRIALS = 8
_PATIENCE = 5  # steps that must have a gain together
_TINY = 1e-9


def solve_weights(draft: SumDraft, task: Task) -> SumDraft:
    """Return the draft with the best weights for its sets."""
    frame, values = open_frame(draft, task)
    weighted, curvature = _curve_weights(frame, frame.find_shares(values)[1])
    curvature[np.diag_indices(len(curvature))] += np.where(frame.columns > 0, task.ridge, 1e-6) + 1e-8
    weights = np.zeros_like(draft.weights)
    weights[frame.rules, :, frame.columns] = np.linalg.solve(curvature, weighted @ task.target)
    return replace(draft, weights=weights)


def polish(draft: SumDraft, task: Task, n_steps: int, tolerance: float = 1e-4) -> tuple[SumDraft, float]:
    """Return a draft with a smaller loss, and the loss; ends early where steps gain next to nothing."""
    frame, values = open_frame(draft, task)
    response = frame.respond(values)
    loss, damping = frame.measure_loss(values, response), _DAMPING[0]
    past = [loss]
    for _ in range(n_steps):
        curvature, downhill = _find_equations(frame, values, response)
        fixed = _find_stuck(frame, values, downhill)
        downhill[fixed] = 0.0
        curvature[fixed] = curvature[:, fixed] = 0.0
        curvature[fixed, fixed] = 1.0
        diagonal = np.diag(curvature) + _TINY
        for _ in range(_MOST_TRIALS):
            damped = curvature.copy()
            damped.flat[:: len(damped) + 1] += damping * diagonal + _TINY
            moved = _move(frame, values, solve_normal(damped, downhill, draft))
            there = frame.respond(moved)
            value = frame.measure_loss(moved, there)
            if value < loss:
                values, response, loss, damping = moved, there, value, max(damping / _DAMPING[2], _DAMPING[1])
                break
            damping *= _DAMPING[3]
        else:
            break
        past.append(loss)
        if len(past) > _PATIENCE and past[-1 - _PATIENCE] - loss < tolerance * loss:
            break
    return values.put_into(draft, frame), loss


def normal_equations(draft: SumDraft, task: Task) -> tuple[FloatArray, FloatArray]:
    """Return the Gauss-Newton matrix and the downhill gradient of half the loss.

    Parameters are the weights, output by output, the centers, and the logarithms of the widths.
    """
    frame, values = open_frame(draft, task)
    return _find_equations(frame, values, frame.respond(values))


def _find_equations(frame: Frame, values: Values, response: Response) -> tuple[FloatArray, FloatArray]:
    """Return the normal equations, given what the rules say."""
    task, row_weight, share, inputs = frame.task, frame.task.weight, response.share, frame.inputs
    n_outputs, n_weights, n_sets = len(frame.target), len(frame.rules), len(frame.asking)
    size = n_outputs * n_weights + 2 * n_sets
    curvature, downhill = np.zeros((size, size)), np.zeros(size)
    owner = np.concatenate([frame.asking, frame.asking])
    moves = np.concatenate([response.distance / values.widths[:, None], response.distance**2])  # of log firing
    of_weights, of_sets = np.arange(n_weights), slice(n_outputs * n_weights, size)
    weighted, per_output = _curve_weights(frame, share)
    per_output[of_weights, of_weights] += frame.ridge
    for o, (apart, error) in enumerate(zip(response.apart, response.error, strict=True)):
        pull = share * apart
        slope = pull[owner] * moves  # of the prediction, by centers and log widths
        own = slice(o * n_weights, (o + 1) * n_weights)
        downhill[own] = weighted @ error - frame.ridge * values.weights[o]
        downhill[of_sets] += slope @ (row_weight * error)
        curvature[own, own] = per_output
        curvature[own, of_sets] = weighted @ slope.T
        curvature[of_sets, own] = curvature[own, of_sets].T
        curvature[of_sets, of_sets] += slope @ (slope * row_weight).T
        if task.agreement:
            square = pull * apart
            spread = frame.together @ square
            downhill[own] -= task.agreement * (inputs @ (pull * row_weight).T)[of_weights, frame.rules]
            price = 0.5 * task.agreement * (square - share * spread) * row_weight
            downhill[of_sets] -= (moves @ price.T)[np.arange(2 * n_sets), owner]
            bend = 0.25 * task.agreement * (square * (1 - 2 * share) + share**2 * spread) * row_weight
            curvature[of_sets, of_sets] += (owner[:, None] == owner) * ((bend[owner] * moves) @ moves.T)
    curvature /= n_outputs
    downhill /= n_outputs
    sharp, last = task.smoothness * values.widths**-2.0, np.arange(size - n_sets, size)
    curvature[last, last] += sharp
    downhill[last] += sharp
    return curvature, downhill


def solve_normal(curvature: FloatArray, downhill: FloatArray, draft: SumDraft) -> FloatArray:
    """Return the solution of the normal equations.

    Weights of different outputs are coupled only through the sets, and all outputs have the same block. So with several
    outputs, the weights are eliminated, and the equations of the sets are solved (Schur complement).
    """
    n_outputs = draft.weights.shape[1]
    if n_outputs == 1:
        _, step, failed = dposv(curvature, downhill)
        return np.asarray(np.linalg.solve(curvature, downhill) if failed else step, dtype=float)
    block, coupling, of_sets = _take_blocks(curvature, draft)
    n_weights = len(block)
    right = np.concatenate([downhill[: n_outputs * n_weights].reshape(n_outputs, n_weights, 1), coupling], axis=2)
    solved = np.linalg.solve(block, right.transpose(1, 0, 2).reshape(n_weights, -1)).reshape(n_weights, n_outputs, -1)
    own, through = solved[:, :, 0], solved[:, :, 1:]
    left = downhill[n_outputs * n_weights :] - np.einsum("kws,wk->s", coupling, own)
    sets = np.linalg.solve(of_sets - np.einsum("kws,wkt->st", coupling, through, optimize=True), left)
    return np.r_[(own - through @ sets).T.ravel(), sets]


def invert_weights(curvature: FloatArray, draft: SumDraft) -> FloatArray:
    """Return the diagonal of the inverse of a curvature for the weights, of shape (n_outputs, n_weights)."""
    n_outputs = draft.weights.shape[1]
    block, coupling, of_sets = _take_blocks(curvature, draft)
    if n_outputs == 1:
        return np.diag(np.linalg.inv(curvature))[None, : len(block)]
    inverse = np.linalg.inv(block)
    through = inverse @ coupling
    left = np.linalg.inv(of_sets - np.einsum("kws,kwt->st", coupling, through, optimize=True))
    return np.diag(inverse) + np.einsum("kws,st,kwt->kw", through, left, through, optimize=True)


def _take_blocks(curvature: FloatArray, draft: SumDraft) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the block of the weights of one output, those that couple weights and sets, and that of the sets."""
    n_outputs, n_sets = draft.weights.shape[1], 2 * int(draft.asks.sum())
    n_weights = (len(curvature) - n_sets) // n_outputs
    of_weights, of_sets = slice(0, n_outputs * n_weights), slice(n_outputs * n_weights, None)
    coupling = curvature[of_weights, of_sets].reshape(n_outputs, n_weights, n_sets)
    return curvature[:n_weights, :n_weights], coupling, curvature[of_sets, of_sets]


def within_bounds(draft: SumDraft, task: Task) -> SumDraft:
    """Return the draft with its sets within the bounds."""
    centers = np.where(draft.asks, np.clip(draft.centers, task.low, task.high), draft.centers)
    return replace(draft, centers=centers, widths=np.where(draft.asks, np.clip(draft.widths, *WIDTHS), np.inf))


def _curve_weights(frame: Frame, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return inputs times the shares of their rules and the weights of rows, and the curvature of one output's loss."""
    blended = share[frame.rules]
    blended *= frame.inputs
    weighted = blended * frame.task.weight
    curvature = weighted @ blended.T
    agreement = frame.task.agreement
    if agreement:
        curvature *= 1.0 - agreement * frame.together[frame.rules][:, frame.rules]
        end = 0
        for n_own in np.bincount(frame.rules).tolist():
            own = slice(end, end + n_own)
            curvature[own, own] += agreement * (weighted[own] @ frame.inputs[own].T)
            end += n_own
    return weighted, curvature


def _move(frame: Frame, values: Values, step: FloatArray) -> Values:
    """Return the parameters after a step, or as far towards there as bounds allow."""
    n_sets = len(frame.asking)
    n_weights = len(step) - 2 * n_sets
    weights, by, stretch = step[:n_weights], step[n_weights : n_weights + n_sets], step[n_weights + n_sets :]
    by, stretch = (one.clip(-most, most) for one, most in zip((by, stretch), _LARGEST_STEPS, strict=True))
    return Values(
        values.weights + weights.reshape(values.weights.shape),
        (values.centers + by).clip(frame.low, frame.high),
        (values.widths * np.exp(stretch)).clip(*WIDTHS),
    )


def _find_stuck(frame: Frame, values: Values, downhill: FloatArray) -> IntArray:
    """Return the centers and widths that are at a bound and want to go beyond."""
    first = len(downhill) - 2 * len(frame.asking)
    wish = downhill[first:]
    at_high = np.concatenate([values.centers >= frame.high, values.widths >= WIDTHS[1]])
    at_low = np.concatenate([values.centers <= frame.low, values.widths <= WIDTHS[0]])
    return first + np.flatnonzero((at_high & (wish > 0)) | (at_low & (wish < 0)))
