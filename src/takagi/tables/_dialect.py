"""The format of a text file: its encoding, delimiter, decimal sign and column names."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from takagi.tables._errors import RequestError
from takagi.tables._header import find_header
from takagi.tables._unpack import FileBytes, unpacking

HEAD_BYTES = 2**20  # used to detect the delimiter
LARGE_BYTES = 10**9  # larger single files are not read whole
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
    delimiter: str  # between cells; a regular expression for runs of spaces
    decimal: str  # "." or ","
    first_row: tuple[str, ...]  # the cells of the first line, or of the one below titles
    has_names: bool = True  # whether that line has names; set by the reader, not detected
    n_before: int = 0  # number of lines before it, empty ones and titles
    n_titles: int = 0  # number of titles among these
    line: int = 1  # its line number in the file, from 1

    @property
    def looks_like_data(self) -> bool:
        """Whether at least half of the first line are numbers, so that it probably has no names."""
        return 2 * sum(_NUMBER.fullmatch(word) is not None for word in self.first_row) >= len(self.first_row)

    def __str__(self) -> str:
        label = _LABELS.get(self.encoding, self.encoding.upper())
        comma = ", decimal comma" if self.decimal == "," else ""
        return f"{WORDS[self.delimiter]}-separated{comma}, {label}"


def read_dialects(files: Sequence[FileBytes], header_row: int | None = None) -> tuple[list[Dialect], str]:
    """Return the dialect of each of some text files, and a remark on their encoding.

    The encoding is detected from all lines of a single file, unless it is very large, or from the beginnings of several
    files. The names are in line `header_row`, from 1, or in the line where they are detected.
    """
    first, remark, is_plain = _read_dialect(files[0], header_row, reads_all=len(files) == 1)
    rows = [first]
    for file in files[1:]:
        other, other_remark, is_other_plain = _read_dialect(file, header_row)
        rows.append(other)
        goes_with = is_plain or is_other_plain or _strip_mark(other.encoding) == _strip_mark(first.encoding)
        if other.delimiter != first.delimiter or not goes_with:
            raise ValueError(f"{files[0]} is {first}, but {file} is {other}. Save all files alike.")
        if is_plain and not is_other_plain:
            first, remark, is_plain = replace(first, encoding=other.encoding), other_remark, False
        if other.decimal == ",":
            first = replace(first, decimal=",")
    return [replace(row, encoding=first.encoding, decimal=first.decimal) for row in rows], remark


def _read_dialect(file: FileBytes, header_row: int | None = None, reads_all: bool = False) -> tuple[Dialect, str, bool]:
    """Return the dialect of a file, a remark, and whether it is pure ASCII, which is the same in most encodings."""
    is_large = file.path.stat().st_size >= LARGE_BYTES
    with unpacking(file), file.open() as stream:
        head = stream.read(HEAD_BYTES)
        stream.seek(0)
        lines = stream if reads_all and not is_large else cut_lines(head)
        return read_head(head, lines, str(file), header_row)


def cut_lines(head: bytes) -> list[bytes]:
    """Return the whole lines of the beginning of a file."""
    is_all = len(head) < HEAD_BYTES
    return (head if is_all else head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]).splitlines()


def read_head(
    head: bytes, lines: Iterable[bytes], label: str, header_row: int | None = None
) -> tuple[Dialect, str, bool]:
    """Return the dialect of a file that begins with `head`, a remark, and whether the beginning is ASCII."""
    encoding, remark = find_encoding(head, lines, label)
    try:
        dialect = find_dialect(head, encoding, len(head) < HEAD_BYTES, label, header_row)
    except UnicodeDecodeError:
        raise ValueError(f"{label} is not {encoding.upper()} throughout. Save it as UTF-8.") from None
    return dialect, remark, head.isascii() and b"\0" not in head


def _strip_mark(encoding: str) -> str:
    """Return the encoding without a byte order mark."""
    return encoding.removesuffix("-sig")


# -- encoding ----------------------------------------------------------------------------------------------------------


def find_encoding(head: bytes, lines: Iterable[bytes], name: str) -> tuple[str, str]:
    """Return the encoding of a file and a remark on it, which is usually empty."""
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
    """Return the kind of UTF-16 without a byte order mark, or raise an error if the file is not text."""
    even, odd = (head[start::2].count(0) / max(1, len(head[start::2])) for start in (0, 1))
    if even < _FEW_SIGNS and odd > 0.3:
        return "utf-16-le"
    if odd < _FEW_SIGNS and even > 0.3:
        return "utf-16-be"
    raise ValueError(f"{name} is no text, nor another table that can be read. Save it as CSV (UTF-8).")


def _scan(lines: Iterable[bytes]) -> tuple[int | None, int | None, bool]:
    """Return the first lines, from 1, with UTF-8 letters and with other letters; and whether some bytes are no letters.

    Pure ASCII gives no evidence.
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


