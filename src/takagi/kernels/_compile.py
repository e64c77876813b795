"""How kernels are compiled, and where their machine code is kept.

numba compares stored machine code with the file of the function only, and not with the files of the functions that this
one calls. So the folder's name holds a digest of all sources of this package: after an edit of any of them, or with
another version of takagi, no old code is found. Nothing is ever deleted.
"""

import os
import tempfile
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

config: Any = numba.config


def digest_sources() -> str:
    """Return letters and digits that change with every source of this package."""
    digest = blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def find_folder() -> Path | None:
    """Return the first folder for machine code that can be written to, or None."""
    name = f"takagi-{digest_sources()}"
    for base in list_places():
        try:
            (base / name).mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=base / name).close()
        except OSError:
            continue
        return base / name
    return None


def list_places() -> Iterator[Path]:
    """List where machine code may be kept: where numba is told to, beside the sources, or with the user's files."""
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR)
    yield Path(__file__).parent / "__pycache__"
    own = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    yield Path(own) / "takagi" if own else Path(os.path.expanduser("~")) / ".cache" / "takagi"


_FOLDER = find_folder()


class _Part(JITCodeLibrary):
    """The code of one function that only compiled code calls.

    It is linked into that of the entry point and optimized there, once. numba would also optimize it and make machine
    code of it by itself, and again together with each function on the way up: half of the time of a compilation.
    """

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0  # as of a function that is not there, such as the wrappers that no one asked for

    @property
    def codegen(self):
        return self

    def set_env(self, env_name, env):
        pass  # only Python code inside of compiled code reads it


class _PartCompiler(Compiler):
    def define_pipelines(self):
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


# Hardly any function allocates memory, so references need not be counted (_nrt).
_OPTIONS: Any = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def entry_point(function, **options):
    """Compile on first use, release the GIL, keep the machine code on disk where some folder is writable.

    No fast-math flag: what LLVM then fuses or reorders depends on what it inlined, and a fresh compilation would differ
    in the last bits from the same code loaded from disk. Where a multiplication and an addition shall be one
    instruction, the code says `fma`.
    """
    options = _OPTIONS | {"nogil": True} | options
    if _FOLDER is None:
        return njit(function, **options)
    theirs, config.CACHE_DIR = config.CACHE_DIR, str(_FOLDER)  # numba reads it here, once for each function
    try:
        return njit(function, cache=True, **options)
    finally:
        config.CACHE_DIR = theirs


def inner(function, **options):
    """Compile for callers that are compiled, which saves making it callable from Python."""
    return njit(function, no_cpython_wrapper=True, pipeline_class=_PartCompiler, **(_OPTIONS | options))


def merged(function):
    """Compile as a part of its callers: a call would pass seven words per array, which short loops notice."""
    return inner(function, forceinline=True)
