"""The training history: the errors of batches and of held-out rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from takagi._model import open_model
from takagi._typing import FloatArray
from takagi._wording import name_outputs
from takagi.inspection._plot._display import Display
from takagi.inspection._plot._style import (
    OTHER,
    RULE_COLORS,
    as_plain,
    clear_frame,
    put_legend_above,
    write_numbers,
)

_TRAINING, _VALIDATION = RULE_COLORS[1], RULE_COLORS[0]
_LOG_FROM = 4.0  # the ratio of the largest to the smallest error from which the axis is logarithmic


@dataclass(eq=False, repr=False)
class HistoryDisplay(Display):
    """Training and validation error over the iterations, with the iteration of the returned rules.

    Use `from_estimator`. The errors of single batches are light, their running mean is dark.

    Parameters
    ----------
    train_loss, val_loss : ndarray of shape (n_iter,)
        The errors; those on validation rows are NaN if there are none.
    best_iter : int
        The iteration, from 1, that was kept; 0 for the initial rules.
    label : str
        Name of the errors.
    iterations : ndarray of shape (n,), optional
        The iterations of the errors, if some are left out; all from 1 by default.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import HistoryDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = HistoryDisplay.from_estimator(model)
    >>> display.best_iter == model.best_iter_, display.label
    (True, 'RMSE of target')
    """

    train_loss: FloatArray
    val_loss: FloatArray
    best_iter: int
    label: str = "RMSE"
    iterations: Any = None

    def __post_init__(self) -> None:
        if self.iterations is None:
            self.iterations = np.arange(1, len(self.val_loss) + 1)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "HistoryDisplay":
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : TSKRegressor or Pipeline
            A fitted model.
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        opened = open_model(estimator)
        model = opened.regressor
        if not hasattr(model, "history_"):
            raise ValueError(
                f"this {type(estimator).__name__} has no training history. Give the fitted TSKRegressor or Pipeline."
            )
        if not model.n_iter_ or model.stopped_ == "logistic":
            line = "ridge" if opened.model.link == "identity" else "logistic"
            raise ValueError(
                f"this model has no training history: {line} regression did better than the pilot fits and is its only "
                "rule."
            )
        names = name_outputs(opened.model)
        label = f"RMSE of {names[0]}" if len(names) == 1 else "RMSE"
        if opened.model.link != "identity":
            label = "log loss"
        elif len(names) > 1 and model.standardize is True:
            label = "RMSE in standard deviations"
        history = model.history_
        errors = history["train_loss"], history["val_loss"]
        return cls(*errors, model.best_iter_, label, history.get("iteration")).plot(ax)

    def _draw(self, ax: Any) -> None:
        (ax,) = self._take_axes(ax, 1, (6.4, 3.6))
        iterations = self.iterations
        smooth = _running_mean(self.train_loss, max(1, len(self.train_loss) // 50))
        ax.plot(iterations, self.train_loss, color=_TRAINING, lw=0.6, alpha=0.3)
        ax.plot(iterations, smooth, color=_TRAINING, lw=1.8, label="training, running mean")
        if np.isfinite(self.val_loss).any():
            ax.plot(iterations, self.val_loss, color=_VALIDATION, lw=1.8, label="validation")
            self._mark_best(ax)
        self._limit(ax, np.r_[smooth, self.val_loss])
        ax.set(xlabel="iteration", ylabel=as_plain(self.label), xlim=(0, max(iterations.max(initial=1), 1) * 1.02))
        clear_frame(ax)
        put_legend_above(ax, [line for line in ax.lines if not line.get_label().startswith("_")], n_columns=3)

    def _mark_best(self, ax: Any) -> None:
        if not self.best_iter:
            ax.plot([], [], ls="", label="best: the initial rules")
            return
        best = self.val_loss[np.searchsorted(self.iterations, self.best_iter)]
        label = f"best: {write_numbers([best])[0]} in iteration {self.best_iter}"
        ax.axvline(self.best_iter, color=OTHER, lw=0.8, ls=":")
        ax.plot([self.best_iter], [best], ls="", marker="o", ms=7, color=_VALIDATION, label=label)

    @staticmethod
    def _limit(ax: Any, values: FloatArray) -> None:
        """Choose the scale by the smooth curves, since single batches would waste space."""
        values = values[np.isfinite(values) & (values > 0)]
        if not len(values):
            return
        low, high = values.min(), values.max()
        if high > _LOG_FROM * low:
            ax.set(yscale="log", ylim=(low * 0.85, high * 1.15))
            _write_log_ticks(ax)
        else:
            margin = 0.15 * (high - low) or 0.1 * high
            ax.set(ylim=(low - margin, high + margin))


def _write_log_ticks(ax: Any) -> None:
    """Write plain numbers, not powers of ten, along a short logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _running_mean(values: FloatArray, window: int) -> FloatArray:
    """Return the mean of the last `window` values, or of fewer at the beginning."""
    sums = np.cumsum(np.r_[0.0, values])
    stop = np.arange(1, len(values) + 1)
    start = np.maximum(stop - window, 0)
    return (sums[stop] - sums[start]) / (stop - start)
