"""The picture of `frontier.py`: errors against words, a point per method."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from _frontier_tables import find_common, find_typical_words, load_outcomes

if TYPE_CHECKING:
    import pandas as pd

OURS, ACCURATE = "takagi", "takagi default"
FAMILIES = {
    "tree": ("#5a8f4e", "^"),
    "linear tree": ("#5a8f4e", "D"),
    "Cubist": ("#c9752b", "s"),
    "FIGS": ("#a8862a", "v"),
    "RuleFit": ("#a8862a", "P"),
    "highfis": ("#8a63a8", "X"),
    "PyTSK": ("#8a63a8", "X"),
    OURS: ("#1f5fa8", "o"),
}
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.edgecolor": "0.5",
    "xtick.color": "0.3",
    "ytick.color": "0.3",
}
_GAP = 9.0  # points between a mark and its label
_PLACES = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8))


@dataclass(frozen=True)
class Mark:
    """A method in the picture: mean error over so many sets, and typical words; without words it is a line."""

    name: str
    error: float
    words: float
    n_sets: int

    @property
    def look(self) -> tuple[str, str]:
        """Color and marker, those of the longest family name that fits."""
        names = [family for family in FAMILIES if self.name.startswith(family)]
        return FAMILIES[max(names, key=len)] if names else ("0.35", "o")


def list_marks(results: "pd.DataFrame") -> list[Mark]:
    """Return the methods that have most sets, with their errors on the partitions that all of them have."""
    outcomes = load_outcomes(results)
    errors, words = find_common(outcomes), find_typical_words(outcomes)
    return [Mark(name, errors[name].mean(), words[name], len(errors)) for name in errors.columns if len(errors)]


def draw_frontier(results: "pd.DataFrame", path: Path) -> Path:
    """Draw errors against words; takagi's sizes are joined by a line, methods without words are horizontal lines."""
    from matplotlib import pyplot as plt

    marks = list_marks(results)
    if not marks:
        raise SystemExit("There are no outcomes yet: python benchmarks/frontier.py")
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(9, 5.6), layout="constrained")
        points, lines = ([mark for mark in marks if np.isnan(mark.words) == without] for without in (False, True))
        draw_axes(ax, points, lines)
        ours = sorted((mark for mark in points if is_short(mark)), key=lambda mark: mark.words)
        ax.plot([mark.words for mark in ours], [mark.error for mark in ours], color=FAMILIES[OURS][0], lw=2, zorder=2)
        for mark in points:
            color, marker = mark.look
            ax.scatter(mark.words, mark.error, s=64, color=color, marker=marker, edgecolor="white", lw=0.8, zorder=3)
        draw_lines(ax, lines)
        label_points(figure, ax, points, lines, ours)
        figure.savefig(path, dpi=150)
        plt.close(figure)
    return path


def is_short(mark: Mark) -> bool:
    """Return whether a mark is one of the sizes of takagi's short rules."""
    return mark.name.startswith(OURS) and mark.name != ACCURATE


def draw_axes(ax: Any, points: list[Mark], lines: list[Mark]) -> None:
    """Set scales, limits and titles."""
    words, errors = [mark.words for mark in points], [mark.error for mark in points + lines]
    margin = 0.08 * (max(errors) - min(errors)) + 0.01
    ax.set(xscale="log", xlim=(min(words) / 1.5, max(words) * 1.6), ylim=(min(errors) - margin, max(errors) + margin))
    ticks = [
        tick for tick in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if min(words) / 1.5 < tick < max(words) * 1.6
    ]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
    ax.grid(color="0.92")
    if min(errors) < 1 < max(errors):
        ax.axhline(1, color="0.75", lw=1.2, zorder=1)
        ax.annotate("ridge regression", (1, 1), (0, 2), ("axes fraction", "data"), "offset points", ha="right",
                    va="bottom", color="0.55", fontsize=9)  # fmt: skip
    ax.set_xlabel("words to read: rules + conditions + terms, geometric mean over sets (log scale)")
    ax.set_ylabel(f"test RMSE over that of ridge regression, mean of {points[0].n_sets} sets")
    ax.set_title("Error against size of models that people read", loc="left", fontsize=12, fontweight="bold")
    ax.annotate("better", (0.012, 0.02), (0.07, 0.09), "axes fraction", "axes fraction", color="0.5", fontsize=9,
                arrowprops={"arrowstyle": "->", "color": "0.6"})  # fmt: skip


def draw_lines(ax: Any, lines: list[Mark]) -> None:
    """Draw methods without words as horizontal lines, named at the right, above the higher and below the lower one."""
    for level, mark in enumerate(sorted(lines, key=lambda mark: -mark.error)):
        ax.axhline(mark.error, color=mark.look[0], lw=1.2, ls=(0, (6, 3)), zorder=1)
        side, shift = ("bottom", 2) if level == 0 else ("top", -3)
        ax.annotate(f"{mark.name}: curves, no rules", (1, mark.error), (0, shift), ("axes fraction", "data"),
                    "offset points", ha="right", va=side, color=mark.look[0], fontsize=9)  # fmt: skip


def label_points(figure: Any, ax: Any, points: list[Mark], lines: list[Mark], ours: list[Mark]) -> None:
    """Name the points, each where its name covers the least of marks, lines and names that are there."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    taken = [text.get_window_extent(renderer).expanded(1.0, 1.1) for text in ax.texts]
    where = {mark.name: ax.transData.transform((mark.words, mark.error)) for mark in points}
    occupied = [*where.values(), *trace([where[mark.name] for mark in ours])]
    for mark in lines:
        level = ax.transData.transform((1.0, mark.error))[1]
        occupied += trace([np.array([ax.bbox.x0, level]), np.array([ax.bbox.x1, level])])
    for mark in sorted(points, key=lambda mark: (not mark.name.startswith(OURS), mark.words)):
        boxes = []
        for place in _PLACES:
            text = place_label(ax, mark, place)
            boxes.append(text.get_window_extent(renderer))
            text.remove()
        costs = [count_covered(box, occupied, taken, ax.bbox) for box in boxes]
        best = int(np.argmin(costs))
        place_label(ax, mark, _PLACES[best])
        taken.append(boxes[best])


def place_label(ax: Any, mark: Mark, place: tuple[float, float]) -> Any:
    """Write the name of a point beside it."""
    across, up = place
    return ax.annotate(
        mark.name,
        (mark.words, mark.error),
        (_GAP * across, _GAP * up),
        textcoords="offset points",
        ha="center" if not across else "left" if across > 0 else "right",
        va="center" if not up else "bottom" if up > 0 else "top",
        color=mark.look[0],
        fontweight="bold" if mark.name.startswith(OURS) else "normal",
        zorder=4,
    )


def trace(corners: list[Any]) -> list[Any]:
    """Return points along the line through some corners."""
    steps = np.linspace(0, 1, 50)
    return [start + share * (end - start) for start, end in pairwise(corners) for share in steps]


def count_covered(box: Any, occupied: list[Any], taken: list[Any], frame: Any) -> float:
    """Return how much a box covers: points, other boxes, and what is outside the frame."""
    covered = sum(box.x0 - 4 < x < box.x1 + 4 and box.y0 - 4 < y < box.y1 + 4 for x, y in occupied)
    outside = box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1
    return covered + 10 * sum(box.overlaps(other) for other in taken) + 20 * outside
