"""A pool of processes for the tasks; one worker is this process itself."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Self

import numba

from shoal.arrays import CancelToken
from shoal.engines.stream.processes import context_for
from shoal.engines.stream.spool import private
from shoal.errors import FileError
from shoal.methods.stopping import check_cancelled

_AHEAD = 2
"""Tasks that wait in line, for each worker."""
_AT_ONCE = 2_048
"""Bytes of an answer that a pipe takes in one step, with what is added on the way (POSIX promises 4,096 on Linux, and never fewer than 512)."""
_held: dict[Path, Any] = {}
"""The setting that this worker read last, by its file."""


class Workers:
    """Runs tasks in the order given and yields what they return, in that order."""

    def __init__(self, number: int, room: Path, job: Any, cancel: CancelToken | None = None) -> None:
        self.room, self.cancel, self.number = room, cancel, number
        self.setting: Any = None
        self.settings = self.asked = 0
        self.pool: ProcessPoolExecutor | None = None
        if number > 1:
            self.pool = ProcessPoolExecutor(number, mp_context=context_for(job), initializer=_begin)

    def tell(self, setting: Any) -> None:
        """Write the settings of all further tasks; each worker reads them once, from the private folder."""
        self.setting, self.settings = setting, self.settings + 1
        if self.pool is not None:
            with private(self._setting_file).open("wb") as stream:
                pickle.dump(setting, stream, protocol=pickle.HIGHEST_PROTOCOL)

    @property
    def _setting_file(self) -> Path:
        return self.room / f"setting-{self.settings}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            _end(self.pool)
            self.pool.shutdown(cancel_futures=True)

    def run(self, task: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield what a task returns for each call."""
        if self.pool is None:
            for call in calls:
                check_cancelled(self.cancel)
                yield task(self.setting, *call)
            return
        try:
            yield from self._run_in_pool(self.pool, task, calls)
        except BrokenProcessPool:
            raise FileError(
                "A worker process ended before its work was done. Nothing was released.",
                hint="it may have run out of memory: give a larger --memory, or fewer workers.",
            ) from None

    def _run_in_pool(
        self, pool: ProcessPoolExecutor, task: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[Any]:
        waiting: list[Future[Any]] = []
        for call in calls:
            self.asked += 1
            answer = self.room / f"answer-{self.asked}"
            waiting.append(pool.submit(_work, self._setting_file, task, call, answer))
            if len(waiting) > _AHEAD * self.number:
                yield self._result(waiting)
        while waiting:
            yield self._result(waiting)

    def _result(self, waiting: list[Future[Any]]) -> Any:
        """Return what the first task in line gives, looking now and then whether somebody has cancelled."""
        while not wait(waiting[:1], timeout=0.2, return_when=FIRST_COMPLETED).done:
            check_cancelled(self.cancel)
            if self.pool is not None and self.pool._broken:  # noqa: SLF001  (a task handed over just as the pool broke is never answered)
                raise BrokenProcessPool
        check_cancelled(self.cancel)
        return _read_answer(waiting.pop(0).result())


def _begin() -> None:
    """Prepare a worker: one thread for kernels, since there are other workers, and an end with its parent."""
    numba.set_num_threads(1)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _work(setting: Path, task: Callable[..., Any], call: tuple[Any, ...], answer: Path) -> bytes | Path:
    """Do a task. A long answer goes through a file: a worker killed amid writing one into the pipe would leave the parent waiting for its rest for ever."""
    if setting not in _held:
        _held.clear()
        _held[setting] = pickle.loads(setting.read_bytes())  # noqa: S301  (written by the parent, where nobody else may write)
    found = pickle.dumps(task(_held[setting], *call), protocol=pickle.HIGHEST_PROTOCOL)
    if len(found) <= _AT_ONCE:
        return found
    private(answer).write_bytes(found)
    return answer


def _read_answer(answer: bytes | Path) -> Any:
    if isinstance(answer, Path):
        found = answer.read_bytes()
        answer.unlink()
        answer = found
    return pickle.loads(answer)  # noqa: S301  (written by a worker, where nobody else may write)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool: what they still do is not wanted.

    They are not asked to end by themselves: one that is killed while it waits for work takes the lock of the queue with it, and the others would wait for ever.
    """
    for process in list((pool._processes or {}).values()):  # noqa: SLF001  (there is no public way before Python 3.14)
        process.kill()
