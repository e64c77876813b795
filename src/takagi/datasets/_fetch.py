"""Downloads from an archive to a folder, checked and atomic."""

import hashlib
import http.client
import io
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from takagi._files import write_whole
from takagi.datasets._parse import MOST_SOURCE_BYTES, check_sizes, check_values, encode, read_source
from takagi.datasets._registry import DATASETS
from takagi.datasets._sources import SourceFile

CHUNK = 1 << 16
MIRROR = "TAKAGI_MIRROR"  # an address that replaces the archives' scheme and host
Advance = Callable[[int, int | None], None]  # takes the bytes read so far and, if known, the total


class DownloadError(OSError):
    """A file could not be downloaded from any address; the message says why, and where to put the file by hand.

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
    timeout: float = 20.0  # seconds without a response after which an attempt ends
    longest: float = 300.0  # seconds after which all attempts end, even if the server still sends single bytes


def download_file(source: SourceFile, folder: Path, *, quiet: bool = False, patience: Patience | None = None) -> Path:
    """Download a file from the first address that works, check it and put it into a folder."""
    failures = []
    for url in map(_redirect, source.urls):
        try:
            with show_download(source.name, url, quiet) as advance:
                body = request(url, patience or Patience(), advance)
            content = unzip(body, source.name) if url.endswith(".zip") else body
            verify(source, content)
        except ImportError:
            raise
        except Exception as error:  # any error from a strange response: the next address may have the file
            failures.append(f"\n  {url}: {_say(error)}")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            return write_whole(folder / source.name, content)
    raise DownloadError(
        f"{source.name} could not be downloaded.{''.join(failures)}\n"
        f"Put the file into {folder.absolute()}, or set TAKAGI_DATA to the folder that has it."
    )


def request(url: str, patience: Patience, advance: Advance) -> bytes:
    """Return the content of an address; retry after temporary failures."""
    deadline = time.monotonic() + patience.longest
    for attempt in range(1, patience.attempts + 1):
        try:
            return _read_in_time(url, patience.timeout, deadline, advance)
        except (OSError, http.client.HTTPException) as error:
            if attempt == patience.attempts or time.monotonic() >= deadline or not _is_temporary(error):
                raise
        time.sleep(patience.backoff * 2 ** (attempt - 1))
    raise ValueError(f"attempts must be at least 1, got {patience.attempts}.")


def unzip(archive: bytes, name: str) -> bytes:
    """Return the file of that name from any folder of a zip archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as members:
            found = [member for member in members.infolist() if PurePosixPath(member.filename).name == name]
            check_sizes(found[:1])
            content = [members.read(member) for member in found[:1]]
    except Exception as error:  # a damaged archive raises many kinds: of zipfile, of zlib, RuntimeError for a password
        raise ValueError(f"not a valid zip archive ({error})") from error
    if not content:
        raise ValueError(f"the archive has no {name}")
    return content[0]


def verify(source: SourceFile, content: bytes) -> None:
    """Raise a ValueError unless a file is the expected one, by its sha256 if that is known, else by its values."""
    if source.sha256 is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != source.sha256:
            raise ValueError(f"expected sha256 {source.sha256}, got {found}")
        return
    table = read_source(source, content)
    for dataset in DATASETS.values():
        if dataset.source.path == source.path:
            check_values(dataset, *encode(dataset, table))


def _redirect(url: str) -> str:
    """Return the same path on the mirror, if one is set."""
    mirror = os.environ.get(MIRROR)
    return f"{mirror.rstrip('/')}{urlsplit(url).path}" if mirror else url


def _read_in_time(url: str, timeout: float, deadline: float, advance: Advance) -> bytes:
    """Return the content of an address, or raise a TimeoutError at the deadline.

    It is read in a thread: a server that sends its headers byte by byte keeps urllib waiting for each of them.
    """
    outcome: list[bytes | Exception] = []

    def read() -> None:
        try:
            outcome.append(_read_body(url, timeout, deadline, advance))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(max(deadline - time.monotonic(), 0))
    found = outcome[0] if outcome else TimeoutError("the server is too slow")
    if isinstance(found, Exception):
        raise found
    return found


def _read_body(url: str, timeout: float, deadline: float, advance: Advance) -> bytes:
    body = bytearray()
    query = urllib.request.Request(url, headers={"User-Agent": "takagi"})
    try:
        with urllib.request.build_opener(_SameScheme).open(query, timeout=timeout) as answer:
            total = int(answer.headers["Content-Length"]) if answer.headers["Content-Length"] else None
            while chunk := answer.read1(CHUNK):
                body += chunk
                _check_limits(len(body), deadline)
                advance(len(body), total)
    except urllib.error.HTTPError as error:
        error.close()
        raise
    if total is not None and len(body) != total:
        raise ConnectionError(f"the connection was cut after {len(body)} of {total} bytes")
    return bytes(body)


def _check_limits(n_bytes: int, deadline: float) -> None:
    if n_bytes > MOST_SOURCE_BYTES:
        raise ValueError(f"it has more than {MOST_SOURCE_BYTES:,} bytes, more than any file of the datasets")
    if time.monotonic() >= deadline:
        raise TimeoutError("the server is too slow")


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows only redirections within a scheme or to https."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        if urlsplit(newurl).scheme not in ("https", req.type):
            fp.close()
            raise ValueError(f"it redirects from {req.type} to {newurl[:200]}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_temporary(error: Exception) -> bool:
    """Return whether another attempt may succeed; it cannot without a network, or if the file does not exist."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code >= 500 or error.code in (408, 425, 429)
    if isinstance(error, urllib.error.URLError):
        return isinstance(error.reason, (TimeoutError, ConnectionResetError))
    return True


def _say(error: Exception) -> str:
    """Return the reason of a failure without urllib's brackets."""
    if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError):
        return str(error.reason)
    return str(error) or type(error).__name__


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

    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
