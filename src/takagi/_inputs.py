"""Inputs of rules: their origin, units and projections, and missing values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from takagi._checks import are_finite
from takagi._typing import FloatArray

if TYPE_CHECKING:
    from takagi.rulebase import RuleBase


def choose_origin(centers: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the origin for predictions, since many widths away from zero, digits would be lost.

    It is the center nearest to zero of each input, so that rules far away do not count. It is zero if that center
    is less than a hundred of its widths away from zero.
    """
    nearest = np.abs(centers).argmin(axis=0)[None]
    center, width = (np.take_along_axis(values, nearest, axis=0)[0] for values in (centers, widths))
    return np.where(np.abs(center) > 100 * width, center, 0.0)


def augment(X: FloatArray, projection: FloatArray | None) -> FloatArray:
    """Return rows with their projections before them, if there are any."""
    return X if projection is None else np.hstack([projection[0] + X @ projection[1:], X])


def take_used(rules: "RuleBase") -> tuple["RuleBase", Any]:
    """Return rules about only those features that they use, and which these are.

    Rules that use all of them stay as they are, and so do rules with projections.
    """
    uses = np.isfinite(rules.widths[:, -rules.n_features :]).any(axis=0)
    uses |= (rules.consequents[:, :, -rules.n_features :] != 0).any(axis=(0, 1))
    uses[0] |= not uses.any()  # a rule base needs one
    if uses.all() or rules.n_projected or rules.n_projected_consequents:
        return rules, slice(None)
    used = np.flatnonzero(uses)
    narrow = replace(
        rules,
        centers=rules.centers[:, used],
        widths=rules.widths[:, used],
        consequents=rules.consequents[:, :, np.r_[0, 1 + used]],
        usual=None if rules.usual is None else rules.usual[:, used],
        sets=None,
        feature_names=None,
        profile=None,
        intervals=None,
        limits=None,
    )
    return narrow, used


def rescale_projection(projection: FloatArray | None, mean: FloatArray, scale: FloatArray) -> FloatArray | None:
    """Return the projection of ``x * scale + mean`` that equals this projection of x."""
    if projection is None:
        return None
    slopes = projection[1:] / np.reshape(scale, (-1, 1))
    return np.vstack([projection[0] - np.einsum("m,mj->j", mean, slopes), slopes])


def rescale_intervals(intervals: FloatArray | None, mean: FloatArray, scale: FloatArray) -> FloatArray | None:
    """Return the limits of ``x * scale + mean``, given those of x."""
    if intervals is None:
        return None
    with np.errstate(over="ignore"):  # an infinite limit is none
        return intervals * np.reshape(scale, (-1, 1)) + np.reshape(mean, (-1, 1))


# -- missing values ----------------------------------------------------------------------------------------------------


def fill_unknown(rows: FloatArray, rules: "RuleBase", names: Sequence[str]) -> FloatArray:
    """Return rows with NaN only in features that had missing values in training.

    If a feature was never missing in training, the rules have not learned to handle missing values of it. There, a
    missing value is replaced by the mean of the feature.
    """
    holes = np.isnan(rows)
    if np.isinf(rows).any():
        column = int(np.isinf(rows).any(axis=0).argmax())
        raise ValueError(f"X must be numbers or NaN, got infinity in column {names[column]!r}.")
    known = np.zeros(rows.shape[1], dtype=bool) if rules.usual is None else ~np.isnan(rules.usual[0])
    unknown = holes.any(axis=0) & ~known
    if not unknown.any():
        return rows
    if rules.profile is None:
        raise ValueError(
            f"X has NaN in column {names[int(unknown.argmax())]!r}, but these rules have no summary of the training "
            "data, so its mean is not known. Fill in the missing values first."
        )
    return np.where(holes & unknown, rules.profile.mean, rows)


def measure_levels(inputs: FloatArray, centers: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the log firing levels of rules, of shape (n_rows, n_rules); missing values are ignored."""
    add_up = np.sum if are_finite(inputs) else np.nansum
    sets = zip(centers, widths, strict=True)
    return np.column_stack([-0.5 * add_up(((inputs - center) / width) ** 2, axis=1) for center, width in sets])


def evaluate_formulas(inputs: FloatArray, consequents: FloatArray, usual: FloatArray | None) -> FloatArray:
    """Return the outputs of formulas, of shape (n_rows, n_rules, n_outputs); usual values replace missing ones.

    Without projections, `usual` has an entry for each input of the formulas.
    """
    slopes, constants = consequents[:, :, 1:], consequents[:, :, 0]
    if are_finite(inputs):
        return np.einsum("nm,rom->nro", inputs, slopes) + constants
    absent = np.isnan(inputs)
    assert usual is not None
    counted = slopes * np.nan_to_num(usual)[:, None, :]
    return (
        np.einsum("nm,rom->nro", np.where(absent, 0.0, inputs), slopes)
        + np.einsum("nm,rom->nro", absent, counted)
        + constants
    )


def are_equal(one: Any, other: Any) -> bool:
    """Whether two values of rules are the same; NaN equals NaN."""
    is_number = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    return bool(np.array_equal(one, other, equal_nan=is_number))
