"""Common parts of displays: colors, names as plain text, and axes."""

from collections.abc import Sequence
from typing import Any
from unicodedata import bidirectional

import numpy as np

from takagi._messages import need_extra
from takagi._text import format_to_step, shorten, step_below
from takagi._typing import FloatArray

# Okabe and Ito's colors, which color-blind people can distinguish, without those that vanish on white or black.
RULE_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#A0306E")
OTHER = "#8c8c8c"  # for other things than rules, and rules beyond the colors; visible on light and dark
DATA = {"color": OTHER, "alpha": 0.3, "linewidth": 0}  # histograms and frequencies
CONSEQUENTS, CONDITIONS = RULE_COLORS[0], RULE_COLORS[5]
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"


def color_rule(r: int) -> str:
    """Return the color of a rule, the same in every display; gray for all after the first few."""
    return RULE_COLORS[r] if r < len(RULE_COLORS) else OTHER


def as_plain(name: str, longest: int = 30) -> str:
    r"""Return a name that is drawn literally: short, not read as a formula, and without glyphs that the font lacks.

    >>> as_plain("cost ($) of a_b ($)")
    'cost (\\$) of a_b (\\$)'
    """
    fonts = _find_fonts()
    has_glyph = lambda character: any(font.get_char_index(ord(character)) for font in fonts)  # noqa: E731
    drawn = "".join(character if has_glyph(character) else _UNKNOWN for character in shorten(name, longest))
    if has_glyph(_LEFT_TO_RIGHT) and any(bidirectional(character) in ("R", "AL") for character in drawn):
        drawn = f"{_LEFT_TO_RIGHT}{drawn}{_LEFT_TO_RIGHT}"  # text beside a right-to-left name keeps its order
    return drawn.replace("$", r"\$")


def _find_fonts() -> list[Any]:
    """Return the fonts that matplotlib would use for a text."""
    manager = need_extra("matplotlib.font_manager", "plot")
    families = manager.FontProperties().get_family()
    return [manager.get_font(manager.findfont(manager.FontProperties(family=[family]))) for family in families]


def write_numbers(values: Sequence[float] | FloatArray, spread: float | None = None) -> list[str]:
    """Write numbers to the same decimal place, about a hundredth of their spread.

    They have about five digits at most, and NaN is an empty text.

    >>> write_numbers([1234.56, 1301.2, 1500.0]), write_numbers([1 / 3, 1 / 3 + 1e-12, float("nan")])
    (['1235', '1301', '1500'], ['0.33333', '0.33333', ''])
    """
    if spread is None:
        spread = measure_extent(values)
    step = step_below(spread) / 100 if spread > 0 else 1.0
    return [format_to_step(value, step) if np.isfinite(value) else "" for value in values]


def measure_extent(values: Sequence[float] | FloatArray) -> float:
    """Return the range of numbers, at least a hundredth of the largest."""
    finite = np.asarray(values, dtype=float)[np.isfinite(values)]
    return float(max(np.ptp(finite), 1e-2 * np.abs(finite).max())) if len(finite) else 0.0


def take_axes(ax: Any, n_axes: int, size: tuple[float, float], n_columns: int = 4, **options: Any) -> np.ndarray:
    """Return the given axes as an array, or new ones of a size in inches, at most `n_columns` side by side."""
    pyplot = need_extra("matplotlib.pyplot", "plot")
    if ax is None:
        n_columns = min(n_axes, n_columns)
        n_rows = -(-n_axes // n_columns)
        inches = (size[0] * n_columns, size[1] * n_rows)
        _, axes = pyplot.subplots(n_rows, n_columns, figsize=inches, layout="constrained", squeeze=False, **options)
        for unused in axes.flat[n_axes:]:
            unused.remove()
        return axes.ravel()[:n_axes]
    axes = np.array(ax, dtype=object).ravel()
    if not all(hasattr(one, "get_figure") and hasattr(one, "plot") for one in axes):
        raise TypeError(f"ax must be matplotlib Axes, got {type(ax).__name__}.")
    if len(axes) != n_axes:
        raise ValueError(f"ax must be {n_axes} axes, got {len(axes)}.")
    return axes


def clear_frame(ax: Any, *sides: str) -> None:
    """Hide the frame's top and right, and further sides."""
    ax.spines[["top", "right", *sides]].set_visible(False)


def thin_ticks(ax: Any, n_ticks: int = 5) -> None:
    """Leave room between the numbers along the x axis."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(n_ticks, steps=[1, 2, 2.5, 5, 10]))


def put_legend_above(ax: Any, handles: Sequence[Any], n_columns: int = 2) -> None:
    """Put a legend over the upper left corner, where it hides nothing."""
    ax.legend(
        handles=handles, frameon=False, fontsize="small", ncols=n_columns, loc="lower left", bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2, columnspacing=1.2,
    )  # fmt: skip


def add_note(ax: Any, text: str) -> None:
    """Write a small remark over the upper left corner."""
    ax.set_title(text, loc="left", fontsize="small", alpha=0.75)
