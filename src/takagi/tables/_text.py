"""Tables of text: comma-separated values and similar formats, from a file or a stream, read by pyarrow.

Every cell is read as text. A column is numbers if all of its cells are numbers or missing.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from takagi._frames import NO_KINDS, Kinds, to_frame
from takagi._messages import need_extra, warn_user
from takagi._text import count
from takagi.tables._cells import MISSING_WORDS, parse_number
from takagi.tables._dialect import SPACES, Dialect
from takagi.tables._errors import DatasetError
from takagi.tables._unpack import ByteStream, FileBytes, unpacking

_BLOCK_BYTES = 2**22
_QUOTED_AFTER_SPACE = '^ +"((?:[^"]|"")*)" *$'  # pyarrow treats the quotation marks of such a cell as text
_PLUS = r"^\+([0-9.])"


@dataclass(frozen=True)
class TextTable:
    """A table of text and its dialect."""

    dialect: Dialect  # encoding, delimiter, decimal sign and names
    file: FileBytes | None = None
    stream: BinaryIO | None = None  # what to read if there is no file; it can be read once

    @property
    def label(self) -> str:
        """What messages call it."""
        return "the standard input" if self.file is None else str(self.file)

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns; one without a name is named by its position."""
        return [name or f"column{k}" for k, name in enumerate(self.dialect.first_row, start=1)]

    @property
    def description(self) -> str:
        """How the file is read, in words."""
        return str(self.dialect)

    @property
    def path(self) -> str:
        """The file's path, as messages about parts of a dataset name it."""
        return self.label

    @cached_property
    def constants(self) -> dict[str, str]:
        """Columns that come from the names of the file's folders, such as ``year=2020``."""
        parts = () if self.file is None else self.file.path.parent.parts
        return dict(part.split("=", 1) for part in parts if "=" in part)

    @cached_property
    def physical_schema(self) -> Any:
        """The types of the columns, from the beginning of the file."""
        arrow = need_extra("pyarrow", "parquet")
        head = next(self.cells(self.names), None)
        if head is None:
            return arrow.schema([(name, arrow.null()) for name in self.names])
        parsed = parse_columns(head, self.dialect.decimal)
        types = [arrow.null() if column.null_count == len(column) else column.type for column in parsed.columns]
        return arrow.schema(list(zip(self.names, types, strict=True)))

    def read(self, columns: Sequence[str], kinds: Kinds = NO_KINDS) -> Any:
        """Return some columns of the whole table as a data frame."""
        arrow = need_extra("pyarrow", "parquet")
        tables = list(self.cells(columns, tells=True)) or [_make_table({name: [] for name in columns})]
        return to_frame(parse_columns(arrow.concat_tables(tables), self.dialect.decimal, kinds))

    def blocks(
        self, columns: Sequence[str], n_rows: int, kinds: Kinds = NO_KINDS, keep: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield blocks of at most `n_rows` rows: columns to keep, as original text, and columns to read."""
        for table in self.cells(list(dict.fromkeys([*columns, *keep])), tells=True):
            for start in range(0, len(table), n_rows):
                block = table.slice(start, n_rows)
                parsed = parse_columns(block.select(columns), self.dialect.decimal, kinds)
                yield to_frame(block.select(keep)), to_frame(parsed)

    def cells(self, columns: Sequence[str], tells: bool = False) -> Iterator[Any]:
        """Yield tables of some columns, all of them text; with `tells`, warn about lines with too few cells."""
        arrow = need_extra("pyarrow", "parquet")
        repair = _Repair(self, list(dict.fromkeys(columns)))
        try:
            with unpacking(self.file), self._open() as stream:
                for batch in self._open_csv(stream, repair):
                    if not repair.problem:
                        yield _trim(repair.insert(arrow.Table.from_batches([batch])))
                repair.raise_problem()
        except FileNotFoundError as error:
            raise DatasetError(f"{self.label} was there at first and is gone now.") from error
        except (ValueError, OSError) as error:  # pyarrow raises either
            if not self._has_single_line(str(error)):
                raise self._explain(error, repair) from error
        if tells:
            repair.tell()
        rest = repair.insert(_make_table({name: [] for name in repair.columns}))
        if len(rest):
            yield _trim(rest)

    def _open_csv(self, stream: Any, repair: "_Repair") -> Any:
        arrow, reader = need_extra("pyarrow", "parquet"), need_extra("pyarrow.csv", "parquet")
        is_utf8 = self._is_spaced or self.dialect.encoding.startswith("utf-8")
        return reader.open_csv(
            stream,
            reader.ReadOptions(
                use_threads=False,  # otherwise pyarrow does not number the lines
                block_size=_BLOCK_BYTES,
                column_names=self.names,
                skip_rows_after_names=repair.next - 1,
                encoding="utf8" if is_utf8 else self.dialect.encoding,
            ),
            reader.ParseOptions(delimiter=repair.delimiter, newlines_in_values=True, invalid_row_handler=repair.take),
            reader.ConvertOptions(
                column_types=dict.fromkeys(self.names, arrow.string()), include_columns=repair.columns, null_values=[]
            ),
        )

    @property
    def _is_spaced(self) -> bool:
        return self.dialect.delimiter == SPACES

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Open the input of pyarrow: the file, the stream, or a stream with tabs in place of runs of spaces."""
        with ExitStack() as stack:
            stream: Any = self.stream if self.file is None else stack.enter_context(self.file.open())
            if not self._is_spaced:
                yield stream
                return
            lines = io.TextIOWrapper(stream, encoding=self.dialect.encoding)
            yield stack.enter_context(io.BufferedReader(ByteStream(_separate(lines))))
            lines.detach()

    def _has_single_line(self, message: str) -> bool:
        """Whether pyarrow failed because there is only a line of names without a line break."""
        if "straddles" not in message or self.file is None:
            return False
        with self.file.open() as stream:
            return len(stream.read(_BLOCK_BYTES)) < _BLOCK_BYTES

    def _explain(self, error: Exception, repair: "_Repair") -> Exception:
        """Return an error that says what to do, given pyarrow's error."""
        message = str(error)
        if isinstance(error, DatasetError):
            return error
        if isinstance(error, UnicodeError) or "UTF8" in message:
            return DatasetError(f"{self.label} is not {self.dialect.encoding.upper()} throughout. Save it as UTF-8.")
        if repair.problem:
            return DatasetError(repair.problem)
        if "straddles" in message:
            return DatasetError(f"{self.label} has a line of many megabytes, or a quotation mark that is never closed.")
        return DatasetError(f"{self.label} cannot be read: {message.splitlines()[0]}")


# -- lines that pyarrow rejects ----------------------------------------------------------------------------------------


class _Repair:
    """Lines with too few cells, which are filled up, and problems of lines that cannot be repaired."""

    def __init__(self, table: TextTable, columns: list[str]) -> None:
        self.table, self.columns, self.problem = table, columns, ""
        self.short: list[int] = []  # lines that were filled up
        self.delimiter = "\t" if table.dialect.delimiter == SPACES else table.dialect.delimiter
        self.places = [table.names.index(name) for name in columns]
        self.found: dict[int, list[str] | None] = {}  # by the number of the record, None for a line of spaces
        self.next = 1 + table.dialect.n_before + table.dialect.has_names

    def take(self, row: Any) -> str:
        """Repair a line that pyarrow skips, or note what is wrong with it.

        Everything is read before the error is raised: a thread of pyarrow that still runs when Python ends would abort
        the process.
        """
        if self.problem:
            return "skip"
        cells = next(csv.reader(io.StringIO(row.text, newline=""), delimiter=self.delimiter, skipinitialspace=True))
        if row.text.count('"') % 2:
            self.problem = f"{self.table.label} has a quotation mark near line {row.number} that is never closed."
        elif len(cells) > row.expected_columns:
            self.problem = (
                f"{self.table.label} has {len(cells)} cells in line {row.number}, but {row.expected_columns} columns "
                f"({self.table.description}). Correct that line, or put cells that hold the separator in quotation "
                "marks."
            )
        if self.problem:
            return "skip"
        is_blank = not row.text.strip()
        self.short += [row.number] if len(cells) < row.expected_columns and not is_blank else []
        self.found[row.number] = None if is_blank else cells + [""] * (row.expected_columns - len(cells))
        return "skip"

    def raise_problem(self) -> None:
        """Raise an error for the first line that cannot be repaired."""
        if self.problem:
            raise DatasetError(self.problem)

    def tell(self) -> None:
        """Warn about lines with too few cells."""
        if self.short:
            warn_user(
                f"{self.table.label} has {count(len(self.short), 'line')} with too few cells, the first is line "
                f"{self.short[0]}; those that lack count as missing."
            )

    def insert(self, table: Any) -> Any:
        """Return the next rows with the repaired ones at their places."""
        parts, start = [], 0
        while self.found:
            number = min(self.found)
            n_before = number - self.next
            if n_before > len(table) - start:
                break
            mended = self._pop_run(number)
            parts += [table.slice(start, n_before), *([mended] if len(mended) else [])]
            start += n_before
        self.next += len(table) - start
        if not parts:
            return table
        return need_extra("pyarrow", "parquet").concat_tables([*parts, table.slice(start)])

    def _pop_run(self, number: int) -> Any:
        """Return a table of consecutive repaired lines from a given one on."""
        rows = []
        while number in self.found:
            cells = self.found.pop(number)
            rows += [] if cells is None else [cells]
            number += 1
        self.next = number
        return _make_table({name: [row[k] for row in rows] for name, k in zip(self.columns, self.places, strict=True)})


def _separate(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield lines with tabs in place of runs of spaces, since pyarrow allows only single-character delimiters."""
    for line in lines:
        words = re.findall(r'"[^"]*"|\S+', line)
        if words:
            yield ("\t".join(words) + "\n").encode()


# -- columns -----------------------------------------------------------------------------------------------------------


def parse_columns(table: Any, decimal: str, kinds: Kinds = NO_KINDS) -> Any:
    """Return a table of text with numeric columns converted to numbers; codes stay text.

    A column that is known to be numbers but has other cells stays text with decimal points, so that an encoder can say
    which cell is wrong. Columns that are known to be words do not change.
    """
    for k, name in enumerate(table.column_names):
        if kinds.get(name) == "words":
            continue
        is_code = name not in kinds and _has_zeros(table.column(k))
        parsed = None if is_code else parse_numbers(table.column(k), decimal)
        if parsed is None and kinds.get(name) == "number" and decimal == ",":
            parsed = need_extra("pyarrow.compute", "parquet").replace_substring(table.column(k), ",", ".")
        if parsed is not None:
            table = table.set_column(k, name, parsed)
    return table


def _has_zeros(column: Any) -> bool:
    """Whether a column has integers with leading zeros, which are codes such as 02134."""
    compute = need_extra("pyarrow.compute", "parquet")
    return bool(compute.any(compute.match_substring_regex(column, r"^\s*0\d+\s*$")).as_py())


def parse_numbers(column: Any, decimal: str) -> Any:
    """Return a column of text as numbers, null where missing, or None if a cell is not a number."""
    arrow, compute = need_extra("pyarrow", "parquet"), need_extra("pyarrow.compute", "parquet")
    text = compute.replace_substring(column, ",", ".") if decimal == "," else column
    try:
        return text.cast(arrow.float64())  # usually enough
    except ValueError:
        text = compute.ascii_trim_whitespace(text)
    is_missing = compute.is_in(compute.ascii_lower(text), arrow.array(sorted(MISSING_WORDS)))
    text = compute.if_else(is_missing, arrow.scalar(None, arrow.string()), text)
    try:
        return compute.replace_substring_regex(text, _PLUS, r"\1").cast(arrow.float64())
    except ValueError:
        return None


def find_word(column: Any, decimal: str) -> str:
    """Return the first cell of a column of text that is not a number."""
    cells = column.to_pylist()
    is_number = (
        cell.strip().lower() in MISSING_WORDS or parse_number(cell.replace(decimal, ".")) is not None for cell in cells
    )
    return next((cell for cell, good in zip(cells, is_number, strict=True) if not good), cells[0])


def _trim(table: Any) -> Any:
    """Return a table of text without leading spaces in cells."""
    compute = need_extra("pyarrow.compute", "parquet")
    for k, name in enumerate(table.column_names):
        column = table.column(k)
        if compute.any(compute.starts_with(column, " ")).as_py():
            column = compute.replace_substring_regex(column, _QUOTED_AFTER_SPACE, r"\1")
            table = table.set_column(k, name, compute.utf8_ltrim(column, " "))
    return table


def _make_table(columns: dict[str, list[str]]) -> Any:
    arrow = need_extra("pyarrow", "parquet")
    return arrow.table({name: arrow.array(cells, arrow.string()) for name, cells in columns.items()})
