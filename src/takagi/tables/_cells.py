"""One column of a table, read as numbers or as text.

Arrays, pandas and polars columns are read in the same way, by the name of their type and by their content; neither
package is imported.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np

from takagi._kinds import find_type
from takagi._typing import FloatArray, IntArray
from takagi.tables._formats import find_date_form, find_number_form, parse_date, parse_in_form

MISSING_WORDS = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "missing"})
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Cells:
    """The values of one column: `numbers` with NaN where missing, or `codes` into `words` with -1 where missing.

    `kind` is "number", "boolean" or "date" (days since 1970) for numbers, "category" for words of a categorical type,
    "ordered" for those of an ordered categorical type, and "text" for other words.
    """

    kind: str
    numbers: FloatArray | None = None
    codes: IntArray | None = None
    words: tuple[str, ...] = ()


def read_cells(column: Any, name: str) -> Cells:
    """Read an array of one dimension, a pandas or a polars column."""
    kind = find_type(column.dtype)
    if kind == "date":
        return Cells("date", numbers=_to_days(column, name))
    if kind == "other":
        raise _type_error(name, str(column.dtype))
    if kind in ("boolean", "number"):
        return Cells(kind, numbers=_to_floats(column))
    if hasattr(column, "cat") and hasattr(column, "iloc"):
        levels = [level if isinstance(level, str | Real) else str(level) for level in column.cat.categories]
        found, words = _index_words(levels, name)
        kind = "ordered" if column.cat.ordered else "category"
        return Cells(kind, codes=np.append(found, -1)[column.cat.codes.to_numpy()], words=words)
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    values = np.asarray(values, dtype=object).tolist()
    if _are_numbers(values):
        return Cells("number", numbers=np.array(values, dtype=float))
    if any(isinstance(value, date | time) for value in values):
        return Cells("date", numbers=np.array([_count_days(value, name) for value in values]))
    codes, words = _index_words(values, name)
    return Cells("category" if kind == "category" else "text", codes=codes, words=words)


def find_kind(cells: Cells) -> str:
    """Return the kind of a column: "number", "boolean", "date", "category", or "nothing" if all values are missing."""
    if cells.numbers is not None:
        return "nothing" if np.isnan(cells.numbers).all() else cells.kind
    if not cells.words:
        return "nothing"
    if cells.kind != "text":
        return "category"
    if all(_parse_truth(word) is not None for word in cells.words) and not _are_plain(cells.words):
        return "boolean"
    if find_form(cells.words) is not None:
        return "category" if _has_zeros(cells.words) else "number"
    return "category" if find_date_form(cells.words) is None else "date"


def find_form(words: Iterable[str]) -> str | None:
    """Return the form of words that are all numbers, "" for the usual one; None if one is not a number."""
    return "" if _are_plain(words) else find_number_form(words)


def as_numbers(cells: Cells, name: str, form: str | None = None) -> FloatArray:
    """Return finite numbers, NaN where missing; all words must have the given form, or one common form."""
    numbers = cells.numbers
    if cells.kind == "date":
        raise _kind_error(name, "numbers", "dates")
    if numbers is None:
        form = (find_form(cells.words) or "") if form is None else form
        numbers = _parse_words(cells, name, lambda word: _parse_form(word, form), "numbers")
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"Column {name!r} contains infinity (first in row {infinite.argmax()}). Numbers must be finite or missing: "
            "replace it, or leave the cell empty."
        )
    return numbers


def as_dates(cells: Cells, name: str, form: str) -> FloatArray:
    """Return days since 1970, NaN where missing; all words must have the given form."""
    if cells.numbers is not None:
        if cells.kind != "date" and not np.isnan(cells.numbers).all():
            raise _kind_error(name, "dates", "numbers")
        return cells.numbers
    return _parse_words(cells, name, lambda word: parse_date(word, form), f"dates ({form})")


def _parse_words(cells: Cells, name: str, parse: Callable[[str], float | None], expected: str) -> FloatArray:
    """Return the number for each word, NaN where missing, or raise an error with the first row that does not fit."""
    parsed = [parse(word) for word in cells.words]
    if None in parsed:
        raise _word_error(cells, parsed.index(None), name, expected)
    return np.array([*parsed, np.nan], dtype=float)[cells.codes]


def as_truth(cells: Cells, name: str) -> FloatArray:
    """Return 1 for true, 0 for false, NaN where missing."""
    if cells.numbers is None:
        return _parse_words(cells, name, _parse_truth, "true or false")
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
    write = {"number": _number_text, "date": _date_text}.get(cells.kind, lambda value: str(bool(value)))
    return np.where(codes < n_words, codes, -1), tuple(write(value) for value in distinct[:n_words])


# -- values and words --------------------------------------------------------------------------------------------------


def _to_floats(column: Any) -> FloatArray:
    if hasattr(column, "iloc"):
        return column.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(column, dtype=float)


def _to_days(column: Any, name: str) -> FloatArray:
    """Return days since 1970 of a column of dates or timestamps, in local time if they have a time zone."""
    if not str(column.dtype).lower().startswith(("date", "timestamp")):
        raise _type_error(name, str(column.dtype))
    if hasattr(column, "iloc"):
        local = column.dt.tz_localize(None) if getattr(column.dt, "tz", None) is not None else column
        moments = local.astype("datetime64[us]").to_numpy()
    else:
        moments = np.asarray(column.dt.replace_time_zone(None) if getattr(column.dtype, "time_zone", None) else column)
    counts = moments.astype("datetime64[us]")
    return np.where(np.isnat(counts), np.nan, counts.astype(np.int64) / 86_400e6)


def _count_days(value: Any, name: str) -> float:
    """Return the days since 1970 of a date, a timestamp or a time of day, NaN if it is missing."""
    if isinstance(value, datetime) and value == value:
        return (value.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(days=1)
    if isinstance(value, date) and value == value:
        return float((value - date(1970, 1, 1)).days)
    if isinstance(value, time):
        return (value.hour * 3600 + value.minute * 60 + value.second) / 86_400
    if value != value or _to_text(value, name) in (None, ""):
        return np.nan
    raise ValueError(f"Column {name!r} holds dates, and also {value!r}. Correct it, or leave the cell empty.")


def _are_numbers(values: list[Any]) -> bool:
    """Whether all values are numbers or None, and not too large; then they need not be converted to text and back."""
    types = set(map(type, values))
    if not all(issubclass(kind, float | np.floating | int | np.integer | NoneType) for kind in types) or bool in types:
        return False
    return int not in types or all(type(value) is not int or abs(value) < 1e308 for value in values)


def _index_words(values: Iterable[Any], name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Return each value's index among the distinct words, -1 for a missing value, and these words."""
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
    raise _type_error(name, type(value).__name__)


