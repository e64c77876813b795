"""Tables that are written block by block: CSV, TSV and Parquet, whole or not at all."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

from takagi._files import replace_when_whole
from takagi._messages import need_extra
from takagi._text import remove_controls
from takagi.tables import parse_number

_FORMULA_SIGNS = ("=", "+", "-", "@")
SUFFIXES = (".csv", ".tsv", ".parquet")


class Writer(Protocol):
    """Takes the blocks of a table, one after the other."""

    def write(self, block: Any) -> None:
        """Write the next rows."""


@contextmanager
def open_writer(path: Path | None) -> Iterator[Writer]:
    """Open an output, CSV on the standard output if there is no path.

    A file takes its name when all blocks are written, and is removed if something goes wrong.
    """
    if path is None:
        yield TextWriter(_Terminal() if sys.stdout.isatty() else sys.stdout, ",")
        return
    with ExitStack() as stack:
        temporary = stack.enter_context(replace_when_whole(path))
        if path.suffix.lower() == ".parquet":
            with ParquetWriter(temporary) as parquet:
                yield parquet
        else:
            with temporary.open("x", encoding="utf-8", newline="") as stream:
                yield TextWriter(stream, "\t" if path.suffix.lower() == ".tsv" else ",")


def guard_formula(cell: Any) -> Any:
    """Return a cell that a spreadsheet does not take for a formula: an apostrophe before text that would be one.

    >>> guard_formula("=1+1"), guard_formula("-1.5"), guard_formula("a-b"), guard_formula("-")
    ("'=1+1", '-1.5', 'a-b', '-')
    """
    is_formula = isinstance(cell, str) and cell[1:] and cell.lstrip()[:1] in _FORMULA_SIGNS and cell.lstrip()
    return f"'{cell}" if is_formula and parse_number(cell) is None else cell


class _Terminal:
    """The standard output where people read it: names and cells that could steer the terminal are made harmless."""

    def write(self, text: str) -> None:
        sys.stdout.write(remove_controls(text))


class TextWriter:
    """Writes comma- or tab-separated values."""

    def __init__(self, stream: "TextIO | _Terminal", delimiter: str) -> None:
        self.stream, self.delimiter, self.is_first = stream, delimiter, True

    def write(self, block: Any) -> None:
        """Write the next rows, and before the first ones the names."""
        texts = block.select_dtypes(exclude="number")
        block = block.assign(**{name: texts[name].map(guard_formula) for name in texts})
        block.rename(columns=guard_formula).to_csv(
            self.stream, sep=self.delimiter, index=False, header=self.is_first, lineterminator="\n"
        )
        self.is_first = False


class ParquetWriter:
    """Writes Parquet; the types are those of the first block."""

    def __init__(self, path: Path) -> None:
        self.arrow, self.parquet = need_extra("pyarrow", "all"), need_extra("pyarrow.parquet", "all")
        self.path = path
        self.writer: Any = None

    def __enter__(self) -> "ParquetWriter":
        return self

    def __exit__(self, *_: object) -> None:
        if self.writer is not None:
            self.writer.close()

    def write(self, block: Any) -> None:
        """Write the next rows."""
        schema = None if self.writer is None else self.writer.schema
        try:
            table = self.arrow.Table.from_pandas(block, schema=schema, preserve_index=False)
        except (ValueError, TypeError) as error:
            raise ValueError(f"Parquet takes one type a column; write CSV instead ({error}).") from error
        if self.writer is None:
            self.writer = self.parquet.ParquetWriter(self.path, table.schema)
        self.writer.write_table(table)
