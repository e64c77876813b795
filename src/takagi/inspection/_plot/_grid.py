"""The rule base as a grid: a row for each rule, a cell for each column."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from takagi._model import open_model
from takagi._text import format_share
from takagi._typing import FloatArray, IntArray, Table
from takagi._wording import name_formulas, name_outputs, name_part
from takagi.inspection._plot._display import Display
from takagi.inspection._plot._sets import (
    ColumnSets,
    LevelSets,
    NumberSets,
    collect_sets,
    encode_rows,
    measure_shares,
    pick_sets,
    rank_sets,
    sort_parts,
)
from takagi.inspection._plot._style import DATA, OTHER, as_plain, color_rule, measure_extent, write_numbers
from takagi.rulebase import RuleBase

_CELL = (0.08, 0.92)  # the used part of a cell's width
_BASE, _HEIGHT = 0.9, 0.72  # positions in a cell, from its top, as fractions of it
_OUTPUT_WIDTH = 1.6
_NEXT_TO_NOTHING = 1e-9  # share below which a rule has no typical output; a difference that is only rounding


@dataclass(eq=False, repr=False)
class RuleGridDisplay(Display):
    """The rule base at a glance: rules by columns, with the set of each rule on each column in the cell.

    Use `from_estimator`. The first row shows the data; below it are the rules, those with the largest share first. A
    cell is empty if a rule has no condition on the column, or one that excludes nothing. At the end of a row is the
    rule's typical output: the mean of its outputs, weighted by its firing shares. If a model is a sum, its parts are
    below each other, and the typical output of an adjustment is a bar from the same line.

    Parameters
    ----------
    sets : sequence of NumberSets or LevelSets
        The shown columns: name, data and the sets of all rules.
    rules : int ndarray of shape (n_shown,)
        Indices of the shown rules, from above.
    share : ndarray of shape (n_rules,)
        Mean firing share of each rule, in its part of the model.
    typical_output : ndarray of shape (n_rules,)
        Typical output of each rule; NaN if it governs no row.
    mean_output : float
        The mean prediction of the main rules.
    output_name : str
        Name of the output.
    n_columns : int
        Number of columns to show from.
    part_rules : tuple of int, optional
        Number of rules of each part of the model; one part by default.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import RuleGridDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = RuleGridDisplay.from_estimator(model, X, columns=["bmi", "bp"])
    >>> display.rules.tolist(), [sets.name for sets in display.sets]
    ([0, 1, 2], ['bmi', 'bp'])
    """

    sets: Sequence[ColumnSets]
    rules: IntArray
    share: FloatArray
    typical_output: FloatArray
    _: KW_ONLY
    mean_output: float
    output_name: str
    n_columns: int
    part_rules: tuple[int, ...] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        columns: Sequence[str | int] | str | int = 8,
        *,
        max_rules: int = 16,
        output: str | int = 0,
        ax: Any = None,
    ) -> "RuleGridDisplay":
        """Draw the rule base of a fitted estimator.

        Parameters
        ----------
        estimator : TSKRegressor, Pipeline, RuleBase or RuleModel
            A fitted model.
        X : array or data frame of shape (n_rows, n_columns)
            Data to measure shares, typical outputs and histograms with.
        columns : int, str, or sequence of str or int, default=8
            Number of columns to show, those that separate the rules best first; or their names or indices.
        max_rules : int, default=16
            Largest number of rules to show, those with the largest share.
        output : int or str, default=0
            The output whose typical values are shown.
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        opened = open_model(estimator)
        k = opened.find_output(output)
        rows = encode_rows(opened, X)
        sets = collect_sets(opened, rows)
        parts = opened.model.parts
        shares = measure_shares(opened.model, rows)
        share, sizes = np.concatenate(shares), tuple(map(len, shares))
        if isinstance(columns, (int, np.integer)):
            shown = [sets[m] for m in rank_sets(sets, shares)[: _at_least_one("columns", columns)]]
        else:
            shown = pick_sets(opened, sets, [columns] if isinstance(columns, str) else columns)
        display = cls(
            shown,
            _choose_rules(share, sizes, _at_least_one("max_rules", max_rules)),
            share,
            np.concatenate([_find_typical(part, rows, k) for part in parts]),
            mean_output=float(parts[0].predict_raw(rows)[:, k].mean()),
            output_name=name_formulas(opened.model.link, name_outputs(opened.model))[k],
            n_columns=len(sets),
            part_rules=sizes,
        )
        return display.plot(ax)

    def _draw(self, ax: Any) -> None:
        if not self.sets:
            raise ValueError("columns must name at least one column, got none.")
        n_lines = len(self.rules) + 1
        size = (1.6 + 1.15 * (len(self.sets) + _OUTPUT_WIDTH), 0.9 + 0.46 * n_lines)
        (ax,) = self._take_axes(ax, 1, size)
        for c, sets in enumerate(self.sets):
            if isinstance(sets, LevelSets):
                self._draw_levels(ax, c, sets)
            else:
                self._draw_curves(ax, c, sets)
        self._draw_outputs(ax)
        self._label(ax)

    def _draw_curves(self, ax: Any, c: int, sets: NumberSets) -> None:
        heights, edges = sets.histogram(24)
        low, high = sets.span
        place = lambda x: c + _CELL[0] + (_CELL[1] - _CELL[0]) * (x - low) / (high - low)  # noqa: E731
        width = place(edges[1]) - place(edges[0])
        ax.bar(place(edges[:-1]), -_HEIGHT * heights, width, bottom=_BASE, align="edge", **DATA)
        grid = np.linspace(low, high, 60)
        curves = sets.memberships(grid)
        for line, r in enumerate(self.rules, start=1):
            if sets.asks[r]:
                base, color = line + _BASE, color_rule(r)
                ax.fill_between(place(grid), base, base - _HEIGHT * curves[r], color=color, alpha=0.55, lw=0)
                ax.plot(place(grid), base - _HEIGHT * curves[r], color=color, lw=1.2)
        for side, text in zip(("left", "right"), write_numbers(sets.span), strict=True):
            x = c + _CELL[side == "right"]
            ax.text(x, len(self.rules) + 1.05, text, ha=side, va="top", fontsize="x-small")

    def _draw_levels(self, ax: Any, c: int, sets: LevelSets) -> None:
        width = (_CELL[1] - _CELL[0]) / len(sets.levels)
        left = c + _CELL[0] + width * np.arange(len(sets.levels))
        heights = -_HEIGHT * sets.frequency / max(sets.frequency.max(), 1e-300)
        ax.bar(left, heights, 0.9 * width, bottom=_BASE, align="edge", **DATA)
        for line, r in enumerate(self.rules, start=1):
            if sets.asks[r]:
                heights = -_HEIGHT * sets.membership[r]
                ax.bar(left, heights, 0.9 * width, bottom=line + _BASE, align="edge", color=color_rule(r), alpha=0.75)
        below = {"ha": "center", "va": "top", "fontsize": "x-small"}
        if len(sets.levels) > 5:
            ax.text(c + 0.5, len(self.rules) + 1.05, f"{len(sets.levels)} levels", **below)
            return
        for x, level in zip(left + 0.45 * width, sets.levels, strict=True):
            ax.text(x, len(self.rules) + 1.05, as_plain(level, 12), rotation=90, **below)

    def _draw_outputs(self, ax: Any) -> None:
        """Draw the typical outputs as bars from the mean prediction, also those of adjustments."""
        is_added = self._part_of[self.rules] > 0
        shown = self.typical_output[self.rules]
        ends = np.where(is_added, self.mean_output + shown, shown)
        known = np.r_[ends[np.isfinite(ends)], self.mean_output]
        low, high = known.min(), known.max()
        has_spread = high - low > _NEXT_TO_NOTHING * np.abs(known).max()
        scale = 0.55 * _OUTPUT_WIDTH / (high - low) if has_spread else 0.0
        start = len(self.sets) + 0.22 * _OUTPUT_WIDTH
        place = lambda y: start + scale * (y - low)  # noqa: E731
        mean = place(self.mean_output)
        texts = write_numbers(np.r_[self.mean_output, shown], measure_extent(known))
        ax.text(mean, _BASE - 0.05, f"mean {texts[0]}", ha="center", va="bottom", fontsize="x-small")
        ax.plot([mean, mean], [_BASE, len(self.rules) + 1], color=OTHER, lw=0.8)
        for line, (r, value, text) in enumerate(zip(self.rules, ends, texts[1:], strict=True), start=1):
            if np.isfinite(value):
                ax.barh(line + 0.55, place(value) - mean, 0.5, left=mean, color=color_rule(r))
                is_above = value >= self.mean_output
                label = f"+{text}" if is_added[line - 1] and is_above else text
                ax.text(
                    place(value) + (0.05 if is_above else -0.05), line + 0.55, label, va="center", fontsize="small",
                    ha="left" if is_above else "right",
                )  # fmt: skip

    def _label(self, ax: Any) -> None:
        n_columns, n_lines = len(self.sets), len(self.rules) + 1
        names = [as_plain(sets.name, 20) for sets in self.sets] + [as_plain(self.output_name, 24)]
        places = [*(np.arange(n_columns) + 0.5), n_columns + _OUTPUT_WIDTH / 2]
        tilt = {"rotation": 30, "ha": "left", "rotation_mode": "anchor"} if max(map(len, names[:-1])) > 10 else {}
        ax.xaxis.tick_top()
        ax.set_xticks(places, names, **tilt)
        shares = [f"{head}rule {r + 1}  {format_share(self.share[r]):>5}" for head, r in self._name_lines()]
        ax.set_yticks(np.arange(n_lines) + 0.55, ["data", *shares])
        ax.set(xlim=(0, n_columns + _OUTPUT_WIDTH), ylim=(n_lines, 0))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        for line in range(n_lines):
            ax.axhline(line + _BASE, color=OTHER, lw=0.6, alpha=0.5, zorder=0)
        for last in np.flatnonzero(np.diff(self._part_of[self.rules])):  # of a part
            ax.axhline(last + 1 + _BASE, color=OTHER, lw=1.8)
        left_out = self._say_left_out()
        if left_out:
            ax.set_title(left_out, loc="left", fontsize="small")

    def _say_left_out(self) -> str:
        parts = []
        if len(self.sets) < self.n_columns:
            parts.append(f"{len(self.sets)} of {self.n_columns} columns")
        if len(self.rules) < len(self.share):
            govern = f", which govern {format_share(self.share[self.rules].sum())} of the data"
            parts.append(f"{len(self.rules)} of {len(self.share)} rules{govern * (len(self._sizes) == 1)}")
        return "; ".join(parts)

    def _name_lines(self) -> list[tuple[str, int]]:
        """Return the shown rules with the heading above the first one of each part of a sum."""
        names = [f"{name_part(k, len(self._sizes))}\n" * (len(self._sizes) > 1) for k in self._part_of[self.rules]]
        return [(name * (name not in names[:i]), r) for i, (name, r) in enumerate(zip(names, self.rules, strict=True))]

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.part_rules or (len(self.share),)

    @property
    def _part_of(self) -> IntArray:
        return np.repeat(np.arange(len(self._sizes)), self._sizes)


def _choose_rules(share: FloatArray, part_rules: tuple[int, ...], most: int) -> IntArray:
    """Return the rules with the largest shares, part by part."""
    chosen = np.argsort(-share, kind="stable")[:most]
    order = np.concatenate(sort_parts(share, part_rules))
    return order[np.isin(order, chosen)]


def _find_typical(part: RuleBase, rows: FloatArray, k: int) -> FloatArray:
    """Return the mean output of each rule of a part, NaN for a rule that governs almost nothing."""
    outputs, share = part.rule_outputs(rows)[:, :, k], part.firing_share(rows)
    total = share.sum(axis=0)
    total[total < _NEXT_TO_NOTHING * len(share)] = np.nan
    return (outputs * share).sum(axis=0) / total


def _at_least_one(name: str, count: int) -> int:
    if count < 1:
        raise ValueError(f"{name} must be at least 1, got {count}.")
    return int(count)
