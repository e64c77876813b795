"""One training run, from rows to rules in the units of the data, and the progress of all trainings of a fit."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np
from sklearn.decomposition import PCA

from takagi._typing import FloatArray, IntArray
from takagi.fitting._logistic import find_link, find_logits
from takagi.fitting._plan import Plan
from takagi.fitting._rows import Rows, Units, measure_columns, measure_units
from takagi.fitting._screening import choose_features, narrow_rules, spread_rules
from takagi.initializers import FuzzyCMeansInitializer, count_distinct
from takagi.profile import MAX_ROWS, spread_rows
from takagi.rulebase import RuleBase
from takagi.training import (
    LOSSES,
    Bounds,
    Callback,
    Progress,
    TrainConfig,
    TrainResult,
    find_width_floor,
    fork_generator,
    train,
)

T = TypeVar("T")

_LOSSES = ("train_loss", "val_loss", "best_loss")  # of a progress
_HUGE = 1e200  # a loss that counts as infinite
_HAIR = 1e-6  # margin of a range for centers, so that rounding does not move them out of it


class Stage(NamedTuple):
    """A part of a fit: its name, the number of its trainings, their total iterations, and its seconds."""

    name: str
    n_fits: int
    n_iter: int
    seconds: float


class Watch:
    """Counts stages and iterations of a fit, calls the callback, keeps its request to stop, and manages threads.

    Parallel trainings share one watch, each in its own thread.

    Parameters
    ----------
    callback : callable, optional
        Called with a `takagi.training.Progress` between blocks of iterations; if it returns True, the current training
        stops, and later ones stop after their first block.
    verbose : int
        Whether to print progress.
    n_threads : int
        Number of trainings that may run in parallel.
    """

    def __init__(self, callback: Callback | None = None, verbose: int = 0, n_threads: int = 1) -> None:
        self.callback, self.verbose, self.n_threads = callback, verbose, n_threads
        self.stages: list[Stage] = []
        self.n_expected = 0
        self.has_ended = False
        self._lock, self._since, self._n_iter = Lock(), perf_counter(), 0

    def expect(self, n_iter: int) -> None:
        """Add expected iterations, so that the callback gets their total number."""
        self.n_expected += n_iter

    def begin(self, name: str) -> None:
        """Begin a stage."""
        self._since = perf_counter()
        self.stages.append(Stage(name, 0, 0, 0.0))

    def count(self, n_iter: int) -> None:
        """Count a finished training of the current stage."""
        with self._lock:
            last = self.stages[-1]
            self.stages[-1] = Stage(last.name, last.n_fits + 1, last.n_iter + n_iter, perf_counter() - self._since)

    def end(self) -> None:
        """Let every training stop after its current block."""
        self.has_ended = True

    def run(self, trainings: Iterable[Callable[[], T]]) -> list[T]:
        """Run independent trainings in parallel, and return their results.

        The calling thread takes them from the iterable one after the other, so random numbers that the iterator draws
        do not depend on the threads.
        """
        if self.n_threads == 1:
            return [training() for training in trainings]
        with ThreadPoolExecutor(self.n_threads) as pool:
            try:
                under_way = [pool.submit(training) for training in trainings]
                return [training.result() for training in under_way]
            except BaseException:
                self.end()  # those in other threads
                raise

    def follow(self, loss_factor: float) -> Callable[[Progress], bool]:
        """Return the callback of one training; it gets losses in the units of the data."""
        n_known = 0

        def call(progress: Progress) -> bool:
            nonlocal n_known
            with self._lock:
                self._n_iter += progress.n_iter - n_known
                n_known = progress.n_iter
                losses = {name: getattr(progress, name) * loss_factor for name in _LOSSES}
                self._tell(replace(progress, stage=self.stages[-1].name, **losses))
                return self.has_ended

        return call

    def tell_step(self, loss: float) -> bool:
        """Call the callback for one step of a fit without iterations, and return whether to stop."""
        with self._lock:
            self._n_iter += 1
            nan = float("nan")
            self._tell(Progress(self._n_iter, self.n_expected, loss, nan, self._n_iter, nan, self.stages[-1].name))
            return self.has_ended

    def _tell(self, progress: Progress) -> None:
        if self.verbose:
            self.say(_describe(progress))
        if self.callback is not None:
            n_expected = max(self.n_expected, self._n_iter)
            wish = self.callback(replace(progress, n_iter=self._n_iter, max_iter=n_expected))
            self.has_ended |= isinstance(wish, bool | np.bool_) and bool(wish)

    def say(self, message: str) -> None:
        """Print a message if the fit is verbose."""
        if self.verbose:
            print(f"[takagi] {message}")  # noqa: T201


def _describe(progress: Progress) -> str:
    validation = (
        f", validation {progress.val_loss:.4g}, best {progress.best_loss:.4g} in iteration {progress.best_iter}"
    )
    return (
        f"{progress.stage}, iteration {progress.n_iter}/{progress.max_iter}: batch loss {progress.train_loss:.4g}"
        f"{'' if np.isnan(progress.val_loss) else validation}"
    )


@dataclass(frozen=True)
class Trained:
    """The result of one training, in its units, with its rows and settings."""

    result: TrainResult
    start: RuleBase
    units: Units
    rows: Rows
    config: TrainConfig
    features: IntArray  # which of all features the rules are about
    n_features: int  # how many there are

    @property
    def rules(self) -> RuleBase:
        """The rules in the units of the data; a constant target has constant rules."""
        units, first = self.units, self.rows.y[0]
        is_constant = (self.rows.y == first).all(axis=0) & (self.config.loss == "squared")
        if is_constant.any():
            y_mean, y_scale = np.where(is_constant, first, units.y_mean), np.where(is_constant, 0.0, units.y_scale)
            units = units._replace(y_mean=y_mean, y_scale=y_scale)
        rules = self.result.rule_base.rescale(*units)
        if len(self.features) < self.n_features:
            rules = spread_rules(rules, self.features, self.n_features)
        return center_logits(rules) if self.config.loss == "log" else rules

    @property
    def is_worse_than_start(self) -> bool:
        """Whether the initial rules have smaller errors on the validation rows.

        Without validation rows: whether losses on training rows are larger than those of the initial rules and of the
        mean.
        """
        if not np.isnan(self.result.start_loss):
            return self.result.best_loss > self.result.start_loss
        sample = slice(None, None, max(1, len(self.rows.X) // 2_000))
        rows = self.units.standardize(Rows(*(part[sample] for part in self.rows)))
        outputs = [rules.predict_raw(rows.X) for rules in (self.result.rule_base, self.start)]
        loss = LOSSES[self.config.loss]
        with np.errstate(over="ignore"):
            losses = [np.minimum(loss.measure_rows(one, rows.y), _HUGE) for one in (*outputs, np.zeros_like(rows.y))]
        trained, *others = (np.average(each, weights=rows.weight) for each in losses)
        return not trained <= max(others) * (1 + 1e-9)


@dataclass(frozen=True)
class Prepared:
    """Rows and initial rules of a training, in its units; trainings with different settings may share them."""

    rows: Rows  # in the units of the data
    scaled: Rows
    judges: Rows | None  # scaled, too
    units: Units
    rules: RuleBase
    features: IntArray  # which of all features the rules are about
    n_features: int  # how many there are

    def train(
        self, plan: Plan, rng: np.random.Generator, watch: Watch, *, every: int = 1, keep_interrupted: bool = False
    ) -> Trained:
        """Train with the settings of a plan; all random numbers are the generator's."""
        rows, scaled = self.rows, self.scaled
        deviation = measure_columns(rows.y, rows.weight)[1]
        variance = float(((deviation / self.units.y_scale) ** 2).sum())
        config = plan.penalties.configure(plan.config, len(rows.X), rows.X.shape[1], variance)
        bounds = plan.bounds
        if plan.stays_in_range:
            filled = scaled.fill().X
            bounds = bound_by_range(filled.min(axis=0), filled.max(axis=0), self.rules, config)
        judges = Rows(None, None, None) if self.judges is None else self.judges  # type: ignore[arg-type]
        result = train(
            self.rules,
            scaled.X,
            scaled.y,
            judges.X,
            judges.y,
            config,
            rng=rng,
            sample_weight=scaled.weight,
            sample_weight_val=judges.weight,
            callback=watch.follow(self.units.loss_factor),
            bounds=bounds,
            keep_interrupted=keep_interrupted,
            every=every,
        )
        watch.count(result.n_iter)
        return Trained(result, self.rules, self.units, rows, config, self.features, self.n_features)

    def fork(self, plan: Plan, rng: np.random.Generator) -> np.random.Generator:
        """Return a separate generator for a training, so that it may run in parallel with others."""
        return fork_generator(plan.config, len(self.scaled.X), self.rules.n_rules, rng)


