"""Download: from an archive to a folder, complete and checked, or not at all."""

import hashlib
import http.client
import io
import os
import sys
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from takagi._files import write_whole
from takagi.datasets._parse import check_values, encode, read_source
from takagi.datasets._registry import DATASETS
from takagi.datasets._sources import SourceFile

CHUNK = 1 << 16
MIRROR = "TAKAGI_MIRROR"  # an address that takes the place of the archives' scheme and host
Advance = Callable[[int, int | None], None]  # takes the bytes read so far and, if known, the total


class DownloadError(OSError):
    """No address of a file could deliver it; the message says why, and where to put the file by hand.

    Examples
    --------
    >>> from takagi.datasets import DownloadError
    >>> issubclass(DownloadError, OSError)
    True
    """


@dataclass(frozen=True)
class Patience:
    """How long to try one address."""

    attempts: int = 3
    backoff: float = 0.5  # seconds to wait before the second attempt; doubles with every further one
    timeout: float = 20.0  # seconds without an answer that end an attempt


def download_file(source: SourceFile, folder: Path, *, quiet: bool = False, patience: Patience | None = None) -> Path:
    """Download a file from the first of its addresses that gives it, check it and put it into a folder."""
    failures = []
    for url in map(_redirect, source.urls):
        try:
            with show_download(source.name, url, quiet) as advance:
                body = request(url, patience or Patience(), advance)
            content = unzip(body, source.name) if url.endswith(".zip") else body
            verify(source, content)
        except (OSError, ValueError, http.client.HTTPException) as error:
            failures.append(f"\n  {url}: {_say(error)}")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            return write_whole(folder / source.name, content)
    raise DownloadError(
        f"{source.name} could not be downloaded.{''.join(failures)}\n"
        f"Put the file into {folder.absolute()}, or into a folder that TAKAGI_DATA names."
    )


def request(url: str, patience: Patience, advance: Advance) -> bytes:
    """Return the content of an address; temporary failures are tried again."""
    for attempt in range(1, patience.attempts + 1):
        try:
            return _read_body(url, patience.timeout, advance)
        except (OSError, http.client.HTTPException) as error:
            if attempt == patience.attempts or not _is_temporary(error):
                raise
        time.sleep(patience.backoff * 2 ** (attempt - 1))
    raise ValueError(f"attempts must be at least 1, got {patience.attempts}.")


def unzip(archive: bytes, name: str) -> bytes:
    """Return the file of that name from any folder of a zip archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as members:
            for member in members.namelist():
                if PurePosixPath(member).name == name:
                    return members.read(member)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"not a sound zip archive ({error})") from error
    raise ValueError(f"the archive has no {name}")


def verify(source: SourceFile, content: bytes) -> None:
    """Raise a ValueError unless a file is the expected one, by its sha256 if that is known, else by its values."""
    if source.sha256 is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != source.sha256:
            raise ValueError(f"expected sha256 {source.sha256}, got {found}")
        return
    table = read_source(source, content)
    for dataset in DATASETS.values():
        if dataset.source is source:
            check_values(dataset, *encode(dataset, table))


def _redirect(url: str) -> str:
    """Return the same path on the mirror, if one is set."""
    mirror = os.environ.get(MIRROR)
    return f"{mirror.rstrip('/')}{urlsplit(url).path}" if mirror else url


def _read_body(url: str, timeout: float, advance: Advance) -> bytes:
    body = bytearray()
    query = urllib.request.Request(url, headers={"User-Agent": "takagi"})
    try:
        with urllib.request.urlopen(query, timeout=timeout) as answer:
            total = int(answer.headers["Content-Length"]) if answer.headers["Content-Length"] else None
            while chunk := answer.read(CHUNK):
                body += chunk
                advance(len(body), total)
    except urllib.error.HTTPError as error:
        error.close()
        raise
    if total is not None and len(body) != total:
        raise ConnectionError(f"the connection was cut after {len(body)} of {total} bytes")
    return bytes(body)


def _is_temporary(error: Exception) -> bool:
    """Return whether another attempt may succeed; without a network or a file there it cannot."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code >= 500 or error.code in (408, 425, 429)
    if isinstance(error, urllib.error.URLError):
        return isinstance(error.reason, (TimeoutError, ConnectionResetError))
    return True


def _say(error: Exception) -> str:
    """Return the reason of a failure without urllib's brackets."""
    if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError):
        return str(error.reason)
    return str(error)


# -- progress, on the standard error stream ----------------------------------------------------------------------------


@contextmanager
def show_download(name: str, url: str, quiet: bool = False) -> Iterator[Advance]:
    """Yield a function to report bytes to: a bar on a terminal with rich installed, else one line at the start."""
    if quiet:
        yield lambda done, total: None
    elif sys.stderr.isatty() and find_spec("rich"):
        with _bar(name) as advance:
            yield advance
    else:
        sys.stderr.write(f"downloading {url}\n")
        yield lambda done, total: None


@contextmanager
def _bar(name: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
