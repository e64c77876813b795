"""Rows: which ones train and which ones validate, and in what units."""

from typing import NamedTuple

import numpy as np

from takagi import kernels
from takagi._typing import FloatArray, IntArray

MAX_VALIDATION_ROWS = 2_000


class Rows(NamedTuple):
    """Features, targets of shape (n_rows, n_outputs), and weights."""

    X: FloatArray
    y: FloatArray
    weight: FloatArray

    def take(self, index: IntArray) -> "Rows":
        """Return some of the rows."""
        return Rows(self.X[index], self.y[index], self.weight[index])


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


def merge_equal_rows(rows: Rows) -> Rows:
    """Return the distinct rows, sorted by a key of their values, with the weights of equal rows added up.

    What follows then depends on the set of rows alone: not on their order, and a weight of three is the same as three
    equal rows. The key is made of standardised values rounded to 20 bits, so units and the order of columns do not
    matter either.
    """
    rows = rows.take(np.flatnonzero(rows.weight > 0))
    columns = np.hstack([rows.X, rows.y])
    mean, scale = measure_columns(columns, rows.weight)
    keys = np.empty((len(columns), 2), dtype=np.uint64)
    kernels.key_rows(np.rint((columns - mean) / scale * 2.0**20).astype(np.int64), keys)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    columns = columns[order]
    first = np.flatnonzero(np.r_[True, (columns[1:] != columns[:-1]).any(axis=1)])
    weight = np.add.reduceat(rows.weight[order], first)
    index = order[first]
    return Rows(rows.X[index], rows.y[index], weight)


def split_rows(rows: Rows, fraction: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return rows to train on and rows to validate on, at least one of each (one row serves as both)."""
    n_rows = len(rows.X)
    n_val = int(np.clip(round(fraction * n_rows), 1, MAX_VALIDATION_ROWS))
    order = rng.permutation(n_rows)
    n_val = min(n_val, n_rows - 1)
    return rows.take(order[n_val:]), rows.take(order[:n_val] if n_val else order)


def measure_columns(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means and standard deviations, the latter 1 for constant columns.

    Columns are divided by their largest modulus first, so that no square overflows or underflows.
    """
    peak = np.abs(columns).max(axis=0)
    peak[peak == 0] = 1.0
    scaled = columns / peak
    mean = np.average(scaled, axis=0, weights=weight)
    scale = np.sqrt(np.average((scaled - mean) ** 2, axis=0, weights=weight))
    constant = scale <= 1e-14
    return mean * peak, np.where(constant, 1.0, scale * peak)


def measure_units(rows: Rows, standardize: bool | str) -> Units:
    """Return the units to train in: both standardised, only the inputs, or neither; the target is always centred."""
    n_features, n_outputs = rows.X.shape[1], rows.y.shape[1]
    x_mean, x_scale = np.zeros(n_features), np.ones(n_features)
    y_mean, y_scale = measure_columns(rows.y, rows.weight)
    if standardize is not False:
        x_mean, x_scale = measure_columns(rows.X, rows.weight)
    return Units(x_mean, x_scale, y_mean, y_scale if standardize is True else np.ones(n_outputs))
