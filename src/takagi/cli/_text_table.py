"""Tables of text: comma-separated values and their kin, from a file or the standard input."""

import io
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from takagi._messages import need_extra
from takagi.cli._console import Misuse, print_note
from takagi.tables._cells import MISSING_FORMS
from takagi.tables._dialect import HEAD_BYTES, Dialect, find_dialect, find_encoding

_WIDE = 500
_LONG_LINE = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_OPEN_QUOTE = re.compile(r"EOF inside string starting at row (\d+)")


@dataclass
class TextTable:
    """A table of text, and how it is read.

    Attributes
    ----------
    label : str
        What messages call it.
    path : Path or None
        The file; None for the standard input.
    head : bytes
        What was read of the standard input to find out the dialect.
    dialect : Dialect
        Encoding, delimiter, decimal sign and names.
    """

    label: str
    path: Path | None
    head: bytes
    dialect: Dialect

    @classmethod
    def open(cls, path: Path | None, head: bytes, no_header: bool, names: list[str] | None) -> "TextTable":
        """Find out how a file that begins with `head` is read.

        Parameters
        ----------
        path : Path or None
            The file; None for the standard input.
        head : bytes
            Its beginning.
        no_header : bool
            Whether the first line is data.
        names : list of str, optional
            The names of the columns, if the user gives them.
        """
        label = "the standard input" if path is None else str(path)
        if path is None:
            encoding, remark = find_encoding(head, io.BytesIO(head[: head.rfind(b"\n") + 1]), label)
        else:
            with path.open("rb") as lines:
                encoding, remark = find_encoding(head, lines, label)
        if remark:
            print_note(remark)
        dialect = find_dialect(head, encoding, len(head) < HEAD_BYTES, label)
        if no_header or names is not None:
            dialect = set_names(dialect, names, label)
        return cls(label, path, head, dialect)

    @property
    def names(self) -> list[str]:
        """Names of the columns; one without a name is called by its place."""
        return [name or f"column{k}" for k, name in enumerate(self.dialect.first_row, start=1)]

    @property
    def description(self) -> str:
        """How the file is read, in words."""
        return str(self.dialect)

    @property
    def decimal(self) -> str:
        """The decimal sign of numbers that are text."""
        return self.dialect.decimal

    def blocks(
        self, columns: Sequence[str] | None = None, as_text: Collection[str] = (), n_rows: int | None = None
    ) -> Iterator[Any]:
        """Yield data frames of at most `n_rows` rows; a column becomes numbers if all of its block are numbers.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns; all by default.
        as_text : collection of str, optional
            Columns whose cells stay the text they are.
        n_rows : int, optional
            Rows a block; all by default.
        """
        read_csv = need_extra("pandas", "cli").read_csv
        wanted = list(dict.fromkeys(self.names if columns is None else columns))
        text = set(as_text) | (set(self.names) - set(wanted))
        options: dict[str, Any] = {
            "sep": self.dialect.delimiter,
            "decimal": self.dialect.decimal,
            "header": 0 if self.dialect.has_names else None,
            "names": self.names,
            "index_col": False,
            "usecols": wanted if len(self.names) > _WIDE else None,  # with it pandas would not notice lines too long
            "dtype": dict.fromkeys(text, object),
            "na_values": {name: MISSING_FORMS for name in wanted if name not in text},
            "keep_default_na": False,
            "skipinitialspace": True,
            "low_memory": False,
        }
        with self._open_text() as stream:
            if n_rows is None:
                yield self._next(lambda: read_csv(stream, **options)[wanted])
                return
            with self._next(lambda: read_csv(stream, chunksize=n_rows, **options)) as reader:
                while (block := self._next(lambda: next(reader, None))) is not None:
                    yield _write_truth(block[wanted])

    def _next(self, read: Callable[[], Any]) -> Any:
        """Return the next block, or raise pandas' error in words that say what to do."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return read()
            except (ValueError, Warning) as error:
                raise self._explain(error) from error

    def _open_text(self) -> TextIO:
        if self.path is not None:
            return self.path.open(encoding=self.dialect.encoding, newline="")
        raw = io.BufferedReader(_Chained(self.head, sys.stdin.buffer))
        return io.TextIOWrapper(raw, encoding=self.dialect.encoding, newline="")

    def _explain(self, error: Exception) -> Exception:
        """Return pandas' error in words that say what to do."""
        message = str(error)
        if isinstance(error, UnicodeError):
            return ValueError(f"{self.label} is not {self.dialect.encoding.upper()} throughout. Save it as UTF-8.")
        if found := _LONG_LINE.search(message):
            expected, line, saw = found.groups()
            return ValueError(
                f"{self.label} has {saw} cells in line {line}, but {expected} columns ({self.description}). Correct "
                "that line, or put cells that hold the separator in quotation marks."
            )
        if found := _OPEN_QUOTE.search(message):
            return ValueError(f"{self.label} has a quotation mark near line {int(found[1]) + 1} that is never closed.")
        if "does not match length of data" in message:
            return ValueError(
                f"{self.label} has lines of more cells than its first line, which has {len(self.names)}. Add the "
                "missing names."
            )
        return error


def set_names(dialect: Dialect, names: list[str] | None, name: str) -> Dialect:
    """Return the dialect of a file whose first line is data and whose columns get these names, or x0, x1, ..."""
    n_columns = len(dialect.first_row)
    if names is not None and len(names) != n_columns:
        raise Misuse(f"{name} has {n_columns} columns, but --names gives {len(names)} names.")
    return replace(dialect, first_row=tuple(names or (f"x{k}" for k in range(n_columns))), has_names=False)


def parse_numbers(column: Any, decimal: str) -> Any:
    """Return a column of text as numbers, or, where some are none, with decimal points for the encoder to judge."""
    if str(column.dtype) not in ("object", "str", "string"):
        return column
    kinds = set(map(type, column))
    if str not in kinds or kinds - {str, float}:
        return column
    if decimal == ",":
        column = column.str.replace(",", ".", regex=False)
    if column.str.contains("_", regex=False).any():  # which Python would take for a part of a number
        return column
    try:
        return column.mask(column.isin(MISSING_FORMS)).astype(float)
    except ValueError:
        return column


def _write_truth(block: Any) -> Any:
    """Return a block with true and false as text, so that where a block ends does not change what a column is."""
    truths = [name for name in block.columns if block[name].dtype == bool]
    return block.astype(dict.fromkeys(truths, str)).astype(dict.fromkeys(truths, object)) if truths else block


class _Chained(io.RawIOBase):
    """What was read already, and then the rest of a stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self.head, self.rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.head[: len(buffer)] or self.rest.read1(len(buffer))  # type: ignore[attr-defined]
        self.head = self.head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)
