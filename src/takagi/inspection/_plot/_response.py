"""The prediction over one column or two, with the others fixed."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from takagi._messages import unknown_name
from takagi._model import OpenCommittee, open_committee
from takagi._typing import FloatArray, Table
from takagi._wording import name_outputs
from takagi.inspection._plot._display import Display
from takagi.inspection._plot._response_panels import (
    draw_bars,
    draw_cells,
    draw_contour,
    draw_curve,
    draw_lines,
    draw_surface,
)
from takagi.inspection._plot._sets import encode_rows
from takagi.inspection._plot._style import add_note
from takagi.inspection._plot._sweep import Sweep, make_sweep, measure_distance, predict_sweep

_KINDS = ("contour", "surface")
_POINTS = {1: 200, 2: 60}


@dataclass(eq=False, repr=False)
class ResponseDisplay(Display):
    """The prediction over one column, or over two, with the support of the data; for classes, the probability.

    Use `from_estimator`. One column of numbers gives a curve, dotted where no data are near; small ticks are the data,
    the shaded range has 90 % of them. A category gives bars from the mean over the data's levels. Two columns of
    numbers give a filled contour or a surface, faded where no data are near; a column of numbers and a category give a
    curve per level; two categories give a table of cells.

    Parameters
    ----------
    sweeps : sequence of one or two Sweep
        The columns, their values and the data.
    response : ndarray of shape (n_points,) or (n_points_0, n_points_1)
        Predictions.
    distance : ndarray of the same shape
        Distance of the nearest row of the data; up to 1 counts as near.
    output_name : str, default="y"
        Name of the output.
    others : str, default=""
        Description of the row with the values of the other columns.
    kind : {"contour", "surface"}, default="contour"
        How to draw two columns of numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import ResponseDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> ResponseDisplay.from_estimator(model, X, "bmi").response.shape
    (200,)
    >>> ResponseDisplay.from_estimator(model, X, ["bmi", "bp"]).response.shape
    (60, 60)
    """

    sweeps: Sequence[Sweep]
    response: FloatArray
    distance: FloatArray
    _: KW_ONLY
    output_name: str = "y"
    others: str = ""
    kind: str = "contour"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        features: str | int | Sequence[str | int],
        *,
        row: int | Table = None,
        output: str | int = 0,
        kind: str = "contour",
        ax: Any = None,
    ) -> "ResponseDisplay":
        """Draw the response of a fitted estimator.

        Parameters
        ----------
        estimator : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
            A fitted model.
        X : array or data frame of shape (n_rows, n_columns)
            Data for the range of the columns and the support.
        features : str, int, or a sequence of one or two of them
            The columns.
        row : int, or array or data frame with one row, optional
            Values of the other columns: the number of a row of X, or a given row; the average of the training rows by
            default.
        output : int or str, default=0
            The output.
        kind : {"contour", "surface"}, default="contour"
            How to draw two columns of numbers; a surface needs axes with ``projection="3d"``.
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        committee = open_committee(estimator)
        opened = committee.first
        k = opened.find_output(output)
        wanted = [features] if isinstance(features, (str, int, np.integer)) else list(features)
        if len(wanted) not in (1, 2):
            raise ValueError(f"features must be one or two columns, got {len(wanted)}.")
        rows = encode_rows(opened, X)
        sweeps = [make_sweep(opened, rows, feature, _POINTS[len(wanted)]) for feature in wanted]
        start, others = _choose_start(committee, rows, row)
        display = cls(
            sweeps,
            predict_sweep(committee, start, sweeps, k),
            measure_distance(sweeps),
            output_name=("" if opened.model.link == "identity" else "probability of ") + name_outputs(opened.model)[k],
            others=others if len(opened.columns) > len(sweeps) else "",
            kind=kind,
        )
        return display.plot(ax)

    def _draw(self, ax: Any) -> None:
        self._check()
        is_surface = self.kind == "surface"
        options: dict[str, Any] = {"subplot_kw": {"projection": "3d"}} if is_surface else {}
        (ax,) = self._take_axes(ax, 1, (5.6, 4.4) if len(self.sweeps) == 2 else (5.2, 3.4), **options)
        if is_surface and not hasattr(ax, "plot_surface"):
            raise TypeError('a surface needs axes with projection="3d", for example plt.subplot(projection="3d").')
        self._draw_panel(ax)
        add_note(ax, "; ".join(filter(None, [self.others, self._say_support()])))

    def _say_support(self) -> str:
        if (self.distance <= 1).all():
            return ""
        is_curve = sum(not sweep.levels for sweep in self.sweeps) == 1
        return "dotted: no data near" if is_curve else "faded: no data near"

    def _check(self) -> None:
        if self.kind not in _KINDS:
            raise unknown_name("kind", self.kind, _KINDS)
        names = [sweep.name for sweep in self.sweeps]
        if len(set(names)) < len(names):
            raise ValueError(f"features must be two different columns, got {names[0]!r} twice.")
        if self.kind == "surface" and (len(names) < 2 or any(sweep.levels for sweep in self.sweeps)):
            raise ValueError(f"a surface needs two columns of numbers, got {', '.join(map(repr, names))}.")

    def _draw_panel(self, ax: Any) -> None:
        order = sorted(range(len(self.sweeps)), key=lambda axis: bool(self.sweeps[axis].levels))  # numbers first
        sweeps = [self.sweeps[axis] for axis in order]
        arrays = (self.response.transpose(order), self.distance.transpose(order), self.output_name)
        n_levels = sum(bool(sweep.levels) for sweep in sweeps)
        if len(sweeps) == 1:
            (draw_curve, draw_bars)[n_levels](ax, sweeps[0], *arrays)
        elif self.kind == "surface":
            draw_surface(ax, sweeps, *arrays)
        else:
            (draw_contour, draw_lines, draw_cells)[n_levels](ax, sweeps, *arrays)


def _choose_start(committee: OpenCommittee, rows: FloatArray, row: int | Table) -> tuple[FloatArray, str]:
    """Return the encoded row with the values of the other columns, and its description."""
    if row is None:
        average = committee.average_row()
        return np.nanmean(rows, axis=0) if average is None else average, "other columns at the average row"
    if isinstance(row, (int, np.integer)):
        if not 0 <= row < len(rows):
            raise ValueError(f"row must be 0 to {len(rows) - 1}, got {row}.")
        return rows[row], f"other columns as in row {row}"
    encoded = committee.first.encode(row)
    if len(encoded) != 1:
        raise ValueError(f"row must be a row of X by its number, or a table with one row, got {len(encoded)} rows.")
    return encoded[0], "other columns as in the given row"
