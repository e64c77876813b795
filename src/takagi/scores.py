"""Scores of a model on held-out rows, compared with other methods.

`takagi fit` measures a `ScoreSheet`, a model file keeps it, and a report shows it.
"""

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from takagi._typing import FloatArray, IntArray

COVERAGE = 0.9  # of all intervals of scores
_MOST_HASHES = 512
_HASH_BYTES = 4


@dataclass(frozen=True)
class Score:
    """The score of one method on held-out rows.

    Parameters
    ----------
    who : str
        Name of the method.
    error : float
        Its error.
    low, high : float
        90 % confidence interval of the error.
    second : float
        A second measure, such as R2; NaN if it is not known.
    ratio : float, default=1.0
        The model's error divided by this one.
    ratio_low, ratio_high : float, default=1.0
        Interval of the ratio.
    """

    who: str
    error: float
    low: float
    high: float
    second: float
    ratio: float = 1.0
    ratio_low: float = 1.0
    ratio_high: float = 1.0

    def compare(self) -> str:
        """Return a text that compares the model with this method.

        >>> Score("ridge regression", 2.0, 1.8, 2.2, 0.5, 0.88, 0.85, 0.91).compare()
        'better than ridge regression by 12 % +- 3 %'
        """
        change, margin = 100 * abs(self.ratio - 1), 50 * (self.ratio_high - self.ratio_low)
        words = f"{_write(change)} % +- {_write(margin)} %"
        if self.ratio_high < 1:
            return f"better than {self.who} by {words}"
        if self.ratio_low > 1:
            return f"worse than {self.who} by {words}"
        return f"about as good as {self.who} ({'better' if self.ratio < 1 else 'worse'} by {words})"


@dataclass(frozen=True)
class ScoreSheet:
    """The scores of a model and of other methods, all measured in the same way.

    Parameters
    ----------
    measure, second : str
        Names of the error and of the second measure, such as "RMSE" and "R2".
    method : str
        How they were measured, in words.
    n_rows : int
        Number of rows that were known.
    scores : tuple of Score
        The model first; the simplest method, such as the mean, last.
    seen : tuple of int
        Hashes of some of the rows that were known, the smallest ones.
    """

    measure: str
    second: str
    method: str
    n_rows: int
    scores: tuple[Score, ...]
    seen: tuple[int, ...] = ()

    def describe(self) -> list[str]:
        """Return sentences that compare the model with the other methods."""
        simplest = self.scores[-1]
        if simplest.ratio_high >= 1:
            return [f"No better than {simplest.who}: do not use it."]
        return [_begin(f"{score.compare()}.") for score in self.scores[1:-1]]

    def find_seen(self, rows: FloatArray, target: FloatArray) -> float:
        """Return the estimated fraction of rows that were known before; NaN if it cannot be estimated."""
        hashes = fingerprint_rows(rows, target)
        if len(self.seen) == _MOST_HASHES:
            hashes = hashes[hashes <= self.seen[-1]]
        return float(np.isin(hashes, self.seen).mean()) if len(hashes) and self.seen else math.nan


def fingerprint_rows(rows: FloatArray, target: FloatArray) -> IntArray:
    """Return a hash of each row and its targets; equal rows have equal hashes."""
    table = np.column_stack([rows, target]) + 0.0  # no minus zero
    numbers = [hashlib.blake2b(row.tobytes(), digest_size=_HASH_BYTES).digest() for row in table]
    return np.array([int.from_bytes(number, "big") for number in numbers], dtype=np.int64)


def pick_hashes(rows: FloatArray, target: FloatArray) -> tuple[int, ...]:
    """Return the smallest hashes of rows, by which a sheet recognizes them."""
    return tuple(np.unique(fingerprint_rows(rows, target))[:_MOST_HASHES].tolist())


def _write(percent: float) -> str:
    """Write percents as integers, or with one decimal below one percent.

    >>> _write(12.3), _write(0.24), _write(0.0)
    ('12', '0.2', '0')
    """
    return f"{percent:.0f}" if percent >= 0.95 or percent < 0.001 else f"{percent:.1g}"


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
