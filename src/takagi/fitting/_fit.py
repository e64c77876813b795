"""The fit of a rule base, from rows and a plan to rules, on one page."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from takagi import kernels
from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.fitting._honest import Honest, calibrate_model, measure_honest
from takagi.fitting._pilots import run_pilots
from takagi.fitting._plan import Plan, plan_teacher
from takagi.fitting._ridge import Mix, measure_sharpness, sharpen
from takagi.fitting._rows import HEAVY, Rows, split_rows, stack_rows
from takagi.fitting._short import Short, fit_short, fit_short_classes
from takagi.fitting._teachers import expect_lessons, teach
from takagi.fitting._training import Stage, Trained, Watch, train_rules
from takagi.profile import MAX_ROWS, measure_profile, spread_rows
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.training import LOSSES, TrainConfig


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
        return _sharpen(fitted, held_out) if plan.has_classes and held_out is not None else fitted
    teaches = plan.n_teachers > 1 and start is None and held_out is None and not plan.holds_out
    watch.expect(plan.config.max_iter)
    if teaches:
        expect_lessons(plan, watch)
    mix, honest, most = Mix(), None, np.inf
    if plan.penalties.are_open:
        found = run_pilots(rows, held_out, plan, rng, watch)
        plan, honest = replace(plan, penalties=found.penalties), found.honest
        if start is None:
            mix = found.mix
    if not mix.has_rules:
        return _calibrate(fit_ridge_instead(rows, given, plan, mix, watch), honest)
    if held_out is None and plan.holds_out:
        most = HEAVY * rows.weight.mean()
        rows, held_out = split_rows(rows, plan.validation_fraction, rng, plan.has_classes)
    watch.begin("training")
    trained = train_rules(rows, held_out, plan, rng, watch, start=start, keep_interrupted=True)
    stopped = trained.result.stopped
    if teaches and stopped == "max_iter":
        trained, stopped = _be_taught(trained, rows, plan, rng, watch)
    fitted = widen_limits(finish_fit(trained, rows, given, plan, mix, watch, stopped), start)
    if held_out is not None and len(given.X) > 1:
        if plan.has_classes:
            return _sharpen(fitted, held_out)
        honest = measure_honest(fitted.model, held_out, "held out", most)
    return _calibrate(fitted, honest)


def _calibrate(fitted: Fitted, honest: Honest | None) -> Fitted:
    return replace(fitted, model=calibrate_model(fitted.model, honest))


def _sharpen(fitted: Fitted, rows: Rows) -> Fitted:
    """Return a fit whose probabilities are as sure as rows held out say."""
    factor = measure_sharpness(rows.y, fitted.model.predict_raw(rows.X), rows.weight)
    return replace(fitted, model=RuleModel(tuple(sharpen(part, factor) for part in fitted.model.parts)))


def finish_fit(
    trained: Trained, rows: Rows, given: Rows, plan: Plan, mix: Mix, watch: Watch, stopped: str | None = None
) -> Fitted:
    """Return what a training ends with, given its rows and all rows that were given."""
    trained = _keep_start_if_better(trained)
    return Fitted(
        model=add_limits(RuleModel((add_profile(mix.apply(trained.rules, rows.balance()), rows, given),)), plan),
        recipe=plan.recipe,
        config=trained.config,
        history=trained.history,
        best_iter=trained.result.best_iter,
        n_iter=trained.result.n_iter,
        stopped=trained.result.stopped if stopped is None else stopped,
        stages=tuple(watch.stages),
    )


def _fit_short_rules(rows: Rows, given: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> Fitted:
    """Return short rules; all rows train."""
    short = (_learn_classes if plan.has_classes else fit_short)(rows.balance(), plan, rng, watch)
    plan = replace(plan, holds_inputs=plan.holds_inputs and not short.is_exact)
    l2, smoothness = short.penalties
    return Fitted(
        model=add_limits(RuleModel(tuple(add_profile(part, rows, given) for part in short.model.parts)), plan),
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
    plan = replace(plan, holds_inputs=plan.holds_inputs and not mix.is_exact)
    line = mix.fit_line(rows.balance(), plan.has_classes)
    if mix.sharpness != 1:
        line = sharpen(line, mix.sharpness)
    model = add_limits(RuleModel((add_profile(line, rows, given),)), plan)
    config = plan.configure(len(rows.X), rows.X.shape[1], 1.0)
    losses, stopped = np.empty(0), "ridge"
    if plan.has_classes:  # it has no formula, so that it counts as one iteration
        found = LOSSES["log"].measure_rows(line.predict_raw(rows.X), rows.y)
        losses, stopped = np.array([np.average(found, weights=rows.weight)]), "logistic"
    history = {"train_loss": losses, "val_loss": np.full(len(losses), np.nan)}
    return Fitted(model, plan.recipe, config, history, len(losses), len(losses), stopped, tuple(watch.stages))


def _be_taught(first: Trained, rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> tuple[Trained, str]:
    """Return the student, or the first teacher where Ctrl-C or the callback ends the lessons, and why they ended."""
    try:
        trained = teach(first, rows, plan, rng, watch)
    except KeyboardInterrupt:
        warn_user("Training was interrupted; the rules of the first of several fits are kept.")
        return first, "interrupted"
    return trained, "callback" if watch.has_ended else "max_iter"


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


def add_limits(model: RuleModel, plan: Plan) -> RuleModel:
    """Return rules that hold values far beyond the rows of their profile, if the plan says so."""
    assert model.profile is not None
    return model.hold_at(model.profile.find_limits()) if plan.holds_inputs else model


def widen_limits(fitted: Fitted, start: RuleBase | None) -> Fitted:
    """Return what a fit ends with, its limits as wide as those of the rules that it went on from, if there are such."""
    limits = fitted.model.limits
    if limits is None or start is None or start.limits is None:
        return fitted
    low, high = np.minimum(limits[:, 0], start.limits[:, 0]), np.maximum(limits[:, 1], start.limits[:, 1])
    return replace(fitted, model=fitted.model.hold_at(np.column_stack([low, high])))


def add_profile(rules: RuleBase, rows: Rows, given: Rows) -> RuleBase:
    """Return rules in the order of how much of the training rows they govern, with a profile of all given rows."""
    profile = measure_profile((given.X, given.y), rules.firing_share, given.weight)
    share = profile.share
    if given is not rows:
        sample = spread_rows(len(rows.X), MAX_ROWS)
        share = np.average(rules.firing_share(rows.X[sample]), axis=0, weights=rows.weight[sample])
    order = np.argsort(-share, kind="stable")
    return replace(rules.take(order), profile=replace(profile, share=share[order]))
