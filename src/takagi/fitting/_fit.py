"""The fit of a rule base, from rows and a plan to rules, on one page."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from takagi import kernels
from takagi._checks import are_finite
from takagi._messages import warn_user
from takagi._typing import FloatArray, IntArray
from takagi.calibration import measure_calibration
from takagi.fitting._logistic import measure_sharpness, sharpen
from takagi.fitting._pilots import Mix, run_pilots
from takagi.fitting._plan import Penalties, Plan, heed_noise, plan_teacher
from takagi.fitting._rows import (
    HEAVY,
    Rows,
    find_errors,
    measure_columns,
    split_rows,
    stack_rows,
    standardize_columns,
)
from takagi.fitting._short import Short, fit_short, fit_short_classes
from takagi.fitting._training import Stage, Trained, Watch, begin_training, train_rules
from takagi.profile import MAX_ROWS, measure_profile, sort_rules, spread_rows
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.training import LOSSES, TrainConfig

_FEWEST_RULES = 4  # of a teacher
_N_BETWEEN = 8_000  # points between rows
_N_NEIGHBORS = 6
_PENALTY_PART = 0.1  # of a teacher's penalties is left to the student, whose labels have no noise
_SHORTER = 2  # times fewer iterations of the student


@dataclass(frozen=True)
class Fitted:
    """What a fit ends with: all that a fitted estimator tells."""

    model: RuleModel  # in the units of the data, with a profile of the rows, rules that govern most first
    recipe: str  # the learning algorithm
    config: TrainConfig  # the settings of the training that made the rules
    history: dict[str, FloatArray]  # losses of that training, in the units of the data
    # the iteration, from 1, that the rules were taken from; 0 for initial rules and for ridge regression
    best_iter: int
    n_iter: int  # iterations of that training
    stopped: str  # why it ended
    stages: tuple[Stage, ...]  # all that ran
    repeats: tuple[tuple[int, int], ...] = ()  # features that short rules leave out, with those that say the same


def fit_rules(
    rows: Rows,
    plan: Plan,
    rng: np.random.Generator,
    watch: Watch,
    *,
    held_out: Rows | None = None,
    start: RuleBase | None = None,
) -> Fitted:
    """Fit rules to rows; Ctrl-C keeps the best rules so far once these are trained, and is raised in pilots.

    Parameters
    ----------
    rows : Rows
        Rows in the units of the data.
    plan : Plan
        What to do.
    rng : Generator
        All randomness.
    watch : Watch
        Is told of every stage.
    held_out : Rows, optional
        Rows to choose the iterate by; otherwise the plan says whether a part of the rows does so.
    start : RuleBase, optional
        Rules to go on from, in place of initial ones.

    Returns
    -------
    Fitted
    """
    kernels.expect_training()
    given = rows if held_out is None else stack_rows(rows, held_out)
    if plan.recipe == "short":
        fitted = _fit_short_rules(rows, given, plan, rng, watch)
        return sharpen_fit(fitted, held_out) if plan.has_classes and held_out is not None else fitted
    teaches = plan.n_teachers > 1 and start is None and held_out is None and not plan.holds_out
    n_iter = _count_iterations(plan, teaches)
    watch.expect(n_iter)
    mix, errors, source, most = Mix(), None, "pilots", np.inf
    if plan.penalties.are_open:
        found = run_pilots(rows, held_out, plan, rng, watch)
        plan, errors = heed_noise(plan, found.penalties), found.errors
        watch.expect(_count_iterations(plan, teaches) - n_iter)
        if start is None:
            mix = found.mix
    if not mix.rules:
        fitted = fit_ridge_instead(rows, given, plan, mix, watch)
        return replace(fitted, model=calibrate_model(fitted.model, errors, source))
    if held_out is None and plan.holds_out:
        most = HEAVY * rows.weight.mean()
        rows, held_out = split_rows(rows, plan.validation_fraction, rng, plan.has_classes)
    watch.begin("training")
    trained = train_rules(rows, held_out, plan, rng, watch, start=start, keep_interrupted=True)
    stopped = trained.result.stopped
    if teaches and stopped == "max_iter":
        trained, stopped = _teach(trained, rows, plan, rng, watch)
    fitted = widen_limits(finish_fit(trained, rows, given, plan, mix, watch, stopped), start)
    if held_out is not None and len(given.X) > 1:
        if plan.has_classes:
            return sharpen_fit(fitted, held_out)
        errors, source = find_errors(fitted.model, held_out, most), "held out"
    return replace(fitted, model=calibrate_model(fitted.model, errors, source))


def _count_iterations(plan: Plan, teaches: bool) -> int:
    """Return how many iterations follow the pilots."""
    n_iter = plan.config.max_iter
    return plan.n_teachers * n_iter + max(1, n_iter // _SHORTER) if teaches else n_iter


# -- the end of a fit --------------------------------------------------------------------------------------------------


def finish_fit(
    trained: Trained, rows: Rows, given: Rows, plan: Plan, mix: Mix, watch: Watch, stopped: str | None = None
) -> Fitted:
    """Return what a training ends with, given its rows and all rows that were given."""
    trained = _keep_start_if_better(trained)
    factor = trained.units.loss_factor
    return Fitted(
        model=RuleModel((add_profile(mix.apply(trained.rules, rows.balance()), rows, given, plan.holds_inputs),)),
        recipe=plan.recipe,
        config=trained.config,
        history={name: losses * factor for name, losses in trained.result.history.items()},
        best_iter=trained.result.best_iter,
        n_iter=trained.result.n_iter,
        stopped=trained.result.stopped if stopped is None else stopped,
        stages=tuple(watch.stages),
    )


def _keep_start_if_better(trained: Trained) -> Trained:
    """Return the initial rules, with a warning, where training only made things worse."""
    result = trained.result
    if result.best_iter and not trained.is_worse_than_start:
        if result.stopped == "diverged":
            warn_user(
                f"Training diverged in iteration {result.n_iter + 1}; the rules of iteration {result.best_iter} are "
                "kept. Lower learning_rate.",
                ConvergenceWarning,
            )
        return trained
    warn_user(
        f"Training did not improve on the initial rules, which are kept (training ended: {result.stopped}). Lower "
        "learning_rate if the target depends on the features.",
        ConvergenceWarning,
    )
    return replace(trained, result=replace(result, rule_base=trained.start, best_iter=0))


def add_profile(rules: RuleBase, rows: Rows, given: Rows, holds_inputs: bool = False) -> RuleBase:
    """Return rules in the order of how much of the training rows they govern, with a profile of all given rows.

    Values far beyond these are held, if that is wanted.
    """
    rules = forget_usual(rules, given.X)
    profile = measure_profile((given.X, given.y), rules.firing_share, given.weight)
    share = profile.share
    if given is not rows:
        sample = spread_rows(len(rows.X), MAX_ROWS)
        share = np.average(rules.firing_share(rows.X[sample]), axis=0, weights=rows.weight[sample])
    rules = sort_rules(rules, replace(profile, share=share))
    return replace(rules, limits=profile.find_limits()) if holds_inputs else rules


def forget_usual(rules: RuleBase, X: FloatArray) -> RuleBase:
    """Return rules that know what is usual for features that were missing, and not for the others."""
    missing = np.isnan(X).any(axis=0) if not are_finite(X) else np.zeros(X.shape[1], dtype=bool)
    if rules.usual is None or not missing.any():
        return replace(rules, usual=None)
    return replace(rules, usual=np.where(missing, rules.usual, np.nan))


def widen_limits(fitted: Fitted, start: RuleBase | None) -> Fitted:
    """Return what a fit ends with, its limits as wide as those of the rules that it went on from, if there are such."""
    limits = fitted.model.limits
    if limits is None or start is None or start.limits is None:
        return fitted
    low, high = np.minimum(limits[:, 0], start.limits[:, 0]), np.maximum(limits[:, 1], start.limits[:, 1])
    return replace(fitted, model=fitted.model.hold_at(np.column_stack([low, high])))


def calibrate_model(model: RuleModel, errors: Rows | None, source: str) -> RuleModel:
    """Return a model that knows how far it is off, if there are honest errors; they must be finite."""
    if model.link != "identity" or errors is None or not len(errors.X) or not np.isfinite(errors.y).all():
        return replace(model, calibration=None)
    share = model.firing_share(errors.X)
    return replace(model, calibration=measure_calibration(share, errors.y, errors.weight, source))


def cross_validate(rows: Rows, fit: Callable[[Rows], RuleModel], rng: np.random.Generator, n_folds: int) -> Rows:
    """Return errors on all rows, each by a fit to the rows outside its fold; equal rows should be one.

    What these fits warn of is not about the model at work, and is not shown.
    """
    errors = np.empty_like(rows.y)
    for fold in np.array_split(rng.permutation(len(rows.X)), n_folds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = fit(rows.take(np.setdiff1d(np.arange(len(rows.X)), fold)))
        errors[fold] = rows.y[fold] - model.predict_raw(rows.X[fold])
    return rows._replace(y=errors)


def sharpen_fit(fitted: Fitted, rows: Rows) -> Fitted:
    """Return a fit whose probabilities are as sure as rows held out say."""
    return _sharpen_model(fitted, measure_sharpness(rows.y, fitted.model.predict_raw(rows.X), rows.weight))


def _sharpen_model(fitted: Fitted, factor: float) -> Fitted:
    return replace(fitted, model=RuleModel(tuple(sharpen(part, factor) for part in fitted.model.parts)))


def predict_out_of_fold(models: list[RuleModel], rows: Rows, folds: list[IntArray]) -> FloatArray:
    """Return outputs of rows, each by the model that was not fitted to its fold."""
    outputs = np.empty_like(rows.y)
    for model, fold in zip(models, folds, strict=True):
        outputs[fold] = model.predict_raw(rows.X[fold])
    return outputs


def sharpen_members(members: list[Fitted], rows: Rows, folds: list[IntArray]) -> tuple[list[Fitted], FloatArray]:
    """Return members whose mean is as sure as it may be, and outputs of rows, each by the member without its fold.

    Rows outside of what trained a member tell how sure a single one may be, which the outputs that are returned are.
    What chance has put into a member attenuates its slope in a regression on it (Spearman, 1904), and their mean has
    less of that: it may be surer, by as much as log-odds of members vary more than the mean of these does.
    """
    outputs = predict_out_of_fold([member.model for member in members], rows, folds)
    alone = measure_sharpness(rows.y, outputs, rows.weight)
    sample = spread_rows(len(rows.X), MAX_ROWS)
    said = np.array([member.model.predict_raw(rows.X[sample]) for member in members])
    of_mean = said.mean(axis=0).var(axis=0).sum()
    gain = said.var(axis=1).sum(axis=-1).mean() / of_mean if of_mean > 0 else 1.0
    return [_sharpen_model(member, alone * gain) for member in members], alone * outputs


# -- teachers: distillation (Hinton, Vinyals and Dean, 2015) -----------------------------------------------------------
#
# What a single fit learns depends on chance, and the mean of several does so less. So the mean of some teachers, half
# of them with half of the rules, labels the rows and many points between neighboring rows, as SMOTE (Chawla et al.,
# 2002) and mixup (Zhang et al., 2018) draw them, and the first teacher learns these labels: one rule base, nearly as
# accurate as the teachers together.


def _teach(first: Trained, rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> tuple[Trained, str]:
    """Return what a student has learned from the first teacher and others, and why that ended.

    The first teacher is returned if that was no gain, or where Ctrl-C or the callback ended the lessons.
    """
    n_large = plan.n_teachers if plan.has_fixed_rules else -(-plan.n_teachers // 2)
    small = max(min(_FEWEST_RULES, plan.n_rules), plan.n_rules // 2)
    sizes = [plan.n_rules] * n_large + [small] * (plan.n_teachers - n_large)
    if not plan.has_fixed_rules:
        sizes = [min(size, len(rows.X)) for size in sizes]  # of more, the first teacher has warned
    weak = Penalties(_PENALTY_PART * first.config.l2, _PENALTY_PART * first.config.smoothness)
    config = replace(plan.config, max_iter=max(1, plan.config.max_iter // _SHORTER))
    try:
        watch.begin("teachers")
        others = watch.run(begin_training(rows, None, replace(plan, n_rules=size), rng, watch) for size in sizes[1:])
        if watch.has_ended:
            return first, "callback"
        watch.begin("student")
        labeled, lesson = _label(rows, [first, *others], rng), replace(plan, config=config, penalties=weak)
        student = train_rules(labeled, None, lesson, rng, watch, start=first.rules)
    except KeyboardInterrupt:
        warn_user("Training was interrupted; the rules of the first of several fits are kept.")
        return first, "interrupted"
    if watch.has_ended:
        return first, "callback"
    # the penalties of the first teacher are what was asked for
    return first if student.is_worse_than_start else replace(student, config=first.config), "max_iter"


def _label(rows: Rows, teachers: list[Trained], rng: np.random.Generator) -> Rows:
    """Return the rows and points between them, with what the teachers say on average in place of the targets."""
    between = draw_between(rows, _N_BETWEEN, rng)
    X = np.vstack([rows.X, between])
    labels = np.mean([teacher.rules.predict(X).reshape(len(X), -1) for teacher in teachers], axis=0)
    is_constant = (rows.y == rows.y[0]).all(axis=0) & (teachers[0].config.loss == "squared")
    labels[:, is_constant] = rows.y[0, is_constant]  # but for rounding they are
    return Rows(X, labels, np.r_[rows.balance().weight, np.ones(len(between))])


def draw_between(rows: Rows, n_points: int, rng: np.random.Generator) -> FloatArray:
    """Return points on the way from a row, drawn by its weight, to one of its nearest neighbors.

    They lack what that row lacks.
    """
    n_rows = len(rows.X)
    if n_rows < 2:
        return rows.X[:0]
    mean, scale = measure_columns(rows.X, rows.weight)
    scaled = standardize_columns(rows.X, mean, scale)
    search = NearestNeighbors(n_neighbors=min(_N_NEIGHBORS, n_rows - 1)).fit(scaled)
    neighbors = search.kneighbors(return_distance=False)
    here = rng.choice(n_rows, n_points, p=rows.weight / rows.weight.sum())
    there = neighbors[here, rng.integers(neighbors.shape[1], size=n_points)]
    way = rng.random((n_points, 1))
    points = (scaled[here] + way * (scaled[there] - scaled[here])) * scale + mean
    return points if are_finite(rows.X) else np.where(np.isnan(rows.X[here]), np.nan, points)


# -- other fits --------------------------------------------------------------------------------------------------------


def _fit_short_rules(rows: Rows, given: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> Fitted:
    """Return short rules; all rows train."""
    short = (_learn_classes if plan.has_classes else fit_short)(rows.balance(), plan, rng, watch)
    holds_inputs = plan.holds_inputs and not short.is_exact
    l2, smoothness = short.penalties
    return Fitted(
        model=RuleModel(tuple(add_profile(part, rows, given, holds_inputs) for part in short.model.parts)),
        recipe=plan.recipe,
        config=replace(plan.config, l2=l2, smoothness=smoothness),
        history={"train_loss": short.losses, "val_loss": np.full(len(short.losses), np.nan)},
        best_iter=len(short.losses),
        n_iter=len(short.losses),
        stopped=short.stopped,
        stages=tuple(watch.stages),
        repeats=short.repeats,
    )


def _learn_classes(rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> Short:
    """Return short rules for classes; what their teacher warns of is not about the model at work, and is not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        teacher = fit_rules(rows, plan_teacher(plan, len(rows.X)), rng, watch)
    return fit_short_classes(rows, teacher.model, plan, rng, watch)


def fit_ridge_instead(rows: Rows, given: Rows, plan: Plan, mix: Mix, watch: Watch) -> Fitted:
    """Return ridge regression, or logistic regression, as one rule without conditions, in place of a fit."""
    line = mix.fit_line(rows.balance(), plan.has_classes)
    if mix.sharpness != 1:
        line = sharpen(line, mix.sharpness)
    model = RuleModel((add_profile(line, rows, given, plan.holds_inputs and not mix.is_exact),))
    config = plan.penalties.configure(plan.config, len(rows.X), rows.X.shape[1], 1.0)
    losses, stopped = np.empty(0), "ridge"
    if plan.has_classes:  # it has no formula, so that it counts as one iteration
        found = LOSSES["log"].measure_rows(line.predict_raw(rows.X), rows.y)
        losses, stopped = np.array([np.average(found, weights=rows.weight)]), "logistic"
    history = {"train_loss": losses, "val_loss": np.full(len(losses), np.nan)}
    return Fitted(model, plan.recipe, config, history, len(losses), len(losses), stopped, tuple(watch.stages))
