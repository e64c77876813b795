"""The sets of the rules on each column, with the data: the numbers behind the plots of conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from takagi._conditions import category_memberships, excludes_nothing
from takagi._model import OpenModel
from takagi._typing import BoolArray, FloatArray, Table
from takagi.profile import Profile, measure_profile
from takagi.rulemodel import RuleModel
from takagi.tables import Column

_MAX_POINTS = 500
_LEAST_LOG = -8.0  # memberships below e^-8 are all the same


@dataclass(frozen=True)
class NumberSets:
    """The Gaussian sets of rules on a numeric column."""

    name: str
    values: FloatArray  # (n_rows,): its values in the data, without missing ones
    span: tuple[float, float]  # smallest and largest value to show, those of training included
    centers: FloatArray  # (n_rules,)
    widths: FloatArray  # (n_rules,): infinity is no condition
    asks: BoolArray  # (n_rules,): whether a rule's set excludes any of the data
    limits: FloatArray  # (n_rules, 2): the interval of a condition, infinite if not known

    def memberships(self, points: FloatArray) -> FloatArray:
        """Return memberships of shape (n_rules, n_points)."""
        return np.exp(self._log_memberships(points))

    def histogram(self, n_bins: int = 30) -> tuple[FloatArray, FloatArray]:
        """Return the histogram of the data, scaled to a largest value of 1, and its edges."""
        counts, edges = np.histogram(self.values, bins=n_bins, range=self.span)
        return counts / max(counts.max(), 1), edges

    def separation(self, shares: Sequence[FloatArray]) -> float:
        """Return how well the column separates the rules: the variance of log memberships among rules of a part."""
        points = self.values[:: max(1, len(self.values) // _MAX_POINTS)]
        return float(_variance(self._log_memberships(points), shares).mean()) if len(points) else 0.0

    def _log_memberships(self, points: FloatArray) -> FloatArray:
        return -0.5 * ((points - self.centers[:, None]) / self.widths[:, None]) ** 2


@dataclass(frozen=True)
class LevelSets:
    """The discrete sets of rules on a categorical or boolean column."""

    name: str
    levels: tuple[str, ...]
    frequency: FloatArray  # (n_levels,): frequency of each level in the data
    membership: FloatArray  # (n_rules, n_levels): 1 for the level that suits a rule best
    asks: BoolArray  # (n_rules,): whether a rule's set excludes any level

    def separation(self, shares: Sequence[FloatArray]) -> float:
        """Return how well the column separates the rules: the variance of log memberships among rules of a part."""
        with np.errstate(divide="ignore"):
            return float(_variance(np.log(self.membership), shares) @ self.frequency)


ColumnSets: TypeAlias = NumberSets | LevelSets


def _variance(logs: FloatArray, shares: Sequence[FloatArray]) -> FloatArray:
    parts = np.split(np.maximum(logs, _LEAST_LOG), np.cumsum([len(share) for share in shares])[:-1])
    return np.sum([share @ (part - share @ part) ** 2 for share, part in zip(shares, parts, strict=True)], axis=0)


def encode_rows(opened: OpenModel, X: Table) -> FloatArray:
    """Return the matrix of a table with at least one row."""
    rows = opened.encode(X)
    if not len(rows):
        raise ValueError("X must have at least one row, got none.")
    return rows


def choose_profile(model: RuleModel, rows: FloatArray) -> Profile:
    """Return the summary of the training rows, or of the given rows if it is not known."""
    if model.profile is not None:
        return model.profile
    return measure_profile((rows, model.predict_raw(rows)), model.firing_share)


def measure_shares(model: RuleModel, rows: FloatArray) -> list[FloatArray]:
    """Return the mean firing shares of the rules of each part."""
    return [part.firing_share(rows).mean(axis=0) for part in model.parts]


def sort_parts(share: FloatArray, part_rules: Sequence[int]) -> list[np.ndarray]:
    """Return the rules of each part, sorted by share, given the number of rules of each part."""
    bounds = pairwise(np.cumsum([0, *part_rules]))
    return [start + np.argsort(-share[start:stop], kind="stable") for start, stop in bounds]


def collect_sets(opened: OpenModel, rows: FloatArray) -> list[ColumnSets]:
    """Return the sets on each projection and then on each used column of the table."""
    profile, conditions = choose_profile(opened.model, rows), _stack_conditions(opened.model)
    used = [c for c, column in enumerate(opened.columns) if column.inputs]
    columns = [_collect(opened.columns[c], rows, opened.inputs_of(c), conditions, profile) for c in used]
    return [*_collect_projections(opened, rows), *columns]


def pick_sets(opened: OpenModel, sets: Sequence[ColumnSets], wanted: Sequence[str | int]) -> list[ColumnSets]:
    """Return the collected sets that are requested by name or by the column's index."""
    n_projected = sum(part.n_projected for part in opened.model.parts)
    projected = [one.name for one in sets[:n_projected]]
    features = {column.name for column in opened.columns}
    used = [c for c, column in enumerate(opened.columns) if column.inputs]
    return [
        sets[
            projected.index(str(one))
            if one in projected and one not in features
            else n_projected + used.index(find_used_column(opened, one))
        ]
        for one in wanted
    ]


