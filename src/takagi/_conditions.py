"""The conditions of rules on columns, and their text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takagi._text import format_to_step, shorten, step_below
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.profile import Profile

if TYPE_CHECKING:
    from takagi.rulebase import RuleBase
    from takagi.rulemodel import RuleModel
    from takagi.tables import Column

_HALF = -np.log(0.5)
HALF_WIDTH = float(np.sqrt(2 * _HALF))  # where a membership is one half, in widths from the center
_PLACES = ((0.1, "very low"), (0.35, "low"), (0.65, "medium"), (0.9, "high"), (1.0, "very high"))
_RANKS = {
    1: ("typical",),
    2: ("low", "high"),
    3: ("low", "medium", "high"),
    4: ("very low", "low", "high", "very high"),
    5: ("very low", "low", "medium", "high", "very high"),
}
_MOST_NAMED = 3  # levels of a category that has many


class Condition(NamedTuple):
    """A condition of a rule on a column: "high" is its word, the whole phrase is its text.

    The word of an interval is the interval itself, and its place ("low") is its position in the data.
    """

    column: str
    word: str
    text: str
    place: str = ""


def name_features(rules: "RuleBase | RuleModel") -> tuple[str, ...]:
    """Return the features' names, x0, x1, ... if they have none."""
    return rules.feature_names or tuple(f"x{m}" for m in range(rules.n_features))


def read_conditions(
    rules: "RuleBase", r: int, words: Sequence[str], profile: Profile | None, columns: "Sequence[Column] | None"
) -> Iterator[Condition]:
    """Yield the conditions of a rule, column by column."""
    for conditions in _read_columns(rules, r, words, profile, columns):
        yield from conditions


def count_conditions(
    rules: "RuleBase", r: int, profile: Profile | None = None, columns: "Sequence[Column] | None" = None
) -> int:
    """Return the number of columns with a condition in the text of a rule."""
    words = [""] * rules.n_features
    return sum(bool(conditions) for conditions in _read_columns(rules, r, words, profile, columns))


def _read_columns(
    rules: "RuleBase", r: int, words: Sequence[str], profile: Profile | None, columns: "Sequence[Column] | None"
) -> Iterator[list[Condition]]:
    """Yield the conditions of a rule on each projection and each column: none, one, or two with missing values."""
    n_projected = rules.n_projected
    for j in range(n_projected):
        is_finite = np.isfinite(rules.widths[r, j])
        yield [_about(f"p{j}", "", rules.centers[r, j], rules.widths[r, j])] if is_finite else []
    names = name_features(rules)
    for column, inputs in group_inputs(rules, columns):
        if column is not None and column.kind == "category":
            yield list(_name_levels(column, find_levels(rules, r, inputs)))
            continue
        conditions: list[Condition] = []
        for m in map(int, inputs):
            if column is not None and column.values and m == inputs[0]:
                conditions += _name_values(column, find_interval(rules, r, m))
            elif is_yes_or_no(m, profile, column, is_first=m == inputs[0]):
                truth = find_truth(rules, r, m)
                is_said = truth is False and bool(conditions)  # others imply that it is not missing
                conditions += [] if truth is None or is_said else [_name_truth(names[m], truth)]
            elif rules.intervals is not None:
                conditions += _name_interval(names[m], rules.intervals[r, m], profile, m)
            else:
                center, width = rules.centers[r, n_projected + m], rules.widths[r, n_projected + m]
                is_empty = excludes_nothing(center, width, profile, m)
                conditions += [] if is_empty else [_about(shorten(names[m]), words[m], center, width)]
        yield conditions


def group_inputs(rules: "RuleBase", columns: "Sequence[Column] | None") -> "Iterator[tuple[Column | None, np.ndarray]]":
    """Yield the columns of a table with their features, or each feature by itself."""
    if columns is None:
        yield from ((None, np.array([m])) for m in range(rules.n_features))
        return
    start = 0
    for column in columns:
        stop = start + len(column.inputs)
        yield column, np.arange(start, stop)
        start = stop


def excludes_nothing(center: float, width: float, profile: Profile | None, feature: int) -> bool:
    """Return whether a condition never halves the firing level, relative to the row that fits best."""
    if np.isinf(width):
        return True
    if profile is None:
        return False
    low, high = profile.span(feature)
    best = (min(max(center, low), high) - center) / width
    worst = max(abs(low - center), abs(high - center)) / width
    return bool(0.5 * (worst**2 - best**2) <= _HALF)


