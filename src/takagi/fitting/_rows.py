"""Rows: which ones train and which ones validate, and in what units."""

from typing import NamedTuple

import numpy as np

from takagi import kernels
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.rulebase import RuleBase

MAX_VALIDATION_ROWS = 2_000
HEAVY = 8.0  # times the mean weight


class Rows(NamedTuple):
    """Features, targets of shape (n_rows, n_outputs), and weights."""

    X: FloatArray
    y: FloatArray
    weight: FloatArray

    def take(self, index: IntArray) -> "Rows":
        """Return some of the rows."""
        return Rows(self.X[index], self.y[index], self.weight[index])

    def take_features(self, features: IntArray) -> "Rows":
        """Return the rows with some of their features."""
        return self._replace(X=np.ascontiguousarray(self.X[:, features]))

    def balance(self) -> "Rows":
        """Return the same rows with weights of mean 1."""
        return self._replace(weight=self.weight / self.weight.mean())


class Units(NamedTuple):
    """Means and scales of features and targets."""

    x_mean: FloatArray
    x_scale: FloatArray
    y_mean: FloatArray
    y_scale: FloatArray

    def standardize(self, rows: Rows) -> Rows:
        """Return rows in standard units."""
        X = (rows.X - self.x_mean) / self.x_scale
        return Rows(X, (rows.y - self.y_mean) / self.y_scale, rows.weight)

    @classmethod
    def of_data(cls, n_features: int, n_outputs: int) -> "Units":
        """Return the units of the data itself."""
        return cls(np.zeros(n_features), np.ones(n_features), np.zeros(n_outputs), np.ones(n_outputs))

    def express(self, rules: RuleBase, known: "Units | None" = None) -> RuleBase:
        """Return rules for other standard units, by default those of the data, in these; no digits are lost between."""
        known = Units.of_data(rules.n_features, rules.n_outputs) if known is None else known
        return rules.rescale(
            (known.x_mean - self.x_mean) / self.x_scale,
            known.x_scale / self.x_scale,
            (known.y_mean - self.y_mean) / self.y_scale,
            known.y_scale / self.y_scale,
        )

    @property
    def loss_factor(self) -> float:
        """The target's scale, which takes an RMSE back to its units; several targets with several scales have none."""
        return float(self.y_scale[0]) if len(self.y_scale) == 1 else 1.0


def merge_equal_rows(rows: Rows) -> Rows:
    """Return the distinct rows, sorted by a key of their values, with the weights of equal rows added up.

    What follows then depends on the set of rows alone: not on their order, and a weight of three is the same as three
    equal rows. The key is made of each value's place in the range of its column, rounded, so units and the order of
    columns do not matter either.
    """
    if not (rows.weight > 0).all():
        rows = rows.take(np.flatnonzero(rows.weight > 0))
    keys = _key_rows(rows)
    order = np.argsort(keys[:, 0])
    if (keys[order[1:], 0] == keys[order[:-1], 0]).any():
        order = np.lexsort((*rows.X.T, *rows.y.T, keys[:, 1], keys[:, 0]))
        rows = rows.take(order)
        first = np.flatnonzero(np.r_[True, _differ_from_previous(rows.X) | _differ_from_previous(rows.y)])
        return Rows(rows.X[first], rows.y[first], np.add.reduceat(rows.weight, first))
    return rows.take(order)


def _key_rows(rows: Rows) -> np.ndarray:
    low = np.r_[rows.X.min(axis=0), rows.y.min(axis=0)]
    half_range = 0.5 * np.r_[rows.X.max(axis=0), rows.y.max(axis=0)] - 0.5 * low
    keys = np.empty((len(rows.X), 2), dtype=np.uint64)
    X, y = (np.array(part, dtype=float, order="C") for part in (rows.X, rows.y))
    kernels.key_rows(X, y, low, np.where(half_range > 0, half_range, 1.0), keys)
    return keys


def _differ_from_previous(values: FloatArray) -> BoolArray:
    return (values[1:] != values[:-1]).any(axis=1)


def spread_weights(rows: Rows) -> Rows:
    """Return rows of which heavy ones have become several of the same total weight.

    A batch has rows, not weight: one that stands for half of the table would be drawn as seldom as any other.
    """
    n_parts = np.maximum(1, np.ceil(rows.weight / (HEAVY * rows.weight.mean()))).astype(np.intp)
    if n_parts.max() == 1:
        return rows
    parts = rows.take(np.repeat(np.arange(len(n_parts)), n_parts))
    return parts._replace(weight=parts.weight / np.repeat(n_parts, n_parts))


