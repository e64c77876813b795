"""The shares of the rules, and the effective number of rules per row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takagi._model import open_model
from takagi._text import format_share
from takagi._typing import FloatArray, Table
from takagi._wording import name_part
from takagi.inspection._plot._display import Display
from takagi.inspection._plot._sets import encode_rows, sort_parts
from takagi.inspection._plot._style import DATA, OTHER, add_note, clear_frame, color_rule

_MAX_LABELS = 24


@dataclass(eq=False, repr=False)
class ShareDisplay(Display):
    """The firing share of each rule, and the effective number of rules per row.

    Use `from_estimator`. The left panel has the rules' mean firing shares, the largest first; the dashed line marks
    equal shares. The right panel has the distribution over the rows of the effective number of rules, ``1 / sum_r
    share_r^2``: 1 if a single rule decides, n if n rules have equal shares. If a model is a sum, its parts are side by
    side on the left, and the effective numbers of rules of all parts are added up.

    Parameters
    ----------
    share : ndarray of shape (n_rules,)
        Mean firing share of each rule, in its part of the model.
    effective_rules : ndarray of shape (n_rows,)
        Effective number of rules in each row.
    part_rules : tuple of int, optional
        Number of rules of each part of the model; one part by default.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import ShareDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = ShareDisplay.from_estimator(model, X)
    >>> round(float(display.share.sum()), 9), bool((display.effective_rules <= 3).all())
    (1.0, True)
    """

    share: FloatArray
    effective_rules: FloatArray
    part_rules: tuple[int, ...] | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, X: Table, *, ax: Any = None) -> "ShareDisplay":
        """Draw the shares of a fitted estimator.

        Parameters
        ----------
        estimator : TSKRegressor, Pipeline, RuleBase or RuleModel
            A fitted model.
        X : array or data frame of shape (n_rows, n_features)
            Data.
        ax : sequence of two Axes, optional
            Where to draw; a new figure by default.
        """
        opened = open_model(estimator)
        rows = encode_rows(opened, X)
        shares = [part.firing_share(rows) for part in opened.model.parts]
        effective = np.sum([1 / (share**2).sum(axis=1) for share in shares], axis=0)
        sizes = tuple(part.n_rules for part in opened.model.parts)
        return cls(np.hstack(shares).mean(axis=0), effective, sizes).plot(ax)

    def _draw(self, ax: Any) -> None:
        left, right = self._take_axes(ax, 2, (4.2, 3.2), width_ratios=(2, 1))
        self._draw_shares(left)
        self._draw_effective(right)

    def _draw_shares(self, ax: Any) -> None:
        from matplotlib.ticker import PercentFormatter

        parts = sort_parts(self.share, self._sizes)
        order = np.concatenate(parts)
        gaps = np.repeat(np.arange(len(parts)), self._sizes)
        places = np.arange(len(order)) + gaps
        ax.bar(places, self.share[order], 0.8, color=[color_rule(r) for r in order])
        for k, rules in enumerate(parts):
            here, equal = places[gaps == k], 1 / len(rules)
            ax.plot([here[0] - 0.7, here[-1] + 0.7], [equal, equal], color=OTHER, lw=1, ls="--")
        ax.text(places[-1] + 0.65, equal, "equal shares", ha="right", va="bottom", fontsize="small", alpha=0.75)
        if len(order) <= _MAX_LABELS:
            ax.set_xticks(places, [str(r + 1) for r in order])
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0 if self.share.max() > 0.04 else 1, symbol=" %"))
        ax.set(
            xlabel="rule" if len(order) <= _MAX_LABELS else "rules, by share",
            ylabel="share of the data",
            xlim=(-0.7, places[-1] + 0.7),
        )
        clear_frame(ax)
        add_note(ax, self._say_parts(parts))

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.part_rules or (len(self.share),)

    def _say_parts(self, parts: Sequence[np.ndarray]) -> str:
        """Return a note on how many rules govern most of the data, or on the parts."""
        if len(parts) > 1:
            return ", ".join(f"{name_part(k, len(parts))} ({len(rules)})" for k, rules in enumerate(parts))
        (order,) = parts
        needed = int(np.searchsorted(np.cumsum(self.share[order]), 0.9 - 1e-9)) + 1
        return f"{needed} of {len(order)} rules govern {format_share(self.share[order[:needed]].sum())}"

    def _draw_effective(self, ax: Any) -> None:
        least = float(len(self._sizes))
        highest = max(float(np.ceil(self.effective_rules.max() - 1e-9)), least + 1)
        counts, edges = np.histogram(self.effective_rules, bins=20, range=(least, highest))
        ax.bar(edges[:-1], counts, np.diff(edges), align="edge", **DATA)
        median = float(np.median(self.effective_rules))
        ax.axvline(median, color=OTHER, lw=1.5)
        ax.set(xlabel="effective number of rules", ylabel="rows", xlim=(least, highest))
        clear_frame(ax)
        add_note(ax, f"median {median:.1f}")
