"""A table in standard units, of which there is no copy."""

from typing import Any

import numpy as np

from takagi._typing import FloatArray, IntArray


class ScaledTable:
    """Rows ``(table - mean) / scale`` that are computed where they are taken by their numbers; none is missing.

    Training draws some thousand rows at a time: a large table need not lie in memory twice.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
    mean, scale : ndarray of shape (n_columns,)
        Scales are positive.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.training import ScaledTable
    >>> scaled = ScaledTable(np.array([[1.0], [3.0], [8.0]]), np.array([3.0]), np.array([5.0]))
    >>> scaled[np.array([2, 0])].tolist(), scaled.max(axis=0).tolist(), scaled.shape
    ([[1.0], [-0.4]], [1.0], (3, 1))
    """

    ndim = 2

    def __init__(self, table: FloatArray, mean: FloatArray, scale: FloatArray) -> None:
        self.table, self.mean, self.scale = table, mean, scale

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.table.shape

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, rows: IntArray) -> FloatArray:
        taken = self.table[rows]
        taken -= self.mean
        taken /= self.scale
        return taken

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        whole = self.table - self.mean
        whole /= self.scale
        return np.asarray(whole, dtype=dtype)

    def min(self, axis: int) -> FloatArray:
        """Return the least value of each column: rounding keeps the order."""
        return (self.table.min(axis=axis) - self.mean) / self.scale

    def max(self, axis: int) -> FloatArray:
        """Return the largest value of each column."""
        return (self.table.max(axis=axis) - self.mean) / self.scale