def name_sets(rules: "RuleBase", profile: Profile | None) -> list[list[str]]:
    """Return a word for each rule's set on each feature: by rank among shared sets, else by place in the data."""
    n_projected = rules.n_projected
    words = [[""] * rules.n_features for _ in range(rules.n_rules)]
    if profile is None:
        return words
    for m in range(rules.n_features):
        centers = rules.centers[:, n_projected + m]
        finite = np.isfinite(rules.widths[:, n_projected + m])
        ranked, place = np.unique(centers[finite], return_inverse=True)
        if rules.sets is not None and len(ranked) in _RANKS:
            for r, k in zip(np.flatnonzero(finite), place, strict=True):
                words[r][m] = _RANKS[len(ranked)][k]
        else:
            for r in np.flatnonzero(finite):
                words[r][m] = name_place(profile.place(m, centers[r]))
    return words


def name_place(place: float) -> str:
    """Return the word for a place in a distribution, from 0 to 1."""
    return next(word for bound, word in _PLACES if place <= bound)


def _about(name: str, word: str, center: float, width: float) -> Condition:
    step = step_below(width) / 10
    text = f"about {format_to_step(center, step)} +- {format_to_step(width, step)}"
    return Condition(name, word, f"{name} is {word} ({text})" if word else f"{name} is {text}")


def _name_interval(name: str, interval: FloatArray, profile: Profile | None, feature: int) -> list[Condition]:
    """Name the interval of a condition; one that excludes nothing is no condition."""
    low, high = map(float, interval)
    reach, place = 0.0, ""
    if profile is not None:
        smallest, largest = profile.span(feature)
        if low <= smallest and largest <= high:
            return []
        reach, place = max(abs(smallest), abs(largest)), name_place(find_middle_place(profile, feature, (low, high)))
    limits = [format_limit(limit, reach) for limit in (low, high) if np.isfinite(limit)]
    if not limits:
        return []
    if len(limits) == 2:
        word = f"is {limits[0]}" if low == high else f"from {limits[0]} to {limits[1]}"
    else:
        word = f"above {limits[0]}" if np.isfinite(low) else f"below {limits[0]}"
    return [Condition(shorten(name), word.removeprefix("is "), f"{shorten(name)} {word}", place)]


def find_middle_place(profile: Profile, feature: int, interval: tuple[float, float]) -> float:
    """Return the position of the middle of an interval in the distribution of a feature, from 0 to 1."""
    low, high = interval
    first = profile.place(feature, low) if np.isfinite(low) else 0.0
    last = profile.place(feature, high) if np.isfinite(high) else 1.0
    return (first + last) / 2


def format_limit(value: float, reach: float = 0.0) -> str:
    """Write a limit with all of its few digits; it is 0 if it is negligible relative to the values.

    >>> format_limit(7.2), format_limit(300.0), format_limit(0.00035), format_limit(-1250000.0)
    ('7.2', '300', '0.00035', '-1250000')
    >>> format_limit(7.199999999999999), format_limit(-2.2e-16, reach=3.0)
    ('7.2', '0')
    """
    if abs(value) <= 1e-12 * reach:
        return "0"
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.10g}"


def _name_truth(name: str, truth: bool) -> Condition:
    """Name a condition on a 0/1 input; an input named "fuel=diesel" is a level of "fuel"."""
    column, equals, level = (shorten(part) for part in name.rpartition("=")) if "=" in name else (shorten(name), "", "")
    word = (level if truth else f"not {level}") if equals else str(truth).lower()
    return Condition(column, word, f"{column} is {word}")


def _name_levels(column: "Column", allowed: BoolArray) -> Iterator[Condition]:
    if allowed.all():
        return
    levels = [shorten(level) for level in column.levels]
    chosen = [level for level, is_allowed in zip(levels, allowed, strict=True) if is_allowed]
    others = [level for level, is_allowed in zip(levels, allowed, strict=True) if not is_allowed]
    if lists_levels(allowed):
        word = " or ".join(chosen)
    else:
        word = f"not {others[0]}" if len(others) == 1 else "neither " + " nor ".join(others)
    name = shorten(column.name)
    yield Condition(name, word, f"{name} is {word}")