def prepare_training(
    rows: Rows,
    held_out: Rows | None,
    plan: Plan,
    rng: np.random.Generator,
    watch: Watch,
    start: RuleBase | None = None,
    features: IntArray | None = None,
) -> Prepared:
    """Choose the features of a training unless given, standardize its rows and make its initial rules."""
    rows, n_features = rows.balance(), rows.X.shape[1]
    features = choose_features(rows, plan, start) if features is None else features
    if len(features) < n_features:
        rows = rows.take_features(features)
        held_out = None if held_out is None else held_out.take_features(features)
        start = None if start is None else narrow_rules(start, features)
    units = measure_units(rows, plan.scales_inputs, plan.scales_target, plan.centers_target)
    scaled = units.standardize_on_demand(rows)
    judges = None if held_out is None else units.standardize(held_out)
    rules = initialize(scaled, plan, rng, watch) if start is None else _express(start, units)
    return Prepared(rows, scaled, judges, units, rules, features, n_features)


def train_rules(
    rows: Rows,
    held_out: Rows | None,
    plan: Plan,
    rng: np.random.Generator,
    watch: Watch,
    *,
    start: RuleBase | None = None,
    every: int = 1,
    keep_interrupted: bool = False,
) -> Trained:
    """Train rules on rows; held-out rows choose the iterate, without them it is the last one.

    Rules start from `start`, in the units of the data, or from initial ones. `every` is the number of iterations
    between two validations. With `keep_interrupted`, Ctrl-C keeps the best rules so far; otherwise it raises
    KeyboardInterrupt.
    """
    prepared = prepare_training(rows, held_out, plan, rng, watch, start)
    return prepared.train(plan, rng, watch, every=every, keep_interrupted=keep_interrupted)


