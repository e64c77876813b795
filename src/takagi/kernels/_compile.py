"""How kernels are compiled. `takagi.kernels._storage` keeps their machine code."""

import gc
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as llvm
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager

from takagi.kernels._storage import CodeFiles

_NEEDLESS = {  # passes for closures, array expressions, literals and the like, which kernels do not have
    *("WithLifting", "InlineClosureLikes", "MakeFunctionToJitFunction", "RewriteDynamicRaises"),
    *("RewriteSemanticConstants", "NopythonRewrites", "NoPythonSupportedFeatureValidation", "DumpParforDiagnostics"),
    *("FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass"),
}


@contextmanager
def _paused_garbage_collection():
    """Compilation makes so many objects that looking through them again and again takes a tenth of its time."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


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


class _Whole(JITCodeLibrary):
    """The code of an entry point with all its parts.

    It is optimized once, and lightly: numba would do so three times, since it counts references, and vectorize and
    unroll loops, which this code has done by itself where it pays. Older versions of llvmlite know numba's way only.
    """

    has_plain_loops = False  # which LLVM is to vectorize and unroll

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        if not hasattr(llvm, "PipelineTuningOptions"):
            super()._optimize_final_module()
            return
        options = llvm.PipelineTuningOptions(speed_level=3 if self.has_plain_loops else 1)
        options.loop_vectorization = options.loop_unrolling = self.has_plain_loops
        options.slp_vectorization = False
        options.inlining_threshold = 10
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


class _WholeWithLoops(_Whole):
    has_plain_loops = True


class _LeanCompiler(Compiler):
    """Compiles without the passes that kernels do not need."""

    library: type[JITCodeLibrary]

    def define_pipelines(self):
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        (pipeline,) = super().define_pipelines()
        lean = PassManager(pipeline.pipeline_name)
        lean.passes.extend(step for step in pipeline.passes if step[0].__name__ not in _NEEDLESS)
        lean.finalize()
        return [lean]


class _PartCompiler(_LeanCompiler):
    library = _Part


class _WholeCompiler(_LeanCompiler):
    library = _Whole

    def compile_extra(self, func):
        with _paused_garbage_collection():
            return super().compile_extra(func)


class _LoopCompiler(_WholeCompiler):
    library = _WholeWithLoops


# Hardly any function allocates memory, so references need not be counted (_nrt).
_OPTIONS: Any = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def entry_point(function, **options):
    """Compile on first use, release the GIL, keep the machine code on disk.

    No fast-math flag: what LLVM then fuses or reorders depends on what it inlined, and a fresh compilation would differ
    in the last bits from the same code loaded from disk. Where a multiplication and an addition shall be one
    instruction, the code says `fma`.
    """
    compiled = njit(function, nogil=True, **(_OPTIONS | {"pipeline_class": _WholeCompiler} | options))
    compiled._cache = CodeFiles(function)
    return compiled


def loop_entry_point(function):
    """Do the same for a function whose loops go over numbers, not over lanes; this takes longer to compile."""
    return entry_point(function, pipeline_class=_LoopCompiler)


def inner(function, **options):
    """Compile for callers that are compiled, which saves making it callable from Python."""
    return njit(function, no_cpython_wrapper=True, pipeline_class=_PartCompiler, **(_OPTIONS | options))


def merged(function):
    """Compile as a part of its callers: a call would pass seven words per array, which short loops notice."""
    return inner(function, forceinline=True)
