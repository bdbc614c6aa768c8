"""Compile kernels ahead, in several processes: each takes the next one from the list and keeps it on disk."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import IO

from shoal.arrays import Progress
from shoal.compiling.signatures import OuterCall
from shoal.errors import ShoalError

_LISTING, _WORKER = "shoal.compiling.warm_up.listing", "shoal.compiling.warm_up.worker"
_COMPILED = b"1\n"


class Tally:
    """How many kernels were compiled, and how many were there already."""

    def __init__(self, calls: Sequence[OuterCall]) -> None:
        self.compiled, self.found, self.total = 0, 0, len(calls)
        self._lock = threading.Lock()

    def add(self, *, compiled: bool) -> float:
        """Count one kernel and return the share done."""
        with self._lock:
            self.compiled += compiled
            self.found += not compiled
            return (self.compiled + self.found) / self.total


def list_calls(parts: Sequence[str]) -> list[OuterCall]:
    """Return the kernels that parts of shoal call (``jobs.PARTS``), those that take longest to compile first."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(_command(_LISTING, *parts), env=environment, stdout=subprocess.PIPE, check=False)  # noqa: S603
    if run.returncode:
        raise ShoalError("The kernels to compile could not be listed.", hint="see what is printed above.")
    calls: list[OuterCall] = pickle.loads(run.stdout)  # noqa: S301  (from the process just started)
    return calls


def compile_all(
    calls: Sequence[OuterCall], processes: int, progress: Progress, environment: Mapping[str, str] | None = None
) -> Tally:
    """Compile all kernels of a list that are not kept yet, in so many processes; ``environment`` is added to theirs."""
    left: SimpleQueue[OuterCall] = SimpleQueue()
    for call in calls:
        left.put(call)
    tally, settings = Tally(calls), {**os.environ, **(environment or {})}
    settings.pop("NUMBA_DISABLE_JIT", None)
    workers = [_start(settings) for _ in range(min(processes, len(calls)))]
    threads = [threading.Thread(target=_feed, args=(worker, left, tally, progress)) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:  # also after Ctrl-C, because a worker ends with its input
        for worker in workers:
            worker.kill()
            worker.communicate()
    if tally.compiled + tally.found < tally.total:
        raise ShoalError("Some kernels could not be compiled ahead.", hint="see what is printed above.")
    return tally


def warm_up(parts: Sequence[str], progress: Progress) -> Tally:
    """Compile the kernels of some parts of shoal on all cores."""
    progress(0.0, "listing the kernels")
    return compile_all(list_calls(parts), usable_cores(), progress)


def usable_cores() -> int:
    """Return how many processes can work at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(_command(_WORKER), env=dict(environment), stdin=pipe, stdout=pipe)  # noqa: S603


def _feed(worker: subprocess.Popen[bytes], left: SimpleQueue[OuterCall], tally: Tally, progress: Progress) -> None:
    """Give a worker one kernel after the other until none is left, or until it ends."""
    given, taken = worker.stdin, worker.stdout
    assert given is not None  # noqa: S101
    assert taken is not None  # noqa: S101
    while True:
        try:
            call = left.get_nowait()
        except Empty:
            return
        answer = _ask(given, taken, call)
        if not answer:
            return
        progress(tally.add(compiled=answer == _COMPILED), f"compiling, once: {call.name.replace('_', ' ')}")


def _ask(given: IO[bytes], taken: IO[bytes], call: OuterCall) -> bytes:
    try:
        pickle.dump(call, given)
        given.flush()
        return taken.readline()
    except OSError:  # the worker has ended
        return b""


def _command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]
