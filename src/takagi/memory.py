"""The committee's memory: Nadaraya-Watson regression (1964) of the members' out-of-fold errors.

It is a rule base of order zero with a rule for each training row: IF every feature is near the row's THEN add the row's
out-of-fold error. One more rule, the damping, always fires a little and adds nothing, so the correction vanishes where
no row is near. All rules share their bandwidths, one per feature. These are learned, and say in which features rows
must be similar.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from takagi import kernels
from takagi._typing import FloatArray, IntArray

_BLOCK_ROWS = 1_024  # predicted at a time
_FAR = 1e100


@dataclass(frozen=True)
class Memory:
    """Training rows, the members' out-of-fold errors on them, and the bandwidths.

    Parameters
    ----------
    rows : ndarray of shape (n_remembered, n_features)
        The rows.
    weight : ndarray of shape (n_remembered,)
        Their weights.
    errors : ndarray of shape (n_remembered, n_outputs)
        Targets minus the predictions of the members that were not trained on the row.
    widths : ndarray of shape (2, n_outputs, n_features)
        Bandwidths of the Gaussian kernel, for each of two memories that are averaged.
    damping : ndarray of shape (2, n_outputs)
        Constant added to the sum of the kernel weights; infinite for an output without a memory.
    """

    rows: FloatArray
    weight: FloatArray
    errors: FloatArray
    widths: FloatArray
    damping: FloatArray

    def correct(self, X: FloatArray, own: IntArray | None = None, n_threads: int = 1) -> FloatArray:
        """Return the corrections of predictions for rows, of shape (n_rows, n_outputs).

        `own` has the index of each row itself in the memory, -1 for none; that row is left out.
        """
        return self.recall(X, own, n_threads)[0]

    def recall(self, X: FloatArray, own: IntArray | None = None, n_threads: int = 1) -> tuple[FloatArray, FloatArray]:
        """Return the corrections, as `correct` does, and the sums of the kernel weights of the rows."""
        corrections, numbers = np.zeros((2, len(X), self.errors.shape[1]))
        shelves = self._shelves
        own = np.full(len(X), -1) if own is None else own

        def fill(start: int) -> None:
            here = slice(start, start + _BLOCK_ROWS)
            for (i, k), shelf in shelves.items():
                blended, fired = shelf.blend(X[here], own[here], self.weight, self.errors[:, k], self.damping[i, k])
                corrections[here, k] += 0.5 * blended
                numbers[here, k] += 0.5 * fired

        kernels.run_blocks(fill, range(0, len(X), _BLOCK_ROWS), n_threads)
        return corrections, numbers

    def __getstate__(self) -> dict[str, FloatArray]:
        return {name: value for name, value in self.__dict__.items() if name != "_shelves"}

    @cached_property
    def _shelves(self) -> dict[tuple[int, int], "Shelf"]:
        used = np.argwhere(np.isfinite(self.damping)).tolist()
        return {(i, k): shelve(self.rows, self.widths[i, k]) for i, k in used}


class Shelf(NamedTuple):
    """Rows divided by bandwidths, transposed and sorted by the feature that then varies most, which is first.

    Padding rows of the last group of a kernel are too far away to count.
    """

    rows: FloatArray  # of shape (n_features, n_filled)
    order: IntArray  # original position of each row
    place: IntArray  # sorted position of each original row
    columns: IntArray
    origin: FloatArray
    widths: FloatArray

    def blend(
        self, X: FloatArray, own: IntArray, weight: FloatArray, errors: FloatArray, damping: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the kernel means of errors at rows of X and the sums of weights, each without the row itself."""
        with np.errstate(over="ignore"):  # infinitely far away is far away
            queries = ((X - self.origin) / self.widths)[:, self.columns]
        blended, fired = np.empty((2, len(X)))
        known = self.arrange(weight), self.arrange(errors), float(damping)
        own = np.where(own < 0, -1, self.place[own])
        blend_rows = kernels.find_kernel("blend_rows", queries.size * len(self.order))
        blend_rows(np.ascontiguousarray(queries), own, self.rows, *known, blended, fired)
        return blended, fired

    def arrange(self, values: FloatArray) -> FloatArray:
        """Return values of the rows in the order of the shelf, zero for padding rows."""
        arranged = np.zeros(self.rows.shape[1])
        arranged[: len(values)] = values[self.order]
        return arranged


def shelve(rows: FloatArray, widths: FloatArray, orders: IntArray | None = None) -> Shelf:
    """Arrange rows for bandwidths, given the order of the rows by each column if it is known."""
    columns = np.argsort(-np.ptp(rows, axis=0) / widths, kind="stable")
    lead = columns[0]
    order = np.argsort(rows[:, lead], kind="stable") if orders is None else orders[:, lead]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    origin = rows.mean(axis=0)
    filled = np.full((rows.shape[1], kernels.count_blocks(len(rows)) * kernels.LANES), _FAR)
    filled[:, : len(rows)] = (((rows - origin) / widths)[order])[:, columns].T
    return Shelf(filled, order, place, columns, origin, widths)
