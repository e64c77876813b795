"""Files as tables: text, Parquet, sheets, JSON and databases, detected by content, read whole or in blocks."""

import glob
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from takagi._frames import INDEX_PREFIX, NO_KINDS, Kinds, to_frame
from takagi._messages import find_nearest, need_extra, warn_user
from takagi._text import quote
from takagi.tables._dialect import HEAD_BYTES, Dialect, cut_lines, read_dialects, read_head, set_names
from takagi.tables._errors import DatasetError, HeaderWarning, RequestError
from takagi.tables._json import JSON_SUFFIXES, is_json, open_json
from takagi.tables._layout import TableLayout, list_names, tell_titles
from takagi.tables._sheets import open_sheet
from takagi.tables._sql import SQLITE_MARK, hide_password, is_address, open_query
from takagi.tables._text import TextTable
from takagi.tables._unpack import GZIP, ZIP, ByteStream, FileBytes, find_bytes, unpack_stream, unpacking

PARQUET_SUFFIXES = (".parquet", ".pq")
_PLAIN_SUFFIXES = (".csv", ".tsv", ".txt")
TEXT_SUFFIXES = (*_PLAIN_SUFFIXES, *(f"{suffix}.gz" for suffix in _PLAIN_SUFFIXES))
TABLE_SUFFIXES = PARQUET_SUFFIXES + TEXT_SUFFIXES + JSON_SUFFIXES + (".xlsx", ".xls", ".ods")
_SUFFIXES = PARQUET_SUFFIXES + TEXT_SUFFIXES
_PATTERN = "*?["
_PARQUET, _OLD_EXCEL = b"PAR1", b"\xd0\xcf\x11\xe0"


class NamedTable(Protocol):
    """A table with known columns."""

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

    If the file has no types, columns are read as the given `kinds`, "number" or "words".
    """

    def read(self, columns: Sequence[str], kinds: Kinds = NO_KINDS) -> Any:
        """Return some columns as a data frame."""

    def blocks(
        self, columns: Sequence[str], n_rows: int, kinds: Kinds = NO_KINDS, keep: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield data frames of at most `n_rows` rows: columns to keep as they are, and columns to read."""


def open_table(source: str | Path | BinaryIO, layout: TableLayout | None = None) -> OpenTable:
    r"""Open a table: a text, Parquet, Excel, OpenDocument or JSON file, a database, or a stream of text.

    The format is detected from the content, not from the file name. Files may be compressed with gzip, or be in a zip
    archive.

    Parameters
    ----------
    source : path, address or binary stream
        The file, the address of a database such as ``sqlite:///plant.db``, or text.
    layout : TableLayout, optional
        The user's settings for the table.

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
    if isinstance(source, str) and is_address(source):
        layout.refuse(hide_password(source), "a database", "no_header", "names", "header_row", "sheet")
        table: OpenTable = open_query(source, layout.query)
    else:
        table = _open_file(source, layout) if isinstance(source, str | Path) else _open_stream(source, layout)
    _check_names(table)
    return table


def _open_file(source: str | Path, layout: TableLayout) -> OpenTable:
    path = locate_file(source)
    file = find_bytes(path, layout.sheet, TABLE_SUFFIXES)
    if file.member and layout.sheet is not None:
        layout = replace(layout, sheet=None)
    head, label = file.read_mark(), str(file)
    if not head:
        raise ValueError(f"{label} is empty.")
    if head == SQLITE_MARK:
        layout.refuse(label, "a database", "no_header", "names", "header_row", "sheet")
        return open_query(path, layout.query)
    layout.refuse(label, "a file", "query")
    if head.startswith(_PARQUET):
        layout.refuse(label, "Parquet", "no_header", "names", "header_row", "sheet")
        return ParquetTable(file)
    if head.startswith((ZIP, _OLD_EXCEL)):
        return open_sheet(file, layout)
    return _open_plain(file, layout)


def _open_plain(file: FileBytes, layout: TableLayout) -> OpenTable:
    """Open a file of text or JSON."""
    with unpacking(file), file.open() as stream:
        is_object = is_json(stream.read(HEAD_BYTES), file.member or file.path.name)
    if is_object:
        layout.refuse(str(file), "JSON", "no_header", "names", "header_row", "sheet")
        with unpacking(file), file.open() as stream:
            return open_json(stream, str(file))
    layout.refuse(str(file), "text", "sheet")
    return open_texts([file], layout)[0]


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its name if it is empty."""
    with path.open("rb") as stream:
        mark = stream.read(len(_PARQUET))
    return mark == _PARQUET or (not mark and path.suffix.lower() in PARQUET_SUFFIXES)


