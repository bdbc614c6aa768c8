"""The one place that decides how kernels are compiled.

A kernel is compiled when it is first called with arguments of new types, or found compiled (see ``keeping``). Until
then it is a plain function with a note, so that importing a hundred kernels is fast if a job calls only ten.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types

from shoal.compiling import signatures
from shoal.compiling.disk_cache import INNER, OUTER, Form, Keeper, is_kept

linking: Any
try:
    from shoal.compiling import linking
except (ImportError, AttributeError):  # a numba whose inner parts have other names: slower to compile, the same kernels
    linking = None

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
LINKED, PLAIN = "linked", "plain"
SWITCH = "SHOAL_LINKING"
"""An environment variable; ``0`` leaves all compiling to numba."""


class Kernel:
    """A function that numba compiles when it is first called, or first met in a kernel that calls it."""

    def __init__(self, function: Callable[..., Any], settings: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._settings = function, settings

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the compiled kernel."""
        return self.outer(*arguments, **named)

    @functools.cached_property
    def outer(self) -> Any:
        """What Python calls."""
        made = numba.njit(**self._settings)(self.py_func)
        self._keep(made, OUTER, "outer")
        made.compile = rare_collections()(made.compile)
        return made

    @functools.cached_property
    def inner(self) -> Any:
        """What other kernels call."""
        if not links():
            made = numba.njit(**self._settings)(self.py_func)
        else:
            made = linking.make_inner(self.py_func, self._settings)
            self._keep(made, INNER, "inner")
        _compile_once_for_all_integers(made)
        return made

    @property
    def _numba_type_(self) -> types.Type:
        """How numba sees the kernel in the source of another one."""
        return types.Dispatcher(self.inner)

    def _keep(self, dispatcher: Any, prefix: str, form: str) -> None:
        if linking is not None and is_kept(self.py_func):
            name = f"{self.py_func.__module__.partition('.kernels.')[2]}.{self.py_func.__qualname__}"
            pack, unpack = getattr(linking, f"pack_{form}"), getattr(linking, f"unpack_{form}")
            dispatcher._cache = Keeper(name, Form(prefix, pack, unpack), _ways)  # noqa: SLF001


def _ways() -> Iterator[str]:
    """Yield how the machine code of a kernel may have been made; the last one is how it is made now."""
    if _wants_links():
        yield LINKED
    if not links():
        yield PLAIN


def _wants_links() -> bool:
    return linking is not None and os.environ.get(SWITCH, "1") != "0"


@functools.cache
def links() -> bool:
    """Return whether kernels are linked as ``linking`` does it: wanted, and tried on a small pair of kernels.

    The trial takes two tenths of a second and is made only if something is to be compiled.
    """
    if not _wants_links():
        return False
    try:
        return _probe()
    except Exception:  # noqa: BLE001  (a numba that behaves otherwise, in whatever way, does the work alone)
        return False


def _probe() -> bool:
    """Compile a kernel that calls another, make bytes of it and run what comes back from them."""
    import pickle  # noqa: PLC0415

    settings = _settings(inline=False, allocates=True)
    inner = linking.make_inner(_count_up, settings)
    outer = numba.njit(**settings)(_make_probe(inner))
    if outer(3).tolist() != [0, 1, 2]:
        return False
    (compiled,) = outer.overloads.values()
    again = linking.unpack_outer(outer.targetctx, pickle.loads(linking.pack_outer(compiled)))  # noqa: S301
    (below,) = inner.overloads.values()
    linking.unpack_inner(inner.targetctx, pickle.loads(linking.pack_inner(below)))  # noqa: S301
    return bool(again.entry_point(4).tolist() == [0, 1, 2, 3])


def _count_up(count: int) -> Any:
    numbers = np.zeros(count, np.int64)
    for place in range(count):
        numbers[place] = place
    return numbers


def _make_probe(inner: Any) -> Any:
    def probe(count: int) -> Any:
        return inner(inner(count + 1)[count])

    return probe


def _widen(kind: types.Type) -> types.Type:
    kind = types.unliteral(kind)
    return types.intp if isinstance(kind, types.Integer) and kind.signed else kind


def _compile_once_for_all_integers(compiled: Any) -> None:
    """Let other kernels call this one with 64-bit integers whatever they hold.

    numba compiles a kernel again for each constant and each width of integer that a caller passes, which made up
    a third of the compile time.
    """
    resolve = compiled.get_call_template

    def resolve_widened(args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
        return resolve(tuple(map(_widen, args)), {name: _widen(kind) for name, kind in kws.items()})

    compiled.get_call_template = resolve_widened


_one_at_a_time = threading.RLock()


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Let Python look for garbage less often: the compiler makes objects by the million and few go in circles.

    The searches took a tenth of the time to compile the optimizer; without them all it holds 5 % more memory.
    """
    with _one_at_a_time:
        before = gc.get_threshold()
        if before[0]:  # 0 means that the user wants no searches at all
            gc.set_threshold(max(before[0], 20_000), max(before[1], 20), max(before[2], 20))
        try:
            yield
        finally:
            gc.set_threshold(*before)


def _settings(*, inline: bool, allocates: bool) -> dict[str, Any]:
    return {
        "inline": "always" if inline else "never",
        "nogil": True,
        "no_cfunc_wrapper": True,  # no kernel is passed as a function; each wrapper takes a moment to compile
        "error_model": "numpy",  # nothing is raised inside a kernel
        "_nrt": allocates,
    }


def kernel(*, inline: bool = False, allocates: bool = True) -> Callable[[_Kernel], _Kernel]:
    """Compile a function with numba, with the settings every kernel shares.

    ``inline`` pastes a small helper into its callers. ``allocates=False`` is for a
    kernel that makes no array: it then leaves the counts of references alone, which else take most of the time of a small helper that
    is handed a dozen arrays. Such a kernel that makes an array after all is refused by the compiler.
    ``fastmath`` is never used: it deletes tests for NaN.
    """
    settings = _settings(inline=inline, allocates=allocates)

    def compile_it(function: _Kernel) -> _Kernel:
        made: Any
        if numba.config.DISABLE_JIT:  # compiled arithmetic wraps and divides without a warning; so must the plain one
            silent: Any = np.errstate(all="ignore")
            made = silent(function)
            if signatures.current is not None:
                made = signatures.current.watched(function, made)
        elif inline:
            made = numba.njit(**settings)(function)
            _compile_once_for_all_integers(made)
        else:
            made = Kernel(function, settings)
        return cast("_Kernel", made)

    return compile_it
