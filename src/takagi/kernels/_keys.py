"""Keys of rows."""

import numpy as np
from numba import njit

from takagi.kernels._layout import entry_point


@njit(inline="always")
def mix_bits(word):
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@entry_point
def key_rows(values, keys):
    """Set two keys per row of whole numbers, the first of which does not depend on the order of the columns."""
    for i in range(values.shape[0]):
        unordered, ordered = np.uint64(0), np.uint64(0)
        for k in range(values.shape[1]):
            word = mix_bits(np.uint64(values[i, k]) + np.uint64(0x9E3779B97F4A7C15))
            unordered += word
            ordered = mix_bits(ordered ^ word)
        keys[i, 0], keys[i, 1] = unordered, ordered