def _number_text(value: float) -> str:
    """Write a number; integers without a decimal point, since missing values turn integers into floats."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _date_text(days: float) -> str:
    """Write a date, with the time of day if it has one."""
    moment = datetime(1970, 1, 1) + timedelta(days=days)
    return f"{moment:%Y-%m-%d}" if days == int(days) else f"{moment:%Y-%m-%d %H:%M}"


def _are_plain(words: Iterable[str]) -> bool:
    return all(parse_number(word) is not None for word in words)


def _has_zeros(words: Iterable[str]) -> bool:
    """Whether integers have leading zeros, as codes such as 02134 do."""
    return any(re.fullmatch(r"0\d+", word.strip()) for word in words)


def _parse_form(word: str, form: str) -> float | None:
    number = parse_number(word) if not form.startswith(",") else None
    return parse_in_form(word, form) if number is None and form else number


def parse_number(word: str) -> float | None:
    """Return the number that a word represents, or None."""
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _parse_truth(word: str) -> float | None:
    truth = _TRUTH.get(word.strip().lower())
    number = parse_number(word) if truth is None else None
    return number if number in (0.0, 1.0) else truth


# -- errors ------------------------------------------------------------------------------------------------------------


def _kind_error(name: str, expected: str, got: str) -> ValueError:
    return ValueError(f"Column {name!r} was {expected} in training, but holds {got} now.")


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