class _Record(NamedTuple):
    """The cells of a line, the number of lines before it, and its line number in the file, from 1."""

    cells: list[str]
    n_before: int = 0
    line: int = 1


def find_dialect(head: bytes, encoding: str, is_all: bool, name: str, header_row: int | None = None) -> Dialect:
    """Return how the cells of a text file are separated."""
    text = codecs.getincrementaldecoder(encoding)().decode(head)
    sample = text if is_all else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    if not sample.strip():
        raise ValueError(
            f"{name} is empty." if is_all else f"{name} has no line break in its first megabyte: it is no table."
        )
    found = {delimiter: _skip_titles(_split(sample, delimiter), header_row) for delimiter in WORDS}
    if header_row is not None and not any(found.values()):
        raise RequestError(f"line {header_row} of {name} is empty or too far down for names.", "header_row")
    scores = {delimiter: _consistency(records) for delimiter, records in found.items()}
    delimiter = max(("\t", ";", "|", ","), key=lambda one: scores[one])
    if scores[SPACES] >= 0.9 and (scores[delimiter] < 0.9 or _holds_numbers_in_a_cell(found[delimiter])):
        delimiter = SPACES
    delimiter = delimiter if scores[delimiter] else ","
    records = found[delimiter] or _split(sample, ",")
    first = tuple(word.strip() for word in records[0].cells)
    n_titles = len(_split(sample, delimiter)) - len(records) if header_row is None else 0
    decimal = _find_decimal(records, delimiter)
    return Dialect(encoding, delimiter, decimal, first, True, records[0].n_before, n_titles, records[0].line)


def _skip_titles(records: list[_Record], header_row: int | None) -> list[_Record]:
    """Return the records from the names on; none if the given row of names is empty."""
    if header_row is None:
        return records[find_header([record.cells for record in records]) :]
    places = [k for k, record in enumerate(records) if record.line == header_row]
    return records[places[0] :] if places else []


def set_names(dialect: Dialect, names: Sequence[str] | None, label: str) -> Dialect:
    """Return the dialect of a file whose first line is data and whose columns get these names, or x0, x1, ..."""
    return replace(dialect, first_row=tuple(make_names(names, len(dialect.first_row), label)), has_names=False)


def make_names(names: Sequence[str] | None, n_columns: int, label: str) -> list[str]:
    """Return the given names, one for each column; x0, x1, ... if none are given."""
    if names is not None and len(names) != n_columns:
        raise RequestError(f"{label} has {n_columns} columns, but the number of given names is {len(names)}.", "names")
    return list(names or (f"x{k}" for k in range(n_columns)))


def _split(sample: str, delimiter: str) -> list[_Record]:
    """Return the first records that are not empty."""
    records: list[_Record] = []
    lines = io.StringIO(sample, newline="")
    rows = _split_at_spaces(lines) if delimiter == SPACES else _split_at(lines, delimiter)
    try:
        for row in rows:
            if any(word.strip() for word in row.cells):
                records.append(row)
            if len(records) == _MOST_RECORDS:
                break
    except csv.Error:  # a quotation that never ends; the reader says where
        pass
    return records or [_Record([sample])]


def _split_at(lines: Iterable[str], delimiter: str) -> Iterator[_Record]:
    csv.field_size_limit(_MOST_CELL)
    reader, line = csv.reader(lines, delimiter=delimiter, skipinitialspace=True), 1
    for n_before, cells in enumerate(reader):
        yield _Record(cells, n_before, line)
        line = reader.line_num + 1


def _split_at_spaces(lines: Iterable[str]) -> Iterator[_Record]:
    """Yield lines; empty ones are not counted, because the reader does not see them."""
    n_before = 0
    for line, text in enumerate(lines, start=1):
        if text.strip():
            yield _Record([word.strip('"') for word in re.findall(r'"[^"]*"|\S+', text)], n_before, line)
            n_before += 1


def _consistency(records: list[_Record]) -> float:
    """Return the fraction of the records with as many cells as the first one, 0 if that has at most one cell."""
    width = len(records[0].cells) if records else 0
    return 0.0 if width < 2 else sum(len(record.cells) == width for record in records) / len(records)


def _holds_numbers_in_a_cell(records: list[_Record]) -> bool:
    """Return whether cells have several numbers separated by spaces, so that the delimiter is wrong."""
    rows = [word.split() for word in (records[-1].cells if records else [])]
    return any(len(words) > 1 and all(_NUMBER.fullmatch(word) for word in words) for words in rows)


def _find_decimal(records: list[_Record], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    words = [word.strip() for record in records[1:] or records for word in record.cells]
    n_comma, n_point = (sum(sign.fullmatch(word) is not None for word in words) for sign in (_WITH_COMMA, _WITH_POINT))
    return "," if n_comma > n_point else "."
