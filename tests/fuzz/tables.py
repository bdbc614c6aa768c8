"""Generated tables, one after the other, in a process of their own, so that a hang is noticed and ended."""

from __future__ import annotations

import multiprocessing
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow.parquet as papq

import shoal
from shoal.errors import ShoalError
from shoal.frames import to_frame
from shoal.plan import steps
from tests.fuzz.checker import violations
from tests.fuzz.jobs import Job, make_job

PATIENCE = 600
"""Seconds after which a table counts as a hang; a first one of its kind may have to compile kernels."""
SMALL_PLAN = {
    "LARGE": 20,
    "_FRAGMENT": 15,
    "_MIXED_FRAGMENT": 15,
    "_FAST_FRAGMENT": 15,
    "_LEAST_GROUPS": 1,
    "_MANY_GROUPS": 1,
}
"""Numbers of ``plan.steps`` with which tables of some dozens of rows are cut into fragments."""


def release_of(job: Job, seed: list[int]) -> Any:
    """Release a table: most as they are, some cut into fragments, in memory or from a file to a file."""
    drawn = np.random.default_rng([*seed, 1]).random()
    if drawn < 0.7:
        return shoal.anonymize(job.data, **job.parameters)
    with mock.patch.multiple(steps, **SMALL_PLAN):
        if drawn < 0.85:
            return shoal.anonymize(job.data, **job.parameters)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            papq.write_table(to_frame(job.data).table, path, row_group_size=7)
            return shoal.anonymize(path, engine="stream", memory="200MB", **job.parameters)


def try_table(seed: list[int], methods: list[str] | None = None, *, counting: bool = False) -> tuple[str, str]:
    """Return what became of a generated table ("kept", "refused", "violations", "crashes") and words about it."""
    job = make_job(seed, methods, counting=counting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            try:
                result = release_of(job, seed)
            except ShoalError as refusal:
                return ("crashes", f"{refusal} | {job}") if "please report it" in str(refusal) else ("refused", "")
            found = violations(job, result)
        except Exception as fault:  # noqa: BLE001
            return "crashes", f"{type(fault).__name__}: {str(fault)[:200]} | {job}"
    return ("violations", f"{'; '.join(found)} | {job}") if found else ("kept", "")


def _work(pipe: Connection) -> None:
    while (seed := pipe.recv()) is not None:
        pipe.send(try_table(seed))


class Worker:
    """A process that tries tables, replaced when it hangs."""

    def __init__(self) -> None:
        self.context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = self.context.Pipe()
        self.process: Any = self.context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()

    def try_table(self, seed: list[int], patience: float = PATIENCE) -> tuple[str, str]:
        """Try one table; "hangs" if it takes too long, "crashes" if the process dies of it."""
        self.pipe.send(seed)
        try:
            if self.pipe.poll(patience):
                found: tuple[str, str] = self.pipe.recv()
                return found
            what = ("hangs", f"no end after {patience:g} s")
        except (EOFError, ConnectionError):
            what = ("crashes", "the process died")
        self.process.kill()
        self.process.join()
        self._start()
        return what

    def close(self) -> None:
        """End the process."""
        self.pipe.send(None)
        self.process.join()


def run(seeds: Iterable[list[int]], say: Callable[[str], None]) -> Counter[str]:
    """Try a table for each seed and count what became of them."""
    worker, tally = Worker(), Counter[str]()
    try:
        for seed in seeds:
            what, words = worker.try_table(seed)
            tally["tried"] += 1
            tally[what] += 1
            if words:
                say(f"table {seed}: {what}: {words}")
            if tally["tried"] % 100 == 0:
                say(f"{tally['tried']} tables: {dict(tally)}")
        worker.close()
    except KeyboardInterrupt:  # what was found so far still counts
        worker.process.kill()
    return tally
