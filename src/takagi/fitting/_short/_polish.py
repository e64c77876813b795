"""All parameters of a draft at once, by Levenberg-Marquardt steps.

The loss of a row with target t, in a sum of parts b with shares p, formulas f and means y_b = sum_r p_r f_r::

    (t - sum_b y_b)^2 + agreement * sum_b sum_{r in b} p_r (f_r - y_b)^2

plus ridge times the squared weights of the formulas, and smoothness times the sum of ``1 / widths**2``. With one part
and an agreement of 1, that is the mean over rules of ``p_r (t - f_r)^2``: each rule has to be right by itself.
"""

from dataclasses import replace

import numpy as np

from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.fitting._short._draft import SumDraft, Task

WIDTHS = (0.15, 2.0)  # the narrowest and the widest set, in standard deviations
_LARGEST_STEPS = (1.0, 0.7)  # of a center, and of the logarithm of a width
_DAMPING = (1e-2, 1e-6, 4.0, 5.0)  # at first, least, and how it falls and rises
_MOST_TRIALS = 8
_PATIENCE = 5  # steps that have to gain something together
_TINY = 1e-9

Places = tuple[IntArray, IntArray]
Evaluated = tuple[FloatArray, FloatArray]


def evaluate(draft: SumDraft, task: Task) -> Evaluated:
    """Return the shares of the rules, and what their formulas say."""
    return draft.shares(task.Z, task.seen), draft.outputs(task.columns)


def measure_loss(draft: SumDraft, task: Task, known: Evaluated | None = None) -> float:
    """Return the loss of the rows and the penalties, given what is known of the draft if it is."""
    share, outputs = evaluate(draft, task) if known is None else known
    together, total = draft.together, 0.0
    for output, target in zip(outputs, task.target.T, strict=True):
        said = share * output
        square = (target - said.sum(axis=1)) ** 2
        if task.agreement:
            square = square + task.agreement * (share * (output - said @ together) ** 2).sum(axis=1)
        total += float(task.weight @ square)
    penalty = task.ridge * float((draft.weights[:, :, 1:] ** 2).sum())
    return (total + penalty) / task.target.shape[1] + task.smoothness * float((draft.widths[draft.asks] ** -2.0).sum())


def find_weights(draft: SumDraft) -> Places:
    """Return where the weights are that may be different from zero: rules and columns, bias first."""
    rules, columns = np.nonzero(np.hstack([np.ones((draft.n_rules, 1), dtype=bool), draft.uses]))
    return rules, columns


def solve_weights(draft: SumDraft, task: Task) -> SumDraft:
    """Return the draft with the best weights for its sets."""
    rules, columns = find_weights(draft)
    share = draft.shares(task.Z, task.seen)
    inputs = _take_inputs(task, columns)
    blended = _blend(share, rules, inputs)
    curvature = _curve_weights(draft, task, share, inputs, blended, rules)
    curvature[np.diag_indices(len(rules))] += np.where(columns > 0, task.ridge, 1e-6) + 1e-8
    weights = np.zeros_like(draft.weights)
    weights[rules, :, columns] = np.linalg.solve(curvature, (blended * task.weight[:, None]).T @ task.target)
    return replace(draft, weights=weights)


def polish(draft: SumDraft, task: Task, n_steps: int, tolerance: float = 1e-4) -> tuple[SumDraft, float]:
    """Return a draft with a smaller loss, and the loss; ends early where steps gain next to nothing."""
    known = evaluate(draft, task)
    loss, damping = measure_loss(draft, task, known), _DAMPING[0]
    past = [loss]
    for _ in range(n_steps):
        curvature, downhill = normal_equations(draft, task, known)
        fixed = _find_stuck(draft, downhill, task)
        downhill[fixed] = 0.0
        curvature[fixed] = curvature[:, fixed] = 0.0
        curvature[fixed, fixed] = 1.0
        diagonal = np.diag(curvature) + _TINY
        for _ in range(_MOST_TRIALS):
            damped = curvature + np.diag(damping * diagonal + _TINY)
            step = solve_normal(damped, downhill, draft)
            moved = _move(draft, step, task)
            there = evaluate(moved, task)
            value = measure_loss(moved, task, there)
            if value < loss:
                draft, known, loss, damping = moved, there, value, max(damping / _DAMPING[2], _DAMPING[1])
                break
            damping *= _DAMPING[3]
        else:
            break
        past.append(loss)
        if len(past) > _PATIENCE and past[-1 - _PATIENCE] - loss < tolerance * loss:
            break
    return draft, loss


