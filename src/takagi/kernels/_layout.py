"""What all kernels share: how they are compiled, and one rule base as a flat vector."""

from typing import NamedTuple

from numba import njit

from takagi.kernels._lanes import LANES, load, splat, store

ROW_TILE = 4
BLOCK_ROWS = 64


def entry_point(function):
    """Compile on first use, release the GIL, keep the machine code on disk where some folder is writable.

    No fast-math flag: what LLVM then fuses or reorders depends on what it inlined, and a fresh compilation would differ
    in the last bits from the same code loaded from disk. Where a multiplication and an addition shall be one
    instruction, the code says `fma`.
    """
    try:
        return njit(function, cache=True, nogil=True, error_model="numpy")
    except RuntimeError:  # numba found no folder to write to
        return njit(function, nogil=True, error_model="numpy")


def inner(function, **options):
    """Compile for callers that are compiled, which saves making it callable from Python."""
    return njit(function, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def merged(function):
    """Compile as a part of its callers: a call would pass seven words per array, which short loops notice."""
    return inner(function, forceinline=True)


class Shape(NamedTuple):
    """Sizes of a rule base in compiled code."""

    n_features: int  # columns of X
    n_rules: int
    n_blocks: int  # blocks of LANES rules
    n_outputs: int
    n_projected_a: int  # projected inputs of the antecedents, before the features
    n_projected_c: int  # projected inputs of the consequents, before the features


@njit(inline="always")
def sections(shape):
    """Return where centers, widths, consequents, both projections and the end lie in theta."""
    n_sets = shape.n_blocks * (shape.n_projected_a + shape.n_features) * LANES
    n_weights = shape.n_outputs * shape.n_blocks * (shape.n_projected_c + shape.n_features + 1) * LANES
    a = 2 * n_sets + n_weights
    c = a + (shape.n_features + 1) * shape.n_projected_a
    return 0, n_sets, 2 * n_sets, a, c, c + (shape.n_features + 1) * shape.n_projected_c


@njit(inline="always")
def has_projection(shape):
    """Tell whether conditions and consequents may have different inputs."""
    return shape.n_projected_a + shape.n_projected_c > 0


@inner
def invert_widths(theta, shape, factor, inverse, offset):
    """Keep factor / width and -factor * center / width: then a distance is one multiplication and one addition."""
    start_c, start_s, end = sections(shape)[:3]
    for i in range(0, end - start_s, LANES):
        inverted = factor / load(theta, start_s + i)
        store(inverse, i, inverted)
        store(offset, i, splat(0.0) - load(theta, start_c + i) * inverted)


@njit(inline="always")
def fill_tile(n_rows):
    """Return the number of rows with those that fill up the last tile."""
    return (n_rows + ROW_TILE - 1) // ROW_TILE * ROW_TILE


@njit(inline="always")
def clear(array, start, end):
    """Set a part of an array, whole vectors long, to zero."""
    for i in range(start, end, LANES):
        store(array, i, 0.0)
