"""Files: read where they are files, and written so that others see them either whole or not at all."""

import os
import platform
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read; a pipe or a device is refused, since it may keep its reader waiting for ever."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder, expected a file.")
    if not stat.S_ISREG(mode):
        raise OSError(f"{path} is a pipe or a device, expected a file.")
    return path.open("rb")


@contextmanager
def replace_when_whole(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path` to write to; it takes the place of `path` only if all went well.

    A link stays a link, and a folder that does not exist is an error that names it. What processes of this machine that
    were killed have left of the same file is removed.
    """
    path = Path(path).resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist; make it first.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    start = f".takagi-{blake2b(f'{platform.node()}/{path.name}'.encode(errors='replace'), digest_size=8).hexdigest()}"
    _sweep(path.parent, start)
    temporary = path.with_name(f"{start}-{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(folder: Path, start: str) -> None:
    """Remove temporary files with this start whose processes are gone."""
    if os.name != "posix":  # elsewhere there is no harmless signal to ask with
        return
    for path in folder.glob(f"{start}-*.part"):
        try:
            os.kill(int(path.name.split("-")[2]), 0)
        except ProcessLookupError:
            with suppress(OSError):
                path.unlink()
        except (OSError, ValueError):
            pass  # it is another user's, or no name of ours


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file; one that exists stays as it is until the new one is on the disk."""
    with replace_when_whole(path) as temporary, temporary.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return path
