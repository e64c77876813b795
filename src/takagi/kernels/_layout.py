"""What all kernels share: one rule base as a flat vector."""

from numba import njit

from takagi.kernels import _arrays
from takagi.kernels._arrays import LANES, ROW_TILE
from takagi.kernels._compile import inner, merged
from takagi.kernels._lanes import fma, load_splat, load_vector, splat, store

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


@merged
def measure_departures(inputs, absent, at, inverse, offset):
    """Return (a - center) / width of eight rules for the input at `at`, zero where it is missing.

    Where no value is missing, `absent` is None, and numba leaves out what follows; missing inputs are zero.
    """
    if absent is None:
        return fma(load_splat(inputs, at), inverse, offset)
    return fma(load_splat(inputs, at), inverse, offset * (1.0 - load_splat(absent, at)))


@merged
def load_usual(usual, at):
    """Return what eight rules take a missing value for, if there are missing values."""
    if usual is None:
        return splat(0.0)
    return load_vector(usual, at)


@merged
def take_values(inputs, absent, at, usual):
    """Return an input as the formulas of eight rules take it: what is `usual` for each where it is missing."""
    if absent is None:
        return load_splat(inputs, at)
    return fma(load_splat(absent, at), usual, load_splat(inputs, at))
