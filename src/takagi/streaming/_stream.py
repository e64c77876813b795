"""Training on a stream: each block of rows is used once, and the state of training is kept between blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from takagi._messages import warn_user
from takagi._text import quote
from takagi._typing import FloatArray
from takagi.fitting import Fitted, Plan, Rows, Stage, Units, Watch, forget_data, initialize, measure_entropy
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.streaming._learner import Learner
from takagi.streaming._seen import Seen, hash_rows
from takagi.training import Run, TrainConfig, announce_compilation, draw_keep

ASSUMED_ROWS = 1_999  # of a stream of unknown length: large enough for the most rules, small enough for small batches
_ROWS_PER_RULE = 8  # needed before the initial rules are made
_ROWS_FOR_AUTO = 1_000  # the same for n_rules="auto"
_ROWS_TO_COMPARE = 20  # fewest rows of a block that are not beyond all others by chance
_ITERATIONS_PER_BLOCK = 32  # between two validations, which take as long
_MAX_WAITING = 10_000  # rows that may wait: before the initial rules, and from a block after Ctrl-C


@dataclass(frozen=True)
class Horizon:
    """Facts about a stream that are known in advance."""

    n_rows: int | None = None  # distinct rows of the whole stream; by default those so far
    # iterations of the whole stream; if given, the learning rate follows `schedule`, otherwise it is constant
    n_iter: int | None = None


@dataclass
class Stream:
    """A stream between two blocks."""

    rng: np.random.Generator  # all randomness
    start: RuleBase | None = None  # rules to continue from, instead of initial ones
    target_names: Sequence[str] | None = None  # names of the targets, if they have any
    seen: Seen | None = None  # rows so far; None before the first block
    learner: Learner | None = None  # rules in training; None until there are enough rows to make them
    n_needed: int = 0  # rows that are needed before rules are made
    seconds: float = 0.0  # time that training took so far
    config: TrainConfig | None = None  # settings of the last block that trained

    @property
    def n_waiting(self) -> int:
        """Number of rows that wait for training, without validation rows."""
        return 0 if self.seen is None else len(self.seen.waiting.X)

    @property
    def n_iter(self) -> int:
        """Iterations done."""
        return 0 if self.learner is None else self.learner.n_iter

    def feed(self, rows: Rows, plan: Plan, horizon: Horizon | None = None) -> None:
        """Add the rows of a block with positive weight, and train on waiting rows as far as they fill batches.

        An error or Ctrl-C leaves the stream either as it was before the block, or with the block added and partly
        trained on; of the rest, 10,000 rows then wait.
        """
        horizon, since = Horizon() if horizon is None else horizon, perf_counter()
        rows = rows.take(np.flatnonzero(rows.weight > 0))
        if not len(rows.X):
            return
        n_needed = self._count_needed(plan, horizon)
        if self.seen is None:
            seen = Seen.begin(rows, plan.validation_fraction, self.rng)
        else:
            seen = self.seen.take_in(rows, self.rng)
        learner = self.learner
        if learner is None and self._is_enough(seen, n_needed, plan.n_rules):
            learner = self._begin(seen, plan)
        self.seen, self.learner, self.n_needed = seen, learner, n_needed
        try:
            if learner is not None:
                self._train(plan, horizon)
        finally:
            self.seconds += perf_counter() - since

    def check_block(self, n_outputs: int, target_names: Sequence[str] | None) -> None:
        """Raise an error unless a block has the targets of the rows before it."""
        known = self.target_names
        if self.seen is not None and n_outputs != len(self.seen.y.mean):
            raise ValueError(f"y must have {len(self.seen.y.mean)} target(s) as before, got {n_outputs}.")
        if target_names is not None and known is not None and list(target_names) != list(known):
            raise ValueError(
                f"y must have the target(s) {', '.join(known)} as before, got {', '.join(target_names)}. Rename the "
                "column if it is the same target."
            )

    def warn_of_order(self, X: FloatArray, names: Sequence[str] | None) -> None:
        """Warn if all values of a feature in a block lie beyond those of the blocks before, as in sorted rows."""
        if self.seen is None or min(len(X), self.seen.n_rows) < _ROWS_TO_COMPARE:
            return
        low, high, known = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0), self.seen.x
        is_beyond = ((low >= known.high) & (high > known.high)) | ((high <= known.low) & (low < known.low))
        if is_beyond.any():
            m = int(is_beyond.argmax())
            warn_user(
                f"All values of {quote(names[m] if names is not None else f'x{m}')} in this block lie beyond those of "
                "the blocks before: the rows seem to be sorted. A stream learns well from rows in random order only; "
                "shuffle them first, or use takagi.fit_dataset, which mixes the rows of files."
            )

    def read(self, plan: Plan, stopped: str) -> Fitted:
        """Return the best rules so far, and the history of their training."""
        assert self.learner is not None
        assert self.seen is not None
        assert self.config is not None
        names, rules = ("iteration", "train_loss", "val_loss"), self.learner.read_rules(self.seen)
        limits = rules.profile.find_limits() if plan.holds_inputs and rules.profile is not None else None
        return Fitted(
            model=RuleModel((replace(rules, limits=limits),)),
            recipe=plan.recipe,
            config=self.config,
            history=dict(zip(names, self.learner.history.T.copy(), strict=True)),
            best_iter=self.learner.best_iter,
            n_iter=self.n_iter,
            stopped=stopped,
            stages=(Stage("stream", 1, self.n_iter, self.seconds),),
        )

    def __str__(self) -> str:
        if self.learner is None or self.seen is None or not len(self.learner.history):
            return f"{self.n_waiting} rows, no rules yet"
        n_iter, train_loss, val_loss = self.learner.history[-1]
        return (
            f"{self.seen.n_rows} rows, iteration {n_iter:.0f}: batch loss {train_loss:.4g}, validation {val_loss:.4g} "
            f"on {len(self.seen.reservoir.X)} rows, best in iteration {self.learner.best_iter}"
        )

    # -- initial rules -------------------------------------------------------------------------------------------------

    def _count_needed(self, plan: Plan, horizon: Horizon) -> int:
        """Return the number of rows that are needed for the initial rules: a batch or more."""
        needed = _ROWS_FOR_AUTO if plan.may_be_ridge else _ROWS_PER_RULE * plan.n_rules
        if self.start is not None:
            needed = _ROWS_PER_RULE * self.start.n_rules
        if horizon.n_rows is not None:
            needed = min(needed, horizon.n_rows // 2)
        return max(needed, plan.config.batch_size)

    def _is_enough(self, seen: Seen, n_needed: int, n_rules: int) -> bool:
        """Return whether the waiting rows are enough: as many distinct ones as rules, or ten thousand in all."""
        n_waiting = len(seen.waiting.X)
        if n_waiting < n_needed or self.start is not None:
            return n_waiting >= n_needed
        return n_waiting >= _MAX_WAITING or len(np.unique(hash_rows(seen.waiting, seen.seed))) >= n_rules

    def _begin(self, seen: Seen, plan: Plan) -> Learner:
        """Make the initial rules from the waiting rows, or use given ones."""
        units = find_units(seen, plan)
        if self.start is not None:
            start = units.express(forget_data(self.start))
        else:
            start = initialize(units.standardize(seen.waiting.balance()), plan, self.rng, Watch())
        return Learner.begin(start, units, seen.is_constant)

    # -- training ------------------------------------------------------------------------------------------------------

    def _configure(self, seen: Seen, plan: Plan, horizon: Horizon) -> TrainConfig:
        """Return settings of training; "auto" penalties follow from the validation error so far.

        New rows cannot be overfitted, so penalties grow with the fraction of repeated rows.
        """
        assert self.learner is not None
        units = find_units(seen, plan)
        variances = (seen.y.scale / units.y_scale) ** 2
        if plan.has_classes:
            noise = self.learner.best_loss / measure_entropy(seen.y.mean)
        else:
            noise = self.learner.best_loss**2 / float(variances.mean())
        n_distinct = horizon.n_rows or seen.n_distinct
        penalties = plan.penalties.with_noise(noise if np.isfinite(noise) else 1.0)
        config = replace(
            plan.config,
            n_iter_no_change=None,
            schedule="constant" if horizon.n_iter is None else plan.config.schedule,
            max_iter=horizon.n_iter or plan.config.max_iter,
        )
        penalties = penalties.weaken(max(0.0, 1.0 - n_distinct / seen.n_rows))
        return penalties.configure(config, n_distinct, len(seen.x.mean), float(variances.sum()))

    def _train(self, plan: Plan, horizon: Horizon) -> None:
        assert self.learner is not None
        assert self.seen is not None
        seen, batch_size = self.seen, plan.config.batch_size
        n_batches = len(seen.waiting.X) // batch_size
        if horizon.n_iter is not None:
            n_batches = min(n_batches, horizon.n_iter - self.learner.n_iter)
        if n_batches < 1:
            return
        config = self._configure(seen, plan, horizon)
        learner = self.learner.enter(find_units(seen, plan), seen.is_constant, config)
        rows = seen.waiting.take(np.arange(n_batches * batch_size))
        rows = rows._replace(weight=rows.weight * (seen.n_rows / seen.x.weight))
        announce_compilation()
        run = learner.open_run(config, rows, seen, n_batches, plan.stays_in_range)
        self.learner, self.config = learner, config
        try:
            self._run_blocks(run, n_batches)
        finally:
            n_done = run.n_iter - run.first_iter
            self.seen = seen.drop_waiting(n_done * batch_size, max(_MAX_WAITING, batch_size))

    def _run_blocks(self, run: Run, n_batches: int) -> None:
        """Train on the batches; one that diverges is skipped, and training continues from the best rules."""
        assert self.learner is not None
        batches = np.arange(n_batches * run.config.batch_size).reshape(n_batches, -1)
        n_skipped = 0
        while (n_done := run.n_iter - run.first_iter) < n_batches:
            here = batches[n_done : n_done + _ITERATIONS_PER_BLOCK]
            keep = draw_keep((*here.shape, run.shape.n_rules), run.config.keep_prob, self.rng)
            if run.advance(here, keep):
                self.learner.skip_batch()
                n_skipped += 1
            else:
                self.learner.record(run, n_done)
        if n_skipped:
            warn_user(
                f"Training diverged in {n_skipped} of {n_batches} iterations and continued from the best rules "
                "each time. Lower learning_rate.",
                ConvergenceWarning,
            )


def find_units(seen: Seen, plan: Plan) -> Units:
    """Return the units of training, from all rows so far."""
    return seen.units(plan.scales_inputs, plan.scales_target, plan.centers_target)
