"""Membership functions of features over their histograms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takagi._model import open_model
from takagi._text import format_share
from takagi._typing import FloatArray, Table
from takagi._wording import name_part
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
from takagi.inspection._plot._style import (
    DATA,
    OTHER,
    RULE_COLORS,
    add_note,
    as_plain,
    clear_frame,
    color_rule,
    thin_ticks,
)

_MAX_LEVELS = 12
_PANELS_PER_LINE = 4


@dataclass(eq=False, repr=False)
class MembershipDisplay(Display):
    """The sets of the rules on some features, over the histograms of these features.

    Use `from_estimator`. Each rule is a color; its curve is the membership in the feature's own units, 1 at the center.
    A category has a bar for each rule and level, over the frequencies of the levels. Rules beyond the first seven are
    gray. A rule without a condition on a feature has no curve there, and a note names it. Dotted lines are the limits
    of the intervals of conditions, if the rules have intervals.

    Parameters
    ----------
    sets : sequence of NumberSets or LevelSets
        The shown features: name, data and the rules' sets.
    share : ndarray of shape (n_rules,)
        Mean firing share of each rule, in its part of the model.
    part_rules : tuple of int, optional
        Number of rules of each part of the model; one part by default.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import MembershipDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = MembershipDisplay.from_estimator(model, X, features=["bmi", "bp"])
    >>> display.names
    ['bmi', 'bp']
    """

    sets: Sequence[ColumnSets]
    share: FloatArray
    part_rules: tuple[int, ...] | None = None

    @property
    def names(self) -> list[str]:
        """The shown features."""
        return [one.name for one in self.sets]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Table, features: Sequence[str | int] | None = None, *, ax: Any = None
    ) -> "MembershipDisplay":
        """Draw the sets of a fitted estimator.

        Parameters
        ----------
        estimator : TSKRegressor, Pipeline, RuleBase or RuleModel
            A fitted model.
        X : array or data frame of shape (n_rows, n_features)
            Data for the histograms.
        features : sequence of str or int, optional
            Names or indices of the features to show, "p0" and so on for projections; by default the three that separate
            the rules best.
        ax : Axes or sequence of Axes, optional
            One per feature; a new figure by default.
        """
        opened = open_model(estimator)
        rows = encode_rows(opened, X)
        sets = collect_sets(opened, rows)
        shares = measure_shares(opened.model, rows)
        if features is None:
            shown = [sets[k] for k in sorted(rank_sets(sets, shares)[:3])]
        else:
            shown = pick_sets(opened, sets, [features] if isinstance(features, (str, int)) else features)
        return cls(shown, np.concatenate(shares), tuple(map(len, shares))).plot(ax)

    def _draw(self, ax: Any) -> None:
        if not self.sets:
            raise ValueError("features must name at least one feature, got none.")
        panels = self._take_axes(ax, len(self.sets), (3.4, 3.0), n_columns=_PANELS_PER_LINE, sharey=True)
        for panel, sets in zip(panels, self.sets, strict=True):
            if isinstance(sets, LevelSets):
                _draw_levels(panel, sets)
            else:
                _draw_curves(panel, sets)
            panel.set(xlabel=as_plain(sets.name), ylim=(0, 1.08))
            clear_frame(panel)
        for panel in panels[::_PANELS_PER_LINE]:
            panel.set_ylabel("membership")
        last_of_line = panels[min(len(panels), _PANELS_PER_LINE) - 1]
        outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax is None else {}
        handles = self._make_legend()
        last_of_line.legend(handles=handles, title="share of the data", frameon=False, fontsize="small", **outside)

    def _make_legend(self) -> list[Any]:
        from matplotlib.lines import Line2D

        parts = sort_parts(self.share, self.part_rules or (len(self.share),))
        labels: list[tuple[str, str]] = []
        for k, rules in enumerate(parts):
            if len(parts) > 1:
                labels.append(("none", name_part(k, len(parts))))
            colored = [r for r in rules if r < len(RULE_COLORS)]
            labels += [(color_rule(r), f"rule {r + 1} ({format_share(self.share[r])})") for r in colored]
            others = [r for r in rules if r >= len(RULE_COLORS)]
            if others:
                rest = format_share(self.share[others].sum())
                labels.append((OTHER, f"{len(others)} other rule{'s' * (len(others) > 1)} ({rest})"))
        return [Line2D([], [], color=color, lw=2, label=label) for color, label in labels]


def _draw_curves(ax: Any, sets: NumberSets) -> None:
    heights, edges = sets.histogram()
    ax.bar(edges[:-1], heights, np.diff(edges), align="edge", zorder=0, **DATA)
    grid = np.linspace(*sets.span, 300)
    curves = sets.memberships(grid)
    has_condition = np.isfinite(sets.widths)
    for r in np.flatnonzero(has_condition)[::-1]:  # the first rules on top
        is_colored = r < len(RULE_COLORS)
        ax.plot(grid, curves[r], lw=2 if is_colored else 1, color=color_rule(r), label=f"rule {r + 1}")
        for limit in sets.limits[r][np.isfinite(sets.limits[r])]:
            ax.axvline(limit, color=color_rule(r), lw=1, ls=":")
    thin_ticks(ax)
    _note_free_rules(ax, has_condition)


def _draw_levels(ax: Any, sets: LevelSets) -> None:
    shown = np.sort(np.argsort(-sets.frequency, kind="stable")[:_MAX_LEVELS])
    places = np.arange(len(shown))
    ax.bar(places, sets.frequency[shown] / max(sets.frequency.max(), 1e-300), 0.9, zorder=0, **DATA)
    n_rules = len(sets.membership)
    n_colored = min(n_rules, len(RULE_COLORS))
    width = 0.8 / n_colored
    for r in range(n_colored):
        left = places - 0.4 + r * width
        ax.bar(left, sets.membership[r, shown], 0.85 * width, align="edge", color=color_rule(r), label=f"rule {r + 1}")
    for r in range(n_colored, n_rules):
        ax.plot(places, sets.membership[r, shown], ls="", marker="_", ms=8, color=OTHER, label=f"rule {r + 1}")
    labels = [as_plain(sets.levels[k], 14) for k in shown]
    tilt = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if sum(map(len, labels)) > 24 else {}
    ax.set_xticks(places, labels, **tilt)
    if len(shown) < len(sets.levels):
        add_note(ax, f"{len(shown)} most frequent of {len(sets.levels)} levels")
    else:
        _note_free_rules(ax, sets.membership.min(axis=1) < 1)


def _note_free_rules(ax: Any, has_condition: np.ndarray) -> None:
    free = np.flatnonzero(~has_condition) + 1
    if len(free):
        which = f"rule{'s' * (len(free) > 1)} {', '.join(map(str, free))}" if len(free) <= 6 else f"{len(free)} rules"
        add_note(ax, f"no condition in {which}")
