"""How a kernel that another kernel calls is compiled: its code is kept for linking, never run by itself.

numba makes machine code of every function it meets, then links the code of all functions a function calls into it and
optimises the whole anew: a helper ten calls below the one that Python calls is optimised and translated ten times, and
nine of ten kernels get a wrapper for calls from Python that never come. Here such an *inner* kernel is translated to
LLVM's language only. What Python calls takes in the code of all kernels below it and is optimised once, as before.

This builds on parts of numba that may change. They are all named in this file; where one of them is missing the import
fails, and ``compiling`` leaves everything to numba.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import llvmlite.binding
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.typed_passes import NativeLowering

_OVERRIDDEN = {
    JITCodeLibrary: ("finalize", "_optimize_final_module", "_finalize_final_module"),
    CompileResultCacheImpl: ("get_filename_base", "reduce", "rebuild"),
    Dispatcher: ("add_overload", "get_call_template", "get_overload"),
}
_USED = {
    JITCodeLibrary: ("_finalize_dynamic_globals", "_get_module_for_linking", "_ensure_finalized"),
    FunctionCache: ("_impl_class",),
}


def _check_parts(parts: Mapping[Any, tuple[str, ...]]) -> None:
    missing = [
        f"{owner.__name__}.{name}" for owner, names in parts.items() for name in names if not hasattr(owner, name)
    ]
    if missing:
        raise ImportError(f"numba {numba.__version__} has no {', '.join(missing)}")


_check_parts(_OVERRIDDEN)
_check_parts(_USED)


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """The code of an inner kernel and of all that it calls, to be linked into a caller's."""

    def _optimize_final_module(self) -> None:
        """Leave the code to the optimisation of the kernel that Python calls."""

    def _finalize_final_module(self) -> None:
        """Close the library without making machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):  # type: ignore[misc]
    """Translate a kernel into an ``InnerLibrary``, without a wrapper for calls from Python."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Do as numba does up to the machine code. The library stands in for the address of the function."""
        library = state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        state.flags.no_cpython_wrapper = True
        super().run_pass(state)
        state["cr"] = state["cr"]._replace(cfunc=library)
        state.targetctx.insert_user_function(library, state["cr"].fndesc, [library])
        return True


class InnerCompiler(CompilerBase):  # type: ignore[misc]
    """numba's steps with ``InnerLowering`` as the last."""

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state, name="inner")
        steps.passes = [(InnerLowering if step is NativeLowering else step, text) for step, text in steps.passes]
        steps.finalize()
        return [steps]


class _InnerCacheFormat(CompileResultCacheImpl):  # type: ignore[misc]
    """Keep LLVM's language on disk in place of machine code, under names of its own."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"inner-{super().get_filename_base(fullname, abiflags)}"

    def reduce(self, compiled: Any) -> tuple[Any, ...]:
        compiled.fndesc.typemap = compiled.fndesc.calltypes = None  # as numba does: cannot always be pickled
        code = compiled.library._get_module_for_linking().as_bitcode()
        return compiled.library.name, code, compiled.fndesc, compiled.environment, compiled.signature

    def rebuild(self, target_context: Any, stored: tuple[Any, ...]) -> Any:
        name, code, description, environment, signature = stored
        library = InnerLibrary(target_context.codegen(), name)
        library._final_module = llvmlite.binding.parse_bitcode(code)
        library._finalize_final_module()
        return compile_result(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=library,
            signature=signature,
            objectmode=False,
            lifted=(),
            fndesc=description,
            library=library,
            environment=environment,
            reload_init=(),
        )


class _InnerCache(FunctionCache):  # type: ignore[misc]
    _impl_class = _InnerCacheFormat


def call_as_inner(outer: Any, inner: Any, *, cached: bool) -> None:
    """Let kernels that call ``outer`` be given ``inner``, the same function compiled by ``InnerCompiler``."""

    def add_without_address(compiled: Any) -> None:
        inner.overloads[tuple(compiled.signature.args)] = compiled

    inner.add_overload = add_without_address
    if cached:
        inner._cache = _InnerCache(inner.py_func)
    outer.inner = inner
    outer.get_call_template = inner.get_call_template
    outer.get_overload = inner.get_overload
    outer._compiling_counter = inner._compiling_counter  # a kernel that calls itself asks whether it is being compiled
