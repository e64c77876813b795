"""The fit of short rules."""

from typing import NamedTuple

import numpy as np

from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.fitting._pilots import EXACT
from takagi.fitting._plan import Plan
from takagi.fitting._rows import Rows, draw_order, measure_units
from takagi.fitting._screening import find_repeats
from takagi.fitting._short._draft import SumDraft
from takagi.fitting._short._formulas import expect_error, fit_ridge_formulas
from takagi.fitting._short._growth import grow
from takagi.fitting._short._noise import fit_few_slopes, measure_few_slopes, measure_noise
from takagi.fitting._short._polish import polish, solve_weights
from takagi.fitting._short._pruning import exchange_for_formulas, exchange_terms, prune_terms
from takagi.fitting._short._workshop import (
    COARSE_ROWS,
    MOST_ROWS,
    Limits,
    Workshop,
    make_true,
    open_workshop,
    say_mean,
    write_model,
)
from takagi.fitting._training import Watch
from takagi.profile import spread_rows
from takagi.rulemodel import RuleModel

SIZES = (1, 2, 3, 5, 7, 9, 12)  # candidates of cross-validation
_CV_ROWS = 2_000
_FOLDS = 3
_FEW_ROWS = 80  # below which rules that chance invites are told only by rows that they have not seen
_FOLDS_OF_FEW = 4
_LESS = 0.75  # of the noise that was measured: if rules leave less than that, they are fitted again with less noise
_MOST_FITS = 3
_LAST_STEPS = 80
_LEAST_GAIN = 1.2  # gain over one rule per additional parameter, relative to the gain by noise alone


class Short(NamedTuple):
    """Short rules and the history of their fit."""

    model: RuleModel  # in the units of the data, without profiles
    losses: FloatArray  # the root of the penalized loss after each split, in the units of the data
    stopped: str
    penalties: tuple[float, float]  # on weights and narrow sets
    repeats: tuple[tuple[int, int], ...] = ()  # features left out, each with the one that it repeats
    is_exact: bool = False  # whether it is ridge regression with almost no error


