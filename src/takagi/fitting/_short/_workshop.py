"""Preparation of short rules: from rows in the units of the data to a task in standard units, and back to a model."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from takagi._checks import are_finite
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.bend import Bend
from takagi.fitting._rows import Rows, Units, measure_units
from takagi.fitting._screening import screen_features
from takagi.fitting._short._columns import MOST_SLOPES, FormulaColumns, choose_base, offer_bends, scale_bends
from takagi.fitting._short._draft import SumDraft, Task
from takagi.fitting._short._intervals import fit_intervals
from takagi.fitting._short._missing import find_usual
from takagi.fitting._short._polish import polish, solve_weights
from takagi.fitting._short._pruning import drop_conditions
from takagi.profile import spread_rows
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel, place_weights

COARSE_ROWS, MOST_ROWS = 1_200, 4_000  # rows that determine the structure, and rows that train it to the end
# Times the noise over the number of rows. A penalty is the noise over the variance of the penalized parameter. All
# slopes share the variance that is not noise, so their penalty is larger if there are many slopes or little variance to
# share.
_RIDGE, _SMOOTHNESS = 8.0, 10.0
_LEAST_SIGNAL = 0.02  # of the target's variance
_BEND_PRICE = 1.0  # like _RIDGE, for a bend when terms are chosen
_MOST_FEATURES = 30  # that are used
_EDGE = 0.05  # quantiles of the rows that limit the centers
_LEAST_GOVERNED = 0.005  # smallest fraction of the rows that a rule must govern
_STEPS = 20  # after rules or conditions were dropped


class Limits(NamedTuple):
    """The limits on rules, conditions and terms, and the penalty on rules that disagree."""

    n_rules: int
    max_conditions: int
    max_terms: int
    agreement: float


class Workshop(NamedTuple):
    """Rows, columns and tasks of a fit."""

    rows: Rows  # with the used features, in the units of the data, NaN where they are missing
    units: Units  # of all features
    features: IntArray  # which ones are used
    columns: FormulaColumns
    base: IntArray  # columns of the first formula
    task: Task  # of all of these rows
    coarse: Task  # of some of them
    usual: FloatArray  # what each feature counts as in formulas if it is missing


def open_workshop(
    rows: Rows,
    noise: float,
    agreement: float,
    bends: tuple[Bend, ...] | None = None,
    coarse_rows: int = COARSE_ROWS,
) -> Workshop:
    """Return the workshop of rows with a given noise; a limited number of rows determines the structure.

    By default it uses the features that explain most, and candidate bends of them; if bends are given, all features and
    these bends.
    """
    n_rows = len(rows.X)
    rows = rows.take(spread_rows(n_rows, MOST_ROWS))
    units = measure_units(rows, scales_inputs=True, scales_target=True)
    standard = units.standardize(rows)
    complete, usual = np.nan_to_num(standard.X), find_usual(standard)
    features = (
        screen_features(rows, complete, standard.y, _MOST_FEATURES) if bends is None else np.arange(rows.X.shape[1])
    )
    rows, Z = rows._replace(X=rows.X[:, features]), complete[:, features]
    columns = offer_bends(rows) if bends is None else scale_bends(bends, rows.fill())
    seen, terms, taken = None, (rows.X, Z), units.x_mean + usual * units.x_scale
    if not are_finite(rows.X):
        seen = 1.0 - np.isnan(rows.X)
        terms = np.where(seen > 0, rows.X, taken[features]), np.where(seen > 0, Z, usual[features])
    low, high = np.nanquantile(standard.X[:, features], [_EDGE, 1 - _EDGE], axis=0)
    is_flat = high <= low  # most rows have one value
    task = Task(
        Z=np.asfortranarray(Z),
        seen=None if seen is None else np.asfortranarray(seen),
        columns=np.asfortranarray(columns.evaluate(*terms)),
        target=standard.y,
        weight=rows.weight / rows.weight.sum(),
        agreement=agreement,
        ridge=noise / n_rows * max(_RIDGE, min(len(features), MOST_SLOPES) / max(1 - noise, _LEAST_SIGNAL)) + 1e-6,
        smoothness=_SMOOTHNESS * noise / n_rows + 1e-6,
        bend_price=_BEND_PRICE * noise / n_rows,
        low=np.where(is_flat, Z.min(axis=0), low),
        high=np.where(is_flat, Z.max(axis=0), high),
    )
    base = choose_base(task.columns, task.target, task.weight, len(features), task.ridge)
    return Workshop(rows, units, features, columns, base, task, task.sample(coarse_rows), taken)


def make_true(draft: SumDraft, workshop: Workshop) -> tuple[SumDraft, FloatArray]:
    """Drop rules that govern nothing and conditions that exclude nothing, and set the intervals of the others."""
    task, X = workshop.task, workshop.rows.X
    while True:
        governs = find_governed(draft.shares(task.Z, task.seen), draft.part)
        counts = task.weight @ governs
        idle = (counts < _LEAST_GOVERNED) & (draft.together.sum(axis=1) > 1)
        if idle.any():
            draft = draft.without(int(np.where(idle, counts, np.inf).argmin()))
        else:
            intervals = fit_intervals(X, governs, draft.asks, task.weight)
            is_open = draft.asks & np.isinf(intervals).all(axis=2)
            if not is_open.any():
                return draft, intervals
            draft = drop_conditions(draft, is_open, task)
        draft, _ = polish(solve_weights(draft.say_once(), task), task, _STEPS)


def find_governed(share: FloatArray, part: IntArray) -> BoolArray:
    """Return which rule has the largest share of its part for each row; the first of equal ones."""
    governs = np.zeros(share.shape, dtype=bool)
    for k in np.unique(part):
        own = np.flatnonzero(part == k)
        governs[np.arange(len(share)), own[share[:, own].argmax(axis=1)]] = True
    return governs


def draft_model(model: RuleModel, workshop: Workshop) -> SumDraft:
    """Return a model without projections, whose bends are those of the workshop, as a draft."""
    units = workshop.units
    mean = np.r_[units.x_mean, workshop.columns.mean]
    scale = np.r_[units.x_scale, workshop.columns.scale]
    drafts = []
    for k, part in enumerate(model.parts):
        weights = place_weights(part, workshop.columns.bends)
        weights[:, :, 0] += weights[:, :, 1:] @ mean - (units.y_mean if k == 0 else 0.0)
        weights[:, :, 1:] *= scale
        drafts.append(
            SumDraft(
                centers=(part.centers - units.x_mean) / units.x_scale,
                widths=part.widths / units.x_scale,
                weights=weights / units.y_scale[:, None],
                uses=(weights[:, :, 1:] != 0).any(axis=1),
                part=np.full(part.n_rules, k),
            )
        )
    first, *others = drafts
    for other in others:
        first = first.add(other)
    return first


def write_model(draft: SumDraft, intervals: FloatArray, workshop: Workshop) -> RuleModel:
    """Return a draft as a model in the units of the data: main rules, and adjustments with mean zero."""
    task, units = workshop.task, workshop.units
    said = draft.shares(task.Z, task.seen) * draft.outputs(task.columns)
    numbers = np.unique(draft.part)
    means = np.array([task.weight @ said[:, :, draft.part == k].sum(axis=2).T for k in numbers])
    means[0] = -means[1:].sum(axis=0)
    parts = []
    for k, mean in zip(numbers, means, strict=True):
        own = np.flatnonzero(draft.part == k)
        constant = units.y_mean if k == numbers[0] else np.zeros_like(units.y_mean)
        part = _write_part(draft.take(own), workshop, units._replace(y_mean=constant - mean * units.y_scale))
        part = _spread(part, intervals[own], workshop.features, len(units.x_mean))
        parts.append(replace(part, usual=np.tile(workshop.usual, (part.n_rules, 1))))
    return RuleModel(tuple(parts))


def _write_part(draft: SumDraft, workshop: Workshop, units: Units) -> RuleBase:
    """Return the rules of one part, for the used features; rounding moves no center out of range."""
    mean, scale = units.x_mean[workshop.features], units.x_scale[workshop.features]
    n_features, columns, X = len(mean), workshop.columns, workshop.rows.fill().X
    bent = np.flatnonzero(draft.uses[:, n_features:].any(axis=0))
    slopes = draft.weights[:, :, 1 : 1 + n_features] / scale
    bends = draft.weights[:, :, 1 + n_features + bent] / columns.scale[bent]
    bias = draft.weights[:, :, 0] - slopes @ mean - bends @ columns.mean[bent]
    consequents = np.concatenate([bias[:, :, None], slopes, bends], axis=2) * units.y_scale[:, None]
    consequents[:, :, 0] += units.y_mean
    return RuleBase(
        centers=np.clip(np.where(draft.asks, draft.centers * scale + mean, mean), X.min(axis=0), X.max(axis=0)),
        widths=draft.widths * scale,
        consequents=consequents,
        bends=tuple(columns.bends[k] for k in bent),
    )


def _spread(part: RuleBase, intervals: FloatArray, features: IntArray, n_features: int) -> RuleBase:
    """Return rules for all features, given rules for some of them, with their intervals."""
    centers, widths = np.zeros((part.n_rules, n_features)), np.full((part.n_rules, n_features), np.inf)
    centers[:, features], widths[:, features] = part.centers, part.widths
    consequents = np.zeros((part.n_rules, part.n_outputs, 1 + n_features + len(part.bends)))
    consequents[:, :, 0] = part.consequents[:, :, 0]
    consequents[:, :, 1 + features] = part.consequents[:, :, 1 : 1 + len(features)]
    consequents[:, :, 1 + n_features :] = part.consequents[:, :, 1 + len(features) :]
    meant = np.empty((part.n_rules, n_features, 2))
    meant[...] = -np.inf, np.inf
    meant[:, features] = intervals
    bends = tuple(replace(bend, feature=int(features[bend.feature])) for bend in part.bends)
    return RuleBase(centers, widths, consequents, bends=bends, intervals=meant)


def say_mean(rows: Rows) -> RuleModel:
    """Return the mean of the target as one rule."""
    n_features = rows.X.shape[1]
    consequents = np.zeros((1, rows.y.shape[1], 1 + n_features))
    consequents[0, :, 0] = np.average(rows.y, axis=0, weights=rows.weight)
    nothing = np.zeros((1, n_features))
    return RuleModel((RuleBase(nothing, np.full((1, n_features), np.inf), consequents, usual=nothing),))
