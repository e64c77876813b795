"""Target encoding: the mean of the target at each level, shrunk toward the mean of all."""

from collections.abc import Sequence

import numpy as np

from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.tables._column import MEAN, MISSING, Column


def find_means(codes: IntArray, y: FloatArray, n_levels: int) -> tuple[FloatArray, float]:
    """Return the mean of the target at each level, shrunk toward the overall mean, and that mean; code -1 is no level.

    A level of n rows has the weight n / (n + m), where m is the variance within levels over that between them [1]_.

    References
    ----------
    .. [1] D. Micci-Barreca. A preprocessing scheme for high-cardinality categorical attributes in classification and
       prediction problems. SIGKDD Explorations 3(1), 2001.
    """
    overall = float(y.mean())
    codes, y = codes[codes >= 0], y[codes >= 0]
    counts = np.bincount(codes, minlength=n_levels).astype(float)
    means = np.bincount(codes, y - overall, n_levels) / np.maximum(counts, 1)
    n_used, n_rows = int((counts > 0).sum()), len(y)
    within = float(((y - overall - means[codes]) ** 2).sum()) / max(n_rows - n_used, 1)
    usual = (n_rows - float((counts**2).sum()) / n_rows) / max(n_used - 1, 1)
    between = (float((counts * means**2).sum()) / max(n_used - 1, 1) - within) / max(usual, 1e-12)
    weight = counts / (counts + within / between) if between > 0 else np.zeros(n_levels)
    return overall + np.where(counts > 0, weight, 0.0) * means, overall


def cross_fit(codes: IntArray, y: FloatArray, n_levels: int, n_folds: int = 5) -> FloatArray:
    """Return out-of-fold means: for each row, the mean of its level over rows of other folds."""
    folds = np.random.default_rng(0).permutation(len(y)) % n_folds
    out = np.empty(len(y))
    for fold in range(n_folds):
        is_out = folds == fold
        means, overall = find_means(codes[~is_out], y[~is_out], n_levels)
        out[is_out] = np.append(means, overall)[codes[is_out]]
    return out


def describe_means(name: str, words: Sequence[str], codes: IntArray, y: FloatArray, is_level: BoolArray) -> Column:
    """Return a category of many levels as a number: the mean of the target at each level."""
    levels = sorted(word for word, good in zip(words, is_level, strict=True) if good)
    places = {level: k for k, level in enumerate(levels)}
    place = np.array([*(places.get(word, -1) for word in words), -1])[codes]
    has_missing = bool((codes < 0).any())
    if has_missing:
        levels, place = [*levels, MISSING], np.where(codes < 0, len(levels), place)
    means, overall = find_means(place, y, len(levels))
    return Column(
        name,
        "number",
        tuple(levels),
        overall,
        has_others=not is_level.all(),
        reading=MEAN,
        values=tuple(means.tolist()),
    )
