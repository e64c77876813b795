"""One column of a table as it comes, read as numbers or as words.

Arrays, pandas and polars columns are read alike, by the name of their type and by what is in them; neither package is
imported.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np

from takagi._kinds import find_type
from takagi._typing import FloatArray, IntArray

MISSING_WORDS = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "missing"})
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Cells:
    """The values of one column: `numbers` with NaN where missing, or `codes` into `words` with -1 where missing.

    `kind` is "number" or "boolean" for numbers, "category" for words of a category type, and "text" for other words.
    """

    kind: str
    numbers: FloatArray | None = None
    codes: IntArray | None = None
    words: tuple[str, ...] = ()


def read_cells(column: Any, name: str) -> Cells:
    """Read an array of one dimension, a pandas or a polars column."""
    kind = find_type(column.dtype)
    if kind == "date":
        raise _date_error(name)
    if kind == "other":
        raise _type_error(name, str(column.dtype))
    if kind in ("boolean", "number"):
        return Cells(kind, numbers=_to_floats(column))
    if hasattr(column, "cat") and hasattr(column, "iloc"):
        levels = [level if isinstance(level, str | Real) else str(level) for level in column.cat.categories]
        found, words = _index_words(levels, name)
        return Cells("category", codes=np.append(found, -1)[column.cat.codes.to_numpy()], words=words)
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    values = np.asarray(values, dtype=object).tolist()
    if _are_numbers(values):
        return Cells("number", numbers=np.array(values, dtype=float))
    codes, words = _index_words(values, name)
    return Cells("category" if kind == "category" else "text", codes=codes, words=words)


def find_kind(cells: Cells) -> str:
    """Return what a column is: "number", "boolean", "category", or "nothing" where every value is missing."""
    if cells.numbers is not None:
        return "nothing" if np.isnan(cells.numbers).all() else cells.kind
    if not cells.words:
        return "nothing"
    if cells.kind == "text" and all(parse_number(word) is not None for word in cells.words):
        return "number"
    if cells.kind == "text" and all(_parse_truth(word) is not None for word in cells.words):
        return "boolean"
    return "category"


def as_numbers(cells: Cells, name: str) -> FloatArray:
    """Return finite numbers, NaN where missing."""
    numbers = cells.numbers
    if numbers is None:
        parsed = [parse_number(word) for word in cells.words]
        if None in parsed:
            raise _word_error(cells, parsed.index(None), name, "numbers")
        numbers = np.array([*parsed, np.nan], dtype=float)[cells.codes]
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"Column {name!r} contains infinity (first in row {infinite.argmax()}). Numbers must be finite or missing: "
            "replace it, or leave the cell empty."
        )
    return numbers


def as_truth(cells: Cells, name: str) -> FloatArray:
    """Return 1 for true, 0 for false, NaN where missing."""
    if cells.numbers is None:
        parsed = [_parse_truth(word) for word in cells.words]
        if None in parsed:
            raise _word_error(cells, parsed.index(None), name, "true or false")
        return np.array([*parsed, np.nan], dtype=float)[cells.codes]
    other = ~np.isin(cells.numbers, [0.0, 1.0]) & ~np.isnan(cells.numbers)
    if other.any():
        row = int(other.argmax())
        raise ValueError(
            f"Column {name!r} was true or false in training, got {_number_text(cells.numbers[row])} (first in row "
            f"{row}). Correct it, or leave the cell empty."
        )
    return cells.numbers


def as_words(cells: Cells) -> tuple[IntArray, tuple[str, ...]]:
    """Return the distinct words, and for each row which of them it has (-1 where missing)."""
    if cells.numbers is None:
        assert cells.codes is not None
        return cells.codes, cells.words
    distinct, codes = np.unique(cells.numbers, return_inverse=True)
    n_words = int((~np.isnan(distinct)).sum())
    write = _number_text if cells.kind == "number" else lambda value: str(bool(value))
    return np.where(codes < n_words, codes, -1), tuple(write(value) for value in distinct[:n_words])


# -- values and words --------------------------------------------------------------------------------------------------


def _to_floats(column: Any) -> FloatArray:
    if hasattr(column, "iloc"):
        return column.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(column, dtype=float)


def _are_numbers(values: list[Any]) -> bool:
    """Whether all values are numbers or None, and not too large; this only spares writing and reading them as words."""
    types = set(map(type, values))
    if not all(issubclass(kind, float | np.floating | int | np.integer | NoneType) for kind in types) or bool in types:
        return False
    return int not in types or all(type(value) is not int or abs(value) < 1e308 for value in values)


def _index_words(values: Iterable[Any], name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Return each value's place among the distinct words, -1 for a missing value, and these words."""
    known: dict[str | None, int] = {None: -1}
    words: list[str] = []
    codes: list[int] = []
    for value in values:
        text = value if type(value) is str else _to_text(value, name)
        code = known.get(text)
        if code is None:
            assert text is not None
            is_missing = text.strip().lower() in MISSING_WORDS
            code = known[text] = -1 if is_missing else len(words)
            if not is_missing:
                words.append(text)
        codes.append(code)
    return np.array(codes, dtype=np.intp), tuple(words)


def _to_text(value: Any, name: str) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, Real | Decimal):
        return _number_text(float(value))
    if isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64):
        raise _date_error(name)
    raise _type_error(name, type(value).__name__)


def _number_text(value: float) -> str:
    """Write a number; whole ones without a point, since a missing value beside them makes integers floats."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def parse_number(word: str) -> float | None:
    """Return the number that a word is, or None."""
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _parse_truth(word: str) -> float | None:
    truth = _TRUTH.get(word.strip().lower())
    number = parse_number(word) if truth is None else None
    return number if number in (0.0, 1.0) else truth


# -- errors ------------------------------------------------------------------------------------------------------------


def _date_error(name: str) -> ValueError:
    return ValueError(
        f"Column {name!r} holds dates or times, which have no place in rules as they are. Turn them into numbers (days "
        "since a day, month, hour) or text, or leave the column out."
    )


def _type_error(name: str, what: str) -> TypeError:
    return TypeError(
        f"Column {name!r} holds {what}, but a cell's argument must be a string or a number (or a boolean, or missing). "
        "Convert it, for example with .astype(str), or leave the column out."
    )


def _word_error(cells: Cells, code: int, name: str, expected: str) -> ValueError:
    assert cells.codes is not None
    row = int(np.argmax(cells.codes == code))
    return ValueError(
        f"Column {name!r} was {expected} in training, got {cells.words[code]!r} (first in row {row}). Correct it, or "
        "leave the cell empty, which counts as missing."
    )
