"""The curve of a simplification: words against error."""

from typing import TYPE_CHECKING, Any

import numpy as np

from takagi.inspection._plot._display import Display
from takagi.inspection._plot._style import OTHER, RULE_COLORS, clear_frame, put_legend_above

if TYPE_CHECKING:
    from takagi.simplification import Simplification

_MAX_LOSS = 1.0  # higher points are left out, since the interesting part would be flat
_MAX_MARKS = 8


class SimplificationDisplay(Display):
    """Words against validation error, from the original model down to a single number.

    Dots are the steps; the line joins the Pareto-optimal ones in words and error; the ring is the chosen one. Numbers
    beside the line are numbers of rules. Losses above 100 % are left out.

    Parameters
    ----------
    simplification : Simplification
        The result of `simplify`.

    Attributes
    ----------
    n_words, n_rules, loss : ndarray of shape (n_points,)
        The curve.
    pareto : ndarray of int
        The Pareto-optimal points.
    chosen : int
        The chosen point.
    measure : str
        Name of the error: "RMSE", or "log loss" for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import SimplificationDisplay
    >>> from takagi.simplification import simplify
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X = X[["bmi", "bp", "s5"]]
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = SimplificationDisplay(simplify(model, X, y))
    >>> int(display.n_words[0]), int(display.n_rules[-1])
    (21, 1)
    """

    def __init__(self, simplification: "Simplification") -> None:
        curve = simplification.curve
        self.n_words = np.array([point.n_words for point in curve])
        self.n_rules = np.array([point.n_rules for point in curve])
        self.loss = np.array([point.loss for point in curve])
        self.pareto = np.array(simplification.find_pareto())
        self.chosen = simplification.step
        self.measure = simplification.measure

    def _draw(self, ax: Any) -> None:
        (ax,) = self._take_axes(ax, 1, (6.0, 3.8))
        self._draw_points(ax)
        self._mark_rules(ax)
        self._label(ax)
        clear_frame(ax)

    @property
    def _is_shown(self) -> np.ndarray:
        shown = self.loss <= _MAX_LOSS
        shown[[0, self.chosen]] = True
        return shown

    def _draw_points(self, ax: Any) -> None:
        shown, front = self._is_shown, self.pareto[self._is_shown[self.pareto]]
        percent = 100 * self.loss
        dots = ax.scatter(self.n_words[shown], percent[shown], 12, color=OTHER, alpha=0.6, lw=0, label="a step")
        (line,) = ax.plot(
            self.n_words[front],
            percent[front],
            "o-",
            color=RULE_COLORS[0],
            ms=3.5,
            lw=1.5,
            label="Pareto-optimal, with number of rules",
        )
        (ring,) = ax.plot(
            self.n_words[self.chosen], percent[self.chosen], "o", ms=11, mfc="none", mew=2, color=RULE_COLORS[4],
            label="chosen",
        )  # fmt: skip
        ax.axhline(0.0, color=OTHER, lw=1, ls="--")
        put_legend_above(ax, [dots, line, ring], n_columns=3)

    def _mark_rules(self, ax: Any) -> None:
        """Write the number of rules where it changes along the line, not at too many places."""
        front = self.pareto[self._is_shown[self.pareto]]
        changes = [step for k, step in enumerate(front) if not k or self.n_rules[step] != self.n_rules[front[k - 1]]]
        for step in changes[:: max(1, -(-len(changes) // _MAX_MARKS))]:
            ax.annotate(
                str(self.n_rules[step]), (self.n_words[step], 100 * self.loss[step]), (7, 5),
                textcoords="offset points", fontsize="small", alpha=0.75,
            )  # fmt: skip

    def _label(self, ax: Any) -> None:
        from matplotlib.ticker import PercentFormatter, StrMethodFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.yaxis.set_major_formatter(PercentFormatter(decimals=0, symbol=" %"))
        ax.set(xlabel="words (rules, conditions and terms)", ylabel=f"growth of the validation {self.measure}")
        words, rules = self.n_words[self.chosen], self.n_rules[self.chosen]
        note = f"{self.n_words[0]} words -> {words}, {self.n_rules[0]} rules -> {rules}"
        ax.text(0.99, 0.97, note, transform=ax.transAxes, ha="right", va="top", fontsize="small", alpha=0.75)
