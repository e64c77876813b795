"""The fit of a rule base, from rows and a plan to rules."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from takagi import kernels
from takagi._checks import are_finite
from takagi._messages import warn_user
from takagi._typing import FloatArray, IntArray
from takagi.calibration import measure_calibration
from takagi.fitting._adjustments import Adjustments, adjust_model, learn_adjustments
from takagi.fitting._distillation import SHORTER, teach
from takagi.fitting._logistic import level, measure_sharpness, sharpen
from takagi.fitting._pilots import Mix, run_pilots
from takagi.fitting._plan import Plan, heed_noise, plan_teacher
from takagi.fitting._rows import HEAVY, Rows, find_errors, measure_left, split_rows, stack_rows
from takagi.fitting._short import Short, fit_short, fit_short_classes
from takagi.fitting._training import Stage, Trained, Watch, train_rules
from takagi.profile import MAX_ROWS, measure_profile, sort_rules, spread_rows
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.training import LOSSES, TrainConfig


@dataclass(frozen=True)
class Fitted:
    """The result of a fit: all fitted attributes of an estimator."""

    model: RuleModel  # in the units of the data, with a profile of the rows, sorted by share
    recipe: str  # the learning algorithm
    config: TrainConfig  # the settings of the training that made the rules
    history: dict[str, FloatArray]  # losses of that training, in the units of the data
    # the iteration, from 1, of the rules; 0 for initial rules and for ridge regression
    best_iter: int
    n_iter: int  # iterations of that training
    stopped: str  # why it ended
    stages: tuple[Stage, ...]  # the stages of the fit
    repeats: tuple[tuple[int, int], ...] = ()  # features that short rules leave out, with those that they repeat
    adjustments: Adjustments = Adjustments()  # noqa: RUF009 (immutable); what is added to the main rules


def fit_rules(
    rows: Rows,
    plan: Plan,
    rng: np.random.Generator,
    watch: Watch,
    *,
    held_out: Rows | None = None,
    start: RuleBase | None = None,
) -> Fitted:
    """Fit rules to rows; during training Ctrl-C keeps the best rules so far, in pilots it raises KeyboardInterrupt.

    Parameters
    ----------
    rows : Rows
        Rows in the units of the data.
    plan : Plan
        The plan of the fit.
    rng : Generator
        The random generator.
    watch : Watch
        Counts the stages and calls the callback.
    held_out : Rows, optional
        Validation rows, which choose the iterate; without them, the plan says whether some of the rows do so.
    start : RuleBase, optional
        Rules to continue from, instead of initial ones.

    Returns
    -------
    Fitted
    """
    kernels.expect_training()
    given = rows if held_out is None else stack_rows(rows, held_out)
    if plan.recipe == "short":
        fitted = _fit_short_rules(rows, given, plan, rng, watch)
        return sharpen_fit(fitted, held_out, rows) if plan.has_classes and held_out is not None else fitted
    fitted, errors, source = _fit_once(rows, given, plan, rng, watch, held_out, start)
    is_plain = start is None and held_out is None and not (plan.holds_out or plan.has_classes)
    if is_plain and fitted.adjustments.found and fitted.stopped in ("max_iter", "ridge"):
        fitted, errors = _fit_again(fitted, errors, rows, plan, rng, watch)
    elif source == "pilots":
        errors = fitted.adjustments.settle(errors, fitted.model.first)
    return replace(fitted, model=calibrate_model(fitted.model, errors, source))


def _fit_once(
    rows: Rows,
    given: Rows,
    plan: Plan,
    rng: np.random.Generator,
    watch: Watch,
    held_out: Rows | None = None,
    start: RuleBase | None = None,
) -> tuple[Fitted, Rows | None, str]:
    """Return the result of a fit, held-out errors, and whose these are: those of pilots know nothing of adjustments."""
    teaches = plan.n_teachers > 1 and start is None and held_out is None and not plan.holds_out
    n_iter = _count_iterations(plan, teaches)
    watch.expect(n_iter)
    mix, errors, most = Mix(), None, np.inf
    if plan.penalties.are_open:
        found = run_pilots(rows, held_out, plan, rng, watch)
        plan, errors = heed_noise(plan, found.penalties), found.errors
        watch.expect(_count_iterations(plan, teaches) - n_iter)
        if start is None:
            mix = found.mix
    if not mix.rules:
        return fit_ridge_instead(rows, given, plan, mix, watch), errors, "pilots"
    if held_out is None and plan.holds_out:
        most = HEAVY * rows.weight.mean()
        rows, held_out = split_rows(rows, plan.validation_fraction, rng, plan.has_classes)
    watch.begin("training")
    trained = train_rules(rows, held_out, plan, rng, watch, start=start, keep_interrupted=True)
    stopped = trained.result.stopped
    if teaches and stopped == "max_iter":
        trained, stopped = teach(trained, rows, plan, rng, watch)
    fitted = widen_limits(finish_fit(trained, rows, given, plan, mix, watch, stopped), start)
    if held_out is None or len(given.X) == 1:
        return fitted, errors, "pilots"
    if plan.has_classes:
        return sharpen_fit(fitted, held_out, rows), None, "held out"
    return fitted, find_errors(fitted.model, held_out, most), "held out"


def _fit_again(
    first: Fitted, errors: Rows | None, rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch
) -> tuple[Fitted, Rows | None]:
    """Return rules for the target without adjustments, with new ones, if they leave less over, and held-out errors.

    Rules that need not follow single values of a column have less noise to learn from. What each row is adjusted for is
    learned without it, so that the rules are not given its target twice.
    """
    honest = first.adjustments.correct(first.model.first, rows.X)
    rest, settled = rows._replace(y=rows.y - honest), first.adjustments.settle(errors, first.model.first)
    try:
        other, errors, _ = _fit_once(rest, rest, replace(plan, n_adjustments=0), rng, watch)
    except KeyboardInterrupt:
        warn_user("Training was interrupted; the rules of the first of two fits are kept.")
        return replace(first, stages=tuple(watch.stages)), settled
    rules, profile = other.model.first, first.model.profile
    if rules.profile is not None and profile is not None:  # of the whole target
        rules = replace(rules, profile=replace(rules.profile, output_quantiles=profile.output_quantiles))
    model, adjustments = _add_adjustments(RuleModel((rules,)), rows, rows, plan)
    before = measure_left(rows, first.model.first.predict_raw(rows.X) + honest)
    after = measure_left(rows, rules.predict_raw(rows.X) + adjustments.correct(rules, rows.X))
    if after < before:
        return replace(other, model=model, adjustments=adjustments), errors
    return replace(first, stages=tuple(watch.stages)), settled


def _count_iterations(plan: Plan, teaches: bool) -> int:
    """Return the number of iterations after the pilots."""
    n_iter = plan.config.max_iter
    return plan.n_teachers * n_iter + max(1, n_iter // SHORTER) if teaches else n_iter


# -- the end of a fit --------------------------------------------------------------------------------------------------


def finish_fit(
    trained: Trained, rows: Rows, given: Rows, plan: Plan, mix: Mix, watch: Watch, stopped: str | None = None
) -> Fitted:
    """Return the result of a training, given its rows and all rows of the fit."""
    trained = _keep_start_if_better(trained)
    factor = trained.units.loss_factor
    model = RuleModel((add_profile(mix.apply(trained.rules, rows.balance()), rows, given, plan.holds_inputs),))
    model, adjustments = _add_adjustments(model, rows, given, plan)
    return Fitted(
        model=level(model, rows) if plan.has_classes else model,
        recipe=plan.recipe,
        config=trained.config,
        history={name: losses * factor for name, losses in trained.result.history.items()},
        best_iter=trained.result.best_iter,
        n_iter=trained.result.n_iter,
        stopped=trained.result.stopped if stopped is None else stopped,
        stages=tuple(watch.stages),
        adjustments=adjustments,
    )


def _add_adjustments(
    model: RuleModel, rows: Rows, given: Rows, plan: Plan, is_exact: bool = False
) -> tuple[RuleModel, Adjustments]:
    """Return a model with adjustments that are learned from rows, and the adjustments; an exact model has none."""
    if is_exact or not plan.n_adjustments:
        return model, Adjustments()
    found = learn_adjustments(rows, model.predict_raw(rows.X), plan.n_adjustments, LOSSES[plan.config.loss])
    return adjust_model(model, found, given.X, given.weight), found


def adjust_members(members: list[Fitted], adjustments: Adjustments, rows: Rows) -> list[Fitted]:
    """Return members of a committee with the same adjustments; mean probabilities stay those of the classes."""
    if not adjustments.found:
        return members
    models = [adjust_model(member.model, adjustments, rows.X, rows.weight) for member in members]
    models = models if models[0].link == "identity" else [level(model, rows) for model in models]
    return [replace(member, model=model) for member, model in zip(members, models, strict=True)]


def _keep_start_if_better(trained: Trained) -> Trained:
    """Return the initial rules, with a warning, if training made the error larger."""
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
    """Return rules sorted by their share of the training rows, with a profile of all given rows.

    With `extrapolation="hold"`, values far beyond these rows are held.
    """
    rules = forget_usual(rules, given.X)
    profile = measure_profile((given.X, given.y), rules.firing_share, given.weight, rules.intervals)
    share = profile.share
    if given is not rows:
        sample = spread_rows(len(rows.X), MAX_ROWS)
        share = np.average(rules.firing_share(rows.X[sample]), axis=0, weights=rows.weight[sample])
    rules = sort_rules(rules, replace(profile, share=share))
    return replace(rules, limits=profile.find_limits()) if holds_inputs else rules


def forget_usual(rules: RuleBase, X: FloatArray) -> RuleBase:
    """Return rules with usual values only for features that had missing values."""
    missing = np.isnan(X).any(axis=0) if not are_finite(X) else np.zeros(X.shape[1], dtype=bool)
    if rules.usual is None or not missing.any():
        return replace(rules, usual=None)
    return replace(rules, usual=np.where(missing, rules.usual, np.nan))


def widen_limits(fitted: Fitted, start: RuleBase | None) -> Fitted:
    """Return the result of a fit with limits at least as wide as those of the rules that it started from, if any."""
    limits = fitted.model.limits
    if limits is None or start is None or start.limits is None:
        return fitted
    low, high = np.minimum(limits[:, 0], start.limits[:, 0]), np.maximum(limits[:, 1], start.limits[:, 1])
    return replace(fitted, model=fitted.model.hold_at(np.column_stack([low, high])))


def calibrate_model(model: RuleModel, errors: Rows | None, source: str) -> RuleModel:
    """Return a model with a calibration, if there are held-out errors; they must be finite."""
    if model.link != "identity" or errors is None or not len(errors.X) or not np.isfinite(errors.y).all():
        return replace(model, calibration=None)
    share = model.firing_share(errors.X)
    return replace(model, calibration=measure_calibration(share, errors.y, errors.weight, source))


def cross_validate(rows: Rows, fit: Callable[[Rows], RuleModel], rng: np.random.Generator, n_folds: int) -> Rows:
    """Return out-of-fold errors on all rows; equal rows should be merged.

    Warnings of these fits do not concern the final model, and are not shown.
    """
    errors = np.empty_like(rows.y)
    for fold in np.array_split(rng.permutation(len(rows.X)), n_folds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = fit(rows.take(np.setdiff1d(np.arange(len(rows.X)), fold)))
        errors[fold] = rows.y[fold] - model.predict_raw(rows.X[fold])
    return rows._replace(y=errors)


def sharpen_fit(fitted: Fitted, held_out: Rows, rows: Rows | None = None) -> Fitted:
    """Return a fit with the temperature that suits held-out rows best, and its level in training rows, if given."""
    factor = measure_sharpness(held_out.y, fitted.model.predict_raw(held_out.X), held_out.weight)
    return _sharpen_model(fitted, factor, rows)


def _sharpen_model(fitted: Fitted, factor: float, rows: Rows | None) -> Fitted:
    model = RuleModel(tuple(sharpen(part, factor) for part in fitted.model.parts))
    return replace(fitted, model=model if rows is None else level(model, rows))


def predict_out_of_fold(models: list[RuleModel], rows: Rows, folds: list[IntArray]) -> FloatArray:
    """Return out-of-fold outputs of rows."""
    outputs = np.empty_like(rows.y)
    for model, fold in zip(models, folds, strict=True):
        outputs[fold] = model.predict_raw(rows.X[fold])
    return outputs


def sharpen_members(members: list[Fitted], rows: Rows, folds: list[IntArray]) -> tuple[list[Fitted], FloatArray]:
    """Return members with the best temperature for their mean, and out-of-fold outputs of the rows.

    The out-of-fold rows give the temperature of a single member, which the returned outputs have. Random errors of a
    member attenuate the slope of a regression on it (Spearman, 1904). The mean of the members has smaller random
    errors, so its log-odds may be larger: by the ratio of the variance of the members' log-odds to that of their mean.
    """
    outputs = predict_out_of_fold([member.model for member in members], rows, folds)
    alone = measure_sharpness(rows.y, outputs, rows.weight)
    sample = spread_rows(len(rows.X), MAX_ROWS)
    said = np.array([member.model.predict_raw(rows.X[sample]) for member in members])
    of_mean = said.mean(axis=0).var(axis=0).sum()
    gain = said.var(axis=1).sum(axis=-1).mean() / of_mean if of_mean > 0 else 1.0
    return [_sharpen_model(member, alone * gain, rows) for member in members], alone * outputs


# -- other fits --------------------------------------------------------------------------------------------------------


def _fit_short_rules(rows: Rows, given: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> Fitted:
    """Return short rules; all rows train."""
    short = (_learn_classes if plan.has_classes else fit_short)(rows.balance(), plan, rng, watch)
    holds_inputs = plan.holds_inputs and not short.is_exact
    l2, smoothness = short.penalties
    model = RuleModel(tuple(add_profile(part, rows, given, holds_inputs) for part in short.model.parts))
    return Fitted(
        model=_add_adjustments(model, rows, given, plan, short.is_exact)[0],
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
    """Return short rules for classes; warnings of their teacher do not concern the final model, and are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        teacher = fit_rules(rows, plan_teacher(plan, len(rows.X)), rng, watch)
    return fit_short_classes(rows, teacher.model, plan, rng, watch)


