"""Pruning to the limits: terms by optimal brain surgeon, exchanged for better ones."""

from dataclasses import replace

import numpy as np

from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.fitting._short._draft import SumDraft, Task, start_rules
from takagi.fitting._short._frame import find_weights, measure_loss
from takagi.fitting._short._polish import invert_weights, normal_equations, polish, solve_weights

_STEPS = 4
_PART = 3  # one in this many of the surplus terms is dropped at a time
_OFFERED = 3  # candidate columns of a rule in an exchange
_ROUNDS = 2
_WORTH = 1e-3  # the fraction of the loss that an exchange must gain
_WORTH_OF_FORMULA = 0.02  # the same, for an exchange of a rule with conditions for a formula


def prune_terms(draft: SumDraft, task: Task, max_terms: int) -> SumDraft:
    """Drop the terms with the smallest cost until no rule has more than `max_terms` of them.

    The cost of a weight w is ``w^2 / [H^-1]_ww`` with the Gauss-Newton matrix H (optimal brain surgeon).

    References
    ----------
    B. Hassibi and D. Stork, Second order derivatives for network pruning: optimal brain surgeon, NIPS 5 (1992).
    """
    while True:
        excess = draft.uses.sum(axis=1) - max_terms
        if (excess <= 0).all():
            return draft
        cost = price_terms(draft, task)
        uses = draft.uses.copy()
        for k in np.flatnonzero(excess > 0):
            cheapest = np.argsort(np.where(uses[k], cost[k], np.inf))
            uses[k, cheapest[: max(1, excess[k] // _PART)]] = False
        draft, _ = polish(solve_weights(draft.use(uses), task), task, _STEPS)


def _polish_priced(draft: SumDraft, task: Task) -> tuple[SumDraft, float]:
    """Return the draft after some steps, and its loss with the cost of its bends."""
    draft, loss = polish(draft, task, _STEPS)
    return draft, loss + task.price_bends(draft)


def price_terms(draft: SumDraft, task: Task) -> FloatArray:
    """Return the cost of dropping each term, (n_rules, n_columns)."""
    curvature, _ = normal_equations(draft, task)
    inverse = invert_weights(curvature + np.diag(1e-6 * np.diag(curvature) + 1e-9), draft)
    rules, columns = find_weights(draft)
    cost = np.zeros((draft.n_rules, draft.weights.shape[2]))
    for weights, own in zip(draft.weights.transpose(1, 0, 2), inverse, strict=True):
        cost[rules, columns] += weights[rules, columns] ** 2 / np.maximum(own, 1e-12)
    cost = cost[:, 1:]
    cost[:, task.Z.shape[1] :] -= task.bend_price
    return cost


def exchange_terms(draft: SumDraft, task: Task, max_terms: int) -> SumDraft:
    """For each rule in turn, add the columns with the largest gain, and drop those with the smallest cost."""
    draft, loss = _polish_priced(draft, task)
    for _ in range(_ROUNDS):
        before = loss
        for k in range(draft.n_rules):
            if draft.uses[k].all():
                continue
            score = _score_columns(draft, task, k)
            score[_list_taken(draft, k)] = -1.0
            offered = np.argsort(-score)[:_OFFERED]
            uses = draft.uses.copy()
            uses[k, offered] = True
            other, _ = polish(solve_weights(draft.use(uses), task), task, _STEPS)
            other, value = _polish_priced(prune_terms(other, task, max_terms), task)
            if value < loss * (1 - _WORTH):
                draft, loss = other, value
        if loss == before:
            break
    return draft


def exchange_for_formulas(draft: SumDraft, task: Task, base: IntArray, limits: tuple[int, int]) -> SumDraft:
    """Replace rules by formulas that always hold, each in its own part, as long as the loss falls.

    This is best if a target is a sum of more terms than a rule may have. The numbers of rules and of terms stay within
    their limits.
    """
    n_rules, max_terms = limits
    loss = measure_loss(draft, task) + task.price_bends(draft)
    while n_rules > 1:
        if draft.n_rules < n_rules:
            ways = [draft]
        else:
            fewer = (polish(solve_weights(draft.without(k), task), task, 3) for k in range(draft.n_rules))
            ways = [way for way, _ in sorted(fewer, key=lambda found: found[1])[:2]]
        found = []
        for way in ways:
            new = start_rules(way, np.setdiff1d(base, _list_taken(way, -1)), 1)
            longer = prune_terms(solve_weights(way.add(new), task), task, max_terms)
            found.append(_polish_priced(longer, task))
        best, value = min(found, key=lambda f: f[1])
        if value > loss * (1 - _WORTH_OF_FORMULA):
            break
        draft, loss = best, value
    return draft


def _list_taken(draft: SumDraft, rule: int) -> IntArray:
    """Return columns that a rule cannot take: if it always holds, those of other such rules; -1 is a new rule."""
    alone = draft.together.sum(axis=1) == 1
    if rule >= 0 and not alone[rule]:
        return np.empty(0, dtype=np.intp)
    others = alone & (np.arange(draft.n_rules) != rule)
    return np.flatnonzero(draft.uses[others].any(axis=0))


def _score_columns(draft: SumDraft, task: Task, rule: int) -> FloatArray:
    """Return the gain of each column for a rule's formula, in addition to its present columns."""
    share, outputs = draft.shares(task.Z, task.seen), draft.outputs(task.columns)
    governs = share[:, rule]
    weight = task.weight * governs
    has = np.column_stack([np.ones(len(governs)), task.columns[:, draft.uses[rule]]])
    square = has.T @ (has * weight[:, None])
    new = task.columns - has @ np.linalg.solve(
        square + 1e-6 * np.eye(len(square)), has.T @ (task.columns * weight[:, None])
    )
    size = task.weight @ (governs[:, None] ** 2 * new**2) + 1e-6
    score = np.zeros(task.columns.shape[1])
    for output, target in zip(outputs, task.target.T, strict=True):
        said = share * output
        mean = said @ draft.together[:, rule]
        pull = governs * (target - said.sum(axis=1) - task.agreement * (output[:, rule] - mean))
        score += ((task.weight * pull) @ new) ** 2 / size
    score[draft.uses[rule]] = -1.0
    return score


def drop_conditions(draft: SumDraft, dropped: BoolArray, task: Task) -> SumDraft:
    """Return the draft without some conditions, with refitted weights."""
    return solve_weights(replace(draft, widths=np.where(dropped, np.inf, draft.widths)), task)
