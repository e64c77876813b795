"""Files: only regular files are read, and writing is atomic."""

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
    """Open a file to read; a pipe or a device is refused, since reading it may never end."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder, expected a file.")
    if not stat.S_ISREG(mode):
        raise OSError(f"{path} is a pipe or a device, expected a file.")
    return path.open("rb")


@contextmanager
def replace_when_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path` to write to; it replaces `path` only if there was no error.

    A link stays a link, and a missing folder is an error that names it. Temporary files of the same file that killed
    processes of this machine have left are removed.
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
    """Remove temporary files with this prefix whose processes no longer run."""
    if os.name != "posix":  # other systems have no harmless signal to check with
        return
    for path in folder.glob(f"{start}-*.part"):
        try:
            os.kill(int(path.name.split("-")[2]), 0)
        except ProcessLookupError:
            with suppress(OSError):
                path.unlink()
        except (OSError, ValueError):
            pass  # it belongs to another user, or is not our file


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file; an existing one stays unchanged until the new one is on the disk."""
    with replace_when_whole(path) as temporary, temporary.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return path
