"""The worker process: takes one job after the other from a pipe and reports on it."""

from __future__ import annotations

import contextlib
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, Literal

from shoal.errors import ShoalError, ShoalWarning


@dataclass(frozen=True)
class Order:
    """A job for a worker."""

    number: int
    task: str
    """Name of a function in the worker's module of tasks."""
    given: dict[str, Any]


@dataclass(frozen=True)
class News:
    """What a worker reports about a job."""

    number: int
    what: Literal["progress", "part", "done", "failed"]
    value: Any = None
    """progress: share and text, and the seconds left if the task knows better than its share says; part: a piece of the result; done: the result; failed: message and hint."""


Tell = Callable[[Literal["progress", "part"], Any], None]


_FORCE, _TICK = "use force to replace it", "tick “replace”, or take another name"
"""How the library says it, and how it is done on the page."""


def work(pipe: Connection, module: str) -> None:
    """Do jobs, functions of ``module``, until the server goes away. Ctrl-C is for the server alone: it ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks = import_module(module)

    while True:
        try:
            order: Order = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_do(order, getattr(tasks, order.task), pipe))


def _do(order: Order, task: Callable[..., Any], pipe: Connection) -> News:
    def tell(what: Literal["progress", "part"], value: Any) -> None:
        pipe.send(News(order.number, what, value))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)  # the page shows what they say in its own places
        try:
            return News(order.number, "done", task(tell, **order.given))
        except Exception as fault:  # noqa: BLE001  (whatever it is, the page gets a sentence)
            return News(order.number, "failed", explain_fault(fault))


@contextlib.contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Yield the event that the server's "stop and use the best so far" sets: a search then ends with the best it has found."""
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def explain_fault(fault: BaseException) -> tuple[str, str | None]:
    """Return a sentence and a hint; the text of a foreign exception may hold a cell and is never shown."""
    if isinstance(fault, ShoalError):
        return fault.message, fault.hint and fault.hint.replace(_FORCE, _TICK)
    if isinstance(fault, MemoryError):
        return "There is not enough memory for this table.", "take fewer columns or rows, or a larger machine."
    if isinstance(fault, OSError):
        return f"The system refused: {fault.strerror or type(fault).__name__}.", "check permissions and space."
    place = traceback.extract_tb(fault.__traceback__)[-1] if fault.__traceback__ else None
    where = f" in {place.name}, line {place.lineno}" if place else ""
    return f"shoal had an internal error ({type(fault).__name__}{where}).", "please report it."
