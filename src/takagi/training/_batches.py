"""Batches and DropRule masks of a training: drawn at random, or taken from a recorded run."""

from collections.abc import Iterator
from copy import deepcopy

import numpy as np

from takagi import kernels
from takagi._typing import BoolArray, IntArray
from takagi.training._config import TrainConfig

_NUMBERS_PER_BLOCK = 2**18  # random numbers drawn at a time, which limits the memory of a block
_ITERATIONS_PER_BLOCK = 250

Blocks = Iterator[tuple[IntArray, BoolArray]]  # batches and DropRule masks of some iterations


def draw_blocks(config: TrainConfig, n_rows: int, n_rules: int, rng: np.random.Generator | None) -> Blocks:
    """Yield batches and masks drawn at random, a block at a time."""
    batch_size, size = _measure_blocks(config, n_rows, n_rules)
    if rng is None and (config.keep_prob < 1 or batch_size < n_rows):
        raise ValueError("train needs rng, or recorded batches and masks, to draw batches and dropped rules.")
    order = np.arange(n_rows)
    for start in range(0, config.max_iter, size):
        batches = np.empty((min(size, config.max_iter - start), batch_size), dtype=np.intp)
        if batch_size < n_rows:
            kernels.draw_batches(rng.random(batches.shape), order, batches)  # type: ignore[union-attr]
        else:
            batches[:] = order
        yield batches, draw_keep((*batches.shape, n_rules), config.keep_prob, rng)  # type: ignore[arg-type]


def fork_generator(config: TrainConfig, n_rows: int, n_rules: int, rng: np.random.Generator) -> np.random.Generator:
    """Return a generator for one training, and move the given one past all of its numbers.

    So parallel trainings get the same random numbers as trainings one after the other.
    """
    own, bits = deepcopy(rng), rng.bit_generator
    batch_size, size = _measure_blocks(config, n_rows, n_rules)
    n_drawn = config.max_iter * batch_size if batch_size < n_rows else 0
    if config.keep_prob < 1:
        n_blocks, n_rest = divmod(config.max_iter, size)
        n_drawn += n_blocks * _count_words(size * batch_size * n_rules) + _count_words(n_rest * batch_size * n_rules)
    buffered = {name: bits.state[name] for name in ("has_uint32", "uinteger")}  # which `advance` drops
    bits.advance(n_drawn)  # type: ignore[attr-defined]  # PCG64, as all fits have it
    bits.state = {**bits.state, **buffered}
    return own


def _measure_blocks(config: TrainConfig, n_rows: int, n_rules: int) -> tuple[int, int]:
    """Return the size of a batch, and the number of iterations that are drawn together."""
    batch_size = min(config.batch_size, n_rows)
    per_iteration = batch_size * (n_rules if config.keep_prob < 1 else 1)
    return batch_size, int(np.clip(_NUMBERS_PER_BLOCK // per_iteration, 1, _ITERATIONS_PER_BLOCK))


def _count_words(n_masks: int) -> int:
    """Return how many 64-bit numbers the given number of masks takes."""
    return -(-n_masks // 2)


def replay_blocks(batches: IntArray, keep: BoolArray | None, n_rows: int, n_rules: int) -> Blocks:
    """Yield the batches and masks of a recorded run."""
    rows = np.ascontiguousarray(batches, dtype=np.intp)
    if rows.ndim != 2 or not rows.size or not ((rows >= 0) & (rows < n_rows)).all():
        raise ValueError(f"batches must be rows 0 to {n_rows - 1} of X, of shape (n_iter, batch_size).")
    masks = np.empty((0, rows.shape[1], n_rules), dtype=bool) if keep is None else np.array(keep, dtype=bool)
    if keep is not None and masks.shape != (*rows.shape, n_rules):
        raise ValueError(f"keep must have shape {(*rows.shape, n_rules)}, got {masks.shape}.")
    for start in range(0, len(rows), _ITERATIONS_PER_BLOCK):
        here = slice(start, start + _ITERATIONS_PER_BLOCK)
        yield rows[here].copy(), masks[here].copy()


def draw_keep(shape: tuple[int, int, int], keep_prob: float, rng: np.random.Generator) -> BoolArray:
    """Draw masks from 32 bits per rule, twice as fast as from uniform numbers; none if all rules are kept."""
    if keep_prob >= 1:
        return np.empty((0, *shape[1:]), dtype=bool)
    n_masks = int(np.prod(shape))
    words = rng.integers(2**64, size=_count_words(n_masks), dtype=np.uint64).view(np.uint32)
    return (words[:n_masks] < np.uint32(keep_prob * 2**32)).reshape(shape)
