"""A pool of processes for the tasks; one worker is this process itself."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Self

import numba

from shoal.arrays import CancelToken
from shoal.errors import FileError
from shoal.methods.stopping import check_cancelled

_AHEAD = 2
"""Tasks that wait in line, for each worker."""
_held: dict[str, Any] = {}
"""What this worker was told once."""


class Workers:
    """Runs tasks in the order given and yields what they return, in that order."""

    def __init__(self, number: int, setting: Any, cancel: CancelToken | None = None) -> None:
        self.setting, self.cancel, self.number = setting, cancel, number
        context = multiprocessing.get_context("spawn")
        self.pool = (
            ProcessPoolExecutor(number, mp_context=context, initializer=_begin, initargs=(setting,))
            if number > 1
            else None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.pool is not None:
            if kind is not None:
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
            waiting.append(pool.submit(_work, task, call))
            if len(waiting) > _AHEAD * self.number:
                yield self._result(waiting)
        while waiting:
            yield self._result(waiting)

    def _result(self, waiting: list[Future[Any]]) -> Any:
        """Return what the first task in line gives, looking now and then whether somebody has cancelled."""
        while not wait(waiting[:1], timeout=0.2, return_when=FIRST_COMPLETED).done:
            check_cancelled(self.cancel)
        check_cancelled(self.cancel)
        return waiting.pop(0).result()


def _begin(setting: Any) -> None:
    """Prepare a worker: one thread for kernels, since there are other workers, and an end with its parent."""
    _held["setting"] = setting
    numba.set_num_threads(1)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _work(task: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    return task(_held["setting"], *call)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool that is given up: what they still do is not wanted."""
    for process in list((pool._processes or {}).values()):  # noqa: SLF001  (there is no public way before Python 3.14)
        process.terminate()
