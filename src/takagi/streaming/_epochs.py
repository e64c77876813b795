"""Training in epochs: a known number of passes over more rows than fit into memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from takagi._labels import WeighedClasses
from takagi._messages import warn_user
from takagi.fitting import (
    MAX_VALIDATION_ROWS,
    Fitted,
    Penalties,
    Plan,
    Rows,
    Watch,
    calibrate_model,
    find_errors,
    fit_ridge_instead,
    measure_columns,
    merge_equal_rows,
    run_pilots,
    sharpen_fit,
    widen_limits,
)
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.streaming._stream import Horizon, Stream
from takagi.tables import DatasetError
from takagi.training import Progress

_FEED_ROWS = 2**14  # rows between two calls of the callback


@dataclass(frozen=True)
class Passes:
    """Rows that do not fit into memory."""

    n_rows: int  # rows of a pass
    read: Callable[[], Iterable[Rows]]  # returns the rows of one pass, well mixed, part by part
    epochs: int | None = None  # passes; by default enough for `max_iter` iterations, and at least one
    classes: WeighedClasses | None = None  # of all rows, if targets are classes


def fit_passes(
    sample: Rows, passes: Passes, plan: Plan, rng: np.random.Generator, watch: Watch, start: RuleBase | None = None
) -> Fitted:
    """Train rules on a sample of the rows first, and then on all of them, pass by pass.

    The sample determines the initial rules, the units and the penalties. The learning rate follows the schedule over
    all iterations. Ctrl-C ends training, and the best rules so far are kept; the `model` of a `DatasetError` also has
    the best rules so far.
    """
    horizon = _look_ahead(plan, passes, len(sample.X))
    watch.expect(horizon.n_iter or 0)
    if plan.penalties.are_open:
        distinct = merge_equal_rows(sample, plan.has_classes)
        found = run_pilots(distinct, None, plan, rng, watch)
        if not found.mix.rules and start is None:
            return fit_ridge_instead(distinct, distinct, plan, found.mix, watch)
        plan = _fix_penalties(replace(plan, penalties=found.penalties), sample, passes.n_rows)
    training = _Epochs(Stream(rng, start), plan, passes, horizon, watch)
    try:
        return training.read(training.run(sample))
    except DatasetError as error:
        error.model = training.read("interrupted") if training.stream.n_iter else None
        raise
    except KeyboardInterrupt:
        if not training.stream.n_iter:
            raise
        warn_user(f"Training was interrupted; the best rules of {training.stream.n_iter} iterations are kept.")
        return training.read("interrupted")


def _count_per_epoch(plan: Plan, passes: Passes) -> float:
    """Return the iterations of a pass; validation rows do not train."""
    n_validating = min(MAX_VALIDATION_ROWS, plan.validation_fraction * passes.n_rows)
    return max(1.0, (passes.n_rows - n_validating) / plan.config.batch_size)


def _count_epochs(plan: Plan, passes: Passes) -> int:
    """Return the number of passes for `max_iter` iterations."""
    return max(1, int(np.ceil(plan.config.max_iter / _count_per_epoch(plan, passes))))


def _look_ahead(plan: Plan, passes: Passes, n_sample: int) -> Horizon:
    """Count iterations, including those on the sample."""
    per_epoch = _count_per_epoch(plan, passes)
    n_iter = max(plan.config.max_iter, per_epoch) if passes.epochs is None else passes.epochs * per_epoch
    return Horizon(passes.n_rows, int(n_iter) + n_sample // plan.config.batch_size)


def _fix_penalties(plan: Plan, sample: Rows, n_rows: int) -> Plan:
    """Return a plan with fixed penalties per batch for the given number of rows, which the stream does not change."""
    deviations = measure_columns(sample.y, sample.weight)[1]
    variance = sample.y.shape[1] if plan.scales_target else float((deviations**2).sum())
    config = plan.penalties.configure(plan.config, n_rows, sample.X.shape[1], variance)
    return replace(plan, penalties=Penalties(config.l2, config.smoothness))


@dataclass
class _Epochs:
    """Training in epochs."""

    stream: Stream
    plan: Plan
    passes: Passes
    horizon: Horizon
    watch: Watch

    def run(self, sample: Rows) -> str:
        """Feed the sample and then all passes, and return why training ended."""
        tell, n_epochs = self.watch.follow(1.0), self.passes.epochs or _count_epochs(self.plan, self.passes)
        stopped, epoch = self._run_stage("sample", [sample], tell), 0
        while not stopped and (self.passes.epochs is None or epoch < self.passes.epochs):
            before, epoch = self._progress, epoch + 1
            stopped = self._run_stage(f"epoch {epoch} of {max(epoch, n_epochs)}", self.passes.read(), tell)
            if self._progress == before:  # all rows are validation rows
                break
        return stopped or "max_iter"

    def read(self, stopped: str) -> Fitted:
        """Return the best rules so far; the profile counts each row only once."""
        fitted = widen_limits(self.stream.read(self.plan, stopped), self.stream.start)
        profile = fitted.model.profile
        assert profile is not None
        rules = replace(fitted.model.first, profile=replace(profile, n_rows=min(self.passes.n_rows, profile.n_rows)))
        assert self.stream.seen is not None
        fitted = replace(fitted, model=RuleModel((rules,)), stages=tuple(self.watch.stages))
        held_out = self.stream.seen.reservoir
        if self.plan.has_classes:
            return sharpen_fit(fitted, held_out) if len(held_out.X) else fitted
        return replace(fitted, model=calibrate_model(fitted.model, find_errors(fitted.model, held_out), "held out"))

    @property
    def _progress(self) -> tuple[int, int]:
        return self.stream.n_iter, self.stream.n_waiting

    def _run_stage(self, name: str, parts: Iterable[Rows], tell: Callable[[Progress], bool]) -> str:
        """Feed parts, some rows at a time; return why training ends, or nothing if it continues."""
        self.watch.begin(name)
        n_before = self.stream.n_iter
        try:
            for part in parts:
                for first in range(0, len(part.X), _FEED_ROWS):
                    rows = Rows(*(values[first : first + _FEED_ROWS] for values in part))
                    self.stream.feed(rows, self.plan, self.horizon)
                    if stopped := self._check_end(tell):
                        return stopped
        finally:
            self.watch.count(self.stream.n_iter - n_before)
        return ""

    def _check_end(self, tell: Callable[[Progress], bool]) -> str:
        """Report progress; return why training ends, or nothing if it continues."""
        stream, learner, n_iter = self.stream, self.stream.learner, self.horizon.n_iter
        assert n_iter is not None
        if learner is None or not len(learner.history):
            return ""
        _, train_loss, val_loss = learner.history[-1]
        best_loss = learner.best_loss * learner.units.loss_factor
        progress = Progress(stream.n_iter, n_iter, float(train_loss), float(val_loss), learner.best_iter, best_loss)
        if tell(progress):
            return "callback"
        patience = self.plan.config.n_iter_no_change
        if patience is not None and stream.n_iter - learner.best_iter >= patience:
            return "no_change"
        return "max_iter" if stream.n_iter >= n_iter else ""
