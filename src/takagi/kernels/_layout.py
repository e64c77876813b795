"""What all kernels share: one rule base as a flat vector."""

from numba import njit

from takagi.kernels import _arrays
from takagi.kernels._arrays import LANES, ROW_TILE
from takagi.kernels._compile import inner
from takagi.kernels._lanes import load_vector, splat, store

sections = njit(_arrays.sections, inline="always")


@inner
def invert_widths(theta, shape, factor, inverse, offset):
    """Keep factor / width and -factor * center / width: then a distance is one multiplication and one addition."""
    start_c, start_s, end = sections(shape)[:3]
    for i in range(0, end - start_s, LANES):
        inverted = factor / load_vector(theta, start_s + i)
        store(inverse, i, inverted)
        store(offset, i, splat(0.0) - load_vector(theta, start_c + i) * inverted)


@njit(inline="always")
def fill_tile(n_rows):
    """Return the number of rows with those that fill up the last tile."""
    return (n_rows + ROW_TILE - 1) // ROW_TILE * ROW_TILE


@njit(inline="always")
def clear(array, start, end):
    """Set a part of an array, whole vectors long, to zero."""
    for i in range(start, end, LANES):
        store(array, i, 0.0)
