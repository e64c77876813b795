"""Training on a stream: blocks of rows come, each is passed over once, and nothing that was learned is lost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from takagi._messages import warn_user
from takagi.fitting._fitting import Fitting
from takagi.fitting._pilots import L2_PER_NOISE, SMOOTHNESS_PER_NOISE, Strength
from takagi.fitting._recipe import Recipe, choose_recipe
from takagi.fitting._rows import Rows
from takagi.fitting._warm_start import enter_units
from takagi.rulebase import RuleBase
from takagi.streaming._learner import Learner
from takagi.streaming._seen import Seen, hash_rows
from takagi.training import Run, TrainConfig, announce_compilation
from takagi.training._batches import draw_keep

_ROWS_PER_RULE = 8  # that are waited for before the first rules are made
_ROWS_FOR_AUTO = 1_000  # the same where the number of rules is open
_ASSUMED_ROWS = 1_999  # of a stream of unknown length: enough for the most rules, few enough for small batches
_ITERATIONS_PER_BLOCK = 32  # between two validations, which cost as much
_MAX_WAITING = 10_000  # rows: for different ones before the first rules, and what is left of a block after Ctrl-C


@dataclass(frozen=True)
class Horizon:
    """What is known of a stream in advance.

    Parameters
    ----------
    n_rows : int, optional
        Distinct rows of the whole stream; by default those so far.
    n_iter : int, optional
        Iterations of the whole stream; the learning rate then follows `schedule` to its end, and else is constant.
    """

    n_rows: int | None = None
    n_iter: int | None = None


@dataclass(frozen=True)
class Plan:
    """What the parameters of an estimator ask of a stream.

    Parameters
    ----------
    wishes : tuple
        Number of rules, keep_prob, batch_size, l2 and smoothness, as numbers or "auto".
    config : TrainConfig
        All other settings of training.
    fitting : Fitting
        How the first rules are made, and in what units; with a `start`, they are that.
    fraction : float
        The part of the rows that validate.
    horizon : Horizon
        What is known in advance.
    """

    wishes: tuple[int | str, float | str, int | str, float | str, float | str]
    config: TrainConfig
    fitting: Fitting
    fraction: float
    horizon: Horizon

    def choose_recipe(self, n_features: int) -> Recipe:
        """Return the sizes; batches are small if the length is not known, since iterations are what a pass lacks."""
        return choose_recipe(*self.wishes, n_rows=self.horizon.n_rows or _ASSUMED_ROWS, n_features=n_features)

    def count_needed(self, batch_size: int) -> int:
        """Return the number of rows to wait for before the first rules are made: a batch or more."""
        n_rules = self.wishes[0] if self.fitting.start is None else self.fitting.start.n_rules
        needed = _ROWS_FOR_AUTO if isinstance(n_rules, str) else _ROWS_PER_RULE * n_rules
        if self.horizon.n_rows is not None:
            needed = min(needed, self.horizon.n_rows // 2)
        return max(needed, batch_size)

    def is_enough(self, seen: Seen, n_needed: int, n_rules: int) -> bool:
        """Return whether the rows that wait make rules: as many different ones as rules, or ten thousand alike."""
        n_waiting = len(seen.waiting.X)
        if n_waiting < n_needed or self.fitting.start is not None:
            return n_waiting >= n_needed
        return n_waiting >= _MAX_WAITING or len(np.unique(hash_rows(seen.waiting, seen.seed))) >= n_rules

    def configure(self, recipe: Recipe, seen: Seen, noise: float) -> TrainConfig:
        """Return settings of training, penalties in proportion to the noise of the target over the rows.

        Rows that come for the first time cannot be learned by heart, so only as much as rows have come again counts.
        """
        units = seen.units(self.fitting.standardize)
        variance = float(((seen.y.scale / units.y_scale) ** 2).mean())
        noise = float(np.clip(noise / variance, 1e-8, 1.0)) if np.isfinite(noise) else 1.0
        n_distinct = self.horizon.n_rows or seen.n_distinct
        noise *= max(0.0, 1.0 - n_distinct / seen.n_rows)
        strength = Strength(L2_PER_NOISE * noise, SMOOTHNESS_PER_NOISE[0] * noise)
        config = replace(
            self.config,
            n_iter_no_change=None,
            schedule="constant" if self.horizon.n_iter is None else self.config.schedule,
            max_iter=self.horizon.n_iter or self.config.max_iter,
        )
        return recipe.penalize(config, strength, (n_distinct, len(seen.x.mean)), variance * len(seen.y.mean))


@dataclass
class Stream:
    """A stream between two blocks.

    Parameters
    ----------
    rng : Generator
        All randomness.
    target_names : sequence of str, optional
        Names of the targets, if they have any.
    seen : Seen, optional
        Rows so far; None before the first block.
    learner : Learner, optional
        Rules under training; None until there are rows enough to make them.
    n_needed : int
        Rows that have to wait before rules are made.
    config : TrainConfig, optional
        Settings of the last block that trained.
    """

    rng: np.random.Generator
    target_names: Sequence[str] | None = None
    seen: Seen | None = None
    learner: Learner | None = None
    n_needed: int = 0
    config: TrainConfig | None = None

    @property
    def n_waiting(self) -> int:
        """Rows that have come and not trained yet, without those that validate."""
        return 0 if self.seen is None else len(self.seen.waiting.X)

    @property
    def n_iter(self) -> int:
        """Iterations done."""
        return 0 if self.learner is None else self.learner.n_iter

    def feed(self, rows: Rows, plan: Plan) -> None:
        """Take in a block, and train on the rows that wait as far as they fill batches.

        An error or Ctrl-C leaves the stream either as it was before the block, or with the block taken in and a part of
        it trained on; of the rest, 10,000 rows then wait.
        """
        recipe = plan.choose_recipe(rows.X.shape[1])
        seen, learner, n_needed = self._take_in(rows, plan), self.learner, plan.count_needed(recipe.batch_size)
        if learner is None and plan.is_enough(seen, n_needed, recipe.n_rules):
            learner = self._begin(seen, plan, recipe)
        self.seen, self.learner, self.n_needed = seen, learner, n_needed
        if learner is not None:
            self._train(plan, recipe)

    def read_rules(self) -> RuleBase:
        """Return the best rules so far, in the units of the data."""
        assert self.learner is not None
        assert self.seen is not None
        return self.learner.read_rules(self.seen)

    def __str__(self) -> str:
        if self.learner is None or self.seen is None or not len(self.learner.history):
            return f"{self.n_waiting} rows wait"
        n_iter, train_loss, val_loss = self.learner.history[-1]
        return (
            f"{self.seen.n_rows} rows, iteration {n_iter:.0f}: batch RMSE {train_loss:.4g}, validation {val_loss:.4g} "
            f"on {len(self.seen.reservoir.X)} rows, best in iteration {self.learner.best_iter}"
        )

    def _take_in(self, rows: Rows, plan: Plan) -> Seen:
        if self.seen is None:
            return Seen.begin(rows, plan.fraction, self.rng)
        return self.seen.take_in(rows, self.rng)

    def _begin(self, seen: Seen, plan: Plan, recipe: Recipe) -> Learner:
        """Make the first rules of the rows that wait, or take given ones."""
        units = seen.units(plan.fitting.standardize)
        if plan.fitting.start is not None:
            start = enter_units(plan.fitting.start, units)
        else:
            rows = seen.waiting._replace(weight=seen.waiting.weight / seen.waiting.weight.mean())
            start = plan.fitting.initialize(units.standardize(rows), recipe.n_rules)
        return Learner.begin(start, units, seen.is_constant)

    def _train(self, plan: Plan, recipe: Recipe) -> None:
        assert self.learner is not None
        assert self.seen is not None
        seen = self.seen
        n_batches = len(seen.waiting.X) // recipe.batch_size
        if plan.horizon.n_iter is not None:
            n_batches = min(n_batches, plan.horizon.n_iter - self.learner.n_iter)
        if n_batches < 1:
            return
        config = plan.configure(recipe, seen, self.learner.best_loss**2)
        learner = self.learner.enter(seen.units(plan.fitting.standardize), seen.is_constant, config)
        rows = seen.waiting.take(np.arange(n_batches * recipe.batch_size))
        rows = rows._replace(weight=rows.weight * (seen.n_rows / seen.x.weight))
        announce_compilation()
        run = learner.open_run(config, rows, seen.reservoir, n_batches)
        self.learner, self.config = learner, config
        try:
            self._run_blocks(run, n_batches)
        finally:
            n_done = run.n_iter - run.first_iter
            self.seen = seen.drop_waiting(n_done * recipe.batch_size, max(_MAX_WAITING, recipe.batch_size))

    def _run_blocks(self, run: Run, n_batches: int) -> None:
        """Pass over the batches; one that leads nowhere is skipped, and training goes on from the best rules."""
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
                f"Training diverged in {n_skipped} of {n_batches} iterations, and each time went on from the best "
                "rules. Lower learning_rate.",
                ConvergenceWarning,
            )
