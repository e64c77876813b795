"""One prediction as a waterfall: from the baseline, column by column, to the prediction."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from takagi._text import format_probability
from takagi._typing import FloatArray, Table
from takagi.inspection._local import LocalExplanation, explain_local
from takagi.inspection._plot._display import Display
from takagi.inspection._plot._style import (
    OTHER,
    RULE_COLORS,
    as_plain,
    clear_frame,
    put_legend_above,
    thin_ticks,
    write_numbers,
)

_UP, _DOWN = RULE_COLORS[0], RULE_COLORS[4]
_LIGHT = 0.45  # opacity of the parts through the conditions
_HALF = 0.36  # height of half a step


@dataclass(eq=False, repr=False)
class WaterfallDisplay(Display):
    """The contributions of the columns to one prediction, from the baseline, the largest first.

    Use `from_explanation` or `from_estimator`. Each column is a step with two parts: the upper, dark one through the
    consequents, with fixed firing shares; the lower, light one through the conditions, by the change of the shares. The
    number beside it is their sum.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    cells : sequence of str
        Values of the columns, as text.
    by_condition, by_consequent : ndarray of shape (n_columns,)
        The two parts of the contributions.
    base : float
        Prediction for the baseline.
    baseline : str
        Description of the baseline.
    output_name : str
        Name of the output.
    probability : float, optional
        Probability of the class, if the prediction is log-odds or a score.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import WaterfallDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = WaterfallDisplay.from_estimator(model, X, row=2)
    >>> display.cells[2], bool(abs(display.prediction - model.predict(X)[2]) < 1e-9)
    ('30.5', True)
    """

    columns: Sequence[str]
    cells: Sequence[str]
    by_condition: FloatArray
    by_consequent: FloatArray
    _: KW_ONLY
    base: float
    baseline: str = "baseline"
    output_name: str = "y"
    probability: float | None = None

    @property
    def prediction(self) -> float:
        """The sum of the base and all contributions."""
        return float(self.base + self.by_condition.sum() + self.by_consequent.sum())

    @classmethod
    def from_explanation(
        cls,
        explanation: LocalExplanation,
        row: int = 0,
        output: str | int = 0,
        *,
        max_columns: int = 10,
        ax: Any = None,
    ) -> "WaterfallDisplay":
        """Draw one prediction of an explanation.

        Parameters
        ----------
        explanation : LocalExplanation
            What `explain_local` returns.
        row : int, default=0
            The row, by its place in the explanation.
        output : int or str, default=0
            The output.
        max_columns : int, default=10
            Most columns to show; the others are joined to one step.
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        _check_row(row, len(explanation))
        k = explanation.find_output(output)
        display = cls(
            explanation.columns,
            explanation.cells[row],
            explanation.by_condition[row, k],
            explanation.by_consequent[row, k],
            base=float(explanation.base[k]),
            baseline=explanation.baseline,
            output_name=explanation.formula_names[k],
            probability=None if explanation.probability is None else float(explanation.probability[row, k]),
        )
        return display.plot(ax, max_columns=max_columns)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        row: int = 0,
        output: str | int = 0,
        *,
        baseline: Table = None,
        max_columns: int = 10,
        ax: Any = None,
    ) -> "WaterfallDisplay":
        """Draw one prediction of a fitted estimator.

        Parameters
        ----------
        estimator : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
            A fitted model.
        X : array or data frame of shape (n_rows, n_columns)
            Rows.
        row : int, default=0
            The row of X to explain.
        output : int or str, default=0
            The output.
        baseline : array or data frame with one row, optional
            The row to compare with; the average of the training rows by default.
        max_columns : int, default=10
            Most columns to show; the others are joined to one step.
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        _check_row(row, len(X))
        explanation = explain_local(estimator, X[row : row + 1], baseline=baseline)
        return cls.from_explanation(explanation, 0, output, max_columns=max_columns, ax=ax)

    def _draw(self, ax: Any, max_columns: int = 10) -> None:
        labels, parts = self._make_steps(max_columns)
        (ax,) = self._take_axes(ax, 1, (6.8, 1.4 + 0.4 * (len(labels) + 2)))
        ends = self.base + np.cumsum(parts.sum(axis=1))
        starts = np.r_[self.base, ends[:-1]]
        sums = parts.sum(axis=1)
        texts = write_numbers(np.r_[self.base, self.prediction, sums], spread=float(np.abs(sums).max()))
        for line, (start, part, text) in enumerate(zip(starts, parts, texts[2:], strict=True), start=1):
            _draw_step(ax, line, start, part, text)
        _draw_end(ax, 0, self.base, texts[0])
        _draw_end(ax, len(labels) + 1, self.prediction, texts[1])
        last = "prediction" if self.probability is None else f"probability {format_probability(self.probability)}"
        ax.set_yticks(range(len(labels) + 2), [as_plain(self.baseline), *labels, last])
        corners = np.r_[starts, starts + parts[:, 0], ends]
        margin = np.ptp(corners) or 1.0
        ax.set(xlim=(corners.min() - 0.04 * margin, corners.max() + 0.12 * margin), ylim=(len(labels) + 1.6, -0.6))
        ax.set_xlabel(as_plain(self.output_name))
        ax.tick_params(axis="y", length=0)
        clear_frame(ax, "left")
        thin_ticks(ax, 6)
        _add_legend(ax)

    def _make_steps(self, max_columns: int) -> tuple[list[str], FloatArray]:
        """Return the labels of the steps, and their parts of shape (n_steps, 2), through consequents and conditions."""
        if max_columns < 1:
            raise ValueError(f"max_columns must be at least 1, got {max_columns}.")
        parts = np.column_stack([self.by_consequent, self.by_condition])
        order = np.argsort(-np.abs(parts.sum(axis=1)), kind="stable")
        n_shown = max_columns if len(order) > max_columns + 1 else len(order)
        labels = [f"{as_plain(self.columns[c], 24)} = {as_plain(self.cells[c], 16)}" for c in order[:n_shown]]
        parts = parts[order]
        if n_shown < len(order):
            labels.append(f"{len(order) - n_shown} others")
            parts = np.vstack([parts[:n_shown], parts[n_shown:].sum(axis=0)])
        return labels, parts


def _check_row(row: int, n_rows: int) -> None:
    if not 0 <= row < n_rows:
        raise ValueError(f"row must be 0 to {n_rows - 1}, got {row}.")


def _draw_step(ax: Any, line: int, start: float, parts: FloatArray, text: str) -> None:
    """Draw the part through the consequents above, and from its end the part through the conditions."""
    by_consequent, by_condition = parts
    middle, end = start + by_consequent, start + parts.sum()
    ax.barh(line - _HALF / 2, by_consequent, _HALF, left=start, color=_UP if by_consequent > 0 else _DOWN)
    color = _UP if by_condition > 0 else _DOWN
    ax.barh(line + _HALF / 2, by_condition, _HALF, left=middle, color=color, alpha=_LIGHT)
    ax.plot([start, start], [line - 1 + _HALF, line], color=OTHER, lw=0.8, zorder=0)
    ax.plot([end, end], [line, line + 1 - _HALF], color=OTHER, lw=0.8, zorder=0)
    signed = text if text.startswith("-") or text == "0" else f"+{text}"
    ax.annotate(
        signed, (max(start, middle, end), line), (5, 0), textcoords="offset points", va="center", fontsize="small"
    )


def _draw_end(ax: Any, line: int, value: float, text: str) -> None:
    ax.plot([value], [line], marker="D", ms=6, color=OTHER)
    ax.annotate(
        text, (value, line), (9, 0), textcoords="offset points", va="center", fontsize="small", fontweight="bold"
    )


def _add_legend(ax: Any) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(color=OTHER, lw=0, label="through the consequents"),
        Patch(color=OTHER, lw=0, alpha=_LIGHT, label="through the conditions"),
    ]
    put_legend_above(ax, handles)
