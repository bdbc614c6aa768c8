"""The peak of a process's memory. Needs nothing but Python, so that it also runs where shoal is not installed."""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

_STATUS = Path("/proc/self/status")
_PER_MEGABYTE = 1024**2 if sys.platform == "darwin" else 1024


def peak_megabytes() -> float:
    """Return the most memory this process has had; Linux's rusage would count the process it was started from too."""
    if _STATUS.exists():
        lines = _STATUS.read_text("ascii", "replace").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _PER_MEGABYTE


class Watched(NamedTuple):
    """What came of a watched process, with all processes it started."""

    value: Any
    seconds: float
    """CPU seconds of all."""
    megabytes: float
    """The most memory that all had together, without pages of mapped files, which the system takes back at need."""
    with_files: float
    """The same with these pages."""


def watch_process(work: Callable[..., Any], *arguments: Any) -> Watched:
    """Run ``work`` in a process of its own and look five times a second how much memory it and its children have."""
    context = multiprocessing.get_context("spawn")
    mine, other = context.Pipe()
    process = context.Process(target=_send, args=(other, work, arguments))
    before = _cpu_of_children()
    process.start()
    most = most_with_files = 0.0
    while not mine.poll(0.2) and process.is_alive():
        own, files = memory_below(process.pid or 0)
        most, most_with_files = max(most, own), max(most_with_files, own + files)
    value = mine.recv()
    process.join()
    return Watched(value, _cpu_of_children() - before, most, most_with_files)


def _send(pipe: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    pipe.send(work(*arguments))


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memory_below(process: int) -> tuple[float, float]:
    """Return the megabytes of a process and all below it, and those of mapped files; what several share counts once (Linux only)."""
    own = files = 0.0
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines():
            if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                own += float(line.split()[1]) / 1024
            elif line.startswith("Pss_File:"):
                files += float(line.split()[1]) / 1024
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text("ascii").split():
                more = memory_below(int(child))
                own, files = own + more[0], files + more[1]
    return own, files
