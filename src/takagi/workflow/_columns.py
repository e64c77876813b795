"""What a table for training holds: which columns can be learned from, how they are read, and the target."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takagi._text import quote, write_number
from takagi._typing import BoolArray, FloatArray
from takagi.tables import (
    MISSING,
    Cells,
    Column,
    ColumnWarning,
    TableEncoder,
    as_numbers,
    as_words,
    find_kind,
    parse_number,
    read_cells,
)

LEFT_OUT = "left out"
_LONGEST_LIST = 40
_CLOCK = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2}|[AaPp][Mm])?)?"
_DATE = re.compile(rf"\s*(\d{{4}}-\d{{1,2}}-\d{{1,2}}|(\d{{1,4}})([./])\d{{1,2}}\3\d{{1,4}}){_CLOCK}\s*")
_TIME = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*")


@dataclass(frozen=True)
class ColumnSummary:
    """How one column is read.

    Attributes
    ----------
    name : str
        The column.
    read_as : {"number", "boolean", "category", "left out"}
        What it is.
    what : str
        Its range or levels, or why it is left out.
    n_missing : int
        How many rows have no value.
    """

    name: str
    read_as: str
    what: str
    n_missing: int = 0


def summarize_columns(table: Any) -> list[ColumnSummary]:
    """Say of each column of a data frame how it is read, and which have nothing to learn from."""
    cells = {name: _read(table[name], name) for name in table.columns}
    screened = {name: _screen(one) if isinstance(one, Cells) else one for name, one in cells.items()}
    usable = [name for name, reason in screened.items() if not reason]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # the summary says it
        columns = TableEncoder().fit(table[usable]).columns_ if usable else ()
    known = {column.name: column for column in columns}
    return [
        _describe(known[name], one)
        if name in known
        else ColumnSummary(name, LEFT_OUT, screened[name], _count_missing(one))
        for name, one in cells.items()
    ]


def read_target(table: Any, name: str) -> tuple[FloatArray, BoolArray]:
    """Return the target's numbers, and in which rows there is one."""
    cells = read_cells(table[name], name)
    kind = find_kind(cells)
    if kind == "nothing":
        raise ValueError(f"the target {quote(name)} has no value in any row.")
    if kind == "boolean":
        raise ValueError(f"the target {quote(name)} holds true and false, but must be numbers; write 1 and 0.")
    if kind == "category":
        row, word = _find_word(cells)
        raise ValueError(
            f"the target {quote(name)} must be numbers, got {quote(word)} (first in row {row}). Correct it, leave the "
            "cell empty, or choose another target."
        )
    numbers = as_numbers(cells, name)
    return numbers, ~np.isnan(numbers)


# -- parts -------------------------------------------------------------------------------------------------------------


def _read(values: Any, name: str) -> Cells | str:
    """Return the cells of a column, or why it cannot be read."""
    try:
        return read_cells(values, name)
    except ValueError:
        return "dates or times"
    except TypeError:
        return "neither numbers nor text"


def _screen(cells: Cells) -> str:
    """Return why there is nothing to learn from a column, or nothing."""
    if find_kind(cells) == "nothing":
        return "empty"
    if cells.numbers is None and all(_DATE.fullmatch(word) or _TIME.fullmatch(word) for word in cells.words):
        return "dates or times"
    if _count_missing(cells):
        return ""
    if cells.numbers is not None:
        return f"always {write_number(cells.numbers[0])}" if np.ptp(cells.numbers) == 0 else ""
    return f"always {cells.words[0]}" if len(cells.words) == 1 else ""


def _describe(column: Column, cells: Cells | str) -> ColumnSummary:
    assert isinstance(cells, Cells)
    n_missing = _count_missing(cells)
    if column.kind == "number":
        values = as_numbers(cells, column.name)
        low, high = (write_number(limit(values)) for limit in (np.nanmin, np.nanmax))
        return ColumnSummary(column.name, "number", f"{low} to {high}" if low != high else low, n_missing)
    codes, words = as_words(cells)
    if column.kind == "boolean":
        truths = [word.strip().lower() in ("true", "1") for word in words]
        share = np.mean([truths[code] for code in codes[codes >= 0]])
        return ColumnSummary(column.name, "boolean", f"true in {100 * share:.0f} %", n_missing)
    levels = [level for level in column.levels if level != MISSING or not column.has_missing]
    is_level = np.isin(words, levels)
    if 2 * is_level[codes[codes >= 0]].sum() < (codes >= 0).sum():
        return ColumnSummary(column.name, LEFT_OUT, f"{len(words):,} different texts", n_missing)
    return ColumnSummary(column.name, "category", _list_levels(levels, len(words)), n_missing)


def _list_levels(levels: Sequence[str], n_words: int) -> str:
    shown = ""
    for level in levels:
        if len(shown) + len(level) > _LONGEST_LIST:
            shown += "..."
            break
        shown += f"{level}, "
    of = f" of {n_words:,}" if len(levels) < n_words else ""
    return f"{len(levels)}{of}: {shown.removesuffix(', ')}"


def _count_missing(cells: Cells | str) -> int:
    if isinstance(cells, str):
        return 0
    return int(np.isnan(cells.numbers).sum() if cells.numbers is not None else (as_words(cells)[0] < 0).sum())


def _find_word(cells: Cells) -> tuple[int, str]:
    """Return the first row, and its word, that is no number."""
    codes, words = as_words(cells)
    for code, word in enumerate(words):
        if parse_number(word) is None:
            return int(np.argmax(codes == code)), word
    return int(np.argmax(codes >= 0)), words[0]
