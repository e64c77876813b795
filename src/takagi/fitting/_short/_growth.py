"""Growing: a rule is split in two, or a new part of two rules is added, whichever has the larger gain."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from takagi._typing import FloatArray, IntArray
from takagi.fitting._short._draft import SumDraft, Task, start_rules
from takagi.fitting._short._frame import measure_loss
from takagi.fitting._short._polish import polish, solve_weights, within_bounds

_CUTS = (0.2, 0.4, 0.6, 0.8)  # of the rows that a rule governs
_SCORED_ROWS = 800
_LEAST_SHARE = 0.02  # smallest fraction of the rows that a rule must govern to be split
_LEAST_SPREAD = 0.05  # standard deviations, of a feature that splits
_SCALE, _WIDTH = 0.6, 1.2  # distance of new centers from the cut, in deviations, and their widths relative to it
_TRIED = 3  # splits of each kind that are trained, of all that are scored
_STEPS = 8
_EXCHANGES = 2
_WORTH = 3e-3  # the fraction of the loss that an exchange must gain


class RuleSplit(NamedTuple):
    """A cut of a feature: of a rule, or, if the rule is -1, into a new part."""

    gain: float
    rule: int
    feature: int
    cut: float
    scale: float


def start_draft(task: Task, base: IntArray) -> SumDraft:
    """Return one rule without conditions, whose formula has the given columns."""
    n_features, n_columns = task.Z.shape[1], task.columns.shape[1]
    uses = np.zeros((1, n_columns), dtype=bool)
    uses[0, base] = True
    draft = SumDraft(
        centers=np.zeros((1, n_features)),
        widths=np.full((1, n_features), np.inf),
        weights=np.zeros((1, task.target.shape[1], 1 + n_columns)),
        uses=uses,
        part=np.zeros(1, dtype=np.intp),
    )
    return solve_weights(draft, task)


def grow(
    task: Task, base: IntArray, n_rules: int, max_conditions: int, has_ended: Callable[[float], bool]
) -> Iterator[SumDraft]:
    """Yield drafts of one rule and more, up to `n_rules`, each grown from the one before.

    `has_ended` gets the loss after every step, and ends the growth by returning True.
    """
    draft = start_draft(task, base)
    yield draft
    while draft.n_rules < n_rules:
        found = split_best(draft, task, base, max_conditions, n_rules - draft.n_rules)
        if found is None:
            return
        draft = found[0]
        if has_ended(found[1]):
            return
        yield exchange_rules(draft, task, base, max_conditions) if draft.n_rules == n_rules else draft


def split_best(
    draft: SumDraft, task: Task, base: IntArray, max_conditions: int, n_more: int
) -> tuple[SumDraft, float] | None:
    """Return the best of a few splits after some training, and its loss; None if there is nothing to split."""
    splits = score_splits(draft, task.sample(_SCORED_ROWS), base, max_conditions, opens_part=n_more >= 2)
    before, best, best_rate = measure_loss(draft, task), None, np.inf
    for split in splits:
        grown = within_bounds(split_rule(draft, split, base), task)
        grown, loss = polish(solve_weights(grown, task), task, _STEPS)
        rate = np.log(loss / before) / (grown.n_rules - draft.n_rules)  # the gain of each new rule
        if rate < best_rate:
            best, best_rate = (grown, loss), rate
    return best


def exchange_rules(draft: SumDraft, task: Task, base: IntArray, max_conditions: int) -> SumDraft:
    """Replace the least useful rule by a split of another one, as long as the loss falls."""
    loss = measure_loss(draft, task)
    for _ in range(_EXCHANGES):
        ways = []
        for k in np.flatnonzero(draft.together.sum(axis=1) > 1):
            ways.append(polish(solve_weights(draft.without(int(k)), task), task, 3))
        found = [split_best(way[0], task, base, max_conditions, 1) for way in sorted(ways, key=lambda w: w[1])[:2]]
        best = min((way for way in found if way is not None), key=lambda w: w[1], default=None)
        if best is None or best[1] > loss * (1 - _WORTH):
            break
        draft, loss = best
    return draft


def split_rule(draft: SumDraft, split: RuleSplit, base: IntArray) -> SumDraft:
    """Return two rules instead of one, below and above the cut, equally wide, so that their shares are a sigmoid."""
    if split.rule < 0:
        new = start_rules(draft, base, 2)
        pair = np.array([draft.n_rules, draft.n_rules + 1])
    else:
        new = draft.pick(np.array([split.rule]))
        pair = np.array([split.rule, draft.n_rules])
    grown = draft.add(new)
    centers, widths = grown.centers.copy(), grown.widths.copy()
    for rule, side in zip(pair, (-1, 1), strict=True):
        old = widths[rule, split.feature] ** -2.0
        added = (_WIDTH * split.scale) ** -2.0
        center = split.cut + side * split.scale
        centers[rule, split.feature] = (old * centers[rule, split.feature] + added * center) / (old + added)
        widths[rule, split.feature] = (old + added) ** -0.5  # the product of two Gaussians is one
    return replace(grown, centers=centers, widths=widths)


# -- scores ------------------------------------------------------------------------------------------------------------


def score_splits(
    draft: SumDraft, task: Task, base: IntArray, max_conditions: int, *, opens_part: bool
) -> list[RuleSplit]:
    """Return the few splits, of rules and into a new part, in which two new formulas for the residuals gain most."""
    share = draft.shares(task.Z, task.seen)
    said = (share * draft.outputs(task.columns)).sum(axis=2)
    residual = task.target - said.T
    inputs = np.vstack([np.ones(len(task.Z)), task.columns.T[base]])
    one, other = np.triu_indices(len(inputs))
    products = inputs[one] * inputs[other]
    chosen = []
    for rules in (range(draft.n_rules), [-1] if opens_part else []):
        splits = []
        for k in rules:
            governs = np.ones(len(task.Z)) if k < 0 else share[:, k]
            is_full = k >= 0 and draft.asks[k].sum() >= max_conditions
            features = np.flatnonzero(draft.asks[k]) if is_full else np.arange(task.Z.shape[1])
            if governs @ task.weight >= _LEAST_SHARE:
                splits += _score(task, residual, (inputs, products), governs, _propose(task, governs, features, k))
        chosen += _take_diverse(sorted(splits, reverse=True), _TRIED)
    return chosen


def _propose(task: Task, governs: FloatArray, features: IntArray, rule: int) -> list[RuleSplit]:
    """Return cuts of features at some quantiles of the rows that a rule governs."""
    weight = governs * task.weight
    weight = weight / weight.sum()
    known, splits = weight, []
    for j in features:
        x = task.Z[:, j]
        if task.seen is not None:
            weight = known * task.seen[:, j]
            weight = weight / (weight.sum() or 1.0)
        mean = weight @ x
        spread = np.sqrt(weight @ (x - mean) ** 2)
        if spread < _LEAST_SPREAD:
            continue
        order = np.argsort(x)
        reach = np.searchsorted(np.cumsum(weight[order]), [*_CUTS, 0.02, 0.98]).clip(0, len(x) - 1)
        *cuts, low, high = x[order][reach]
        distinct = np.unique(np.round(cuts, 3))
        if len(distinct) < 3:
            distinct = np.array([(low + high) / 2])
        splits += [RuleSplit(0.0, rule, int(j), float(cut), _SCALE * spread) for cut in distinct]
    return splits


def _score(
    task: Task,
    residual: FloatArray,
    terms: tuple[FloatArray, FloatArray],
    governs: FloatArray,
    splits: list[RuleSplit],
) -> list[RuleSplit]:
    """Return splits with what ridge regression of the residuals on both sides gains.

    The terms are the inputs of formulas, and the products of each two of them.
    """
    if not splits:
        return []
    feature, cut, scale = (np.array([getattr(s, f) for s in splits]) for f in ("feature", "cut", "scale"))
    steps = (task.Z.T[feature] - cut[:, None]) * (2 * scale / (_WIDTH * scale) ** 2)[:, None]
    gate = expit(steps if task.seen is None else steps * task.seen.T[feature])
    weight = governs * task.weight
    sides = np.minimum(gate @ weight, (1 - gate) @ weight) >= 0.015
    splits, gate = [s for s, is_kept in zip(splits, sides, strict=True) if is_kept], gate[sides]
    if not splits:
        return []
    (inputs, products), rest = terms, 1 - gate
    n_inputs = len(inputs)
    one, other = np.triu_indices(n_inputs)
    matrix = np.empty((len(splits), 2 * n_inputs, 2 * n_inputs))
    vector = np.empty((len(splits), 2 * n_inputs, residual.shape[1]))
    first, second = slice(0, n_inputs), slice(n_inputs, None)
    for rows, columns, blend in ((first, first, gate**2), (first, second, gate * rest), (second, second, rest**2)):
        block = np.empty((len(splits), n_inputs, n_inputs))
        block[:, one, other] = block[:, other, one] = (blend * (weight * governs)) @ products.T
        matrix[:, rows, columns] = matrix[:, columns, rows] = block
    for o, error in enumerate(residual.T):
        for rows, blend in ((first, gate), (second, rest)):
            vector[:, rows, o] = (blend * (weight * error)) @ inputs.T
    matrix[:, np.arange(2 * n_inputs), np.arange(2 * n_inputs)] += max(task.ridge, 1e-5)
    gain = (vector * np.linalg.solve(matrix, vector)).sum(axis=(1, 2))
    return [split._replace(gain=float(value)) for split, value in zip(splits, gain, strict=True)]


def _take_diverse(splits: list[RuleSplit], n_splits: int) -> list[RuleSplit]:
    """Return the first splits, at most one for each rule and feature."""
    first: dict[tuple[int, int], RuleSplit] = {}
    for split in splits:
        first.setdefault((split.rule, split.feature), split)
    return list(first.values())[:n_splits]
