"""Files as bytes: plain, compressed with gzip, or one file of a zip archive."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from takagi._text import quote
from takagi.tables._errors import DatasetError, RequestError

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
_ERRORS = (EOFError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile, RuntimeError, NotImplementedError)
_BOOKS = ("[Content_Types].xml", "mimetype")  # first bytes of Excel and OpenDocument files, which are archives
_MARK_BYTES = 16
_MOST_SHOWN = 8


@dataclass(frozen=True)
class FileBytes:
    """The bytes of a file; a compressed file is decompressed while it is read."""

    path: Path
    packing: str = ""  # "gzip", "zip" or nothing
    member: str = ""  # of a zip archive, the file that is read

    def __str__(self) -> str:
        return f"{self.path} ({self.member})" if self.member else str(self.path)

    def open(self) -> BinaryIO:
        """Open the bytes to read them from the start."""
        if self.packing == "gzip":
            return gzip.open(self.path)  # type: ignore[return-value]
        if self.packing == "zip":
            return _Member(self.path, self.member)
        return self.path.open("rb")

    def read_mark(self) -> bytes:
        """Return the first bytes, which identify the format."""
        with unpacking(self), self.open() as stream:
            return stream.read(_MARK_BYTES)


class _Member(io.BufferedReader):
    """One file of an archive, which is closed with it."""

    def __init__(self, path: Path, name: str) -> None:
        self.archive = zipfile.ZipFile(path)
        super().__init__(self.archive.open(name))  # type: ignore[arg-type]

    def close(self) -> None:
        super().close()
        self.archive.close()


@contextmanager
def unpacking(file: FileBytes | None) -> Iterator[None]:
    """Turn errors of decompression of a file, or of the standard input, into clear ones."""
    try:
        yield
    except _ERRORS as error:
        if file is not None and not file.packing:
            raise
        raise _explain("the standard input" if file is None else str(file), error) from error


def _explain(label: str, error: Exception) -> DatasetError:
    if "password" in str(error):
        return DatasetError(f"{label} is locked with a password; unpack it first.")
    if isinstance(error, NotImplementedError):
        return DatasetError(f"{label} is packed in a way that Python does not know ({error}); unpack it first.")
    return DatasetError(f"{label} is damaged and cannot be unpacked: {error or 'it ends too early'}.")


def find_bytes(path: Path, wanted: str | None = None, suffixes: Sequence[str] = ()) -> FileBytes:
    """Return the bytes of a file; for an archive, those of the requested file in it, or of the only table."""
    with path.open("rb") as stream:
        mark = stream.read(len(ZIP))
    if mark.startswith(GZIP):
        return FileBytes(path, "gzip")
    if mark != ZIP:
        return FileBytes(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [one.filename for one in archive.infolist() if not one.is_dir()]
    except _ERRORS:
        return FileBytes(path)  # perhaps Excel, whose reader gives the error
    if any(name in _BOOKS for name in members):
        return FileBytes(path)
    return FileBytes(path, "zip", _choose_member(path, members, wanted, tuple(suffixes)))


def _choose_member(path: Path, members: list[str], wanted: str | None, suffixes: tuple[str, ...]) -> str:
    members = [name for name in members if not _is_hidden(name)]
    tables = [name for name in members if name.lower().endswith(suffixes)] or members
    if not tables:
        raise RequestError(f"{path} is an archive without files.")
    if len(tables) == 1:
        return tables[0]
    if wanted is not None and wanted in members:
        return wanted
    if wanted is not None and wanted.isdecimal() and 1 <= int(wanted) <= len(tables):
        return tables[int(wanted) - 1]
    shown = ", ".join(map(quote, tables[:_MOST_SHOWN])) + (", ..." if len(tables) > _MOST_SHOWN else "")
    has_not = "" if wanted is None else f" but not {quote(wanted)}"
    raise RequestError(f"{path} is an archive with the tables {shown}{has_not}; name one of them.", "sheet")


def _is_hidden(name: str) -> bool:
    """Whether a file is one of those that systems put into archives, such as __MACOSX/._a.csv."""
    return any(part.startswith((".", "__MACOSX")) for part in name.split("/"))


def unpack_stream(pieces: Iterable[bytes]) -> BinaryIO:
    """Return a stream of the decompressed pieces of a gzip file."""
    return gzip.open(io.BufferedReader(ByteStream(pieces)))  # type: ignore[return-value]


class ByteStream(io.RawIOBase):
    """Pieces of bytes as a stream."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces, self.rest = iter(pieces), b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes."""
        while not self.rest:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.rest = piece
        data = self.rest[: len(buffer)]
        self.rest = self.rest[len(data) :]
        buffer[: len(data)] = data
        return len(data)
