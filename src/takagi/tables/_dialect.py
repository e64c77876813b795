"""How a text file is a table: its encoding, what stands between its cells, its decimal sign and its names."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from takagi.tables._errors import RequestError

HEAD_BYTES = 2**20  # what the delimiter is found out from
LARGE_BYTES = 10**9  # of a single file, from which on it is not read whole
SPACES = r"\s+"
WORDS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", SPACES: "space"}

_MOST_RECORDS = 100
_MOST_CELL = 10**7
_BYTE_ORDER_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_NO_LETTERS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # bytes that Windows-1252 does not have
_LABELS = {"utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_WITH_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_FEW_SIGNS = 0.05


@dataclass(frozen=True)
class Dialect:
    """How a text file is read."""

    encoding: str  # as Python names it
    delimiter: str  # what stands between cells; a regular expression for runs of spaces
    decimal: str  # "." or ","
    first_row: tuple[str, ...]  # the cells of the first line
    has_names: bool = True  # whether the first line holds names; found by the reader's wish, not guessed
    n_blank: int = 0  # how many empty lines come before the first line

    @property
    def looks_like_data(self) -> bool:
        """Whether half of the first line or more are numbers, so that it hardly holds names."""
        return 2 * sum(_NUMBER.fullmatch(word) is not None for word in self.first_row) >= len(self.first_row)

    def __str__(self) -> str:
        label = _LABELS.get(self.encoding, self.encoding.upper())
        comma = ", decimal comma" if self.decimal == "," else ""
        return f"{WORDS[self.delimiter]}-separated{comma}, {label}"


def read_dialects(paths: Sequence[Path]) -> tuple[list[Dialect], str]:
    """Return how each of some text files is read, and a remark on their encoding.

    Of a single file all lines tell the encoding, unless it is very large; of several files their beginnings do.
    """
    first, remark, is_plain = _read_dialect(paths[0], reads_all=len(paths) == 1)
    rows = [first]
    for path in paths[1:]:
        other, other_remark, is_other_plain = _read_dialect(path)
        rows.append(other)
        goes_with = is_plain or is_other_plain or _strip_mark(other.encoding) == _strip_mark(first.encoding)
        if other.delimiter != first.delimiter or not goes_with:
            raise ValueError(f"{paths[0]} is {first}, but {path} is {other}. Save all files alike.")
        if is_plain and not is_other_plain:
            first, remark, is_plain = replace(first, encoding=other.encoding), other_remark, False
        if other.decimal == ",":
            first = replace(first, decimal=",")
    return [replace(first, first_row=row.first_row, n_blank=row.n_blank) for row in rows], remark


def _read_dialect(path: Path, reads_all: bool = False) -> tuple[Dialect, str, bool]:
    """Return the dialect of a file, a remark, and whether it is nothing but ASCII, the same in most encodings."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
        stream.seek(0)
        is_large = path.stat().st_size >= LARGE_BYTES
        return read_head(head, stream if reads_all and not is_large else cut_lines(head), str(path))


def cut_lines(head: bytes) -> list[bytes]:
    """Return the whole lines of the beginning of a file."""
    is_all = len(head) < HEAD_BYTES
    return (head if is_all else head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]).splitlines()


def read_head(head: bytes, lines: Iterable[bytes], label: str) -> tuple[Dialect, str, bool]:
    """Return how a file that begins with `head` is read, a remark, and whether the beginning is ASCII."""
    encoding, remark = find_encoding(head, lines, label)
    try:
        dialect = find_dialect(head, encoding, len(head) < HEAD_BYTES, label)
    except UnicodeDecodeError:
        raise ValueError(f"{label} is not {encoding.upper()} throughout. Save it as UTF-8.") from None
    return dialect, remark, head.isascii() and b"\0" not in head


def _strip_mark(encoding: str) -> str:
    """Return the encoding without a byte order mark."""
    return encoding.removesuffix("-sig")


# -- encoding ----------------------------------------------------------------------------------------------------------