def find_used_column(opened: OpenModel, column: str | int) -> int:
    """Return the index of a column given by name or index, which the rules must use."""
    c = opened.find_column(column)
    if not opened.columns[c].inputs:
        raise ValueError(
            f"feature {opened.columns[c].name!r} is not used by the rules: in training it had no values, or hardly "
            "any value twice. Choose another."
        )
    return c


def rank_sets(sets: Sequence[ColumnSets], shares: Sequence[FloatArray]) -> list[int]:
    """Return the indices of sets, those that separate the rules of a part best first, given the shares of each part."""
    return [int(k) for k in np.argsort([-one.separation(shares) for one in sets], kind="stable")]


def _collect_projections(opened: OpenModel, rows: FloatArray) -> list[ColumnSets]:
    """Return the sets on each projection of each part; the rules of other parts have no conditions on it."""
    found: list[ColumnSets] = []
    for k, part in enumerate(opened.model.parts):
        before, after = (sum(p.n_rules for p in some) for some in (opened.model.parts[:k], opened.model.parts[k + 1 :]))
        inputs = part.antecedent_inputs(rows)
        for j in range(part.n_projected):
            centers = np.pad(part.centers[:, j], (before, after))
            widths = np.pad(part.widths[:, j], (before, after), constant_values=np.inf)
            span, limits = widen_range(inputs[:, j]), _no_limits(len(centers), 1)[:, 0]
            found.append(NumberSets(f"p{j}", inputs[:, j], span, centers, widths, np.isfinite(widths), limits))
    return found


class _Conditions(NamedTuple):
    """The conditions of the rules of all parts on the features."""

    centers: FloatArray  # (n_rules, n_features)
    widths: FloatArray  # (n_rules, n_features)
    limits: FloatArray  # (n_rules, n_features, 2): the intervals
    has_limits: BoolArray  # (n_rules,): whether the intervals are known

    def take(self, inputs: np.ndarray) -> "_Conditions":
        return _Conditions(self.centers[:, inputs], self.widths[:, inputs], self.limits[:, inputs], self.has_limits)

    def ask(self, by_membership: BoolArray) -> BoolArray:
        """Return which rules have a condition: by their intervals, or by memberships if there are no intervals."""
        return np.where(self.has_limits, np.isfinite(self.limits).any(axis=(1, 2)), by_membership)


def _stack_conditions(model: RuleModel) -> _Conditions:
    parts = model.parts
    limits = [_no_limits(p.n_rules, p.n_features) if p.intervals is None else p.intervals for p in parts]
    return _Conditions(
        np.concatenate([part.centers[:, part.n_projected :] for part in parts]),
        np.concatenate([part.widths[:, part.n_projected :] for part in parts]),
        np.concatenate(limits),
        np.repeat([part.intervals is not None for part in parts], [part.n_rules for part in parts]),
    )


def _no_limits(n_rules: int, n_features: int) -> FloatArray:
    return np.tile([-np.inf, np.inf], (n_rules, n_features, 1))


def _collect(
    column: Column, rows: FloatArray, inputs: np.ndarray, conditions: _Conditions, profile: Profile
) -> ColumnSets:
    if column.kind == "category":
        on_levels = conditions.take(inputs)
        pairs = zip(on_levels.centers, on_levels.widths, strict=True)
        membership = np.array([category_memberships(*sets) for sets in pairs])
        return _make_levels(column.name, column.levels, rows[:, inputs].mean(axis=0), membership, on_levels)
    first, on_value = int(inputs[0]), conditions.take(inputs[:1])
    centers, widths = on_value.centers[:, 0], on_value.widths[:, 0]
    if column.kind == "boolean" or profile.is_indicator(first):
        logs = -0.5 * ((np.array([0.0, 1.0]) - centers[:, None]) / widths[:, None]) ** 2
        frequency = np.array([(rows[:, first] <= 0.5).mean(), (rows[:, first] > 0.5).mean()])  # missing is neither
        membership = np.exp(logs - logs.max(axis=1, keepdims=True))
        return _make_levels(column.name, name_truth(column), frequency, membership, on_value)
    present = rows[:, inputs[1]] == 0 if column.has_missing else ~np.isnan(rows[:, first])
    values = rows[present, first]
    excludes = [not excludes_nothing(*one, profile, first) for one in zip(centers, widths, strict=True)]
    span, asks = widen_range(np.r_[values, profile.span(first)]), on_value.ask(np.array(excludes))
    return NumberSets(column.name, values, span, centers, widths, asks, on_value.limits[:, 0])


def _make_levels(
    name: str, levels: tuple[str, ...], frequency: FloatArray, membership: FloatArray, conditions: _Conditions
) -> LevelSets:
    return LevelSets(name, levels, frequency, membership, conditions.ask(membership.min(axis=1) < 0.5))


def name_truth(column: Column) -> tuple[str, ...]:
    """Name the two values of a 0/1 column."""
    return ("false", "true") if column.kind == "boolean" else ("0", "1")


def widen_range(values: FloatArray) -> tuple[float, float]:
    """Return the smallest and the largest value, slightly widened if they are equal."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.5 if low == 0 else abs(low) / 10
    return (low, high) if high > low else (low - margin, high + margin)
