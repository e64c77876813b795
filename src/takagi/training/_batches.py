"""Where batches and DropRule masks come from: drawn at random, or from a recorded run."""

import numpy as np

from takagi import kernels
from takagi._typing import BoolArray, IntArray

_NUMBERS_PER_BLOCK = 2**18  # random numbers drawn at a time, which bounds the memory of a block
_ITERATIONS_PER_BLOCK = 250


class Draws:
    """Batches and masks drawn at random, a block at a time."""

    def __init__(
        self,
        n_iter: int,
        batch_size: int,
        keep_prob: float,
        *,
        n_rows: int,
        n_rules: int,
        rng: np.random.Generator | None,
    ) -> None:
        self.n_iter, self.n_rules, self.keep_prob = n_iter, n_rules, keep_prob
        self.batch_size = min(batch_size, n_rows)
        self.order = np.arange(n_rows)
        if rng is None and (self.keep_prob < 1 or self.batch_size < n_rows):
            raise ValueError("train needs rng, or recorded batches and masks, to draw batches and dropped rules.")
        self.rng = rng
        per_iteration = self.batch_size * (n_rules if self.keep_prob < 1 else 1)
        self.size = int(np.clip(_NUMBERS_PER_BLOCK // per_iteration, 1, _ITERATIONS_PER_BLOCK))

    def next_block(self, start: int) -> tuple[IntArray, BoolArray]:
        size = min(self.size, self.n_iter - start)
        batches = np.empty((size, self.batch_size), dtype=np.intp)
        if self.batch_size < len(self.order):
            kernels.draw_batches(self.rng.random(batches.shape), self.order, batches)  # type: ignore[union-attr]
        else:
            batches[:] = self.order
        return batches, draw_keep((size, self.batch_size, self.n_rules), self.keep_prob, self.rng)  # type: ignore[arg-type]


class Recorded:
    """Batches and masks of a recorded run."""

    def __init__(self, batches: IntArray, keep: BoolArray | None, n_rows: int, n_rules: int) -> None:
        self.batches = np.ascontiguousarray(batches, dtype=np.intp)
        if self.batches.ndim != 2 or not self.batches.size or not ((self.batches >= 0) & (self.batches < n_rows)).all():
            raise ValueError(f"batches must be rows 0 to {n_rows - 1} of X, of shape (n_iter, batch_size).")
        self.n_iter = len(self.batches)
        self.keep = np.empty((0, self.batches.shape[1], n_rules), dtype=bool)
        if keep is not None:
            self.keep = np.array(keep, dtype=bool)
            if self.keep.shape != (*self.batches.shape, n_rules):
                raise ValueError(f"keep must have shape {(*self.batches.shape, n_rules)}, got {self.keep.shape}.")

    def next_block(self, start: int) -> tuple[IntArray, BoolArray]:
        here = slice(start, start + _ITERATIONS_PER_BLOCK)
        return self.batches[here].copy(), self.keep[here].copy()


def draw_keep(shape: tuple[int, int, int], keep_prob: float, rng: np.random.Generator) -> BoolArray:
    """Draw masks from 32 bits per rule, which is twice as fast as from uniform numbers; none where all are kept."""
    if keep_prob >= 1:
        return np.empty((0, *shape[1:]), dtype=bool)
    n_masks = int(np.prod(shape))
    words = rng.integers(2**64, size=-(-n_masks // 2), dtype=np.uint64).view(np.uint32)
    return (words[:n_masks] < np.uint32(keep_prob * 2**32)).reshape(shape)
