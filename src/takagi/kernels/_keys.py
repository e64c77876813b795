"""Keys of rows."""

import numpy as np
from numba import njit

from takagi.kernels._compile import entry_point


@njit(inline="always")
def mix_bits(word):
    """Scramble 64 bits (the finalizer of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@entry_point
def key_rows(X, y, low, half_range, keys):
    """Set two keys per row of [X, y], the first of which does not depend on the order of the columns.

    They are made of the places of the values between the smallest and the largest of their column, rounded to 30 bits.
    """
    n_features = X.shape[1]
    for i in range(X.shape[0]):
        unordered, ordered = np.uint64(0), np.uint64(0)
        for k in range(n_features + y.shape[1]):
            value = X[i, k] if k < n_features else y[i, k - n_features]
            place = (0.5 * value - 0.5 * low[k]) / half_range[k]
            word = mix_bits(np.uint64(np.rint(place * 1073741824.0)) + np.uint64(0x9E3779B97F4A7C15))
            unordered += word
            ordered = mix_bits(ordered ^ word)
        keys[i, 0], keys[i, 1] = unordered, ordered
