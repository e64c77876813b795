"""The rows that trained a model, by hashes of some of them, so that it knows them again."""

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from takagi._typing import FloatArray, IntArray

_MOST_HASHES = 512
_HASH_BYTES = 4


@dataclass(frozen=True)
class KnownRows:
    """Rows that trained a model, by hashes of some of them.

    Parameters
    ----------
    hashes : tuple of int
        The smallest hashes of the rows, at most 512 of them, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.known import KnownRows
    >>> rows, target = np.arange(12.0).reshape(4, 3), np.arange(4.0)
    >>> known = KnownRows.collect(rows[:3], target[:3])
    >>> known.find_part(rows, target)
    0.75
    """

    hashes: tuple[int, ...]

    @classmethod
    def collect(cls, rows: FloatArray, target: FloatArray) -> "KnownRows":
        """Return what is known of encoded rows and their targets."""
        return cls(_pick(_hash_rows(rows, target)))

    def add(self, rows: FloatArray, target: FloatArray) -> "KnownRows":
        """Return what is known of these rows and further ones."""
        return KnownRows(_pick(np.append(_hash_rows(rows, target), np.array(self.hashes, dtype=np.int64))))

    def find_part(self, rows: FloatArray, target: FloatArray) -> float:
        """Return which part of some rows is known, estimated from a sample of them; NaN if nothing can be said."""
        hashes = _hash_rows(rows, target)
        if len(self.hashes) == _MOST_HASHES:
            hashes = hashes[hashes <= self.hashes[-1]]
        return float(np.isin(hashes, self.hashes).mean()) if len(hashes) and self.hashes else math.nan


def _hash_rows(rows: FloatArray, target: FloatArray) -> IntArray:
    """Return a number for each row and its targets; equal rows have equal numbers."""
    table = np.column_stack([rows, target]) + 0.0  # no minus zero
    numbers = [hashlib.blake2b(row.tobytes(), digest_size=_HASH_BYTES).digest() for row in table]
    return np.array([int.from_bytes(number, "big") for number in numbers], dtype=np.int64)


def _pick(hashes: IntArray) -> tuple[int, ...]:
    return tuple(np.unique(hashes)[:_MOST_HASHES].tolist())
