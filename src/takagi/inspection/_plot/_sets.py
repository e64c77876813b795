"""The sets of the rules on each column, with the data: the numbers behind the plots of conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from takagi._model import OpenModel
from takagi._typing import BoolArray, FloatArray, Table
from takagi._wording import category_memberships, excludes_nothing
from takagi.profile import Profile, measure_profile
from takagi.rulebase import RuleBase
from takagi.tables import Column

_MAX_POINTS = 500
_LEAST_LOG = -8.0  # memberships below e^-8 are all the same


@dataclass(frozen=True)
class NumberSets:
    """The Gaussian sets that rules put on a column of numbers."""

    name: str
    values: FloatArray  # (n_rows,): its values in the data, without missing ones
    span: tuple[float, float]  # smallest and largest value to show, those of training included
    centers: FloatArray  # (n_rules,)
    widths: FloatArray  # (n_rules,): infinity is no condition
    asks: BoolArray  # (n_rules,): whether a rule's set excludes any of the data

    def memberships(self, points: FloatArray) -> FloatArray:
        """Return memberships of shape (n_rules, n_points)."""
        return np.exp(self._log_memberships(points))

    def histogram(self, n_bins: int = 30) -> tuple[FloatArray, FloatArray]:
        """Return the parts of the data, the largest 1, in bins, and the edges of these."""
        counts, edges = np.histogram(self.values, bins=n_bins, range=self.span)
        return counts / max(counts.max(), 1), edges

    def separation(self, share: FloatArray) -> float:
        """Return how well the column separates the rules: the variance of log memberships among rules."""
        points = self.values[:: max(1, len(self.values) // _MAX_POINTS)]
        return float(_variance(self._log_memberships(points), share).mean()) if len(points) else 0.0

    def _log_memberships(self, points: FloatArray) -> FloatArray:
        return -0.5 * ((points - self.centers[:, None]) / self.widths[:, None]) ** 2


@dataclass(frozen=True)
class LevelSets:
    """The discrete sets that rules put on a column of categories or of true and false."""

    name: str
    levels: tuple[str, ...]
    frequency: FloatArray  # (n_levels,): which part of the data has each level
    membership: FloatArray  # (n_rules, n_levels): 1 for the level that suits a rule best

    @property
    def asks(self) -> BoolArray:
        """Whether a rule's set excludes any level."""
        return self.membership.min(axis=1) < 0.5

    def separation(self, share: FloatArray) -> float:
        """Return how well the column separates the rules: the variance of log memberships among rules."""
        with np.errstate(divide="ignore"):
            return float(_variance(np.log(self.membership), share) @ self.frequency)


ColumnSets: TypeAlias = NumberSets | LevelSets


def _variance(logs: FloatArray, share: FloatArray) -> FloatArray:
    logs = np.maximum(logs, _LEAST_LOG)
    return share @ (logs - share @ logs) ** 2


def encode_rows(opened: OpenModel, X: Table) -> FloatArray:
    """Return the matrix of a table with at least one row."""
    rows = opened.encode(X)
    if not len(rows):
        raise ValueError("X must have at least one row, got none.")
    return rows


def choose_profile(rules: RuleBase, rows: FloatArray) -> Profile:
    """Return the summary of the training rows, or of the given rows if the rules have seen none."""
    if rules.profile is not None:
        return rules.profile
    return measure_profile((rows, rules.predict_raw(rows)), rules.firing_share)


def collect_sets(opened: OpenModel, rows: FloatArray) -> list[ColumnSets]:
    """Return the sets on each projection and then on each used column of the table."""
    profile = choose_profile(opened.rules, rows)
    columns = [_collect(opened, rows, c, profile) for c in range(len(opened.columns)) if opened.columns[c].inputs]
    return [*_collect_projections(opened, rows), *columns]


def pick_sets(opened: OpenModel, sets: Sequence[ColumnSets], wanted: Sequence[str | int]) -> list[ColumnSets]:
    """Return those of the collected sets that are wanted by name or by the column's index."""
    n_projected = opened.rules.n_projected
    projected = {f"p{j}" for j in range(n_projected)} - {column.name for column in opened.columns}
    used = [c for c, column in enumerate(opened.columns) if column.inputs]
    return [
        sets[int(str(one)[1:]) if one in projected else n_projected + used.index(find_used_column(opened, one))]
        for one in wanted
    ]


def find_used_column(opened: OpenModel, column: str | int) -> int:
    """Return the index of a column given by name or index, which the rules must use."""
    c = opened.find_column(column)
    if not opened.columns[c].inputs:
        raise ValueError(
            f"feature {opened.columns[c].name!r} is not used by the rules: in training it had no value, or hardly one "
            "twice. Choose another."
        )
    return c


def rank_sets(sets: Sequence[ColumnSets], share: FloatArray) -> list[int]:
    """Return the indices of sets, those that separate the rules best first."""
    return [int(k) for k in np.argsort([-one.separation(share) for one in sets], kind="stable")]


def _collect_projections(opened: OpenModel, rows: FloatArray) -> list[ColumnSets]:
    rules = opened.rules
    inputs = rules.antecedent_inputs(rows)
    return [
        NumberSets(
            f"p{j}", inputs[:, j], widen_range(inputs[:, j]), rules.centers[:, j], rules.widths[:, j],
            np.isfinite(rules.widths[:, j]),
        )
        for j in range(rules.n_projected)
    ]  # fmt: skip


def _collect(opened: OpenModel, rows: FloatArray, c: int, profile: Profile) -> ColumnSets:
    rules, column, inputs = opened.rules, opened.columns[c], opened.inputs_of(c)
    offset = rules.n_projected
    centers, widths = rules.centers[:, offset + inputs], rules.widths[:, offset + inputs]
    first = int(inputs[0])
    if column.kind == "category":
        membership = np.array([category_memberships(*sets) for sets in zip(centers, widths, strict=True)])
        return LevelSets(column.name, column.levels, rows[:, inputs].mean(axis=0), membership)
    if column.kind == "boolean" or profile.is_indicator(first):
        return _collect_indicator(column, rows[:, first], centers[:, 0], widths[:, 0])
    present = rows[:, inputs[1]] == 0 if column.has_missing else slice(None)
    values = rows[present, first]
    asks = [not excludes_nothing(*one, profile, first) for one in zip(centers[:, 0], widths[:, 0], strict=True)]
    span = widen_range(np.r_[values, profile.span(first)])
    return NumberSets(column.name, values, span, centers[:, 0], widths[:, 0], np.array(asks))


def _collect_indicator(column: Column, values: FloatArray, centers: FloatArray, widths: FloatArray) -> LevelSets:
    """Return the sets of a column that is 0 or 1."""
    logs = -0.5 * ((np.array([0.0, 1.0]) - centers[:, None]) / widths[:, None]) ** 2
    frequency = np.array([(values <= 0.5).mean(), (values > 0.5).mean()])
    return LevelSets(column.name, name_truth(column), frequency, np.exp(logs - logs.max(axis=1, keepdims=True)))


def name_truth(column: Column) -> tuple[str, ...]:
    """Name the two values of a column that is 0 or 1."""
    return ("false", "true") if column.kind == "boolean" else ("0", "1")


def widen_range(values: FloatArray) -> tuple[float, float]:
    """Return the smallest and the largest value, a little apart if they are equal."""
    low, high = float(values.min()), float(values.max())
    margin = 0.5 if low == 0 else abs(low) / 10
    return (low, high) if high > low else (low - margin, high + margin)