def fit_short(rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> Short:
    """Fit a sum of rule bases to rows, with limits on rules, and on conditions and terms per rule."""
    watch.begin("noise")
    units = measure_units(rows, scales_inputs=True, scales_target=True)
    standard = units.standardize(rows)
    noise = measure_noise(standard.fill(), rng)
    watch.count(0)
    if noise.is_all or not (np.ptp(rows.fill().X, axis=0) > 0).any():
        return Short(say_little(rows, standard, plan.max_terms, rng), np.empty(0), "no_change", (0.0, 0.0))
    limits = choose_limits(rows, noise.part, plan, rng, watch)
    if 2 * _FOLDS_OF_FEW <= len(rows.X) < _FEW_ROWS:
        line = _compare_with_line(rows, standard, noise.part, limits, rng, watch)
        if line is not None:
            tell_formula(line.model, limits)
            return line
    watch.begin("growing")
    watch.expect(limits.n_rules)
    short = fit_size(rows, noise.part, limits, watch)
    watch.count(len(short.losses))
    if short.stopped != "callback":
        sample = rows.take(spread_rows(len(rows.X), MOST_ROWS))
        formulas, expected = fit_ridge_formulas(sample, limits)
        if expected <= expect_error(short.model, sample):
            short = Short(formulas, np.empty(0), "no_change", (0.0, 0.0))
        tell_formula(short.model, limits)
    is_exact = noise.is_exact and all(part.n_rules == 1 for part in short.model.parts)
    return short._replace(repeats=tuple(find_repeats(standard.fill().X)), is_exact=is_exact)


def _compare_with_line(
    rows: Rows, standard: Rows, noise: float, limits: Limits, rng: np.random.Generator, watch: Watch
) -> Short | None:
    """Return ridge regression within the limits, if it does better than rules in cross-validation."""
    watch.begin("line")
    watch.expect(_FOLDS_OF_FEW)
    order = draw_order(rows, rng)[0]
    errors = np.zeros((2, len(rows.X)))
    for fold in np.array_split(order, _FOLDS_OF_FEW):
        training, judges = standard.take(np.setdiff1d(np.arange(len(rows.X)), fold)), standard.take(fold)
        line, _ = fit_ridge_formulas(training, limits)
        for k, model in enumerate((line, fit_size(training, noise, limits, None, n_fits=1).model)):
            errors[k, fold] = ((model.predict_raw(judges.X) - judges.y) ** 2).mean(axis=1)
        if watch.tell_step(float(np.sqrt(errors[1, fold].mean()))):
            return None
    watch.count(_FOLDS_OF_FEW)
    of_line, of_rules = np.average(errors[:, order], axis=1, weights=rows.weight[order])
    if of_rules <= of_line:
        return None
    model, _ = fit_ridge_formulas(rows, limits)
    return Short(model, np.empty(0), "no_change", (0.0, 0.0), is_exact=bool(of_line < EXACT))


def choose_limits(rows: Rows, noise: float, plan: Plan, rng: np.random.Generator, watch: Watch) -> Limits:
    """Return the limits of the plan; cross-validation may choose the number of rules."""
    limits = Limits(plan.n_rules, plan.max_conditions, plan.max_terms, plan.config.agreement)
    if not plan.chooses_size:
        return limits
    watch.begin("sizes")
    return limits._replace(n_rules=_choose_size(rows, noise, limits, rng, watch))


def tell_formula(model: RuleModel, limits: Limits) -> None:
    """Warn if several rules are allowed and none has a condition."""
    if limits.n_rules > 1 and all(part.n_rules == 1 for part in model.parts):
        warn_user("No split of the rows gains more than expected by chance: the model is a formula without conditions.")


def fit_size(
    rows: Rows,
    noise: float,
    limits: Limits,
    watch: Watch | None,
    n_fits: int = _MOST_FITS,
    coarse_rows: int = COARSE_ROWS,
) -> Short:
    """Fit rules of a given size; a limited number of rows determines their structure."""
    workshop = open_workshop(rows, noise, limits.agreement, coarse_rows=coarse_rows)
    losses: list[float] = []

    def has_ended(loss: float) -> bool:
        losses.append(loss)
        return watch is not None and watch.tell_step(float(np.sqrt(loss)) * workshop.units.loss_factor)

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
    if corrected < _LESS * noise and n_fits > 1 and not (watch is not None and watch.has_ended):
        return fit_size(rows, max(corrected, noise / 20), limits, watch, n_fits - 1, coarse_rows)
    draft, intervals = make_true(draft, workshop)
    has_ended(loss)
    stopped = "callback" if watch is not None and watch.has_ended else "limits"
    stopped = "no_change" if stopped == "limits" and draft.n_rules < limits.n_rules else stopped
    model = write_model(draft, intervals, workshop)
    penalties = workshop.task.ridge, workshop.task.smoothness
    return Short(model, np.sqrt(losses) * workshop.units.loss_factor, stopped, penalties)


def _correct(draft: SumDraft, loss: float, rows: Rows) -> float:
    """Return the expected loss on new rows, by generalized cross-validation (Craven and Wahba, 1979)."""
    part = min(0.9, _count_parameters(draft) / len(rows.X))
    return loss / (1 - part) ** 2


def _finish(draft: SumDraft, workshop: Workshop, limits: Limits) -> tuple[SumDraft, float]:
    """Return a draft with a limited number of terms per rule, trained to the end on all rows, and its loss."""
    task, base = workshop.coarse, workshop.base
    draft = prune_terms(draft, task, limits.max_terms)
    draft = exchange_for_formulas(draft, task, base, (limits.n_rules, limits.max_terms))
    draft = exchange_terms(solve_weights(draft.say_once(), task), task, limits.max_terms)
    return polish(draft, workshop.task, _LAST_STEPS)


def _count_parameters(draft: SumDraft) -> int:
    return int(draft.uses.sum() + draft.n_rules + 2 * draft.asks.sum())


def say_little(rows: Rows, standard: Rows, max_terms: int, rng: np.random.Generator) -> RuleModel:
    """Return one rule: ridge regression with few features if they are useful, else the mean of the target."""
    slopes = measure_few_slopes(standard, max_terms, rng)
    if slopes > 0:
        warn_user("No rules do better than expected by chance: the model is one formula, without conditions.")
        return RuleModel((fit_few_slopes(rows, max_terms, slopes),))
    warn_user("No column was found that predicts the target: the model predicts its mean.")
    return say_mean(rows)


def _choose_size(rows: Rows, noise: float, limits: Limits, rng: np.random.Generator, watch: Watch) -> int:
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
            short = fit_size(training, noise, limits._replace(n_rules=size), None)
            said = short.model.predict_raw(held_out.X)
            errors[i, judged] = (((said - held_out.y) / scale) ** 2).mean(axis=1)
            if watch.tell_step(float(np.sqrt(errors[i, judged].mean()))):
                return sizes[max(0, i - 1)]
    mean = np.average(errors, axis=1, weights=rows.weight[order])
    best = int(mean.argmin())
    doubt = [np.std(errors[i] - errors[best]) / np.sqrt(len(order)) for i in range(len(sizes))]
    return next(size for i, size in enumerate(sizes) if mean[i] <= mean[best] + doubt[i])
