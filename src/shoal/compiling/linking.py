"""How a kernel that another kernel calls is compiled, and how compiled kernels become bytes and come back.

numba makes machine code of every function it meets, then links the code of all functions a function calls into it and
optimizes the whole again: a helper ten calls below the one that Python calls is optimized and translated ten times, and
nine of ten kernels get a wrapper for calls from Python that never come. Here such an *inner* kernel is translated to
LLVM's language only. What Python calls, an *outer* kernel, takes in the code of all kernels below it and is optimized once.

This is the one file that builds on inner parts of numba, which may change. If one of them is missing the import fails;
if one behaves otherwise, the probe in ``compiling`` fails. Either way everything is left to numba: slower to
compile, the same kernels.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import llvmlite.binding
import numba
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder, compile_result
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.typed_passes import NativeLowering

_OVERRIDDEN = {
    JITCodeLibrary: ("finalize", "_optimize_functions", "_optimize_final_module", "_finalize_final_module"),
    Dispatcher: ("add_overload", "get_call_template", "get_overload"),
}
_USED = {
    JITCodeLibrary: (
        "_finalize_dynamic_globals",
        "_get_module_for_linking",
        "_ensure_finalized",
        "_get_compiled_object",
        "_set_compiled_object",
        "enable_object_caching",
    ),
    CPUCodegen: ("_function_pass_manager",),
    CompileResult: ("_find_referenced_environments",),
    type(rtsys): ("initialize",),
}


def _check_parts(parts: Mapping[Any, tuple[str, ...]]) -> None:
    missing = [
        f"{owner.__name__}.{name}" for owner, names in parts.items() for name in names if not hasattr(owner, name)
    ]
    if missing:
        raise ImportError(f"numba {numba.__version__} has no {', '.join(missing)}")


_check_parts(_OVERRIDDEN)
_check_parts(_USED)


_MANAGER_EACH = "llvm_module" not in inspect.signature(CPUCodegen._function_pass_manager).parameters
"""Whether numba makes a manager of LLVM's passes for each function, not one for a module as older ones do."""


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """The code of an inner kernel and of all that it calls, to be linked into a caller's."""

    def _optimize_functions(self, module: Any) -> None:
        """Tidy up each function, so that less is linked and optimized later; numba sets itself up for each declaration too."""
        if not _MANAGER_EACH:
            super()._optimize_functions(module)
            return
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager()
                manager.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Leave the rest to the optimization of the kernel that Python calls."""

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


def make_inner(function: Any, settings: dict[str, Any]) -> Any:
    """Return what kernels call instead of ``function``."""
    inner = numba.njit(**settings, pipeline_class=InnerCompiler)(function)

    def add_without_address(compiled: Any) -> None:
        inner.overloads[tuple(compiled.signature.args)] = compiled

    inner.add_overload = add_without_address
    return inner


def pack_inner(compiled: Any) -> bytes:
    """Return LLVM's language for a kernel, and what a caller must know of it."""
    code = compiled.library._get_module_for_linking().as_bitcode()
    return _pack(compiled, compiled.library.name, code)


def unpack_inner(target_context: Any, stored: tuple[Any, ...]) -> Any:
    """Make an inner kernel from what was packed."""
    name, code, description, environment, signature = stored
    library = InnerLibrary(target_context.codegen(), name)
    library._final_module = llvmlite.binding.parse_bitcode(code)
    library._finalize_final_module()
    return _result(target_context, library, library, description, environment, signature, ())


def pack_outer(compiled: Any) -> bytes:
    """Return the machine code of a kernel. No kernel links it, so nothing of LLVM's language is needed besides it."""
    library = compiled.library
    module = library._final_module
    symbols = {
        part.name for parts in (module.functions, module.global_variables) for part in parts if not part.is_declaration
    }
    # a function's environment holds the objects of Python it needs; most hold none, and to unpack one would import the
    # module of numba in which the function was written
    environments = tuple(one for one in compiled._find_referenced_environments() if one.consts)
    return _pack(compiled, library.name, library._get_compiled_object(), symbols, environments)


def unpack_outer(target_context: Any, stored: tuple[Any, ...]) -> Any:
    """Make a kernel that Python can call from what was packed.

    numba would first load all its modules and fill its tables, as before compiling, which takes longer than all else;
    machine code needs none of them, only the functions that make and free arrays.
    """
    name, code, symbols, environments, description, environment, signature = stored
    rtsys.initialize(target_context)
    codegen = target_context.codegen()
    library = codegen.create_library(name)
    library.enable_object_caching()
    library._set_compiled_object(code)
    library._finalize_final_module()
    codegen._engine._defined_symbols.update(symbols)
    entry = target_context.get_executable(library, description, environment)
    for other in environments:
        codegen.set_env(other.env_name, other)
    return _result(target_context, library, entry, description, environment, signature, environments)


def _pack(compiled: Any, *parts: Any) -> bytes:
    description = compiled.fndesc
    description.typemap = description.calltypes = None  # as numba does: cannot always be pickled
    packed: bytes = dumps((*parts, description, compiled.environment, compiled.signature))
    return packed


def _result(
    target_context: Any,
    library: Any,
    entry: Any,
    description: Any,
    environment: Any,
    signature: Any,
    environments: tuple[Any, ...],
) -> Any:
    return compile_result(
        typing_context=target_context.typing_context,
        target_context=target_context,
        entry_point=entry,
        signature=signature,
        objectmode=False,
        lifted=(),
        fndesc=description,
        library=library,
        environment=environment,
        reload_init=(),
        referenced_envs=environments,  # the machine code knows their addresses only
    )