def begin_training(
    rows: Rows, held_out: Rows | None, plan: Plan, rng: np.random.Generator, watch: Watch, *, every: int = 1
) -> Callable[[], Trained]:
    """Return a training that `Watch.run` may run in parallel with others, with its own random numbers."""
    prepared = prepare_training(rows, held_out, plan, rng, watch)
    return partial(prepared.train, plan, prepared.fork(plan, rng), watch, every=every)


def _express(start: RuleBase, units: Units) -> RuleBase:
    """Return rules to continue from in other units; usual values that are not known are the means."""
    rules = units.express(forget_data(start))
    if rules.n_projected or rules.consequent_projection is not None:
        return rules
    usual = np.zeros((rules.n_rules, rules.n_features)) if rules.usual is None else np.nan_to_num(rules.usual)
    return replace(rules, usual=usual)


def bound_by_range(low: FloatArray, high: FloatArray, rules: RuleBase, config: TrainConfig) -> Bounds:
    """Return bounds that keep centers within the range of their column, and widths at most as large as the range.

    A column that varies less than the narrowest set has no bound of widths. Projected inputs have no bounds at all, as
    their range changes while the projections train.
    """
    free = np.full(rules.centers.shape[1] - len(low), np.inf)
    span = high - low
    widest = np.where(span > find_width_floor(config, rules), span, np.inf)
    return Bounds(
        centers=(np.r_[-free, low + _HAIR * span], np.r_[free, high - _HAIR * span]),
        widths=(None, np.r_[free, widest]),
    )


