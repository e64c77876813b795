"""Where machine code is kept between processes.

Each compiled signature of a function is one file. Its name has a digest of what the code depends on: all sources of
this package (a function may call one of another file), the signature, the processor, and the versions of Python, NumPy
and numba. So one folder serves machines of several kinds, after an edit no old code is found, and nothing is ever
deleted. A file is written whole under another name first, and begins with a digest of the rest: one that is torn,
empty or damaged is compiled anew, and any number of processes may write at once.

numba's own cache counts files instead, and two processes that write at once may take one number for two signatures.
"""

import logging
import os
import pickle
import sys
import tempfile
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_DIGEST_SIZE = 16
_SUFFIX = ".code"
_logger = logging.getLogger("takagi")


def list_places():
    """List where machine code may be: where takagi is told, or where numba is, beside the sources, or the user's."""
    told = os.environ.get("TAKAGI_CACHE_DIR")
    places = [told] if told else [numba.config.CACHE_DIR, Path(__file__).parent / "__pycache__", _find_users_cache()]
    return [Path(place) / f"takagi-{digest_sources()}" for place in places if place]


def _find_users_cache():
    own = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    return Path(own) / "takagi" if own else Path(os.path.expanduser("~")) / ".cache" / "takagi"


@cache
def digest_sources():
    """Return letters and digits that change with every source of this package."""
    digest = blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class CodeFiles(NullCache):
    """The machine code of one function on disk: read from every place, written to the first that takes it."""

    def __init__(self, function):
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"

    @cached_property
    def _places(self):
        return list_places()

    @property
    def cache_path(self):
        """The folder that has code of this function, or None."""
        return next((str(place) for place in self._places if any(place.glob(f"{self._name}-*{_SUFFIX}"))), None)

    def load_overload(self, sig, target_context):
        """Return what was compiled for a signature, or None."""
        target_context.refresh()
        for place in self._places:
            path = place / self._name_file(sig, target_context)
            try:
                content = path.read_bytes()
            except OSError:
                continue
            if content[:_DIGEST_SIZE] == _digest(content[_DIGEST_SIZE:]):
                return CompileResult._rebuild(target_context, *pickle.loads(content[_DIGEST_SIZE:]))
            _tell_once(f"Machine code in {place} is damaged and compiled anew.")
        return None

    def save_overload(self, sig, cres):
        """Keep what was compiled for a signature, where a folder can be written to."""
        data = dumps(cres._reduce())
        for place in self._places:
            try:
                _write_whole(place / self._name_file(sig, cres.target_context), _digest(data) + data)
            except OSError:
                continue
            return
        _tell_once("Compiled code is not kept, since no folder can be written to; TAKAGI_CACHE_DIR can name one.")

    def _name_file(self, sig, target_context):
        versions = sys.implementation.cache_tag, numba.__version__, np.__version__
        key = repr((sig, target_context.codegen().magic_tuple(), versions))
        return f"{self._name}-{_digest(key.encode()).hex()}{_SUFFIX}"


def _digest(data):
    return blake2b(data, digest_size=_DIGEST_SIZE).digest()


def _write_whole(path, content):
    """Write a file that others see either whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


@cache
def _tell_once(message):
    _logger.warning(message)
