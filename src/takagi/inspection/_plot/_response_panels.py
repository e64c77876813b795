"""Drawing of responses: curves, bars, contours, surfaces, curves per level, cells."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from takagi._text import format_share
from takagi._typing import BoolArray, FloatArray
from takagi.inspection._plot._style import (
    OTHER,
    RULE_COLORS,
    as_plain,
    clear_frame,
    color_rule,
    thin_ticks,
    write_numbers,
)
from takagi.inspection._plot._sweep import Sweep

_CURVE = RULE_COLORS[0]
_FADED = 0.25
_MAX_MARKS = 500
_MAX_TEXTS = 100


def draw_curve(ax: Any, sweep: Sweep, response: FloatArray, distance: FloatArray, output_name: str) -> None:
    """Draw a response over numbers; dotted where no data are near."""
    _draw_supported(ax, sweep.grid, response, distance <= 1, _CURVE, lw=2.2)
    values = sweep.data[np.isfinite(sweep.data)]
    if len(values):
        ax.axvspan(*np.quantile(values, [0.05, 0.95]), color=OTHER, alpha=0.12, lw=0, zorder=0)
    _draw_rug(ax, values)
    ax.set(xlabel=as_plain(sweep.name), ylabel=as_plain(output_name))
    thin_ticks(ax, 7)
    clear_frame(ax)


def draw_bars(ax: Any, sweep: Sweep, response: FloatArray, distance: FloatArray, output_name: str) -> None:
    """Draw a response over levels as bars from the mean over the data's levels; faded if no row has the level."""
    frequency = sweep.frequency
    start = float(np.average(response, weights=frequency if frequency.any() else None))
    bars = ax.bar(sweep.grid, response - start, 0.7, bottom=start, color=_CURVE)
    for bar, has_rows in zip(bars, distance <= 1, strict=True):
        bar.set_alpha(1.0 if has_rows else _FADED)
    ax.axhline(start, color=OTHER, lw=1)
    ax.annotate(
        "mean", (1, start), (4, 0), xycoords=("axes fraction", "data"), textcoords="offset points", va="center",
        fontsize="small", alpha=0.75,
    )  # fmt: skip
    names = _name_levels(sweep)
    between = " " if _is_crowded(names) else "\n"
    _mark_levels(ax.xaxis, [f"{a}{between}({format_share(b)})" for a, b in zip(names, frequency, strict=True)])
    ax.set(xlabel=_name_axis(sweep), ylabel=as_plain(output_name))
    clear_frame(ax)


def draw_contour(
    ax: Any, sweeps: Sequence[Sweep], response: FloatArray, distance: FloatArray, output_name: str
) -> None:
    """Draw a response over two columns of numbers as filled contours with the data; faded where no data are near."""
    grids = [sweep.grid for sweep in sweeps]
    filled = ax.contourf(*grids, response.T, levels=_choose_levels(response), cmap="viridis")
    if (distance > 1).any():
        ax.contourf(*grids, np.minimum(distance, 9.0).T, levels=[1.0, 10.0], colors=[ax.get_facecolor()], alpha=0.7)
    points = _thin(np.column_stack([sweep.data for sweep in sweeps]))
    ax.plot(*points.T, ls="", marker="o", ms=2.5, mew=0, alpha=0.5, color=_text_color())
    ax.set(xlabel=as_plain(sweeps[0].name), ylabel=as_plain(sweeps[1].name))
    ax.set(xlim=grids[0][[0, -1]], ylim=grids[1][[0, -1]])
    thin_ticks(ax, 7)
    ax.figure.colorbar(filled, ax=ax, label=as_plain(output_name))


def draw_surface(
    ax: Any, sweeps: Sequence[Sweep], response: FloatArray, distance: FloatArray, output_name: str
) -> None:
    """Draw a response over two columns of numbers as a surface over the data; faded where no data are near."""
    from matplotlib import colormaps

    spread = np.ptp(response) or 1.0
    colors = colormaps["viridis"]((response - response.min()) / spread)
    colors[..., 3] = np.where(distance <= 1, 1.0, _FADED)
    grids = np.meshgrid(*(sweep.grid for sweep in sweeps), indexing="ij")
    ax.plot_surface(*grids, response, facecolors=colors, rcount=60, ccount=60, linewidth=0, shade=False)
    floor = response.min() - 0.15 * spread
    points = _thin(np.column_stack([sweep.data for sweep in sweeps]))
    ax.plot(*points.T, np.full(len(points), floor), ls="", marker="o", ms=1.5, mew=0, alpha=0.6, color=OTHER)
    ax.set(xlabel=as_plain(sweeps[0].name), ylabel=as_plain(sweeps[1].name), zlabel=as_plain(output_name))
    ax.set_zlim(floor, response.max() + 0.05 * spread)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0, 0, 0, 0))


