"""The rows of a stream so far: validation rows, rows that wait for training, and the units of all of them.

Only a hash of its values decides whether a row validates. So a row that occurs again, in this block or in a later pass,
has the same role, and the validation rows are a uniform sample of all distinct rows so far.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from takagi._checks import are_finite
from takagi._typing import BoolArray, FloatArray
from takagi.fitting import (
    MAX_VALIDATION_ROWS,
    STEP,
    Rows,
    Units,
    is_constant,
    measure_spread,
    mix_bits,
    stack_rows,
)

_PROFILE_ROWS = 500
_FREQUENT_COUNT, _FREQUENT_PART = 8, 0.005  # copies of a row in a block above which it always trains


class Moments(NamedTuple):
    """Weighted means and standard deviations of columns, and their ranges."""

    weight: float
    mean: FloatArray
    spread: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def peak(self) -> FloatArray:
        """Largest absolute values."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def scale(self) -> FloatArray:
        """Standard deviations, 1 for columns that have been constant so far."""
        return np.where(is_constant(self.spread, self.peak), 1.0, self.spread)

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of both parts together, without squares of deviations, which might overflow."""
        weight = self.weight + other.weight
        here, there = self.weight / weight, other.weight / weight
        step = other.mean - self.mean
        within = np.hypot(np.sqrt(here) * self.spread, np.sqrt(there) * other.spread)
        return Moments(
            weight=weight,
            mean=self.mean + there * step,
            spread=np.hypot(within, np.sqrt(here * there) * step),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
        )


def measure_moments(columns: FloatArray, weight: FloatArray) -> Moments:
    """Return the moments of some rows."""
    return Moments(float(weight.sum()), *measure_spread(columns, weight), columns.min(axis=0), columns.max(axis=0))


@dataclass(frozen=True)
class Seen:
    """The rows of a stream so far, and their statistics."""

    seed: int  # of the hash
    fraction: float  # the fraction of validation rows
    n_rows: int  # rows so far, repeated rows included
    x: Moments  # of all rows so far
    y: Moments  # of all rows so far
    reservoir: Rows  # the validation rows, at most 2,000: those with the smallest hashes, sorted by hash
    waiting: Rows  # rows that wait for training, in this order
    # the last training rows, a few hundred while the reservoir is small, for the rules' profile
    recent: Rows

    @classmethod
    def begin(cls, rows: Rows, fraction: float, rng: np.random.Generator) -> "Seen":
        """Return the state after the first rows of a stream."""
        seed = int(rng.integers(2**63))
        x, y = (measure_moments(part, rows.weight) for part in (rows.fill().X, rows.y))
        none = rows.take(np.empty(0, dtype=np.intp))
        return cls(seed, fraction, len(rows.X), x, y, none, none, none)._share_out(rows, rng)

    def take_in(self, rows: Rows, rng: np.random.Generator) -> "Seen":
        """Return the state after some more rows."""
        x, y = (measure_moments(part, rows.weight) for part in (self.fill(rows).X, rows.y))
        more = replace(self, n_rows=self.n_rows + len(rows.X), x=self.x.merge(x), y=self.y.merge(y))
        return more._share_out(rows, rng)

    def fill(self, rows: Rows) -> Rows:
        """Return rows with missing values replaced by the mean of all rows so far."""
        return rows if are_finite(rows.X) else rows._replace(X=np.where(np.isnan(rows.X), self.x.mean, rows.X))

    def _share_out(self, rows: Rows, rng: np.random.Generator) -> "Seen":
        """Put rows into the reservoir, or in random order behind those that wait for training."""
        keys = hash_rows(rows, self.seed)
        frequent = _find_frequent(keys)
        may_validate = (keys < np.uint64(self.fraction * 2.0**64)) & ~np.isin(keys, frequent)
        training, reservoir = rows.take(np.flatnonzero(~may_validate)), self.reservoir
        if len(frequent) and len(reservoir.X):
            reservoir = reservoir.take(np.flatnonzero(~np.isin(hash_rows(reservoir, self.seed), frequent)))
        if may_validate.any():
            reservoir, thrown_out = _keep_smallest(
                stack_rows(reservoir, rows.take(np.flatnonzero(may_validate))), self.seed
            )
            training = stack_rows(training, thrown_out)
        training = training.take(rng.permutation(len(training.X)))
        return replace(self, reservoir=reservoir, waiting=stack_rows(self.waiting, training))

    def drop_waiting(self, n_rows: int, most: int) -> "Seen":
        """Return the state after the first waiting rows have trained; at most the given number still wait."""
        places = slice(n_rows), slice(n_rows, n_rows + most)
        trained, waiting = (Rows(*(part[place].copy() for part in self.waiting)) for place in places)
        wanted = max(0, _PROFILE_ROWS - len(self.reservoir.X))
        recent = stack_rows(self.recent, trained)
        recent = recent.take(np.arange(max(0, len(recent.X) - wanted), len(recent.X)))
        return replace(self, waiting=waiting, recent=recent)

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows so far, estimated from the smallest hashes."""
        n_kept, part = len(self.reservoir.X), self.fraction
        if not n_kept:
            return self.n_rows
        if n_kept == MAX_VALIDATION_ROWS:
            last = self.reservoir.take(np.array([n_kept - 1]))
            part = float(hash_rows(last, self.seed)[0]) / 2.0**64
        return int(np.clip(n_kept / part, n_kept, self.n_rows))

    @property
    def sample(self) -> Rows:
        """Rows that represent all rows so far."""
        return stack_rows(self.reservoir, self.recent)

    @property
    def is_constant(self) -> BoolArray:
        """Which features have been constant so far."""
        return is_constant(self.x.spread, self.x.peak)

    def units(self, scales_inputs: bool, scales_target: bool, centers_target: bool = True) -> Units:
        """Return the units to train in, as `measure_units` does for rows in memory."""
        units = Units.of_data(len(self.x.mean), len(self.y.mean))
        if scales_inputs:
            units = units._replace(x_mean=self.x.mean, x_scale=self.x.scale)
        if centers_target:
            units = units._replace(y_mean=self.y.mean)
        return units._replace(y_scale=self.y.scale) if scales_target else units


def _find_frequent(keys: np.ndarray) -> np.ndarray:
    """Return the hashes of rows that are so frequent in a block that they must train."""
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct[(counts > _FREQUENT_COUNT) & (counts > _FREQUENT_PART * len(keys))]


def _keep_smallest(rows: Rows, seed: int) -> tuple[Rows, Rows]:
    """Return the distinct rows with the smallest hashes, at most the limit of validation rows, and the others."""
    keys = hash_rows(rows, seed)
    smallest, first = (part[:MAX_VALIDATION_ROWS] for part in np.unique(keys, return_index=True))
    return rows.take(first), rows.take(np.flatnonzero(keys > smallest[-1]))


def hash_rows(rows: Rows, seed: int) -> np.ndarray:
    """Return 64 well-mixed bits for each row, the same for equal values of X and y."""
    table = np.hstack([rows.X, rows.y]) + 0.0  # -0.0 becomes 0.0
    places = mix_bits((np.arange(1, table.shape[1] + 1, dtype=np.uint64) ^ np.uint64(seed)) + STEP)
    words = mix_bits(table.view(np.uint64) + places + STEP)
    return mix_bits((words.sum(axis=1, dtype=np.uint64) ^ np.uint64(seed)) + STEP)
