"""Where the conditions of rules hold, according to their text, and which rows no rule fits."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from takagi._checks import are_finite
from takagi._conditions import (
    HALF_WIDTH,
    find_interval,
    find_levels,
    find_truth,
    group_inputs,
    is_yes_or_no,
    lists_levels,
    name_features,
)
from takagi._model import OpenModel
from takagi._text import format_number, shorten
from takagi._typing import BoolArray, FloatArray, Table
from takagi._wording import name_part
from takagi.profile import Profile
from takagi.rulebase import RuleBase

_LEAST_FIRING = 0.05  # of a rule that fits a row


class HeldCondition(NamedTuple):
    """A condition on rows: where it holds, and whether its center lies outside the range of its column."""

    holds: BoolArray
    is_outside: bool


def list_conditions(
    rules: RuleBase, r: int, rows: FloatArray, columns: Sequence[Any], profile: Profile | None
) -> Iterator[HeldCondition]:
    """Yield the conditions of a rule that exclude something."""
    n_projected = rules.n_projected
    if n_projected:
        projected = rules.antecedent_inputs(rows)[:, :n_projected]
        for values, center, width in zip(projected.T, rules.centers[r], rules.widths[r], strict=False):
            interval = center - HALF_WIDTH * width, center + HALF_WIDTH * width
            yield from _hold_interval(values, interval, center, (values.min(), values.max()))
    for column, features in group_inputs(rules, columns):
        if column is not None and column.kind == "category":
            allowed = find_levels(rules, r, features)
            if not allowed.all():
                yield HeldCondition(_hold_levels(rows[:, features], allowed), False)
            continue
        for m in map(int, features):
            values = rows[:, m]
            if is_yes_or_no(m, profile, column, is_first=m == features[0]):
                truth = find_truth(rules, r, m)
                if truth is not None:
                    yield HeldCondition(((values > 0.5) == truth) | np.isnan(values), False)
            elif np.isfinite(rules.widths[r, n_projected + m]):
                span = (np.nanmin(values), np.nanmax(values)) if profile is None else profile.span(m)
                center = rules.centers[r, n_projected + m]
                yield from _hold_interval(values, find_interval(rules, r, m), center, span)


def _hold_interval(
    values: FloatArray, interval: tuple[float, float], center: float, span: tuple[float, float]
) -> Iterator[HeldCondition]:
    """Yield a condition that holds in an interval, unless it excludes no value and no end of the training range."""
    low, high = interval
    holds = ~((values < low) | (values > high))  # a missing value satisfies every condition
    if not (holds.all() and low <= span[0] and span[1] <= high):
        yield HeldCondition(holds, not span[0] <= center <= span[1])


def _hold_levels(inputs: FloatArray, allowed: BoolArray) -> BoolArray:
    """Return where a category has one of the levels of a condition; rows may have an unknown level."""
    is_known = inputs.max(axis=1) > 0.5
    return np.where(is_known, allowed[inputs.argmax(axis=1)], not lists_levels(allowed))


# -- rows that no rule fits --------------------------------------------------------------------------------------------


def describe_misfits(opened: OpenModel, rows: FloatArray) -> list[list[str]]:
    """Describe encoded rows that no rule fits, with a line for each part of the model without such a rule.

    A rule fits a row if its firing level is at least 0.05, or if it has intervals and the row is in all of them. The
    shares of rules always sum to 1, so some rule governs a row even if no rule fits it.

    Returns
    -------
    list of list of str
        The lines for each row, usually none.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi import RuleBase
    >>> from takagi._model import open_model
    >>> from takagi.inspection._held import describe_misfits
    >>> rules = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]])
    >>> describe_misfits(open_model(rules), np.array([[1.0], [19.2]]))
    [[], ['No rule fits this row: the largest firing level is 0.00003.']]
    """
    parts = opened.model.parts
    lines: list[list[str]] = [[] for _ in rows]
    for k, part in enumerate(parts):
        level = np.exp(part.log_firing(rows).max(axis=1))
        poor = np.flatnonzero(level < _LEAST_FIRING)
        if part.intervals is not None:
            held = [_satisfies(part, r, rows[poor], opened.columns, opened.model.profile) for r in range(part.n_rules)]
            poor = poor[~np.any(held, axis=0)] if len(poor) else poor
        what = "No rule fits this row" if len(parts) == 1 else f"{name_part(k, len(parts))}: no rule fits this row"
        for i in poor:
            lines[i].append(f"{what}: the largest firing level is {_write_level(float(level[i]))}.")
    return lines


def describe_missing(
    opened: OpenModel, rows: FloatArray, parts: Sequence[RuleBase], shares: Sequence[FloatArray]
) -> list[list[str]]:
    """Describe what each missing value of encoded rows counts as, averaged over rules if they differ."""
    lines: list[list[str]] = [[] for _ in rows]
    if are_finite(rows):
        return lines
    has_slopes = [bool(part.consequents[:, :, 1:].any()) for part in parts]
    known = [
        (part.usual, share)
        for part, share, is_asked in zip(parts, shares, has_slopes, strict=True)
        if part.usual is not None and (is_asked or not any(has_slopes))
    ]
    taken = np.sum([share @ np.nan_to_num(usual) for usual, share in known], axis=0)
    taken = taken / np.sum([share.sum(axis=1, keepdims=True) for _, share in known], axis=0)
    names = [shorten(name) for name in name_features(opened.model)]
    for i, m in np.argwhere(np.isnan(rows)):
        number = format_number(float(f"{taken[i, m]:.3g}"))
        lines[i].append(f"{names[m]} is missing: its conditions are ignored, and the formula uses {number}")
    return lines


def _satisfies(rules: RuleBase, r: int, rows: FloatArray, columns: Sequence[Any], profile: Profile | None) -> BoolArray:
    """Return which rows satisfy all conditions of a rule."""
    satisfied = np.ones(len(rows), dtype=bool)
    for condition in list_conditions(rules, r, rows, columns, profile) if len(rows) else ():
        satisfied &= condition.holds
    return satisfied


def _write_level(level: float) -> str:
    if level < 1e-6:
        return "less than 0.000001"
    return np.format_float_positional(float(f"{level:.1g}"), trim="-")


def show_held_cells(opened: OpenModel, X: Table, given: FloatArray, held: FloatArray) -> list[list[str]]:
    """Return the values of the columns as text; held values also have the value that they count as."""
    cells = opened.show(X)
    owner = np.concatenate([np.full(len(column.inputs), c) for c, column in enumerate(opened.columns)])
    for i, m in np.argwhere((given != held) & ~np.isnan(held)):
        c = int(owner[m])
        is_number = opened.columns[c].kind == "number" and m == opened.inputs_of(c)[0]
        cells[i][c] += f" counts as {format_number(held[i, m]) if is_number else 'in training'}"
    return cells