def draw_lines(ax: Any, sweeps: Sequence[Sweep], response: FloatArray, distance: FloatArray, output_name: str) -> None:
    """Draw a response over numbers, a curve for each level; dotted where no row of the level is near."""
    numbers, levels = sweeps
    order = np.argsort(-levels.frequency, kind="stable")
    names = _name_levels(levels)
    curves = []
    for place, k in enumerate(order):
        color, width = color_rule(place), 2.0 if place < len(RULE_COLORS) else 1.0
        curves.append(_draw_supported(ax, numbers.grid, response[:, k], distance[:, k] <= 1, color, lw=width, zorder=3))
    _draw_rug(ax, numbers.data)
    ax.set(xlabel=as_plain(numbers.name), ylabel=as_plain(output_name))
    thin_ticks(ax, 7)
    clear_frame(ax)
    entries = [names[k] for k in order[: len(RULE_COLORS)]]
    if len(order) > len(entries):
        entries.append(f"{len(order) - len(entries)} others")
    ax.legend(
        curves[: len(entries)], [f" {entry}" for entry in entries], title=_name_axis(levels), frameon=False,
        fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0),
    )  # fmt: skip


def draw_cells(ax: Any, sweeps: Sequence[Sweep], response: FloatArray, distance: FloatArray, output_name: str) -> None:
    """Draw a response over two columns of levels as a table of colored cells; faded if no row has both levels."""
    mesh = ax.pcolormesh(response.T, cmap="viridis", alpha=np.where(distance.T <= 1, 1.0, _FADED))
    middle = (response.min() + response.max()) / 2
    if response.size <= _MAX_TEXTS:
        for (i, j), text in zip(np.ndindex(response.shape), write_numbers(response.ravel()), strict=True):
            is_bright = response[i, j] > middle
            color = _text_color() if distance[i, j] > 1 else "black" if is_bright else "white"
            ax.text(i + 0.5, j + 0.5, text, ha="center", va="center", fontsize="small", color=color)
    for axis, sweep in zip((ax.xaxis, ax.yaxis), sweeps, strict=True):
        _mark_levels(axis, _name_levels(sweep), offset=0.5)
        axis.set_label_text(_name_axis(sweep))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(mesh, ax=ax, label=as_plain(output_name))


# -- parts -------------------------------------------------------------------------------------------------------------


def _draw_supported(ax: Any, grid: FloatArray, curve: FloatArray, is_near: BoolArray, color: str, **style: Any) -> Any:
    """Draw a curve, solid where data are near and dotted elsewhere; return the solid line."""
    ax.plot(grid, curve, color=color, ls=":", lw=1.2)
    return ax.plot(grid, np.where(is_near, curve, np.nan), color=color, **style)[0]


def _draw_rug(ax: Any, values: FloatArray) -> None:
    marks = _thin(values[np.isfinite(values)])
    ax.plot(marks, np.zeros(len(marks)), "|", color=OTHER, ms=9, alpha=0.5, transform=ax.get_xaxis_transform())


def _choose_levels(response: FloatArray) -> int | list[float]:
    """Return the number of contours, or a single step around a response that is constant up to rounding."""
    middle = float(response.mean())
    if np.ptp(response) > 1e-9 * np.abs(response).max():
        return 14
    margin = 0.1 * abs(middle) or 1.0
    return [middle - margin, middle + margin]


def _thin(values: FloatArray) -> FloatArray:
    """Return at most about five hundred rows."""
    return values[:: -(-len(values) // _MAX_MARKS) or 1]


def _name_levels(sweep: Sweep) -> list[str]:
    return [as_plain(level, 16) for level in sweep.levels]


def _name_axis(sweep: Sweep) -> str:
    left_out = f" ({len(sweep.levels)} of {sweep.n_levels} levels)" if len(sweep.levels) < sweep.n_levels else ""
    return as_plain(sweep.name) + left_out


def _is_crowded(labels: Sequence[str]) -> bool:
    return sum(map(len, labels)) > 40


def _mark_levels(axis: Any, labels: Sequence[str], offset: float = 0.0) -> None:
    is_tilted = axis.axis_name == "x" and _is_crowded([label.split("\n")[0] for label in labels])
    tilt = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if is_tilted else {}
    axis.set_ticks(np.arange(len(labels)) + offset, labels, **tilt)


def _text_color() -> str:
    from matplotlib import rcParams

    return rcParams["text.color"]