def find_encoding(head: bytes, lines: Iterable[bytes], name: str) -> tuple[str, str]:
    """Return the encoding of a file and a remark on it, which is mostly empty."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding, ""
    if b"\0" in head:
        return _find_wide(head, name), ""
    good, bad, has_no_letters = _scan(lines)
    if bad is None:
        return "utf-8", ""
    if good is not None:
        raise ValueError(
            f"{name} mixes encodings: line {good} is UTF-8 and line {bad} is not. Save the whole file as UTF-8."
        )
    encoding = "latin-1" if has_no_letters else "cp1252"
    return encoding, f"{name} is not UTF-8 (line {bad}) and is read as {_LABELS[encoding]}."


def _find_wide(head: bytes, name: str) -> str:
    """Return the kind of UTF-16 without a byte order mark, or raise an error for what is no text at all."""
    even, odd = (head[start::2].count(0) / max(1, len(head[start::2])) for start in (0, 1))
    if even < _FEW_SIGNS and odd > 0.3:
        return "utf-16-le"
    if odd < _FEW_SIGNS and even > 0.3:
        return "utf-16-be"
    raise ValueError(f"{name} is not text, Parquet or Excel. Save the table as CSV (UTF-8).")


def _scan(lines: Iterable[bytes]) -> tuple[int | None, int | None, bool]:
    """Return the first lines, from 1, with letters that are UTF-8 and that are not; and if some bytes are no letters.

    Pure ASCII says nothing.
    """
    good = bad = None
    has_no_letters = False
    for number, line in enumerate(lines, start=1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
            good = good or number
        except UnicodeDecodeError:
            bad = bad or number
            has_no_letters = has_no_letters or _NO_LETTERS.search(line) is not None
        if good and bad:
            break
    return good, bad, has_no_letters


# -- cells -------------------------------------------------------------------------------------------------------------


def find_dialect(head: bytes, encoding: str, is_all: bool, name: str) -> Dialect:
    """Find out how the cells of a text file are separated."""
    text = codecs.getincrementaldecoder(encoding)().decode(head)
    sample = text if is_all else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    if not sample.strip():
        raise ValueError(
            f"{name} is empty." if is_all else f"{name} has no line break in its first megabyte: it is no table."
        )
    found = {delimiter: _split(sample, delimiter) for delimiter in WORDS}
    scores = {delimiter: _consistency(records) for delimiter, records in found.items()}
    delimiter = max(("\t", ";", "|", ","), key=lambda one: scores[one])
    if scores[SPACES] >= 0.9 and (scores[delimiter] < 0.9 or _holds_numbers_in_a_cell(found[delimiter])):
        delimiter = SPACES
    records = found[delimiter] if scores[delimiter] else _split(sample, ",")
    delimiter = delimiter if scores[delimiter] else ","
    first = tuple(word.strip() for word in records[0])
    blank = re.match(rf"[\s{re.escape(delimiter)}]*", sample)
    n_blank = len(re.findall("\r\n|\r|\n", blank[0])) if blank else 0
    return Dialect(encoding, delimiter, _find_decimal(records, delimiter), first, n_blank=n_blank)


def set_names(dialect: Dialect, names: Sequence[str] | None, label: str) -> Dialect:
    """Return the dialect of a file whose first line is data and whose columns get these names, or x0, x1, ..."""
    return replace(dialect, first_row=tuple(make_names(names, len(dialect.first_row), label)), has_names=False)


def make_names(names: Sequence[str] | None, n_columns: int, label: str) -> list[str]:
    """Return the given names if they are as many as the columns; x0, x1, ... if none are given."""
    if names is not None and len(names) != n_columns:
        raise RequestError(f"{label} has {n_columns} columns, but the number of given names is {len(names)}.", "names")
    return list(names or (f"x{k}" for k in range(n_columns)))


def _split(sample: str, delimiter: str) -> list[list[str]]:
    """Return the cells of the first records that are not empty."""
    records: list[list[str]] = []
    lines = io.StringIO(sample, newline="")
    rows: Iterable[list[str]]
    if delimiter == SPACES:
        rows = ([word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)] for line in lines)
    else:
        csv.field_size_limit(_MOST_CELL)
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in rows:
            if any(word.strip() for word in row):
                records.append(row)
            if len(records) == _MOST_RECORDS:
                break
    except csv.Error:  # a quotation that never ends; the reader says where
        pass
    return records or [[sample]]


def _consistency(records: list[list[str]]) -> float:
    """Return which part of the records has as many cells as the first one, and 0 if that is one cell."""
    width = len(records[0])
    return 0.0 if width < 2 else sum(len(record) == width for record in records) / len(records)


def _holds_numbers_in_a_cell(records: list[list[str]]) -> bool:
    """Tell whether cells hold several numbers with spaces between, so that they are no cells."""
    rows = [word.split() for word in records[-1]]
    return any(len(words) > 1 and all(_NUMBER.fullmatch(word) for word in words) for words in rows)


def _find_decimal(records: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    words = [word.strip() for record in records[1:] or records for word in record]
    n_comma, n_point = (sum(sign.fullmatch(word) is not None for word in words) for sign in (_WITH_COMMA, _WITH_POINT))
    return "," if n_comma > n_point else "."
