"""The base class of displays: data that can be drawn repeatedly."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from takagi.inspection._plot._style import take_axes


class Display(ABC):
    """A plot in the style of scikit-learn's Displays.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The axes of the plot, one for each panel.
    figure_ : matplotlib Figure
    """

    axes_: np.ndarray
    figure_: Any

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw, and return the display.

        Parameters
        ----------
        ax : Axes, or a sequence of one for each panel, optional
            Where to draw; a new figure by default.
        **options : dict
            `max_features` of an `ImportanceDisplay` and `max_columns` of a `WaterfallDisplay`, as in `from_estimator`.
        """
        self._draw(ax, **options)
        return self

    @abstractmethod
    def _draw(self, ax: Any, *args: Any, **options: Any) -> None:
        """Draw into the axes that the user gave, or None."""

    def _take_axes(self, ax: Any, n_axes: int, size: tuple[float, float], **options: Any) -> np.ndarray:
        """Set and return the axes; see `take_axes`."""
        self.axes_ = take_axes(ax, n_axes, size, **options)
        self.figure_ = self.axes_[0].figure
        return self.axes_
