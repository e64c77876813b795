"""Rules trained on a stream, in units that follow the data."""

from dataclasses import dataclass, replace

import numpy as np

from takagi import kernels
from takagi._typing import BoolArray, FloatArray
from takagi.fitting import Rows, Units, bound_by_range, center_logits
from takagi.profile import measure_profile, sort_rules
from takagi.rulebase import RuleBase, pack, unpack
from takagi.streaming._seen import Seen
from takagi.training import NEVER, Bounds, Run, TrainConfig, begin_state, find_width_floor

MAX_HISTORY = 1_000


@dataclass
class Learner:
    """Rules in training, and the state that one block passes to the next."""

    start: RuleBase  # the initial rules, in their original units; widths are infinite where a rule has no condition
    units: Units  # the units of the parameters
    is_constant: BoolArray  # which features were constant so far, so that their units have no meaning
    state: kernels.State  # parameters, moments and the best parameters, written by the kernel
    averaging: float  # the decay of the running mean of the parameters
    # iteration, training and validation error in the units of the data; fewer of the older entries
    history: FloatArray

    @classmethod
    def begin(cls, start: RuleBase, units: Units, is_constant: BoolArray) -> "Learner":
        """Return a learner before its first iteration."""
        return cls(start, units, is_constant, begin_state(start), 0.0, np.empty((0, 3)))

    @property
    def n_iter(self) -> int:
        """Iterations done."""
        return int(self.state.n_iter[0])

    @property
    def best_iter(self) -> int:
        """The iteration, from 1, of the best rules; 0 for the initial rules."""
        return int(self.state.best_iter[0])

    @property
    def best_loss(self) -> float:
        """Error of the best rules on the validation rows of the last block, in standard units."""
        return float(self.state.best_loss[0])

    # -- between blocks ------------------------------------------------------------------------------------------------

    def enter(self, units: Units, is_constant: BoolArray, config: TrainConfig) -> "Learner":
        """Return the same rules in new units; the moments of the optimizer do not change.

        A feature that was constant so far had no unit: its widths are the same numbers in the new unit.
        """
        begins = self.is_constant & ~is_constant
        old = self.units._replace(x_scale=np.where(begins, units.x_scale, self.units.x_scale))
        floor = find_width_floor(config, self.start)

        def express(theta: FloatArray, least: float) -> FloatArray:
            rules = units.express(unpack(theta, self.start), old)
            return pack(replace(rules, widths=np.maximum(rules.widths, least)))[0]

        state = kernels.State(*(part.copy() for part in self.state))
        mean = self._mean_parameters()
        state.theta[:] = express(state.theta, floor)
        state.best[:] = express(state.best, 0.0)
        part = 1.0 - config.averaging**self.n_iter
        state.average[:] = express(mean, floor) * part if part else 0.0  # infinite widths times zero would be NaN
        return replace(self, units=units, is_constant=is_constant, state=state, averaging=config.averaging)

    def _mean_parameters(self) -> FloatArray:
        """Return the running mean of the parameters, corrected for its start at zero."""
        correction = 1.0 - self.averaging**self.n_iter
        return self.state.average / correction if self.averaging and correction else self.state.theta

    # -- training ------------------------------------------------------------------------------------------------------

    def open_run(self, config: TrainConfig, training: Rows, seen: Seen, n_iter: int, stays_in_range: bool) -> Run:
        """Return a run that continues from here, and evaluate the best rules on the current validation rows."""
        scaled = [self.units.standardize(seen.fill(rows)) for rows in (training, seen.reservoir)]
        data, held_out = (tuple(np.ascontiguousarray(part) for part in rows) for rows in scaled)
        bounds = self._bound(seen, config) if stays_in_range else None
        run = Run(self.start, config, data, held_out, n_iter, state=self.state, every=NEVER, bounds=bounds)
        self.state.best_loss[0] = run.validate(self.state.best)
        return run

    def _bound(self, seen: Seen, config: TrainConfig) -> Bounds:
        """Return bounds that keep centers and widths within the range of all rows so far."""
        low, high = ((end - self.units.x_mean) / self.units.x_scale for end in (seen.x.low, seen.x.high))
        return bound_by_range(low, high, self.start, config)

    def record(self, run: Run, n_before: int) -> None:
        """Add the block that began with entry `n_before` of the run's history to the history."""
        block = run.history[n_before : run.n_iter - run.first_iter]
        mean = np.mean(block[:, 0]) if run.config.loss == "log" else np.sqrt(np.mean(block[:, 0] ** 2))
        errors = np.array([mean, block[-1, 1]]) * self.units.loss_factor
        known = self.history if np.isnan(errors[1]) else self.history[~np.isnan(self.history[:, 2])]  # all or none
        self.history = np.vstack([known, np.r_[self.n_iter, errors]])
        if len(self.history) > MAX_HISTORY:
            is_best = self.history[:, 0] == self.best_iter
            self.history = self.history[(np.arange(len(self.history))[::-1] % 2 == 0) | is_best]  # the last one stays

    def skip_batch(self) -> None:
        """Go back to the best rules after a batch that diverged, and count it as an iteration."""
        state = self.state
        state.n_iter[0] += 1
        state.theta[:] = state.best
        state.average[:] = state.best * (1.0 - self.averaging**self.n_iter)
        for part in (state.grad, state.mean, state.spread):
            part[:] = 0.0

    # -- results -------------------------------------------------------------------------------------------------------

    def read_rules(self, seen: Seen) -> RuleBase:
        """Return the best rules in the units of the data, sorted by share, with a profile of all rows."""
        rules = replace(unpack(self.state.best, self.start), usual=None)  # a missing value counts as the mean
        rules = center_logits(rules.rescale(*self.units))
        X, y, weight = seen.fill(seen.sample)
        profile = measure_profile((X, y), rules.firing_share, weight)
        quantiles, output_quantiles = profile.quantiles.copy(), profile.output_quantiles.copy()
        for part, moments in ((quantiles, seen.x), (output_quantiles, seen.y)):
            part[0], part[-1] = moments.low, moments.high
        profile = replace(
            profile,
            n_rows=seen.n_rows,
            mean=np.clip(seen.x.mean, seen.x.low, seen.x.high),
            quantiles=quantiles,
            output_quantiles=output_quantiles,
        )
        return sort_rules(rules, profile)
