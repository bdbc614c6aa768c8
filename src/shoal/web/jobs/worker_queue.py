"""A queue of work: one worker process, one job at a time, the newest of a kind instead of the older."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Literal

from shoal.errors import ShoalError
from shoal.web.jobs.worker import News, Order, work

State = Literal["waiting", "running", "done", "failed", "cancelled"]
TASKS = "shoal.web.jobs.tasks"
"""The module with the functions that jobs name."""
DIED = (
    "The worker process has ended, perhaps for want of memory. Nothing was released.",
    "try again, with fewer columns or less effort if it happens again.",
)
_numbers = itertools.count(1)
_spawn = multiprocessing.get_context("spawn")


class JobError(ShoalError, RuntimeError):
    """A job did not come to its end."""


@dataclass
class Job:
    """One piece of work and its state."""

    kind: str
    order: Order
    future: Future[Any] = field(default_factory=Future)
    state: State = "waiting"
    share: float = 0.0
    text: str = ""
    started: float = 0.0
    told_left: tuple[float | None] | None = None
    """The task's own estimate of the seconds left, if it has one."""
    parts: list[Any] = field(default_factory=list)
    fault: tuple[str, str | None] | None = None
    on_part: Callable[[Any], None] | None = None
    about: str = ""
    """What it is about, for the one who asked for it."""

    @property
    def active(self) -> bool:
        """Whether it is not over yet."""
        return self.state in {"waiting", "running"}

    @property
    def seconds_left(self) -> float | None:
        """What the task says, else a guess from what is done so far; none at the very beginning."""
        if self.told_left is not None:
            return self.told_left[0]
        if self.state != "running" or self.share < 0.05:
            return None
        return (time.monotonic() - self.started) * (1 - self.share) / self.share


class WorkerQueue:
    """Sends jobs to its worker and follows them. All methods may be called from any thread."""

    def __init__(self, watch: Callable[[Job], None], *, ends_older: bool, tasks: str = TASKS) -> None:
        """``watch`` hears of every change; ``ends_older``: a newer job of a kind ends a running older one."""
        self._watch = watch
        self._tasks = tasks
        self._ends_older = ends_older
        self._lock = threading.RLock()
        self._queue: list[Job] = []
        self._running: Job | None = None
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    # --- what the server asks for ------------------------------------------------------------------------------

    def submit(self, kind: str, task: str, on_part: Callable[[Any], None] | None = None, **given: Any) -> Job:
        """Take on a job; those of the same kind that wait, or run and may be ended, give way."""
        job = Job(kind, Order(next(_numbers), task, given), on_part=on_part)
        job.future.set_running_or_notify_cancel()  # only the queue ends it: one cancelled by who waits could not be set
        with self._lock:
            for older in [one for one in self._queue if one.kind == kind]:
                self._drop(older)
            if self._ends_older and self._running is not None and self._running.kind == kind:
                self.cancel(self._running)
            self._queue.append(job)
            self._next()
        return job

    def cancel(self, job: Job) -> None:
        """End a job at once: one that runs ends with its process, and a fresh one starts."""
        with self._lock:
            if job in self._queue:
                self._drop(job)
            elif job is self._running:
                self._running = None
                self._end_process()
                self._finish(job, "cancelled", ("It was cancelled. Nothing was released.", None))
                self._next()

    def stop(self, job: Job) -> None:
        """Ask a job that runs to end with the best it has found."""
        with self._lock:
            if job is self._running and self._process is not None and self._process.pid is not None:
                os.kill(self._process.pid, signal.SIGINT)

    def warm(self) -> None:
        """Start the worker before it is needed."""
        with self._lock:
            self._ensure_process()

    def close(self) -> None:
        """End the worker and all jobs."""
        with self._lock:
            for waiting in [*self._queue]:
                self._drop(waiting)
            job, self._running = self._running, None
            self._end_process()
            if job is not None:
                self._finish(job, "cancelled", ("The server ends.", None))

    # --- inside ------------------------------------------------------------------------------------------------

    def _drop(self, job: Job) -> None:
        self._queue.remove(job)
        self._finish(job, "cancelled", ("A newer request took its place.", None))

    def _next(self) -> None:
        if self._running is None and self._queue:
            pipe = self._ensure_process()
            job = self._running = self._queue.pop(0)
            job.state, job.started = "running", time.monotonic()
            with contextlib.suppress(OSError):  # a worker that has just died is noticed by its listener
                pipe.send(job.order)
            self._watch(job)

    def _ensure_process(self) -> Connection:
        if self._process is None or not self._process.is_alive() or self._pipe is None:
            self._pipe, theirs = _spawn.Pipe()
            self._process = _spawn.Process(target=work, args=(theirs, self._tasks), daemon=True)
            self._process.start()
            theirs.close()
            threading.Thread(target=self._listen, args=(self._pipe,), daemon=True).start()
        return self._pipe

    def _end_process(self) -> None:
        process, self._process, self._pipe = self._process, None, None
        if process is not None:
            process.kill()
            process.join()

    def _listen(self, pipe: Connection) -> None:
        """Hear one worker until it ends."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                self._hear(pipe.recv())
        with self._lock:
            if pipe is self._pipe:  # it died by itself
                self._end_process()
                job, self._running = self._running, None
                if job is not None:
                    self._finish(job, "failed", DIED)
                self._next()
        pipe.close()

    def _hear(self, news: News) -> None:
        with self._lock:
            job = self._running
            if job is None or job.order.number != news.number:
                return
            if news.what == "progress":
                job.share, job.text, *left = news.value
                job.told_left = tuple(left) or None
                self._watch(job)
            elif news.what == "part":
                job.parts.append(news.value)
                if job.on_part:
                    job.on_part(news.value)
                self._watch(job)
            else:
                self._running = None
                if news.what == "done":
                    job.share = 1.0
                    self._finish(job, "done", None, news.value)
                else:
                    self._finish(job, "failed", news.value)
                self._next()

    def _finish(self, job: Job, state: State, fault: tuple[str, str | None] | None, value: Any = None) -> None:
        job.state, job.fault = state, fault
        if fault is None:
            job.future.set_result(value)
        else:
            job.future.set_exception(JobError(*fault))
        self._watch(job)
