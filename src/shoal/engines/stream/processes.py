"""Worker processes that do not run the script of the user again.

A process that Python spawns first imports the main module of its parent. In a script without ``if __name__ == "__main__":`` all work would begin
again in every worker. Workers need that module only for what is defined in it, such as a privacy model of the user's own.
"""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any

_starting = threading.Lock()


@contextmanager
def _nameless_script() -> Iterator[None]:
    """Hide the path of the script while a process is started: then the process has nothing to import."""
    with _starting:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script


class ScriptlessProcess(SpawnProcess):
    """A spawned process that leaves the script of its parent alone."""

    def start(self) -> None:
        """Start it."""
        with _nameless_script():
            super().start()


class ScriptlessContext(SpawnContext):
    """Makes such processes."""

    Process = ScriptlessProcess


def context_for(sent: Any) -> SpawnContext:
    """Return how processes are started that will be sent ``sent``: with the script only if something in it is defined there."""
    return SpawnContext() if b"__main__" in pickle.dumps(sent) else ScriptlessContext()