def fit_ridge_instead(rows: Rows, given: Rows, plan: Plan, mix: Mix, watch: Watch) -> Fitted:
    """Return ridge regression, or logistic regression, as one rule without conditions, instead of a fit."""
    line = mix.fit_line(rows.balance(), plan.has_classes)
    if mix.sharpness != 1:
        line = sharpen(line, mix.sharpness)
    model = RuleModel((add_profile(line, rows, given, plan.holds_inputs and not mix.is_exact),))
    model, adjustments = _add_adjustments(model, rows, given, plan, mix.is_exact)
    model = level(model, rows) if plan.has_classes else model
    config = plan.penalties.configure(plan.config, len(rows.X), rows.X.shape[1], 1.0)
    losses, stopped = np.empty(0), "ridge"
    if plan.has_classes:  # it has no closed form, so it counts as one iteration
        found = LOSSES["log"].measure_rows(line.predict_raw(rows.X), rows.y)
        losses, stopped = np.array([np.average(found, weights=rows.weight)]), "logistic"
    history = {"train_loss": losses, "val_loss": np.full(len(losses), np.nan)}
    return Fitted(
        model=model,
        recipe=plan.recipe,
        config=config,
        history=history,
        best_iter=len(losses),
        n_iter=len(losses),
        stopped=stopped,
        stages=tuple(watch.stages),
        adjustments=adjustments,
    )
