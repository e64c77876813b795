"""Reduction: a model becomes smaller step by step, and is trained after each step."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from takagi._text import count
from takagi._typing import FloatArray
from takagi.fitting._rows import Rows, measure_units
from takagi.fitting._short._draft import SumDraft, Task
from takagi.fitting._short._frame import measure_loss
from takagi.fitting._short._lesson import ROWS_OF_PUPIL
from takagi.fitting._short._likelihood import linearize, shrink, train_on
from takagi.fitting._short._noise import measure_noise
from takagi.fitting._short._polish import polish, solve_weights, within_bounds
from takagi.fitting._short._pruning import drop_conditions, price_terms, prune_terms
from takagi.fitting._short._workshop import (
    COARSE_ROWS,
    Limits,
    Workshop,
    draft_model,
    make_true,
    open_workshop,
    write_model,
)
from takagi.rulemodel import RuleModel, collect_bends

_MOST_PARAMETERS = 700  # most parameters of a model that is reduced in a few seconds
_FIRST_STEPS, _STEPS = 15, 4
_PART = 10  # one in this many words is dropped at a time
_TINY = 1e-9

Step = tuple[str, RuleModel]  # the action as text, and the model after it


def can_be_reduced(model: RuleModel) -> bool:
    """Return whether a model is small enough, and has no projections in its conditions."""
    n_parameters = sum(2 * int(np.isfinite(part.widths).sum()) + part.consequents[:, 0].size for part in model.parts)
    return n_parameters <= _MOST_PARAMETERS and not any(part.n_projected for part in model.parts)


def reduce_model(
    model: RuleModel, rows: Rows, limits: Limits, rng: np.random.Generator, noise: float | None = None
) -> Iterator[Step]:
    """Yield smaller and smaller models, from the limits per rule down to a single number.

    Each step drops a rule, some conditions or some terms: the move with the smallest cost per word after refitting the
    formulas. Then all parameters are trained together, with the penalty on disagreement and within the bounds. For
    classes, each step uses the log loss near the outputs of the model before it. The noise of the targets is measured
    if it is not given.
    """
    has_classes = model.link != "identity"
    model = RuleModel(tuple(part.fold_consequents() for part in model.parts))
    coarse_rows = COARSE_ROWS if noise is None else ROWS_OF_PUPIL
    if noise is None:
        noise = 0.0 if has_classes else measure_noise(_standardize(rows.fill()), rng).part

    def open_near(model: RuleModel) -> Workshop:
        near = linearize(rows, model.predict_raw(rows.X)) if has_classes else (rows, noise)
        return open_workshop(*near, limits.agreement, collect_bends(model.parts), coarse_rows)

    workshop = open_near(model)
    task = workshop.coarse
    draft = _obey(within_bounds(draft_model(model, workshop), task), task, limits)
    draft, _ = polish(solve_weights(draft, task), task, _FIRST_STEPS)
    found: tuple[str, SumDraft] | None = ("train together", draft)
    while found is not None:
        action, draft = found
        draft, intervals = make_true(polish(draft, workshop.coarse, _STEPS)[0], workshop)
        model = write_model(draft, intervals, workshop)
        if has_classes:
            model, _ = train_on(model, rows, limits.agreement, _STEPS)
            workshop = open_near(model)
            draft = draft_model(model, workshop)
        yield action, shrink(model, rows)[0] if has_classes else model
        found = _find_cheapest(draft, workshop.coarse)


def _standardize(rows: Rows) -> Rows:
    return measure_units(rows, scales_inputs=True, scales_target=True).standardize(rows)


def _obey(draft: SumDraft, task: Task, limits: Limits) -> SumDraft:
    """Return a draft without surplus conditions and terms of rules."""
    while (excess := draft.asks.sum(axis=1) - limits.max_conditions).max() > 0:
        price = price_conditions(draft, task)
        dropped = np.zeros_like(draft.asks)
        for r in np.flatnonzero(excess > 0):
            dropped[r, np.argsort(price[r])[: -(-excess[r] // 2)]] = True
        draft, _ = polish(drop_conditions(draft, dropped, task), task, _STEPS)
    return prune_terms(draft, task, limits.max_terms)


def _find_cheapest(draft: SumDraft, task: Task) -> tuple[str, SumDraft] | None:
    """Return the move with the smallest cost per word, with refitted weights; None if nothing can be dropped."""
    n_words, loss = _count_words(draft), measure_loss(draft, task)
    moves = list(_propose(draft, task, max(1, n_words // _PART)))
    solved = [(action, solve_weights(moved, task)) for action, moved in moves]
    return min(
        solved, key=lambda move: (measure_loss(move[1], task) - loss) / (n_words - _count_words(move[1])), default=None
    )


def _propose(draft: SumDraft, task: Task, n_words: int) -> Iterator[tuple[str, SumDraft]]:
    """Yield the cheapest move of each kind, with about the given number of words unless it drops one rule."""
    if draft.asks.any():
        dropped = _mark_least(price_conditions(draft, task), n_words)
        alone = replace(draft, widths=np.where(dropped, np.inf, draft.widths))
        yield f"drop {count(int(dropped.sum()), 'condition')}", alone
    if draft.n_rules > 1:
        yield "drop a rule", draft.without(int(price_rules(draft, task).argmin()))
    if draft.uses.any():
        price = np.where(draft.uses, price_terms(draft, task), np.inf)
        dropped = _mark_least(price, n_words)
        yield f"drop {count(int(dropped.sum()), 'term')}", draft.use(draft.uses & ~dropped)


def _mark_least(price: FloatArray, n_least: int) -> np.ndarray:
    """Return the positions of the smallest finite costs."""
    n_least = min(n_least, int(np.isfinite(price).sum()))
    marked = np.zeros(price.shape, dtype=bool)
    marked.flat[np.argsort(price, axis=None, kind="stable")[:n_least]] = True
    return marked


def _count_words(draft: SumDraft) -> int:
    return int(draft.n_rules + draft.asks.sum() + draft.uses.sum())


# -- prices ------------------------------------------------------------------------------------------------------------


def price_conditions(draft: SumDraft, task: Task) -> FloatArray:
    """Return the growth of the squared error when a condition is dropped, infinite where there is none.

    Without its condition on a feature, the firing level of a rule grows by the factor ``exp(z^2 / 2)``, and those of
    the others stay. So the output of its part moves from ``y`` by the fraction ``(a - g) / (1 - g)`` of ``f - y``,
    where ``f`` is the rule's own output and ``g`` and ``a`` are its shares before and after.
    """
    share, outputs = draft.shares(task.Z, task.seen), draft.outputs(task.columns)
    price = np.full(draft.asks.shape, np.inf)
    for r, asked in enumerate(draft.asks):
        own, others = np.maximum(share[:, r, None], 1e-300), np.maximum(1 - share[:, r, None], _TINY)
        z = (task.Z[:, asked] - draft.centers[r, asked]) / draft.widths[r, asked]
        z = z if task.seen is None else z * task.seen[:, asked]
        log_new = np.log(own) + 0.5 * z * z
        top = np.maximum(log_new, 0)
        new = np.exp(log_new - top)
        part = (new / (new + others * np.exp(-top)) - own) / others
        price[r, asked] = sum(
            _price_move(task, output, target, share, (output[:, r] - (share * output) @ draft.together[:, r], part))
            for output, target in zip(outputs, task.target.T, strict=True)
        )
    return price


def price_rules(draft: SumDraft, task: Task) -> FloatArray:
    """Return the growth of the squared error when a rule is dropped and the others of its part take over."""
    share, outputs = draft.shares(task.Z, task.seen), draft.outputs(task.columns)
    is_alone = draft.together.sum(axis=1) == 1
    price = np.zeros(draft.n_rules)
    for r in range(draft.n_rules):
        part = np.ones((len(share), 1)) if is_alone[r] else share[:, r, None] / np.maximum(1 - share[:, r, None], 1e-6)
        for output, target in zip(outputs, task.target.T, strict=True):
            rest = task.weight @ output[:, r] if is_alone[r] else (share * output) @ draft.together[:, r]
            price[r] += _price_move(task, output, target, share, (rest - output[:, r], part))[0]
    return price


def _price_move(
    task: Task, output: FloatArray, target: FloatArray, share: FloatArray, move: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Return the growth of the squared error if predictions move by fractions of a difference."""
    by, part = move
    error = target - (share * output).sum(axis=1)
    return -2 * (task.weight * error * by) @ part + (task.weight * by**2) @ part**2
