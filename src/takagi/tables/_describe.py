"""The kind of a column of a training table, and its cells as text."""

import numpy as np

from takagi._text import format_number
from takagi._typing import FloatArray, IntArray
from takagi.tables._cells import Cells, as_dates, as_numbers, as_truth, as_words, find_form, find_kind
from takagi.tables._column import MISSING, RANK, Column, split_date
from takagi.tables._formats import find_date_form
from takagi.tables._means import describe_means


def describe_column(
    cells: Cells, name: str, limits: tuple[int, int] = (20, 1), target: FloatArray | None = None
) -> list[Column]:
    """Return the description of a column, with the fill for its missing values; a date may be several columns.

    `limits` are the largest number of levels of a category, and the smallest number of rows of a level.
    """
    kind = find_kind(cells)
    if kind == "nothing":
        return [Column(name, "category", has_missing=True, has_others=True)]
    if kind == "date":
        written = "y-m-d" if cells.numbers is not None else find_date_form(cells.words) or ""
        return split_date(as_dates(cells, name, written), name, written) or [Column(name, "category", has_others=True)]
    if kind == "category":
        return [_describe_words(cells, name, limits, target)]
    form = None if cells.numbers is not None or kind == "boolean" else find_form(cells.words)
    values = as_numbers(cells, name, form) if kind == "number" else as_truth(cells, name)
    missing = np.isnan(values)
    present = values[~missing] if missing.any() else values
    fill = 2 * float(np.median(0.5 * present)) if kind == "number" else float(present.mean() > 0.5)  # no overflow
    return [Column(name, kind, (), fill, bool(missing.any()), reading=f"number {form}" if form else "")]


def _describe_words(cells: Cells, name: str, limits: tuple[int, int], target: FloatArray | None) -> Column:
    codes, words = as_words(cells)
    if cells.kind == "ordered":
        return _describe_order(codes, words, name)
    max_levels, min_frequency = limits
    counts = {words[k]: count for k, count in count_codes(codes)}
    frequent = [word for word, count in counts.items() if count >= max(2, min_frequency)]
    n_frequent = sum(counts[word] for word in frequent)
    if target is not None and len(frequent) > max_levels and 2 * n_frequent >= len(codes):
        return describe_means(name, words, codes, target, np.isin(words, frequent))
    levels = _choose_levels(counts, max_levels, min_frequency)
    has_missing = bool((codes < 0).any())
    if target is not None and 2 * sum(counts[word] for word in levels) < sum(counts.values()):
        return Column(name, "category", (), 0.0, has_missing, has_others=True)  # names: not useful
    return Column(
        name, "category", tuple(levels + [MISSING] * has_missing), 0.0, has_missing, len(levels) < len(counts)
    )


def _describe_order(codes: IntArray, words: tuple[str, ...], name: str) -> Column:
    """Return an ordered category as a number: the rank of its level, from 1."""
    places = np.where(codes >= 0, codes + 1.0, np.nan)
    has_missing = bool(np.isnan(places).any())
    ranks = tuple(map(float, range(1, len(words) + 1)))
    return Column(name, "number", words, float(np.nanmedian(places)), has_missing, reading=RANK, values=ranks)


def _choose_levels(counts: dict[str, int], max_levels: int, min_frequency: int) -> list[str]:
    levels = sorted(word for word, count in counts.items() if count >= min_frequency)
    if len(levels) > max_levels:
        frequent = sorted((word for word in levels if counts[word] > 1), key=lambda word: -counts[word])
        levels = sorted(frequent[:max_levels])
    return levels


def count_codes(codes: IntArray) -> list[tuple[int, int]]:
    """Return the codes that occur, and how often; missing values are not counted."""
    return [(k, count) for k, count in enumerate(np.bincount(codes[codes >= 0]).tolist()) if count]


# -- cells as text -----------------------------------------------------------------------------------------------------


def show_cells(cells: Cells, column: Column) -> list[str]:
    """Return the cells of a column as text; it says what a missing number counts as, and if a level is unknown."""
    if column.is_words:
        codes, words = as_words(cells)
        is_known = column.has_others or not column.levels
        shown = [word if is_known or word in column.levels else f"{word} (unknown)" for word in words] + [MISSING]
        return [shown[code] for code in codes]
    missing = MISSING if column.fill is None else f"{MISSING} (taken as {_write(column.fill, column)})"
    return [missing if np.isnan(value) else _write(value, column) for value in column.read(cells)]


def _write(value: float, column: Column) -> str:
    if column.kind == "boolean":
        return str(bool(value)).lower()
    return dict(zip(column.values, column.levels, strict=True)).get(value) or format_number(value)
