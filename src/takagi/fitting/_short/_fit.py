"""The fit of short rules, on one page."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from takagi._messages import warn_user
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.fitting._plan import Plan
from takagi.fitting._ridge import fit_few_slopes
from takagi.fitting._rows import Rows, Units, draw_order, measure_units
from takagi.fitting._screening import find_repeats, screen_features
from takagi.fitting._short._columns import FormulaColumns, choose_base, offer_bends
from takagi.fitting._short._draft import SumDraft, Task
from takagi.fitting._short._growth import grow
from takagi.fitting._short._intervals import fit_intervals
from takagi.fitting._short._noise import measure_noise, trust_few_slopes
from takagi.fitting._short._polish import polish, solve_weights
from takagi.fitting._short._pruning import drop_conditions, exchange_for_formulas, exchange_terms, prune_terms
from takagi.fitting._training import Watch
from takagi.profile import spread_rows
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel

SIZES = (1, 2, 3, 5, 7, 9, 12)  # that cross-validation chooses from
_ROWS = (1_200, 4_000)  # that find the structure, and that train it to the end
_CV_ROWS = 2_000
_MOST_FEATURES = 30  # that are looked at
_FOLDS = 3
_RIDGE, _SMOOTHNESS = 8.0, 10.0  # times the noise over the number of rows
_BEND_PRICE = 1.0  # the same, of a bend when terms are chosen
_MUCH_LESS = 0.5  # than the noise that was measured: if rules leave so little, they are fitted again with less of it
_EDGE = 0.05  # of the rows, beyond which there is no center
_LAST_STEPS = 80
_LEAST_GAIN = 1.2  # over one rule, for each parameter more, in units of what one gains by noise alone
_LEAST_GOVERNED = 0.005  # of the rows, that a rule governs


class Short(NamedTuple):
    """Short rules and how they came about."""

    model: RuleModel  # in the units of the data, without profiles
    losses: FloatArray  # the root of the penalized loss after each split, in the units of the data
    stopped: str
    penalties: tuple[float, float]  # on weights and narrow sets
    repeats: tuple[tuple[int, int], ...] = ()  # features left out, each with the one that says the same


class _Limits(NamedTuple):
    n_rules: int
    max_conditions: int
    max_terms: int
    agreement: float


class _Workshop(NamedTuple):
    """Rows, columns and tasks of a fit."""

    rows: Rows  # with the features that are looked at, in the units of the data
    features: IntArray  # which ones these are
    columns: FormulaColumns
    base: IntArray  # columns of the first formula
    task: Task  # of all of these rows
    coarse: Task  # of some of them


def fit_short(rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> Short:
    """Fit a sum of rule bases to rows, with at most so many rules, and conditions and terms per rule."""
    watch.begin("noise")
    units = measure_units(rows, scales_inputs=True, scales_target=True)
    standard = units.standardize(rows)
    noise = measure_noise(standard, rng)
    watch.count(0)
    if noise.is_all or not (np.ptp(rows.X, axis=0) > 0).any():
        return Short(_say_little(rows, standard, plan.max_terms, rng), np.empty(0), "no_change", (0.0, 0.0))
    limits = _Limits(plan.n_rules, plan.max_conditions, plan.max_terms, plan.config.agreement)
    if plan.chooses_size:
        watch.begin("sizes")
        limits = limits._replace(n_rules=_choose_size(rows, noise.part, limits, rng, watch))
    watch.begin("growing")
    watch.expect(limits.n_rules)
    short = _fit_size(rows, noise.part, limits, watch)
    watch.count(len(short.losses))
    if short.model.n_rules == 1 and limits.n_rules > 1:
        warn_user("No split of the rows gains more than chance would: the model is one formula, without conditions.")
    return short._replace(repeats=tuple(find_repeats(standard.X)))


def _fit_size(rows: Rows, noise: float, limits: _Limits, watch: Watch | None) -> Short:
    """Fit rules of a given size."""
    sample = rows.take(spread_rows(len(rows.X), _ROWS[1]))
    units = measure_units(sample, scales_inputs=True, scales_target=True)
    workshop = _open_workshop(sample, units, (noise, limits.agreement), len(rows.X))
    losses: list[float] = []

    def has_ended(loss: float) -> bool:
        losses.append(loss)
        return watch is not None and watch.tell_step(float(np.sqrt(loss)) * units.loss_factor)

    drafts = list(grow(workshop.coarse, workshop.base, limits.n_rules, limits.max_conditions, has_ended))
    one, loss_of_one = _finish(drafts[0], workshop, limits._replace(n_rules=1))
    for grown in (drafts[-1], drafts[len(drafts) // 2]):  # all rules, or about half of them
        size = limits.n_rules if grown is drafts[-1] else grown.n_rules
        draft, loss = _finish(grown, workshop, limits._replace(n_rules=size))
        n_more = _count_parameters(draft) - _count_parameters(one)
        if loss_of_one - loss >= _LEAST_GAIN * min(noise, _correct(draft, loss, rows)) / len(rows.X) * n_more:
            break
    else:
        draft, loss = one, loss_of_one
    corrected = _correct(draft, loss, rows)
    if corrected < _MUCH_LESS * noise and not (watch is not None and watch.has_ended):
        return _fit_size(rows, max(corrected, _MUCH_LESS * noise / 10), limits, watch)
    draft, intervals = _make_true(draft, workshop)
    has_ended(loss)
    stopped = "callback" if watch is not None and watch.has_ended else "limits"
    stopped = "no_change" if stopped == "limits" and draft.n_rules < limits.n_rules else stopped
    model = _write(draft, intervals, workshop, units, rows.X.shape[1])
    return Short(model, np.sqrt(losses) * units.loss_factor, stopped, (workshop.task.ridge, workshop.task.smoothness))


def _correct(draft: SumDraft, loss: float, rows: Rows) -> float:
    """Return what the loss would be for other rows, by generalized cross-validation."""
    part = min(0.9, _count_parameters(draft) / len(rows.X))
    return loss / (1 - part) ** 2


def _finish(draft: SumDraft, workshop: _Workshop, limits: _Limits) -> tuple[SumDraft, float]:
    """Return a draft with so many terms per rule, trained to the end on all rows, and its loss."""
    task, base = workshop.coarse, workshop.base
    draft = prune_terms(draft, task, limits.max_terms)
    draft = exchange_for_formulas(draft, task, base, (limits.n_rules, limits.max_terms))
    draft = exchange_terms(draft, task, limits.max_terms)
    return polish(draft, workshop.task, _LAST_STEPS)


def _count_parameters(draft: SumDraft) -> int:
    return int(draft.uses.sum() + draft.n_rules + 2 * draft.asks.sum())


def _open_workshop(rows: Rows, units: Units, prices: tuple[float, float], n_rows: int) -> _Workshop:
    noise, agreement = prices
    standard = units.standardize(rows)
    features = screen_features(rows, standard.X, standard.y, _MOST_FEATURES)
    rows, Z = rows._replace(X=rows.X[:, features]), standard.X[:, features]
    columns = offer_bends(rows)
    weight = rows.weight / rows.weight.sum()
    low, high = np.quantile(Z, [_EDGE, 1 - _EDGE], axis=0)
    is_flat = high <= low  # most rows have one value
    task = Task(
        Z=Z,
        columns=columns.evaluate(rows.X, Z),
        target=standard.y,
        weight=weight,
        agreement=agreement,
        ridge=_RIDGE * noise / n_rows + 1e-6,
        smoothness=_SMOOTHNESS * noise / n_rows + 1e-6,
        bend_price=_BEND_PRICE * noise / n_rows,
        low=np.where(is_flat, Z.min(axis=0), low),
        high=np.where(is_flat, Z.max(axis=0), high),
    )
    base = choose_base(task.columns, task.target, weight, len(features), task.ridge)
    return _Workshop(rows, features, columns, base, task, task.sample(_ROWS[0]))


def _make_true(draft: SumDraft, workshop: _Workshop) -> tuple[SumDraft, FloatArray]:
    """Leave out rules that govern nothing and conditions that exclude nothing, and say what the others mean."""
    task, X = workshop.task, workshop.rows.X
    while True:
        governs = find_governed(draft.shares(task.Z), draft.together)
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
        draft, _ = polish(solve_weights(draft, task), task, _LAST_STEPS // 4)


def find_governed(share: FloatArray, together: FloatArray) -> BoolArray:
    """Return which rules have the largest share of their part, for each row."""
    strongest = np.array([share[:, own > 0].max(axis=1) for own in together]).T
    return share >= strongest


def _write(draft: SumDraft, intervals: FloatArray, workshop: _Workshop, units: Units, n_features: int) -> RuleModel:
    """Return a draft as a model in the units of the data: main rules, and adjustments that are zero on average."""
    task = workshop.task
    said = draft.shares(task.Z) * draft.outputs(task.columns)
    numbers = np.unique(draft.part)
    means = np.array([task.weight @ said[:, :, draft.part == k].sum(axis=2).T for k in numbers])
    means[0] = -means[1:].sum(axis=0)
    parts = []
    for k, mean in zip(numbers, means, strict=True):
        own = np.flatnonzero(draft.part == k)
        constant = units.y_mean if k == numbers[0] else np.zeros_like(units.y_mean)
        part = _write_part(draft.take(own), workshop, units._replace(y_mean=constant - mean * units.y_scale))
        parts.append(_spread(part, intervals[own], workshop.features, n_features))
    return RuleModel(tuple(parts))


def _write_part(draft: SumDraft, workshop: _Workshop, units: Units) -> RuleBase:
    """Return the rules of one part, about the features that were looked at; rounding takes no center out of range."""
    mean, scale = units.x_mean[workshop.features], units.x_scale[workshop.features]
    n_features, columns, X = len(mean), workshop.columns, workshop.rows.X
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
    """Return rules about all features, given rules about some of them, with what their words mean."""
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


def _say_little(rows: Rows, standard: Rows, max_terms: int, rng: np.random.Generator) -> RuleModel:
    """Return one rule: ridge regression with few features if they tell anything, and else the mean of the target."""
    if trust_few_slopes(standard, max_terms, rng):
        warn_user("No rules can be told from chance: the model is one formula, without conditions.")
        return RuleModel((fit_few_slopes(rows, max_terms),))
    warn_user("No column tells anything about the target that could be seen: the model is the target's mean.")
    return _say_mean(rows)


def _say_mean(rows: Rows) -> RuleModel:
    """Return the mean of the target as one rule."""
    n_features = rows.X.shape[1]
    consequents = np.zeros((1, rows.y.shape[1], 1 + n_features))
    consequents[0, :, 0] = np.average(rows.y, axis=0, weights=rows.weight)
    return RuleModel((RuleBase(np.zeros((1, n_features)), np.full((1, n_features), np.inf), consequents),))


def _choose_size(rows: Rows, noise: float, limits: _Limits, rng: np.random.Generator, watch: Watch) -> int:
    """Return the smallest size whose error is within a standard error of the smallest one, by cross-validation."""
    order = draw_order(rows, rng)[0][:_CV_ROWS]
    sizes = [size for size in SIZES if size * 4 <= len(order)] or [1]
    watch.expect(_FOLDS * len(sizes))
    errors = np.zeros((len(sizes), len(order)))
    scale = measure_units(rows, scales_inputs=True, scales_target=True).y_scale
    for judged in np.array_split(np.arange(len(order)), _FOLDS):
        training = rows.take(order[np.setdiff1d(np.arange(len(order)), judged)])
        held_out = rows.take(order[judged])
        for i, size in enumerate(sizes):
            short = _fit_size(training, noise, limits._replace(n_rules=size), None)
            said = short.model.predict_raw(held_out.X)
            errors[i, judged] = (((said - held_out.y) / scale) ** 2).mean(axis=1)
            if watch.tell_step(float(np.sqrt(errors[i, judged].mean()))):
                return sizes[max(0, i - 1)]
    mean = np.average(errors, axis=1, weights=rows.weight[order])
    best = int(mean.argmin())
    doubt = [np.std(errors[i] - errors[best]) / np.sqrt(len(order)) for i in range(len(sizes))]
    return next(size for i, size in enumerate(sizes) if mean[i] <= mean[best] + doubt[i])
