"""The one place that decides how kernels are compiled and where the machine code is kept.

numba's disk cache notices a change in a kernel's own file only, not in a kernel it calls from another
file. The cache folder is therefore named after a hash of all kernel sources, so that an upgrade never
runs old code; where no folder can be written, kernels are compiled anew in each process.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types

linking: Any
try:
    from shoal.kernels import linking
except (ImportError, AttributeError):  # a numba whose inner parts have other names: slower to compile, the same kernels
    linking = None

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def sources_hash(folder: Path | None = None) -> str:
    """Hash the names and texts of all kernel files in ``folder`` (default: this package)."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted((folder or Path(__file__).parent).glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _candidate_folders() -> Iterator[Path]:
    if chosen := os.environ.get("SHOAL_CACHE_DIR"):
        yield Path(chosen)
        return
    if base := os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA"):
        yield Path(base) / "shoal"
    with contextlib.suppress(RuntimeError):  # no home folder
        yield Path.home() / ".cache" / "shoal"


def find_cache_folder() -> Path | None:
    """Return a writable folder for compiled kernels, or None where there is none."""
    for base in _candidate_folders():
        folder = base / f"kernels-{sources_hash()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


_cache_folder = cache(find_cache_folder)


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

    The searches took a tenth of the time to compile the optimiser; without them all it holds 5 % more memory.
    """
    with _one_at_a_time:
        before = gc.get_threshold()
        if before[0]:  # 0 means that the user wants no searches at all
            gc.set_threshold(max(before[0], 20_000), max(before[1], 20), max(before[2], 20))
        try:
            yield
        finally:
            gc.set_threshold(*before)


def _compile(function: Any, settings: dict[str, Any]) -> Any:
    """Make the kernel that Python calls, and beside it the one that other kernels call."""
    compiled = numba.njit(**settings)(function)
    if linking is None or settings["inline"] == "always":
        _compile_once_for_all_integers(compiled)
        return compiled
    inner = numba.njit(**settings | {"cache": False}, pipeline_class=linking.InnerCompiler)(function)
    _compile_once_for_all_integers(inner)
    linking.call_as_inner(compiled, inner, cached=settings["cache"])
    compiled.compile = rare_collections()(compiled.compile)
    return compiled


def kernel(*, inline: bool = False, allocates: bool = True) -> Callable[[_Kernel], _Kernel]:
    """Compile a function with numba, with the settings every kernel shares.

    ``inline`` pastes a small helper into its callers. ``allocates=False`` is for a
    kernel that makes no array: it then leaves the counts of references alone, which else take most of the time of a small helper that
    is handed a dozen arrays. Such a kernel that makes an array after all is refused by the compiler.
    ``fastmath`` is never used: it deletes tests for NaN.
    """
    settings = {
        "inline": "always" if inline else "never",
        "nogil": True,
        "no_cfunc_wrapper": True,  # no kernel is passed as a function; each wrapper takes a moment to compile
        "error_model": "numpy",  # nothing is raised inside a kernel
        "_nrt": allocates,
    }

    def compile_it(function: _Kernel) -> _Kernel:
        if numba.config.DISABLE_JIT:  # compiled arithmetic wraps and divides without a warning; so must the plain one
            silent: Any = np.errstate(all="ignore")
            return cast("_Kernel", silent(function))
        folder = _cache_folder()
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = "" if folder is None else str(folder)
        try:
            return cast("_Kernel", _compile(function, {**settings, "cache": folder is not None}))
        finally:
            numba.config.CACHE_DIR = before

    return compile_it