def _open_stream(stream: BinaryIO, layout: TableLayout) -> OpenTable:
    label = "the standard input"
    layout.refuse(label, "text", "sheet", "query")
    head = stream.read(HEAD_BYTES)
    if head.startswith((_PARQUET, ZIP, _OLD_EXCEL)):
        raise ValueError(f"{label} takes text, JSON lines and gzip; save what comes to a file first.")
    read = getattr(stream, "read1", stream.read)  # as much as there is, without waiting for more
    pieces = chain([head], iter(lambda: read(HEAD_BYTES), b""))
    if head.startswith(GZIP):
        with unpacking(None):
            return _open_stream(unpack_stream(pieces), layout)
    if is_json(head):
        layout.refuse(label, "JSON", "no_header", "names", "header_row")
        return open_json(io.BufferedReader(ByteStream(pieces)), label)
    dialect, remark, _ = read_head(head, cut_lines(head), label, layout.header_row)
    if remark:
        warn_user(remark)
    if len(head) < HEAD_BYTES and not dialect.encoding.startswith(("utf-16", "utf-32")):
        pieces = chain(pieces, [b"\n"])  # pyarrow needs one after the names, even if nothing follows
    return TextTable(_name(dialect, layout, label), None, io.BufferedReader(ByteStream(pieces)))


def open_texts(files: Sequence[FileBytes], layout: TableLayout) -> list[TextTable]:
    """Open text files that are parts of one table and have the same format."""
    dialects, remark = read_dialects(files, layout.header_row)
    if remark:
        warn_user(remark)
    pairs = zip(dialects, files, strict=True)
    return [TextTable(_name(dialect, layout, str(file)), file) for dialect, file in pairs]


def _name(dialect: Dialect, layout: TableLayout, label: str) -> Dialect:
    if layout.is_headless:
        return set_names(dialect, layout.names, label)
    if dialect.n_titles:
        tell_titles(label, dialect.n_titles, dialect.line, dialect.first_row)
    return dialect


def _check_names(table: NamedTable) -> None:
    repeated = [name for name, number in Counter(table.names).items() if number > 1]
    looks_like_data = isinstance(table, TextTable) and table.dialect.has_names and table.dialect.looks_like_data
    if looks_like_data:
        warn_user(f"the names of {table.label} look like data: {list_names(table.names[:4])}.", HeaderWarning)
    if repeated:
        raise ValueError(f"{table.label} has several columns named {quote(repeated[0])}. Rename or remove all but one.")


def find_columns(table: NamedTable, wanted: Sequence[str], about: str = "") -> list[str]:
    """Return the names if the table has them all, or raise an error with the nearest one.

    The error is a `RequestError` if `about` names the option that asks for them; without it they are those of a model.
    """
    known = set(table.names)
    for name in wanted:
        if name not in known:
            near = find_nearest(name, table.names)
            hint = f" Did you mean {quote(near)}?" if near is not None else ""
            message = f"{table.label} has no column {quote(name)}.{hint} It has {list_names(table.names)}."
            raise RequestError(message, about) if about else ValueError(message)
    return list(wanted)


class ParquetTable:
    """A Parquet file, whose columns have types."""

    description = "Parquet"

    def __init__(self, source: FileBytes) -> None:
        parquet = need_extra("pyarrow.parquet", "parquet")
        self.label = str(source)
        content = source.open() if source.packing else source.path
        try:
            self.file = parquet.ParquetFile(content, pre_buffer=False)  # else it would be held whole
        except (OSError, ValueError) as error:
            raise ValueError(f"{source} is damaged or not Parquet: {str(error).splitlines()[0]}") from error
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
    """Return the path of an existing file, or raise an error with the nearest name."""
    path = Path(source).expanduser()
    if path.is_dir():
        raise RequestError(f"{path} is a folder; give a file in it.")
    if not path.exists():
        raise _lacking_error(path)
    return path


def find_files(source: Any) -> list[Path]:
    """Return the files of a path, a folder, a pattern or a sequence of them."""
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
        found = [file for file in sorted(path.rglob("*")) if _is_data(file, path)]
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
    """Whether a file is data, and not a file of other tools such as _metadata."""
    is_known = file.is_file() and file.name.lower().endswith(_SUFFIXES)
    return is_known and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
