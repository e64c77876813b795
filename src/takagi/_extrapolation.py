"""Values far beyond the training data, which are held: their number, and the warning about them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from takagi._checks import lie_within
from takagi._messages import warn_user
from takagi._text import count, format_number, shorten
from takagi._typing import FloatArray, IntArray

_MOST = 5  # columns that are named


class ExtrapolationWarning(UserWarning):
    """Values far beyond the training data are held, so the prediction is for a changed row."""


class HeldCount(NamedTuple):
    """The number of held values."""

    n_rows: int
    n_held: int  # rows with at least one held value
    below: IntArray  # (n_features,): values below the lower limit
    above: IntArray  # (n_features,): values above the upper limit

    def add(self, other: "HeldCount") -> "HeldCount":
        """Return the count of both together."""
        n_rows, n_held = self.n_rows + other.n_rows, self.n_held + other.n_held
        return HeldCount(n_rows, n_held, self.below + other.below, self.above + other.above)

    def describe(self, names: Sequence[str], limits: FloatArray | None = None) -> str:
        """Return a sentence with the held features, those of most rows first, and their limits, if given."""
        total = self.below + self.above
        found = [int(m) for m in np.argsort(-total, kind="stable") if total[m]]
        places = ["" if limits is None else f" at {self._place(m, limits)}" for m in found]
        pairs = zip(found, places, strict=True)
        listed = [f"{shorten(names[m])}{place} ({count(int(total[m]), 'row')})" for m, place in pairs]
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        return (
            f"Values far beyond the training data are held at a limit in {self.n_held:,} of "
            f"{count(self.n_rows, 'row')}: {', '.join(listed[:_MOST])}{more}."
        )

    def _place(self, m: int, limits: FloatArray) -> str:
        ends = [limits[m, k] for k, counts in enumerate((self.below, self.above)) if counts[m]]
        return " or ".join(dict.fromkeys(map(format_number, ends)))


def count_held(rows: FloatArray, limits: FloatArray | None) -> HeldCount | None:
    """Return the count of values beyond limits, None if there are none.

    >>> count_held(np.array([[1.0], [9.0], [3.0]]), np.array([[2.0, 5.0]])).describe(["age"], np.array([[2.0, 5.0]]))
    'Values far beyond the training data are held at a limit in 2 of 3 rows: age at 2 or 5 (2 rows).'
    """
    if limits is None or lie_within(rows, limits):
        return None
    below, above = rows < limits[:, 0], rows > limits[:, 1]
    n_held = int((below | above).any(axis=1).sum())
    return HeldCount(len(rows), n_held, below.sum(axis=0), above.sum(axis=0))


def warn_of_held(rows: FloatArray, limits: FloatArray | None, names: Sequence[str] | None) -> None:
    """Warn if values lie beyond limits.

    Without names, the rows may come from an encoder or a scaler, so the user would not know the numbers.
    """
    found = count_held(rows, limits)
    if found is not None:
        known = [f"x{m}" for m in range(rows.shape[1])] if names is None else names
        told = found.describe(known, None if names is None else limits)
        warn_user(
            f"{told} takagi.inspection.find_outside(model, X) lists them and how far outside they are. "
            "Fit with extrapolation='linear' to extrapolate instead.",
            ExtrapolationWarning,
        )
