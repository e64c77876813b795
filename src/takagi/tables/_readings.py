"""Columns of a table, read for its checks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from takagi._typing import FloatArray, IntArray
from takagi.tables._cells import Cells, as_numbers, as_truth, as_words, find_kind, read_cells

_MOST_CLASSES = 20


@dataclass(frozen=True)
class ColumnReading:
    """One column: its kind, its numbers (none for a category), and which of its distinct values each row has."""

    name: str
    kind: str  # "number", "boolean" or "category"
    cells: Cells
    n_rows: int  # of the whole table; these rows may be a sample

    @cached_property
    def numbers(self) -> FloatArray | None:
        """Numbers, NaN where missing; None for a category."""
        if self.kind == "category":
            return None
        return (as_numbers if self.kind == "number" else as_truth)(self.cells, self.name)

    @cached_property
    def codes(self) -> IntArray:
        """Index of each row's value among the distinct ones, -1 where missing."""
        return self._distinct[0]

    @property
    def words(self) -> tuple[str, ...]:
        """The distinct values as text, in the order of `codes`."""
        return self._distinct[1]

    @cached_property
    def _distinct(self) -> tuple[IntArray, tuple[str, ...]]:
        return as_words(self.cells)

    @cached_property
    def counts(self) -> IntArray:
        """Number of rows of each distinct value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))

    @property
    def n_present(self) -> int:
        """Number of values that are not missing."""
        return int(self.counts.sum())

    @property
    def n_distinct(self) -> int:
        """Number of distinct values."""
        return int((self.counts > 0).sum())

    @cached_property
    def whole(self) -> FloatArray | None:
        """The numbers that are not missing, if all of them are integers."""
        if self.kind != "number" or self.numbers is None:
            return None
        present = self.numbers[~np.isnan(self.numbers)]
        return present if len(present) and (present == np.round(present)).all() else None


def read_column(values: Any, name: str, n_rows: int) -> ColumnReading | None:
    """Read a column; None for one that cannot be used, such as lists, or that has no value."""
    try:
        cells = read_cells(values, name)
        reading = ColumnReading(name, find_kind(cells), cells, n_rows)
        is_empty = reading.kind == "nothing" or not reading.n_present
        return None if is_empty or (reading.numbers is None and reading.kind != "category") else reading
    except (ValueError, TypeError):  # dates, lists, infinity
        return None


def list_targets(target: ColumnReading) -> FloatArray | None:
    """Return the target as a matrix: its numbers, or one 0/1 column for each class; None for too many classes."""
    if target.numbers is not None:
        return target.numbers[:, None]
    if target.n_distinct > _MOST_CLASSES:
        return None
    is_class = (target.codes[:, None] == np.flatnonzero(target.counts)).astype(float)
    return np.where(target.codes[:, None] < 0, np.nan, is_class)
