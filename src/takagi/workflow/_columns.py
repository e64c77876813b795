"""The columns of a training table: how they are read, and which of them are useful."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takagi._text import quote, write_number
from takagi._typing import FloatArray
from takagi.tables import (
    MISSING,
    Cells,
    Column,
    as_numbers,
    as_words,
    describe_column,
    find_form,
    find_kind,
    find_odd_word,
    read_cells,
)

LEFT_OUT = "left out"
_LONGEST_LIST = 40


@dataclass(frozen=True)
class ColumnSummary:
    """How one column is read.

    Attributes
    ----------
    name : str
        The column.
    read_as : {"number", "boolean", "category", "date", "left out"}
        The kind of the column.
    what : str
        Its range or levels, or why it is left out.
    n_missing : int
        Number of missing values.
    """

    name: str
    read_as: str
    what: str
    n_missing: int = 0


def summarize_columns(table: Any, y: FloatArray | None, max_levels: int = 20) -> list[ColumnSummary]:
    """Summarize how `TableEncoder` reads each column of a data frame, and which columns are useless."""
    return [_summarize(table[name], name, y, max_levels) for name in table.columns]


def _summarize(values: Any, name: str, y: FloatArray | None, max_levels: int) -> ColumnSummary:
    try:
        cells = read_cells(values, name)
    except (ValueError, TypeError):
        return ColumnSummary(name, LEFT_OUT, "neither numbers, dates nor text")
    reason = _screen(cells)
    if reason:
        return ColumnSummary(name, LEFT_OUT, reason, _count_missing(cells))
    return _describe(describe_column(cells, name, (max_levels, 1), y), cells)


def read_as(values: Any, name: str, kind: str) -> Any:
    """Return a column converted to a kind, or raise an error with the first row that does not fit."""
    cells = read_cells(values, name)
    if find_kind(cells) in (kind, "nothing"):
        return values
    codes, words = as_words(cells)
    if kind == "number" and find_form(words) is not None:
        return as_numbers(cells, name)
    odd = find_odd_word(words)
    row = int(np.argmax(codes == (odd[1] if odd is not None else 0)))
    raise ValueError(
        f"column {quote(name)} is to be read as {kind}s, but row {row} has {quote(words[codes[row]])}. Correct it, or "
        "leave the cell empty."
    )


# -- parts -------------------------------------------------------------------------------------------------------------


def _screen(cells: Cells) -> str:
    """Return why a column is useless, or an empty text if it is not."""
    if find_kind(cells) == "nothing":
        return "empty"
    codes, words = as_words(cells)
    return f"always {words[0]}" if len(words) == 1 and (codes >= 0).all() else ""


def _describe(columns: Sequence[Column], cells: Cells) -> ColumnSummary:
    """Summarize a column, which becomes one column or, for a date, several."""
    first, n_missing = columns[0], _count_missing(cells)
    codes, words = as_words(cells)
    if not first.inputs:
        return ColumnSummary(first.origin, LEFT_OUT, f"{len(words):,} different texts", n_missing)
    if first.is_date:
        parts = ", ".join(column.reading.split(" of ")[0] for column in columns)
        return ColumnSummary(first.origin, "date", parts, n_missing)
    if first.is_words:
        levels = [level for level in first.levels if level != MISSING or not (codes < 0).any()]
        how = {"mean": ", by the target's means", "rank": ", in order"}.get(first.reading, "")
        return ColumnSummary(first.name, "category", _list_levels(levels, len(words), how), n_missing)
    values = first.read(cells)
    if first.kind == "boolean":
        return ColumnSummary(first.name, "boolean", f"true in {100 * np.nanmean(values):.0f} %", n_missing)
    low, high = (write_number(limit(values)) for limit in (np.nanmin, np.nanmax))
    unit = first.reading.removeprefix("number ")[1:]
    what = (f"{low} to {high}" if low != high else low) + (f" ({unit})" if unit else "")
    return ColumnSummary(first.name, "number", what, n_missing)


def _list_levels(levels: Sequence[str], n_words: int, how: str = "") -> str:
    shown = ""
    for level in levels:
        if len(shown) + len(level) > _LONGEST_LIST:
            shown += "..."
            break
        shown += f"{level}, "
    of = f" of {n_words:,}" if len(levels) < n_words else ""
    return f"{len(levels)}{of}{how}: {shown.removesuffix(', ')}"


def _count_missing(cells: Cells) -> int:
    return int(np.isnan(cells.numbers).sum() if cells.numbers is not None else (as_words(cells)[0] < 0).sum())
