"""Which kernels Python calls, and with which types: noted while small jobs run with numba off.

With ``NUMBA_DISABLE_JIT=1`` a kernel is a plain Python function. Under a watch, each call that comes from outside the
kernels is noted with the types numba would see, so that all of these kernels can be compiled side by side, ahead of time.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.typing import fold_arguments


class OuterCall(NamedTuple):
    """A kernel that Python calls with arguments of certain types."""

    module: str
    name: str
    types: tuple[Any, ...]


class SignatureRecorder:
    """The outer calls seen so far, each with the names of the kernels that ran below it."""

    def __init__(self) -> None:
        self.calls: dict[OuterCall, set[str]] = {}
        self._here = threading.local()  # because methods work on several regions at once

    def watched(self, function: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``plain`` so that calls of it are noted."""
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            below: set[str] | None = getattr(self._here, "below", None)
            if below is not None:
                below.add(f"{function.__module__}.{function.__qualname__}")
                return plain(*arguments, **named)
            types = _types(signature, arguments, named)
            noted = self.calls.setdefault(OuterCall(function.__module__, function.__qualname__, types), set())
            self._here.below = noted
            try:
                return boxed(plain(*arguments, **named))
            finally:
                self._here.below = None

        return call

    def heaviest_first(self) -> list[OuterCall]:
        """Return the calls, those with the most kernels below first: they take longest to compile."""
        return sorted(self.calls, key=lambda call: (-len(self.calls[call]), call.module, call.name, str(call.types)))


def _types(signature: inspect.Signature, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    folded: tuple[Any, ...] = fold_arguments(
        signature,
        arguments,
        named,
        lambda _index, _parameter, value: numba.typeof(value),
        lambda _index, _parameter, default: numba.types.Omitted(default),
        lambda _index, _parameter, values: numba.types.StarArgTuple([numba.typeof(value) for value in values]),
    )
    return tuple(folded)


def boxed(value: Any) -> Any:
    """Return what a compiled kernel would give back to Python: numbers of Python instead of numpy's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        parts = map(boxed, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


current: SignatureRecorder | None = None
"""The watch under which kernels are being imported; None for none."""