def draw_order(rows: Rows, rng: np.random.Generator, by_class: bool = False) -> tuple[IntArray, IntArray]:
    """Return a random order of the rows, and those of them that are too heavy to be held out: they do both.

    By class, any stretch of the order has about as much of each class as all rows have, and a row is heavy beside the
    others of its class, since weights of classes make all rows of a rare one heavy.
    """
    order, usual = rng.permutation(len(rows.X)), np.full(len(rows.X), rows.weight.mean())
    if by_class:
        code, count = np.unique(find_classes(rows.y), return_inverse=True, return_counts=True)[1:]
        order = order[_mix_classes(code[order], count)]
        usual = (np.bincount(code, weights=rows.weight) / count)[code]
    is_heavy = rows.weight[order] > HEAVY * usual[order]
    return order[~is_heavy], order[is_heavy]


def _mix_classes(code: IntArray, count: IntArray) -> IntArray:
    """Return an order that goes through all classes, given by numbers, at the same pace, each in its present order."""
    by_class = np.argsort(code, kind="stable")
    place = np.empty(len(code))
    place[by_class] = np.arange(len(code)) - np.repeat(np.cumsum(count) - count, count)
    return np.argsort((place + 0.5) / count[code], kind="stable")


def find_classes(y: FloatArray) -> IntArray:
    """Return the number of the likeliest class of each row, given the probabilities that the log loss takes."""
    return y.argmax(axis=1) if y.shape[1] > 1 else (y[:, 0] > 0.5).astype(np.intp)


def split_rows(rows: Rows, fraction: float, rng: np.random.Generator, by_class: bool = False) -> tuple[Rows, Rows]:
    """Return rows to train on and rows to validate on, at least one of each (one row serves as both)."""
    order, heavy = draw_order(rows, rng, by_class)
    n_val = int(np.clip(round(fraction * len(order)), 1, MAX_VALIDATION_ROWS))
    n_val = min(n_val, len(order) - (0 if len(heavy) else 1))
    held_out = np.r_[order[:n_val] if n_val else order, heavy]
    return rows.take(np.r_[order[n_val:], heavy]), rows.take(held_out)


def measure_columns(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means and standard deviations, the latter 1 for constant columns."""
    mean, spread = measure_spread(columns, weight)
    return mean, choose_scale(spread, np.abs(columns).max(axis=0))


def measure_spread(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means and standard deviations.

    Columns are divided by their largest modulus first, so that no square overflows or underflows.
    """
    peak = np.abs(columns).max(axis=0)
    peak[peak == 0] = 1.0
    scaled = columns / peak
    mean = np.average(scaled, axis=0, weights=weight)
    return mean * peak, np.sqrt(np.average((scaled - mean) ** 2, axis=0, weights=weight)) * peak


def measure_rms(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the roots of the weighted mean squares of columns, without overflow or underflow."""
    peak = np.abs(columns).max(axis=0)
    peak[peak == 0] = 1.0
    return np.sqrt(np.average((columns / peak) ** 2, axis=0, weights=weight)) * peak


def choose_scale(spread: FloatArray, peak: FloatArray) -> FloatArray:
    """Return the standard deviations, and 1 for columns that are constant."""
    return np.where(is_constant(spread, peak), 1.0, spread)


def is_constant(spread: FloatArray, peak: FloatArray) -> BoolArray:
    """Return where nothing but rounding, beside the largest modulus, keeps standard deviations from zero."""
    return (spread <= 1e-14 * peak) | (spread < 1e-305)


def measure_units(rows: Rows, scales_inputs: bool, scales_target: bool, centers_target: bool = True) -> Units:
    """Return the units to train in: inputs and targets standardized, targets only centered, or as they are."""
    units = Units.of_data(rows.X.shape[1], rows.y.shape[1])
    if scales_inputs:
        x_mean, x_scale = measure_columns(rows.X, rows.weight)
        units = units._replace(x_mean=x_mean, x_scale=x_scale)
    if not centers_target:
        return units
    y_mean, y_scale = measure_columns(rows.y, rows.weight)
    return units._replace(y_mean=y_mean, y_scale=y_scale if scales_target else units.y_scale)


def stack_rows(first: Rows, second: Rows) -> Rows:
    """Return rows one after the other."""
    return Rows(*(np.concatenate(parts) for parts in zip(first, second, strict=True)))


def is_clearly_less(errors: FloatArray, others: FloatArray, weight: FloatArray) -> bool:
    """Whether errors are smaller by more than the standard error of the weighted mean difference."""
    gain = others - errors
    mean = np.average(gain, weights=weight)
    doubt = np.sqrt(np.average((gain - mean) ** 2, weights=weight) / len(gain))
    return bool(mean > doubt)
