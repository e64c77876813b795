"""Rows: training and validation rows, and their units."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from takagi._checks import are_finite
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.training import ScaledTable

MAX_VALIDATION_ROWS = 2_000
HEAVY = 8.0  # times the mean weight
_DOUBT = 2.0  # weight of the squared standard error of a share
_MIXED = 0.2  # of the rows with equal features: if so many meet another class, they are no copies
_OFTEN = 2.0  # times that a row occurs in the mean: if more, rows are combinations of few values, and no copies
_MOST_SEPARATE = 50_000  # rows that repeats become
_ROWS_AT_A_TIME = 8192
_LARGE = 2**21  # cells of a table that is not copied
STEP = np.uint64(0x9E3779B97F4A7C15)  # of the counter of SplitMix64


class Rows(NamedTuple):
    """Features, NaN where missing, targets of shape (n_rows, n_outputs), and weights."""

    X: FloatArray
    y: FloatArray
    weight: FloatArray

    def take(self, index: IntArray) -> "Rows":
        """Return some of the rows."""
        return Rows(self.X[index], self.y[index], self.weight[index])

    def take_features(self, features: IntArray) -> "Rows":
        """Return the rows with some of their features."""
        return self._replace(X=np.ascontiguousarray(self.X[:, features]))

    def fill(self) -> "Rows":
        """Return the rows with the mean of its column in place of each missing value."""
        if isinstance(self.X, ScaledTable) or are_finite(self.X):
            return self
        return self._replace(X=np.where(np.isnan(self.X), measure_columns(self.X, self.weight)[0], self.X))

    def balance(self) -> "Rows":
        """Return the same rows with weights of mean 1."""
        mean = self.weight.mean()
        return self if mean == 1 else self._replace(weight=self.weight / mean)


class Units(NamedTuple):
    """Means and scales of features and targets."""

    x_mean: FloatArray
    x_scale: FloatArray
    y_mean: FloatArray
    y_scale: FloatArray

    def standardize(self, rows: Rows) -> Rows:
        """Return rows in standard units."""
        X = rows.X - self.x_mean
        X /= self.x_scale
        return Rows(X, (rows.y - self.y_mean) / self.y_scale, rows.weight)

    def standardize_on_demand(self, rows: Rows) -> Rows:
        """Return rows in standard units, of which there is no copy: they are made where they are taken.

        Few rows are copied, and so are those of which values are missing, or some heavy.
        """
        X, y = ScaledTable(rows.X, self.x_mean, self.x_scale), ScaledTable(rows.y, self.y_mean, self.y_scale)
        is_even = rows.weight.max() <= HEAVY * rows.weight.mean()
        if rows.X.size >= _LARGE and is_even and are_finite(np.r_[X.min(axis=0), X.max(axis=0)]):
            return Rows(X, y, rows.weight)  # type: ignore[arg-type]
        return spread_weights(self.standardize(rows))

    @classmethod
    def of_data(cls, n_features: int, n_outputs: int) -> "Units":
        """Return the units of the data itself."""
        return cls(np.zeros(n_features), np.ones(n_features), np.zeros(n_outputs), np.ones(n_outputs))

    def express(self, rules: RuleBase, known: "Units | None" = None) -> RuleBase:
        """Return rules in these units, given rules in other units, by default those of the data; no digits are lost."""
        known = Units.of_data(rules.n_features, rules.n_outputs) if known is None else known
        return rules.rescale(
            (known.x_mean - self.x_mean) / self.x_scale,
            known.x_scale / self.x_scale,
            (known.y_mean - self.y_mean) / self.y_scale,
            known.y_scale / self.y_scale,
        )

    @property
    def loss_factor(self) -> float:
        """The target's scale, which converts an RMSE to the target's units; 1 for several targets."""
        return float(self.y_scale[0]) if len(self.y_scale) == 1 else 1.0


def merge_equal_rows(rows: Rows, has_classes: bool = False) -> Rows:
    """Return the distinct rows, sorted by a key of their values, with the weights of equal rows added up.

    What follows then depends on the set of rows alone: not on their order, and a weight of three is the same as three
    equal rows. The key is made of each value's place in the range of its column, rounded, so units and the order of
    columns do not matter either. Rows of classes stay apart where they are no copies, see `_separate_repeats`.
    """
    if not (rows.weight > 0).all():
        rows = rows.take(np.flatnonzero(rows.weight > 0))
    keys = _key_rows(rows)
    order = np.argsort(keys[:, 0])
    if (keys[order[1:], 0] == keys[order[:-1], 0]).any():
        values = rows.X if are_finite(rows.X) else np.where(np.isnan(rows.X), np.inf, rows.X)  # NaN equals NaN
        order = np.lexsort((*values.T, *rows.y.T, keys[:, 1], keys[:, 0]))
        rows = rows.take(order)
        first = np.flatnonzero(np.r_[True, _differ_from_previous(values[order]) | _differ_from_previous(rows.y)])
        distinct = Rows(rows.X[first], rows.y[first], np.add.reduceat(rows.weight, first))
        return _separate_repeats(distinct) if has_classes else distinct
    return rows.take(order)


def _separate_repeats(rows: Rows) -> Rows:
    """Return distinct rows of classes, as several again where they are repeats and no copies.

    In a table of categories equal features come with different classes, or rows are combinations of few values that
    occur often, so that they are rows of their own. Merged, those of a class would train or judge together, a part that
    judges would have the classes that the other lacks, and penalties would be those of few rows. Where features are
    seldom equal, and then nearly always have the same class, they may be copies, which must not train and judge at
    once, and stay as they are. So do weights that are not whole multiples of one number for each class.
    """
    group = np.unique(_key_rows(rows._replace(y=rows.y[:, :0]))[:, 1], return_inverse=True)[1]
    code = np.unique(find_classes(rows.y), return_inverse=True)[1]
    unit = np.array([_find_unit(rows.weight[code == k]) for k in range(code.max() + 1)])
    count, is_mixed = rows.weight / unit[code], np.bincount(group)[group] > 1
    n_repeated = count[is_mixed | (count > 1.5)].sum()
    are_repeats = count[is_mixed].sum() > _MIXED * n_repeated or (count.sum() > _OFTEN * len(count) and _recur(rows.X))
    if (abs(count - np.rint(count)) > 1e-6 * count).any() or not are_repeats:
        return rows
    return _divide(rows, np.maximum(1, np.rint(count * min(1.0, _MOST_SEPARATE / count.sum()))).astype(np.intp))


def _recur(X: FloatArray) -> bool:
    """Return whether the values of every column occur in at least two distinct rows in the mean."""
    return all(2 * len(np.unique(column)) <= len(column) for column in X.T)


def _find_unit(weight: FloatArray) -> float:
    """Return the largest number that all weights are whole multiples of (Euclid), or a small one if there is none."""
    unit, least = 0.0, 1e-3 * float(weight.mean())
    for value in np.unique(weight).tolist():
        while value > least:
            unit, value = value, abs(unit - value * round(unit / value))
        if unit <= 2 * least:
            break
    return unit


def _divide(rows: Rows, n_parts: IntArray) -> Rows:
    """Return rows of which each has become so many of the same total weight."""
    parts = rows.take(np.repeat(np.arange(len(n_parts)), n_parts))
    return parts._replace(weight=parts.weight / np.repeat(n_parts, n_parts))


def _key_rows(rows: Rows) -> np.ndarray:
    """Return two keys of each row, of shape (n_rows, 2), the first of which does not depend on the order of columns.

    They are made of the positions of the values in the range of their column, rounded to 30 bits.
    """
    has_missing = not are_finite(rows.X)
    low = np.r_[np.fmin.reduce(rows.X, axis=0), rows.y.min(axis=0)]
    half_range = 0.5 * np.r_[np.fmax.reduce(rows.X, axis=0), rows.y.max(axis=0)] - 0.5 * low
    half_range[half_range == 0] = 1.0
    keys = np.zeros((len(rows.X), 2), dtype=np.uint64)
    for start in range(0, len(keys), _ROWS_AT_A_TIME):
        here = slice(start, start + _ROWS_AT_A_TIME)
        unordered, ordered = keys[here].T
        for value, lowest, half in zip((*rows.X[here].T, *rows.y[here].T), low, half_range, strict=True):
            place = (0.5 * value - 0.5 * lowest) / half
            if has_missing:
                place = np.where(np.isnan(place), 2.0, place)
            word = mix_bits(np.rint(place * 2.0**30).astype(np.uint64) + STEP)
            unordered += word
            ordered[:] = mix_bits(ordered ^ word)
    return keys


def mix_bits(words: np.ndarray) -> np.ndarray:
    """Scramble 64 bits (the finalizer of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _differ_from_previous(values: FloatArray) -> BoolArray:
    return (values[1:] != values[:-1]).any(axis=1)


def spread_weights(rows: Rows) -> Rows:
    """Return rows with heavy ones split into several of the same total weight.

    Batches draw rows regardless of their weight: a row with half of the total weight would be drawn as seldom as any
    other.
    """
    n_parts = np.maximum(1, np.ceil(rows.weight / (HEAVY * rows.weight.mean()))).astype(np.intp)
    return rows if n_parts.max() == 1 else _divide(rows, n_parts)


def draw_order(rows: Rows, rng: np.random.Generator, by_class: bool = False) -> tuple[IntArray, IntArray]:
    """Return a random order of the rows, and the rows that are too heavy to be held out only: they also train.

    For classes, the order is stratified: any stretch of it has about the class frequencies of all rows. A row is then
    heavy relative to its class, since class weights make all rows of a rare class heavy.
    """
    order, usual = rng.permutation(len(rows.X)), np.full(len(rows.X), rows.weight.mean())
    if by_class:
        code, count = np.unique(find_classes(rows.y), return_inverse=True, return_counts=True)[1:]
        order = order[_mix_classes(code[order], count)]
        usual = (np.bincount(code, weights=rows.weight) / count)[code]
    is_heavy = rows.weight[order] > HEAVY * usual[order]
    return order[~is_heavy], order[is_heavy]


def _mix_classes(code: IntArray, count: IntArray) -> IntArray:
    """Return a stratified order, given the classes as numbers; each class keeps its order."""
    by_class = np.argsort(code, kind="stable")
    place = np.empty(len(code))
    place[by_class] = np.arange(len(code)) - np.repeat(np.cumsum(count) - count, count)
    return np.argsort((place + 0.5) / count[code], kind="stable")


def find_classes(y: FloatArray) -> IntArray:
    """Return the index of the most probable class of each row, given targets of the log loss."""
    return y.argmax(axis=1) if y.shape[1] > 1 else (y[:, 0] > 0.5).astype(np.intp)


def split_rows(rows: Rows, fraction: float, rng: np.random.Generator, by_class: bool = False) -> tuple[Rows, Rows]:
    """Return training and validation rows, at least one of each (a single row is both)."""
    order, heavy = draw_order(rows, rng, by_class)
    n_val = int(np.clip(round(fraction * len(order)), 1, MAX_VALIDATION_ROWS))
    n_val = min(n_val, len(order) - (0 if len(heavy) else 1))
    held_out = np.r_[order[:n_val] if n_val else order, heavy]
    return rows.take(np.r_[order[n_val:], heavy]), rows.take(held_out)


def measure_columns(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means and standard deviations, the latter 1 for constant columns."""
    mean, spread = measure_spread(columns, weight)
    return mean, np.where(is_constant(spread, _find_peaks(columns)), 1.0, spread)


def measure_spread(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means and standard deviations.

    Columns are first divided by their largest absolute value, so that no square overflows or underflows. Missing values
    are ignored.
    """
    if not are_finite(columns):
        return _measure_present(columns, weight)
    peak = _find_peaks(columns)
    peak[peak == 0] = 1.0
    mean = _average(columns, weight, lambda part: part / peak)
    return mean * peak, np.sqrt(_average(columns, weight, lambda part: (part / peak - mean) ** 2)) * peak


def _measure_present(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means and standard deviations of the values that are not missing, zeros if there are none."""
    mean, spread = np.zeros((2, columns.shape[1]))
    for m, column in enumerate(columns.T):
        present = ~np.isnan(column)
        if present.any():
            mean[m], spread[m] = np.ravel(measure_spread(column[present, None], weight[present]))
    return mean, spread


def standardize_columns(columns: FloatArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """Return columns in standard units, zero (the mean) where they are missing."""
    scaled = (columns - mean) / scale
    return scaled if are_finite(scaled) else np.nan_to_num(scaled)


def _find_peaks(columns: FloatArray) -> FloatArray:
    """Return the largest absolute value of each column, without NaN."""
    return np.fmax(np.fmax.reduce(columns, axis=0), -np.fmin.reduce(columns, axis=0))


def _average(columns: FloatArray, weight: FloatArray, change: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return weighted means of columns that are transformed block by block, without a second copy of them.

    NumPy adds rows one after the other, so blocks do not change a bit. Columns in Fortran order are not split, since
    NumPy uses pairwise summation for them.
    """
    goes_by_rows = columns.shape[1] > 1 and columns.flags.c_contiguous
    size = _ROWS_AT_A_TIME if goes_by_rows else len(columns)
    total = np.zeros(columns.shape[1])
    for start in range(0, len(columns), size):
        here = slice(start, start + size)
        part = change(columns[here]) * weight[here, None]
        if start:
            part[0] += total
        total = part.sum(axis=0)
    return total / weight.sum()


def measure_rms(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the roots of the weighted mean squares of columns, without overflow or underflow."""
    peak = np.abs(columns).max(axis=0)
    peak[peak == 0] = 1.0
    return np.sqrt(np.average((columns / peak) ** 2, axis=0, weights=weight)) * peak


def measure_left(rows: Rows, prediction: FloatArray) -> float:
    """Return the RMSE of predictions over all targets, each in units of its standard deviation."""
    errors = (rows.y - prediction) / measure_columns(rows.y, rows.weight)[1]
    return float(np.sqrt((measure_rms(errors, rows.weight) ** 2).mean()))


def is_constant(spread: FloatArray, peak: FloatArray) -> BoolArray:
    """Return where standard deviations are zero up to rounding, relative to the largest absolute value."""
    return (spread <= 1e-14 * peak) | (spread < 1e-305)


def measure_units(rows: Rows, scales_inputs: bool, scales_target: bool, centers_target: bool = True) -> Units:
    """Return the units of training: inputs and targets standardized, targets only centered, or unchanged."""
    units = Units.of_data(rows.X.shape[1], rows.y.shape[1])
    if scales_inputs:
        x_mean, x_scale = measure_columns(rows.X, rows.weight)
        units = units._replace(x_mean=x_mean, x_scale=x_scale)
    if not centers_target:
        return units
    y_mean, y_scale = measure_columns(rows.y, rows.weight)
    return units._replace(y_mean=y_mean, y_scale=y_scale if scales_target else units.y_scale)


def stack_rows(*parts: Rows) -> Rows:
    """Return rows one after the other."""
    return Rows(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def find_errors(rules: RuleBase | RuleModel, rows: Rows, most: float = np.inf) -> Rows:
    """Return rows up to a given weight, with targets minus predictions instead of targets.

    They are held-out errors if the rows did not train the rules; heavier rows both train and validate.
    """
    rows = rows.take(np.flatnonzero(rows.weight <= most))
    return rows._replace(y=rows.y - rules.predict_raw(rows.X))


def is_clearly_less(errors: FloatArray, others: FloatArray, weight: FloatArray, factor: float = 1.0) -> bool:
    """Whether errors are smaller by more than so many standard errors of the weighted mean difference."""
    gain = others - errors
    mean = np.average(gain, weights=weight)
    doubt = np.sqrt(np.average((gain - mean) ** 2, weights=weight) / len(gain))
    return bool(mean > factor * doubt)


def shrink_share(part: float, doubt: float) -> float:
    """Return a measured number shrunk toward zero, the more so the larger its standard error."""
    return part**3 / (part**2 + _DOUBT * doubt**2) if part else 0.0