def normal_equations(draft: SumDraft, task: Task, known: Evaluated | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the Gauss-Newton matrix and the downhill gradient of half the loss, given what is known of the draft.

    Parameters are the weights, output by output, the centers, and the logarithms of the widths.
    """
    (rules, columns), (asking, asked) = find_weights(draft), np.nonzero(draft.asks)
    share, outputs = evaluate(draft, task) if known is None else known
    together = draft.together
    n_outputs, n_weights, n_sets = len(outputs), len(rules), len(asking)
    size = n_outputs * n_weights + 2 * n_sets
    curvature, downhill = np.zeros((size, size)), np.zeros(size)
    inputs, row_weight = _take_inputs(task, columns), task.weight[:, None]
    blended = _blend(share, rules, inputs)
    distance = (task.Z[:, asked] - draft.centers[asking, asked]) / draft.widths[asking, asked]
    distance = distance if task.seen is None else distance * task.seen[:, asked]
    moves = np.hstack([distance / draft.widths[asking, asked], distance**2])  # of log firing, by center and log width
    owner = np.r_[asking, asking]
    of_sets = slice(n_outputs * n_weights, size)
    per_output = _curve_weights(draft, task, share, inputs, blended, rules)
    per_output[np.diag_indices(n_weights)] += np.where(columns > 0, task.ridge, 0.0)
    for o, (output, target) in enumerate(zip(outputs, task.target.T, strict=True)):
        mean = (share * output) @ together
        apart = output - mean
        error = target - (share * output).sum(axis=1)
        slope = (share * apart)[:, owner] * moves  # of the prediction, by centers and log widths
        own = slice(o * n_weights, (o + 1) * n_weights)
        weights = draft.weights[rules, o, columns]
        downhill[own] = blended.T @ (task.weight * error) - np.where(columns > 0, task.ridge, 0.0) * weights
        downhill[of_sets] += slope.T @ (task.weight * error)
        curvature[own, own] = per_output
        curvature[own, of_sets] = blended.T @ (slope * row_weight)
        curvature[of_sets, own] = curvature[own, of_sets].T
        curvature[of_sets, of_sets] += slope.T @ (slope * row_weight)
        if task.agreement:
            spread = (share * apart**2) @ together
            downhill[own] -= task.agreement * (_blend(share * apart, rules, inputs).T @ task.weight)
            pull = 0.5 * (share * (apart**2 - spread))[:, owner] * moves
            downhill[of_sets] -= task.agreement * (pull.T @ task.weight)
            bend = 0.25 * (share * apart**2 * (1 - 2 * share) + share**2 * spread) * row_weight
            _add_own(curvature[of_sets, of_sets], task.agreement, bend, moves, owner)
    curvature /= n_outputs
    downhill /= n_outputs
    if n_sets:
        sharp = task.smoothness * draft.widths[asking, asked] ** -2.0
        last = np.arange(size - n_sets, size)
        curvature[last, last] += sharp
        downhill[last] += sharp
    return curvature, downhill


def solve_normal(curvature: FloatArray, downhill: FloatArray, draft: SumDraft) -> FloatArray:
    """Return the step that normal equations ask for.

    Weights of different outputs meet only in the sets, and all outputs have the same block; so with several outputs the
    equations of the sets are solved with the weights eliminated.
    """
    n_outputs = draft.weights.shape[1]
    if n_outputs == 1:
        return np.asarray(np.linalg.solve(curvature, downhill), dtype=float)
    block, coupling, of_sets = _take_blocks(curvature, draft)
    n_weights = len(block)
    right = np.concatenate([downhill[: n_outputs * n_weights].reshape(n_outputs, n_weights, 1), coupling], axis=2)
    solved = np.linalg.solve(block, right.transpose(1, 0, 2).reshape(n_weights, -1)).reshape(n_weights, n_outputs, -1)
    own, through = solved[:, :, 0], solved[:, :, 1:]
    left = downhill[n_outputs * n_weights :] - np.einsum("kws,wk->s", coupling, own)
    sets = np.linalg.solve(of_sets - np.einsum("kws,wkt->st", coupling, through, optimize=True), left)
    return np.r_[(own - through @ sets).T.ravel(), sets]


def invert_weights(curvature: FloatArray, draft: SumDraft) -> FloatArray:
    """Return the diagonal of the inverse of a curvature, as far as weights go, of shape (n_outputs, n_weights)."""
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


def _take_inputs(task: Task, columns: IntArray) -> FloatArray:
    """Return inputs of formulas by their place, the first of which is that of the bias."""
    inputs = task.columns[:, columns - 1]
    inputs[:, columns == 0] = 1.0
    return inputs


def _blend(share: FloatArray, rules: IntArray, inputs: FloatArray) -> FloatArray:
    """Return inputs times the shares of their rules; each large array that is not made saves time."""
    blended = share[:, rules]
    blended *= inputs
    return blended


def _curve_weights(
    draft: SumDraft, task: Task, share: FloatArray, inputs: FloatArray, blended: FloatArray, rules: IntArray
) -> FloatArray:
    """Return the curvature of the loss of one output by its weights."""
    curvature = blended.T @ (blended * task.weight[:, None])
    if task.agreement:
        curvature *= 1.0 - task.agreement * (draft.part[rules][:, None] == draft.part[rules])
        _add_own(curvature, task.agreement, share * task.weight[:, None], inputs, rules)
    return curvature


def _add_own(matrix: FloatArray, factor: float, row_weight: FloatArray, inputs: FloatArray, owner: IntArray) -> None:
    """Add what the inputs of each rule have among themselves, weighted per row and rule."""
    for k in np.unique(owner):
        own = np.flatnonzero(owner == k)
        mine = inputs[:, own]
        matrix[own[:, None], own] += factor * (mine.T @ (mine * row_weight[:, k : k + 1]))


def _move(draft: SumDraft, step: FloatArray, task: Task) -> SumDraft:
    (rules, columns), (asking, asked) = find_weights(draft), np.nonzero(draft.asks)
    n_outputs, n_sets = draft.weights.shape[1], len(asking)
    weights, centers, widths = draft.weights.copy(), draft.centers.copy(), draft.widths.copy()
    for o in range(n_outputs):
        weights[rules, o, columns] += step[o * len(rules) : (o + 1) * len(rules)]
    if n_sets:
        by, stretch = np.split(step[-2 * n_sets :], 2)
        by, stretch = (np.clip(s, -most, most) for s, most in zip((by, stretch), _LARGEST_STEPS, strict=True))
        centers[asking, asked] = np.clip(centers[asking, asked] + by, task.low[asked], task.high[asked])
        widths[asking, asked] = np.clip(widths[asking, asked] * np.exp(stretch), *WIDTHS)
    return replace(draft, weights=weights, centers=centers, widths=widths)


def _find_stuck(draft: SumDraft, downhill: FloatArray, task: Task) -> IntArray:
    """Return the centers and widths that are at a bound and want to go beyond."""
    asking, asked = np.nonzero(draft.asks)
    if not len(asking):
        return np.empty(0, dtype=np.intp)
    wish = downhill[-2 * len(asking) :]
    values = np.r_[draft.centers[asking, asked], draft.widths[asking, asked]]
    low = np.r_[task.low[asked], np.full(len(asked), WIDTHS[0])]
    high = np.r_[task.high[asked], np.full(len(asked), WIDTHS[1])]
    stuck: BoolArray = ((values >= high) & (wish > 0)) | ((values <= low) & (wish < 0))
    return len(downhill) - 2 * len(asking) + np.flatnonzero(stuck)
