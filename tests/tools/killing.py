"""What the campaigns that kill -9 share: a process that makes releases when asked, whoever works for it, and how a campaign is run.

A process that says nothing for very long hangs: that is a violation, told with the place where it stands, and all of its processes are killed.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as papq

RECORDS, K = 900, 5
"""Of the tables that are released."""
PATIENCE = 600.0
"""Seconds after which a process that says nothing hangs, and what is still there is left behind; nothing depends on it where nothing is."""

Say = Callable[[str], None]


class HangError(Exception):
    """A process said nothing for very long; the text is where it stands."""


# --- in the process that makes releases ----------------------------------------------------------------------------


def say(text: str) -> None:
    """Print a line that is read at once."""
    print(text, flush=True)  # noqa: T201


def serve(release: Callable[[str], None]) -> None:
    """Make a release for each line of standard input, which names its target, and tell how it ended; SIGUSR1 asks where all threads stand."""
    faulthandler.register(signal.SIGUSR1)
    say("ready")
    for line in sys.stdin:
        try:
            release(line.strip())
            say("done")
        except Exception as fault:  # noqa: BLE001  (how it ends is what is asked)
            say(f"failed {type(fault).__name__}")


# --- in the one who kills ------------------------------------------------------------------------------------------


class Served:
    """A process that makes releases; ``arguments`` are those of Python, and it calls ``serve``."""

    def __init__(self, arguments: Sequence[str], folder: Path | None = None, **environment: str) -> None:
        self.complaints = tempfile.NamedTemporaryFile()  # noqa: SIM115  (closed by ``end``)
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
            start_new_session=True,
        )
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        if self.line() != "ready":
            raise RuntimeError("the process that makes releases did not start")

    @property
    def lives(self) -> bool:
        """Return whether it was neither killed nor ended."""
        return self.process.poll() is None

    def _listen(self) -> None:
        """Hear what it says, until the last process that could speak in its place is gone."""
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            for line in stream:
                self.lines.put(line.strip())
        self.lines.put("")

    def line(self) -> str:
        """Return the next thing it says; nothing if it is gone, even if processes that it started live on."""
        begin = time.monotonic()
        while time.monotonic() - begin < PATIENCE:
            alive = self.lives
            with contextlib.suppress(queue.Empty):
                return self.lines.get(timeout=0.5)
            if not alive:
                return ""
        raise HangError(self._give_up())

    def release(self, target: Path) -> Iterator[str]:
        """Ask for a release, and yield its steps and how it ended; nothing more where the process is gone."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{target}\n")
        self.process.stdin.flush()
        while line := self.line():
            yield line
            if not line.startswith("step"):
                return

    def end(self) -> None:
        """Let it end, if it lives."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise HangError(self._give_up()) from None
        finally:
            self.complaints.close()

    def _give_up(self) -> str:
        """Return where it stands, and kill it with all that it started."""
        told = Path(self.complaints.name)
        before = told.stat().st_size
        self.process.send_signal(signal.SIGUSR1)
        wait_while(lambda: self.lives and told.stat().st_size == before)
        for one in [self.process.pid, *below(self.process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        place = told.read_bytes()[before:].decode("utf-8", "replace")
        self.complaints.close()
        return place


def below(process: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    parents: dict[int, list[int]] = {}
    for one in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(one.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(one.parent.name))
    found, waiting = [], [process]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def command(process: int) -> str:
    """Return what a process runs; nothing of one that is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    return ""


def wait_while(stays: Callable[[], bool]) -> bool:
    """Wait until something has gone; tell whether it stays."""
    begin = time.monotonic()
    while stays():
        if time.monotonic() - begin > PATIENCE:
            return True
        time.sleep(0.1)
    return False


class Struck(NamedTuple):
    """One release in which somebody was to be killed."""

    hit: bool
    others: list[int]
    """Who worked for the process when somebody was killed."""
    end: str
    """What it said last."""


def strike(
    served: Served, draw: np.random.Generator, kind: str | None, target: Path, *, at: int, within: float
) -> Struck:
    """Make a release and kill somebody after step ``at`` or later, ``within`` so many seconds; ``kind`` is a part of the command of who is killed, or None for the process itself."""
    hit, line, others = False, "", list[int]()
    for number, line in enumerate(served.release(target)):
        if hit or number < at or not line.startswith("step"):
            continue
        others = below(served.process.pid)
        victims = [served.process.pid] if kind is None else [one for one in others if kind in command(one)]
        if victims:
            time.sleep(float(draw.uniform(0.0, within)))  # somewhere inside the step
            with contextlib.suppress(ProcessLookupError):
                os.kill(victims[int(draw.integers(len(victims)))], signal.SIGKILL)
                hit = True
    return Struck(hit, others, line)


def fault_in_rows(target: Path) -> str | None:
    """Return what is wrong with released rows, or None."""
    rows = papq.read_table(target)
    names = rows.column_names[:-1]
    least = min(Counter(zip(*(rows.column(name).to_pylist() for name in names), strict=True)).values())
    return None if rows.num_rows == RECORDS and least >= K else "a release that is not whole or not anonymous"


def campaign(count: int, tell: Say, one: Callable[[int, Counter[str]], str | None]) -> Counter[str]:
    """Call ``one`` for each strike, which returns what was wrong, or None; return what came of all."""
    tally = Counter[str](violations=0, hangs=0)
    for number in range(count):
        try:
            fault = one(number, tally)
        except HangError as hang:
            tally["hangs"] += 1
            fault = f"a hang\n{hang}"
        if fault:
            tally["violations"] += 1
            tell(fault)
        tell(f"{number + 1} strikes: {dict(tally)}")
    return tally


def main(module: str, about: str | None, run: Callable[[int, int, Say], Counter[str]], be_served: Say) -> None:
    """Run the campaign of a module, or be the process that makes its releases."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("--strikes", type=int, default=50, help="releases in which somebody is killed (50)")
    parser.add_argument("--seed", type=int, default=None, help="where the drawing begins; a fresh number unless given")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        be_served(given.serve)
        return
    seed = secrets.randbits(32) if given.seed is None else given.seed
    say(f"seed {seed}")
    sys.exit(run(given.strikes, seed, say)["violations"] > 0)
