"""Files as tables: text, Parquet and Excel, told apart by their content, read whole or in blocks of rows."""

import glob
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from takagi._frames import INDEX_PREFIX, NO_KINDS, Kinds, to_frame
from takagi._messages import find_nearest, need_extra, warn_user
from takagi._text import quote
from takagi.tables._dialect import HEAD_BYTES, Dialect, cut_lines, read_dialects, read_head, set_names
from takagi.tables._errors import DatasetError, HeaderWarning, RequestError
from takagi.tables._excel import ExcelTable
from takagi.tables._text import ByteStream, TextTable

PARQUET_SUFFIXES = (".parquet", ".pq")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
_SUFFIXES = PARQUET_SUFFIXES + TEXT_SUFFIXES
_PATTERN = "*?["
_PARQUET, _ZIP, _OLD_EXCEL, _GZIP = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b"
_MOST_SHOWN = 8


@dataclass(frozen=True)
class TableLayout:
    """What a user says of a table.

    Parameters
    ----------
    no_header : bool, default=False
        Whether the first line of a text file is data; the columns are then x0, x1 and so on.
    names : sequence of str, optional
        Names of all columns; the first line is then data, too.
    sheet : str, optional
        Of an Excel file, the name of a sheet or its number from 1.
    """

    no_header: bool = False
    names: Sequence[str] | None = None
    sheet: str | None = None

    @property
    def is_headless(self) -> bool:
        """Whether the first line is data."""
        return self.no_header or self.names is not None

    def refuse_names(self, label: str) -> None:
        """Raise an error if there is anything to say of names, which a Parquet file has already."""
        if self.is_headless:
            raise RequestError(
                f"{label} is Parquet, which has names of its own; give no others.",
                "no_header" if self.no_header else "names",
            )


class NamedTable(Protocol):
    """A table of which the columns are known."""

    @property
    def label(self) -> str:
        """What messages call it."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    def description(self) -> str:
        """How it is read, in words."""


class OpenTable(NamedTable, Protocol):
    """A table that can be read whole or in blocks.

    Where the file does not tell, columns are read as the `kinds` that they are known to be, "number" or "words".
    """

    def read(self, columns: Sequence[str], kinds: Kinds = NO_KINDS) -> Any:
        """Return some columns as a data frame."""

    def blocks(
        self, columns: Sequence[str], n_rows: int, kinds: Kinds = NO_KINDS, keep: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield data frames of at most `n_rows` rows: columns to keep as they are, and columns to read."""


def open_table(source: str | Path | BinaryIO, layout: TableLayout | None = None) -> OpenTable:
    r"""Open a table: a text, Parquet or Excel file, whatever its name ends in, or a stream of text.

    Parameters
    ----------
    source : path or binary stream
        The file.
    layout : TableLayout, optional
        What is known of it.

    Examples
    --------
    >>> import io
    >>> from takagi.tables import open_table
    >>> table = open_table(io.BytesIO(b"town;rent\nOslo;9,5\nRome;7,25\n"))
    >>> table.description
    'semicolon-separated, decimal comma, UTF-8'
    >>> table.read(["rent"])["rent"].tolist()
    [9.5, 7.25]
    """
    layout = layout or TableLayout()
    table = _open_file(source, layout) if isinstance(source, str | Path) else _open_stream(source, layout)
    _check_names(table)
    return table


def _open_file(source: str | Path, layout: TableLayout) -> OpenTable:
    path = locate_file(source)
    head = _read_mark(path)
    if not head:
        raise ValueError(f"{path} is empty.")
    if head.startswith(_GZIP):
        raise ValueError(f"{path} is compressed; unpack it first.")
    if head == _PARQUET:
        layout.refuse_names(str(path))
        return ParquetTable(path)
    if head in (_ZIP, _OLD_EXCEL):
        return ExcelTable(path, layout.sheet, layout.names, layout.is_headless)
    if layout.sheet is not None:
        raise RequestError(f"{path} is no Excel file and has no sheets.", "sheet")
    return open_texts([path], layout)[0]