def initialize(rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> RuleBase:
    """Return the initial rules for standard units, with projections onto principal components if wanted.

    In the formula of a rule, a missing value counts as the initial center of the rule. It stays the same during
    training: a trained value would be one more way to overfit.
    """
    make, given, rows = plan.initializer.make_rules, rows, rows.fill()
    if plan.projection is not None or not isinstance(plan.initializer, FuzzyCMeansInitializer):  # which takes a sample
        rows = Rows(np.asarray(rows.X), np.asarray(rows.y), rows.weight)
    if plan.projection is None:
        rules = make(rows.X, rows.y, plan.n_rules, rng, rows.weight)
        rules = replace(rules, usual=rules.centers)
    else:
        n_components = min(plan.n_projections, *rows.X.shape)
        directions = PCA(n_components, svd_solver="full").fit(rows.X).components_.T
        rules = make(np.hstack([rows.X @ directions, rows.X]), rows.y, plan.n_rules, rng, rows.weight)
        rules = _add_projection(rules, directions, plan.projection)
    if watch.verbose and rules.n_rules > 1 and rules.sets is None:
        _tell_collapse(rules, rows.X, watch)
    return _start_at_frequencies(rules, given) if plan.has_classes else rules


def _start_at_frequencies(rules: RuleBase, rows: Rows) -> RuleBase:
    """Return rules for classes that predict the class frequencies among the rows that they govern."""
    consequents, rows = rules.consequents.copy(), rows.take(spread_rows(len(rows.X), MAX_ROWS))
    consequents[:, :, 0] = find_logits(rows.y, rules.firing_share(rows.X) * rows.weight[:, None])
    return replace(rules, consequents=consequents, link=find_link(rows.y))


def _tell_collapse(rules: RuleBase, X: FloatArray, watch: Watch) -> None:
    n_distinct = count_distinct(rules.centers[:, -X.shape[1] :], np.asarray(X))
    if n_distinct < rules.n_rules:
        watch.say(
            f"the {rules.n_rules} initial rules have only {n_distinct} distinct centers; training separates them. "
            "FuzzyCMeansInitializer(m=1.2) or init='kmeans' start with distinct centers."
        )


def _add_projection(rules: RuleBase, directions: FloatArray, kind: str) -> RuleBase:
    """Turn rules for [X P, X] into rules for X with a projection in the conditions and, by kind, in the consequents."""
    projection = np.vstack([np.zeros(directions.shape[1]), directions])
    if kind == "antecedent":
        slopes = np.delete(rules.consequents, np.arange(1, 1 + directions.shape[1]), axis=2)
        return replace(rules, consequents=slopes, antecedent_projection=projection)
    return replace(
        rules,
        antecedent_projection=projection,
        consequent_projection=projection,
        tied_projection=kind == "shared",
    )


def center_logits(rules: RuleBase) -> RuleBase:
    """Return rules whose logits of several classes sum to zero; this changes no probability. Other rules stay."""
    if rules.link != "softmax":
        return rules
    return replace(rules, consequents=rules.consequents - rules.consequents.mean(axis=1, keepdims=True))


def forget_data(rules: RuleBase) -> RuleBase:
    """Return rules without names, profile and limits, which belong to the data that they were fitted on."""
    return replace(rules, feature_names=None, output_names=None, profile=None, limits=None)
