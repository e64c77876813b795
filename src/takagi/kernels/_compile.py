"""How kernels are compiled. `takagi.kernels._storage` keeps their machine code."""

from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from takagi.kernels._storage import CodeFiles


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
    """Compile on first use, release the GIL, keep the machine code on disk.

    No fast-math flag: what LLVM then fuses or reorders depends on what it inlined, and a fresh compilation would differ
    in the last bits from the same code loaded from disk. Where a multiplication and an addition shall be one
    instruction, the code says `fma`.
    """
    compiled = njit(function, nogil=True, **(_OPTIONS | options))
    compiled._cache = CodeFiles(function)
    return compiled


def inner(function, **options):
    """Compile for callers that are compiled, which saves making it callable from Python."""
    return njit(function, no_cpython_wrapper=True, pipeline_class=_PartCompiler, **(_OPTIONS | options))


def merged(function):
    """Compile as a part of its callers: a call would pass seven words per array, which short loops notice."""
    return inner(function, forceinline=True)
