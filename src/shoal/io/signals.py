"""Signals that wait while a step is taken that must be taken whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

_DEFERRED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGXCPU")


@contextlib.contextmanager
def signals_deferred() -> Iterator[None]:
    """Let signals wait until the block is done; only the main thread gets any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _DEFERRED if hasattr(signal, name)]
    waiting: list[int] = []
    before: dict[int, Any] = {}
    try:
        for number in numbers:
            if signal.getsignal(number) is not None:  # None: handled by something other than Python
                before[number] = signal.signal(number, lambda number, _: waiting.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)
