"""Tables on disk: CSV and its kin, Parquet and Excel, read whole or in blocks of rows."""

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from takagi._messages import find_nearest, need_extra
from takagi.cli._console import Misuse, count, print_note, quote
from takagi.cli._files import STANDARD, check_input
from takagi.cli._text_table import TextTable
from takagi.tables._dialect import HEAD_BYTES

_PARQUET, _ZIP, _OLD_EXCEL, _GZIP = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b"
_MOST_SHOWN = 8


@dataclass(frozen=True)
class Layout:
    """What the user says of a table: whether its first line is data, the columns' names, the sheet of an Excel file."""

    no_header: bool = False
    names: str | None = None
    sheet: str | None = None

    @property
    def name_list(self) -> list[str] | None:
        """The given names, one by one."""
        return None if self.names is None else [word.strip() for word in self.names.split(",")]

    def refuse_names(self, label: str) -> None:
        """Raise an error if there is anything to say of names, which a Parquet file has already."""
        if self.no_header or self.names is not None:
            option = "--no-header" if self.no_header else "--names"
            raise Misuse(f"{label} is Parquet, which has names of its own; leave {option} out.")


class NamedTable(Protocol):
    """A table of which the columns are known."""

    label: str

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    def description(self) -> str:
        """How it is read, in words."""


class TableOnDisk(NamedTable, Protocol):
    """A table that can be read whole or in blocks."""

    @property
    def decimal(self) -> str:
        """The decimal sign of numbers that are text."""

    def blocks(
        self, columns: Sequence[str] | None = None, as_text: Collection[str] = (), n_rows: int | None = None
    ) -> Iterator[Any]:
        """Yield data frames of at most `n_rows` rows with some columns, `as_text` those to leave as they are."""


def open_table(source: str, layout: Layout) -> TableOnDisk:
    """Open a table: a file of any kind, or text on the standard input.

    Parameters
    ----------
    source : str
        A path, or "-".
    layout : Layout
        What the user says of it.
    """
    if source == STANDARD:
        return _checked(TextTable.open(None, sys.stdin.buffer.read(HEAD_BYTES), layout.no_header, layout.name_list))
    path = check_input(Path(source))
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if not head:
        raise ValueError(f"{path} is empty.")
    if head.startswith(_GZIP):
        raise ValueError(f"{path} is compressed; unpack it first.")
    if head.startswith(_PARQUET):
        layout.refuse_names(str(path))
        return _checked(ParquetTable(path))
    if head.startswith((_ZIP, _OLD_EXCEL)):
        return _checked(ExcelTable(path, layout))
    if layout.sheet is not None:
        raise Misuse(f"{path} is no Excel file and has no sheets; leave --sheet out.")
    return _checked(TextTable.open(path, head, layout.no_header, layout.name_list))


def read_table(table: TableOnDisk, columns: Sequence[str] | None = None) -> Any:
    """Return the whole table, or some of its columns, as a data frame."""
    return next(table.blocks(columns))


def find_columns(table: NamedTable, wanted: Sequence[str], error: type[Exception] = Misuse) -> list[str]:
    """Return the names if the table has them all, or raise an error with the nearest one."""
    known = set(table.names)
    for name in wanted:
        if name not in known:
            near = find_nearest(name, table.names)
            hint = f" Did you mean {quote(near)}?" if near is not None else ""
            raise error(f"{table.label} has no column {quote(name)}.{hint} It has {_list_names(table.names)}.")
    return list(wanted)


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(quote, names[:_MOST_SHOWN]))
    return shown if len(names) <= _MOST_SHOWN else f"{shown} and {len(names) - _MOST_SHOWN:,} more"


def _checked(table: TableOnDisk) -> TableOnDisk:
    repeated = [name for name, number in Counter(table.names).items() if number > 1]
    looks_like_data = isinstance(table, TextTable) and table.dialect.has_names and table.dialect.looks_like_data
    hint = "If its first line is data, pass --no-header or --names."
    if repeated:
        raise ValueError(
            f"{table.label} has several columns named {quote(repeated[0])}. Rename or remove all but one."
            + (f" {hint}" if looks_like_data else "")
        )
    if looks_like_data:
        print_note(f"the names of {table.label} look like data: {_list_names(table.names[:4])}. {hint}")
    return table


