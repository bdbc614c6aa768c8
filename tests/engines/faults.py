"""Kill -9 whoever works on a streamed release, at random moments: ``python -m tests.engines.faults --strikes 50``.

A parent with two workers makes one release after the other, into a file or a folder of parts. In each, after a random step, a worker or the parent is killed. Afterwards the
whole checked release has its name, or nothing is there. What a killed parent leaves is a hidden folder that only its owner may read, and the next release beside it removes it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as papq

VICTIMS = ("worker", "parent")
RECORDS, K = 900, 5
_PATIENCE = 120.0
"""Seconds after which a worker that still lives counts as left behind; nothing depends on it where none does."""


# --- the parent, a process of its own ------------------------------------------------------------------------------


def serve(source: Path) -> None:
    """Make a release for each line of standard input, which names its target, and tell each step."""
    import shoal
    from shoal.engines import plan
    from shoal.engines.stream import engine
    from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS

    plan.LARGE, plan._FAST_FRAGMENT, plan._MANY_GROUPS, plan._PILOT = 300, 150, 1, 300
    engine._ROWS = engine._FEWEST_ROWS = 100
    recipe = shoal.Anonymizer(
        k=K,
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["illness"],
        identifiers=["note"],
        hierarchies=HIERARCHIES,
        effort="fast",
        progress=lambda _, text: _say(f"step {text}"),
    )
    for line in sys.stdin:
        try:
            recipe.stream(source, line.strip(), workers=2, sidecar=True)
            _say("done")
        except Exception as fault:  # noqa: BLE001  (how it ends is what is asked)
            _say(f"failed {type(fault).__name__}")


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


# --- the one who kills ---------------------------------------------------------------------------------------------


class Parent:
    """A parent in a process of its own."""

    def __init__(self, source: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.engines.faults", "--serve", str(source)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def release(self, target: Path) -> Iterator[str]:
        """Ask for a release, and yield its steps and how it ended; nothing more where the parent is gone."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{target}\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline().strip():
            yield line
            if not line.startswith("step"):
                return

    def children(self) -> list[int]:
        """Return the processes that it started."""
        found: list[int] = []
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{self.process.pid}/task").iterdir():
                found += map(int, (thread / "children").read_text("ascii").split())
        return found

    def workers(self) -> list[int]:
        """Return its workers."""
        return [one for one in self.children() if "spawn_main" in _command(one)]

    def end(self) -> None:
        """End it, if it lives."""
        with contextlib.suppress(OSError):
            self.process.communicate()


def _command(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    return ""


def undisturbed(parent: Parent, target: Path) -> dict[str, int]:
    """Make a release; return how many steps it takes, and at how many from the first on somebody of a kind can be killed."""
    last = dict.fromkeys(VICTIMS, 0)
    for number, _ in enumerate(parent.release(target), 1):
        last["parent"] = number
        last["worker"] = number if parent.workers() else last["worker"]
    return last


def strike(
    parent: Parent, draw: np.random.Generator, kind: str, steps: int, target: Path
) -> tuple[bool, list[int], str]:
    """Make a release and kill somebody after one of its steps; tell whether somebody was hit, who else worked, and how it ended."""
    at, hit, line = int(draw.integers(0, steps)), False, ""
    others: list[int] = []
    for number, line in enumerate(parent.release(target)):
        if hit or number < at or not line.startswith("step"):
            continue
        others = parent.children()
        victims = [parent.process.pid] if kind == "parent" else parent.workers()
        if victims:
            time.sleep(float(draw.uniform(0.0, 0.05)))  # somewhere inside the step
            with contextlib.suppress(ProcessLookupError):
                os.kill(victims[int(draw.integers(len(victims)))], signal.SIGKILL)
                hit = True
    return hit, others, line


def fault_in(target: Path, *, hidden: bool) -> str | None:
    """Return what is wrong with what a release left, or None; ``hidden``: private folders of a killed parent may be there."""
    sidecar = target.with_name(target.name + ".json")
    for one in target.parent.iterdir():
        if one in (target, sidecar):
            continue
        if not hidden:
            return "something left beside the release"
        if not one.name.startswith(".shoal-") or one.stat().st_mode & 0o077:
            return "something left that others may read"
    if not target.exists():
        return None
    if not sidecar.exists():
        return "a release without its side-car"
    rows = papq.read_table(target)
    names = rows.column_names[:-1]
    least = min(Counter(zip(*(rows.column(name).to_pylist() for name in names), strict=True)).values())
    return None if rows.num_rows == RECORDS and least >= K else "a release that is not whole or not anonymous"


def _left_running(processes: list[int]) -> bool:
    """Wait until processes are gone; tell whether one stays."""
    begin = time.monotonic()
    while any("python" in _command(one) for one in processes):
        if time.monotonic() - begin > _PATIENCE:
            return True
        time.sleep(0.05)
    return False


def run(count: int, seed: int, say: Callable[[str], None]) -> Counter[str]:
    """Strike ``count`` times; return what came of it."""
    from tests.engines.tables import people

    draw, tally = np.random.default_rng(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "people.parquet"
        papq.write_table(people(RECORDS), source)
        parent = Parent(source)
        steps = undisturbed(parent, folder / "undisturbed.parquet")
        for number in range(count):
            kind = VICTIMS[number % len(VICTIMS)]
            target = folder / f"target-{number}" / ("release" if number // 2 % 2 else "release.parquet")
            target.parent.mkdir()
            hit, others, end = strike(parent, draw, kind, steps[kind], target)
            tally[f"{kind} struck" if hit else "missed"] += 1
            killed = hit and kind == "parent"
            fault = fault_in(target, hidden=killed)
            if end == "done" and not target.exists():
                fault = fault or "no release though it was said to be done"
            if not hit and end != "done":
                fault = fault or f"{end} though nobody was killed"
            tally["released" if target.exists() else "nothing left"] += 1
            if killed:
                parent.end()
                fault = fault or ("workers live on" if _left_running(others) else None)
                parent = Parent(source)
                fault = fault or _fault_of_next(parent, target)
            if fault:
                tally["violations"] += 1
                say(f"{kind}: {fault}")
            say(f"{number + 1} strikes: {dict(tally)}")
        parent.end()
    return tally


def _fault_of_next(parent: Parent, target: Path) -> str | None:
    """Make another release beside what a killed parent left, and look whether that is gone."""
    for one in (target, target.with_name(target.name + ".json")):
        if one.exists():
            one.rename(target.parent.parent / f"{secrets.token_hex(8)}")
    for line in parent.release(target):
        if line.startswith("failed"):
            return f"the next release {line}"
    return fault_in(target, hidden=False) or (None if target.exists() else "no next release")


def main() -> None:
    """Run the campaign, or be its parent."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines.faults", description=__doc__)
    parser.add_argument("--strikes", type=int, default=50, help="releases in which somebody is killed (50)")
    parser.add_argument("--seed", type=int, default=None, help="where the drawing begins; a fresh number unless given")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    seed = secrets.randbits(32) if given.seed is None else given.seed
    _say(f"seed {seed}")
    sys.exit(run(given.strikes, seed, _say)["violations"] > 0)


if __name__ == "__main__":
    main()