def _name_values(column: "Column", interval: tuple[float, float]) -> list[Condition]:
    """Name a condition on a number that represents words, by the words whose numbers satisfy it."""
    low, high = interval
    order = np.argsort(column.values, kind="stable")
    inside = [shorten(column.levels[k]) for k in order if low <= column.values[k] <= high]
    name, n_levels = shorten(column.name), len(column.levels)
    if len(inside) == n_levels:
        return []
    if not inside:
        word = ("of a mean " if column.reading == "mean" else "") + _name_limits(low, high)
    elif column.reading != "mean":
        word = inside[0] if len(inside) == 1 else f"{inside[0]} to {inside[-1]}"
    elif len(inside) <= _MOST_NAMED:
        word = " or ".join(inside)
    else:
        ends = "highest" if high >= max(column.values) else "lowest" if low <= min(column.values) else "in the middle"
        named = inside[::-1] if ends == "highest" else inside
        word = f"one of the {len(inside)} {ends} of {n_levels} ({', '.join(named[:_MOST_NAMED])}, ...)"
    return [Condition(name, word, f"{name} is {word}")]


def _name_limits(low: float, high: float) -> str:
    """Name an interval without any level, which may be open.

    >>> _name_limits(1.0, 2.5), _name_limits(1.0, np.inf), _name_limits(-np.inf, 2.5)
    ('between 1 and 2.5', 'above 1', 'below 2.5')
    """
    if np.isfinite(low) and np.isfinite(high):
        return f"between {format_limit(low)} and {format_limit(high)}"
    return f"above {format_limit(low)}" if np.isfinite(low) else f"below {format_limit(high)}"


def lists_levels(allowed: BoolArray) -> bool:
    """Return whether a condition on a category lists the levels that satisfy it, not those that do not."""
    return bool(0 < allowed.sum() <= max(2, (~allowed).sum()))


# -- where conditions hold ---------------------------------------------------------------------------------------------


def is_yes_or_no(feature: int, profile: Profile | None, column: "Column | None", is_first: bool = True) -> bool:
    """Return whether a feature is 0 or 1, or marks missing values."""
    if column is not None and (column.kind == "boolean" or not is_first):
        return True
    return profile is not None and profile.is_indicator(feature)


def find_truth(rules: "RuleBase", r: int, feature: int) -> bool | None:
    """Return the value of a 0/1 feature that satisfies a rule's condition, None if both do."""
    if rules.intervals is not None:
        low, high = rules.intervals[r, feature]
        takes_no, takes_yes = low <= 0 <= high, low <= 1 <= high
        return None if takes_no == takes_yes else bool(takes_yes)
    center, width = (values[r, rules.n_projected + feature] for values in (rules.centers, rules.widths))
    preference = 0.5 * (center**2 - (1 - center) ** 2) / width**2  # log membership of 1 less that of 0
    return None if abs(preference) <= _HALF else bool(preference > 0)


def find_levels(rules: "RuleBase", r: int, features: IntArray) -> BoolArray:
    """Return which levels of a category satisfy a rule's condition, given the features that are its 0/1 inputs."""
    if rules.intervals is not None:
        asked, refused = (rules.intervals[r, features, 0] > 0), (rules.intervals[r, features, 1] < 1)
        return (asked & ~refused) if asked.any() else ~refused
    at = r, rules.n_projected + features
    return category_memberships(rules.centers[at], rules.widths[at]) >= 0.5


def find_interval(rules: "RuleBase", r: int, feature: int) -> tuple[float, float]:
    """Return the values of a feature that satisfy a condition: its interval, or memberships of at least one half."""
    if rules.intervals is not None:
        low, high = rules.intervals[r, feature]
        return float(low), float(high)
    center, width = (values[r, rules.n_projected + feature] for values in (rules.centers, rules.widths))
    return float(center - HALF_WIDTH * width), float(center + HALF_WIDTH * width)


def category_memberships(centers: FloatArray, widths: FloatArray) -> FloatArray:
    """Return each level's membership, 1 for the one that fits best, given the sets on its 0/1 inputs."""
    distance = np.sum((centers / widths) ** 2) + ((1 - centers) ** 2 - centers**2) / widths**2
    return np.exp(-0.5 * (distance - distance.min(initial=np.inf)))
