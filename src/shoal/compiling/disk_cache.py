"""Keep compiled kernels on disk, and find them there: shipped with shoal, or kept by an earlier run.

numba's own disk cache notices a change in a kernel's own file only, not in a kernel it calls from another file. Here a
kernel is found again only under the same stamp: the sources of all kernels, the versions of Python, numba and LLVM,
the types of its arguments and the processor it was made for. Anything else is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding
import numba

from shoal.compiling.folders import Key, Store, open_store, others_may_write, user_folders

SHIPPED = Path(__file__).parents[1] / "kernels" / "compiled"
"""Where a wheel carries kernels."""
KERNELS, COMPILING = "shoal.kernels", "shoal.compiling"
INNER, OUTER = "inner-", ""
"""How the file of a kernel begins that kernels call, and of one that Python calls. Only the latter are shipped."""

BASELINES = {"x86_64": "x86-64-v3", "amd64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}
"""The processor for which a wheel's kernels are made, by the machine's kind: every one of that kind since about 2015."""
X86_64_V3 = frozenset(
    [
        "cx16",
        "sahf",
        "popcnt",
        "sse3",
        "sse4.1",
        "sse4.2",
        "ssse3",
        "avx",
        "avx2",
        "bmi",
        "bmi2",
        "f16c",
        "fma",
        "lzcnt",
        "movbe",
        "xsave",
    ]
)


class Target(NamedTuple):
    """The processor that machine code is made for."""

    processor: str
    features: str


class Form(NamedTuple):
    """How a compiled kernel becomes bytes, and comes back."""

    name: str
    pack: Callable[[Any], bytes]
    unpack: Callable[[Any, Any], Any]


@dataclass
class Counts:
    """Kernels loaded and compiled in this process, for tests and for ``shoal warm-up``."""

    loaded: list[str]
    compiled: list[str]


COUNTS = Counts([], [])


def sources_hash(*folders: Traversable) -> str:
    """Hash the names and texts of all Python files below the folders; by default of kernels and of what compiles them, also in a zip file."""
    digest = hashlib.sha256()
    for folder in folders or (files(KERNELS), files(COMPILING)):
        for name, text in sorted(_sources(folder)):
            digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]


def _sources(folder: Traversable, place: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the name and the text of each Python file below a folder."""
    for one in folder.iterdir():
        if one.is_dir():
            yield from _sources(one, f"{place}{one.name}/")
        elif one.name.endswith(".py"):
            yield f"{place}{one.name}", one.read_bytes()


@cache
def versions() -> tuple[str, ...]:
    """Return all that compiled kernels depend on besides their arguments and the processor."""
    return (
        sources_hash(),
        f"numba {numba.__version__}",
        f"llvmlite {llvmlite.__version__}",
        f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}",
        f"{sys.platform} {platform.machine().lower()}",
    )


@cache
def own_store() -> Store | None:
    """Return the folder of this user's kernels, or None if there is none to be trusted."""
    for base in user_folders():
        if (store := open_store(base / f"kernels-{versions()[0]}")) is not None:
            return store
    return None


@cache
def shipped_store() -> Store | None:
    """Return the folder of the kernels that came with the package, if this processor can run them."""
    if not SHIPPED.is_dir() or others_may_write(SHIPPED.stat()) or not runs_baseline():
        return None
    return Store(SHIPPED, writable=False)


def baseline() -> Target | None:
    """Return the processor that shipped kernels are made for on a machine like this."""
    name = BASELINES.get(platform.machine().lower())
    return None if name is None else Target(name, "")


def runs_baseline() -> bool:
    """Return whether this processor runs code made for the baseline."""
    target = baseline()
    if target is None:
        return False
    features = llvmlite.binding.get_host_cpu_features()
    return target.processor != "x86-64-v3" or all(features.get(name) for name in X86_64_V3)


class Keeper:
    """The kept machine code of one kernel, as numba asks for it: ``load_overload`` and ``save_overload``."""

    cache_path = None

    def __init__(self, name: str, form: Form, ways: Callable[[], Iterator[str]]) -> None:
        self._name, self._form, self._ways = name, form, ways
        self._way = ""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the kernel for these types of arguments, or None."""
        for way in self._ways():
            self._way = way  # the last one is how it will be compiled
            for store, key in self._places(signature, target_context.codegen()):
                found = self._load(store, key, target_context)
                if found is not None:
                    COUNTS.loaded.append(self._name)
                    return found
        return None

    def _load(self, store: Store, key: Key, target_context: Any) -> Any:
        payload = store.read(key)
        if payload is None:
            return None
        try:
            return self._form.unpack(target_context, pickle.loads(payload))  # noqa: S301  (ours: see ``storing``)
        except Exception:  # noqa: BLE001  (whatever is wrong with it, it can be compiled)
            store.discard(key)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a kernel that was compiled."""
        COUNTS.compiled.append(self._name)
        store = own_store()
        if store is None or compiled.library.has_dynamic_globals:
            return
        with contextlib.suppress(Exception):  # a numba whose compiled kernels are of another make: not kept
            store.write(self.key(signature, _target(compiled.codegen)), self._form.pack(compiled))

    def key(self, signature: Any, target: Target) -> Key:
        """Return the key of the kernel for these types of arguments."""
        types = getattr(signature, "args", signature)
        return Key(f"{self._form.name}{self._name}", (str(types), *target, self._way, *versions()))

    def _places(self, signature: Any, codegen: Any) -> Iterator[tuple[Store, Key]]:
        target = baseline()
        if (store := shipped_store()) is not None and target is not None:
            yield store, self.key(signature, target)
        if (store := own_store()) is not None:
            yield store, self.key(signature, _target(codegen))


def _target(codegen: Any) -> Target:
    _triple, processor, features = codegen.magic_tuple()
    return Target(processor, features)


def is_kept(function: Any) -> bool:
    """Return whether a function lies where the hash of all kernel sources sees it, and depends on nothing else."""
    return function.__module__.startswith(f"{KERNELS}.") and function.__closure__ is None
