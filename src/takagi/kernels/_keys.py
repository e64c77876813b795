"""Keys of rows, in NumPy: a fit needs them once, which is not worth a compilation."""

import numpy as np

_ROWS_PER_BLOCK = 8192


def _mix_bits(words):
    """Scramble 64 bits (the finalizer of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def key_rows(X, y, low, half_range, keys):
    """Set two keys per row of [X, y], the first of which does not depend on the order of the columns.

    They are made of the places of the values between the smallest and the largest of their column, rounded to 30 bits.
    """
    keys[:] = 0
    for start in range(0, len(X), _ROWS_PER_BLOCK):
        here = slice(start, start + _ROWS_PER_BLOCK)
        unordered, ordered = keys[here].T
        for value, lowest, half in zip((*X[here].T, *y[here].T), low, half_range, strict=True):
            place = (0.5 * value - 0.5 * lowest) / half
            word = _mix_bits(np.rint(place * 1073741824.0).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
            unordered += word
            ordered[:] = _mix_bits(ordered ^ word)