def _read_mark(path: Path) -> bytes:
    """Return the first bytes, which tell formats apart."""
    with path.open("rb") as stream:
        return stream.read(len(_PARQUET))


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, or was to be if there is nothing in it."""
    mark = _read_mark(path)
    return mark == _PARQUET or (not mark and path.suffix.lower() in PARQUET_SUFFIXES)


def _open_stream(stream: BinaryIO, layout: TableLayout) -> TextTable:
    head = stream.read(HEAD_BYTES)
    dialect, remark, _ = read_head(head, cut_lines(head), "the standard input")
    if remark:
        warn_user(remark)
    if len(head) < HEAD_BYTES and not dialect.encoding.startswith(("utf-16", "utf-32")):
        head += b"\n"  # pyarrow wants one after the names, even if nothing follows
    read = getattr(stream, "read1", stream.read)  # as much as there is, and no waiting for more
    pieces = chain([head], iter(lambda: read(HEAD_BYTES), b""))
    return TextTable(_name(dialect, layout, "the standard input"), None, io.BufferedReader(ByteStream(pieces)))


def open_texts(paths: Sequence[Path], layout: TableLayout) -> list[TextTable]:
    """Open text files that are parts of one table, and so written alike."""
    dialects, remark = read_dialects(paths)
    if remark:
        warn_user(remark)
    pairs = zip(dialects, paths, strict=True)
    return [TextTable(_name(dialect, layout, str(path)), path) for dialect, path in pairs]


def _name(dialect: Dialect, layout: TableLayout, label: str) -> Dialect:
    return set_names(dialect, layout.names, label) if layout.is_headless else dialect


def _check_names(table: NamedTable) -> None:
    repeated = [name for name, number in Counter(table.names).items() if number > 1]
    looks_like_data = isinstance(table, TextTable) and table.dialect.has_names and table.dialect.looks_like_data
    if looks_like_data:
        warn_user(f"the names of {table.label} look like data: {_list_names(table.names[:4])}.", HeaderWarning)
    if repeated:
        raise ValueError(f"{table.label} has several columns named {quote(repeated[0])}. Rename or remove all but one.")


def find_columns(table: NamedTable, wanted: Sequence[str], about: str = "") -> list[str]:
    """Return the names if the table has them all, or raise an error with the nearest one.

    The error is a `RequestError` if `about` says what asks for them; without it they are a model's.
    """
    known = set(table.names)
    for name in wanted:
        if name not in known:
            near = find_nearest(name, table.names)
            hint = f" Did you mean {quote(near)}?" if near is not None else ""
            message = f"{table.label} has no column {quote(name)}.{hint} It has {_list_names(table.names)}."
            raise RequestError(message, about) if about else ValueError(message)
    return list(wanted)


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(quote, names[:_MOST_SHOWN]))
    return shown if len(names) <= _MOST_SHOWN else f"{shown} and {len(names) - _MOST_SHOWN:,} more"


class ParquetTable:
    """A Parquet file, whose columns have types of their own."""

    description = "Parquet"

    def __init__(self, path: Path) -> None:
        parquet = need_extra("pyarrow.parquet", "parquet")
        self.label = str(path)
        try:
            self.file = parquet.ParquetFile(path, pre_buffer=False)  # else it would be held whole
        except (OSError, ValueError) as error:
            raise ValueError(f"{path} is damaged or not Parquet: {str(error).splitlines()[0]}") from error
        self.names = [name for name in self.file.schema_arrow.names if not name.startswith(INDEX_PREFIX)]

    def read(self, columns: Sequence[str], kinds: Kinds = NO_KINDS) -> Any:
        """Return some columns as a data frame."""
        return to_frame(self.file.read(list(columns)).select(columns))

    def blocks(
        self, columns: Sequence[str], n_rows: int, kinds: Kinds = NO_KINDS, keep: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield data frames of at most `n_rows` rows: columns to keep, and columns to read."""
        arrow = need_extra("pyarrow", "parquet")
        for batch in self.file.iter_batches(n_rows, columns=list(dict.fromkeys([*columns, *keep]))):
            table = arrow.Table.from_batches([batch])
            yield to_frame(table.select(keep)), to_frame(table.select(columns))


# -- files -------------------------------------------------------------------------------------------------------------


def locate_file(source: str | Path) -> Path:
    """Return a path to a file that is there, or raise an error with the nearest name."""
    path = Path(source).expanduser()
    if path.is_dir():
        raise RequestError(f"{path} is a folder; give a file in it.")
    if not path.exists():
        raise _lacking_error(path)
    return path


def find_files(source: Any) -> list[Path]:
    """Return the files that a path, a folder, a pattern or a sequence of them means."""
    if isinstance(source, str | Path):
        return _find(source)
    if not isinstance(source, Iterable) or hasattr(source, "dtypes") or hasattr(source, "dtype"):
        raise TypeError(
            "source must be a path, a folder, a pattern such as 'part-*.parquet', several paths, a "
            f"pyarrow.dataset.Dataset or a Dask data frame, got {type(source).__name__}."
        )
    paths = [path for one in source for path in _find(one)]
    if not paths:
        raise DatasetError("source is an empty sequence; give one file at least.")
    for path, n_times in Counter(path.resolve() for path in paths).items():
        if n_times > 1:
            raise RequestError(f"{path} is given {n_times} times, and its rows would count as often. Name it once.")
    return paths


def is_pattern(source: str) -> bool:
    """Whether a source is a pattern for names of files."""
    return any(sign in source for sign in _PATTERN)


def _find(source: str | Path) -> list[Path]:
    path = Path(source).expanduser()
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in _SUFFIXES and _is_data(file, path)]
        if not found:
            raise RequestError(f"the folder {path} has no file that ends in {', '.join(_SUFFIXES)}.")
        return found
    if path.exists():
        return [path]
    if is_pattern(str(path)):
        found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True)) if Path(name).is_file()]
        if not found:
            raise RequestError(f"no file matches {str(path)!r}.")
        return found
    raise _lacking_error(path)


def _lacking_error(path: Path) -> RequestError:
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    near = find_nearest(path.name, beside)
    return RequestError(f"there is no file {path}." + (f" Did you mean {path.with_name(near)}?" if near else ""))


def _is_data(file: Path, folder: Path) -> bool:
    """Whether a file is none of those that other tools leave beside data, such as _metadata."""
    return file.is_file() and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