# -- Parquet -----------------------------------------------------------------------------------------------------------


class ParquetTable:
    """A Parquet file."""

    decimal = "."

    def __init__(self, path: Path) -> None:
        parquet = need_extra("pyarrow.parquet", "all")
        self.label, self.path, self.description = str(path), path, "Parquet"
        try:
            self.file = parquet.ParquetFile(path, pre_buffer=False)  # else it would be held whole
        except (OSError, ValueError) as error:
            raise ValueError(f"{path} is damaged or not Parquet: {str(error).splitlines()[0]}") from error
        self.names = [name for name in self.file.schema_arrow.names if not name.startswith("__index_level_")]

    def blocks(
        self, columns: Sequence[str] | None = None, as_text: Collection[str] = (), n_rows: int | None = None
    ) -> Iterator[Any]:
        """Yield data frames of at most `n_rows` rows; every column keeps its type."""
        pandas = need_extra("pandas", "cli")
        names = self.names if columns is None else list(columns)
        if n_rows is None:
            yield self.file.read(names).to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
            return
        for batch in self.file.iter_batches(n_rows, columns=names):
            yield batch.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)[names]


# -- Excel -------------------------------------------------------------------------------------------------------------


class ExcelTable:
    """A sheet of an Excel file, which is always read whole."""

    decimal = "."

    def __init__(self, path: Path, layout: Layout) -> None:
        pandas = need_extra("pandas", "cli")
        self.label = str(path)
        try:
            with pandas.ExcelFile(path) as book:
                sheet = _find_sheet(path, book.sheet_names, layout.sheet)
                frame = pandas.read_excel(book, sheet_name=sheet, header=None, dtype=object)
        except Misuse:
            raise
        except ImportError as error:
            raise ImportError(f'{path} needs a reader for Excel: pip install "takagi[all]" ({error})') from error
        except Exception as error:  # the readers have errors of their own
            raise ValueError(f"{path} is damaged or not Excel: {error}") from error
        self.description = f"Excel, sheet {quote(sheet)}"
        frame = frame.dropna(how="all").dropna(how="all", axis=1)
        if not len(frame):
            raise ValueError(f"{path} has nothing in sheet {quote(sheet)}.")
        self.names = _name_cells(frame, layout, path)
        self.frame = frame if _is_headless(layout) else frame.iloc[1:]
        self.frame = self.frame.set_axis(self.names, axis=1).reset_index(drop=True)

    def blocks(
        self, columns: Sequence[str] | None = None, as_text: Collection[str] = (), n_rows: int | None = None
    ) -> Iterator[Any]:
        """Yield data frames of at most `n_rows` rows; every cell keeps its type."""
        frame = self.frame if columns is None else self.frame[list(columns)]
        step = n_rows or max(1, len(frame))
        for start in range(0, max(1, len(frame)), step):
            yield frame.iloc[start : start + step]


def _is_headless(layout: Layout) -> bool:
    return layout.no_header or layout.names is not None


def _name_cells(frame: Any, layout: Layout, path: Path) -> list[str]:
    given = layout.name_list
    if given is not None and len(given) != frame.shape[1]:
        raise Misuse(f"{path} has {count(frame.shape[1], 'column')}, but --names gives {len(given)} names.")
    if _is_headless(layout):
        return given or [f"x{k}" for k in range(frame.shape[1])]
    cells = frame.iloc[0].tolist()
    return [f"column{k}" if cell != cell else str(cell).strip() for k, cell in enumerate(cells, start=1)]


def _find_sheet(path: Path, sheets: list[str], wanted: str | None) -> str:
    if wanted is None:
        if len(sheets) > 1:
            print_note(f"{path} has the sheets {', '.join(map(quote, sheets))}; the first is read (--sheet).")
        return sheets[0]
    if wanted in sheets:
        return wanted
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    raise Misuse(f"{path} has no sheet {quote(wanted)}; it has {', '.join(map(quote, sheets))}.")
