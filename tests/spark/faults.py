"""Kill -9 whoever works on a release, at random moments: ``python -m tests.spark.faults --strikes 50``.

A cluster of two executors on this machine makes one release after the other. In each, at a random step, one process is killed: an executor, a Python
worker, the JVM of the driver, or the driver itself. Afterwards the whole checked release has its name, or nothing is there; the
folder for staging is empty in either case, and so are Spark's own folders wherever its JVM could still clear them up.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as papq

from tests.spark.conftest import QUICK_JAVA

VICTIMS = ("executor", "worker", "driver", "jvm")
RECORDS, K = 900, 5
_MARKS = {
    "executor": "CoarseGrainedExecutorBackend",
    "worker": "pyspark.daemon",
    "jvm": "org.apache.spark.deploy.SparkSubmit",
}
_PATIENCE = 240.0
"""Seconds after which what is still there counts as left behind; nothing depends on it where nothing is."""


# --- the driver, a process of its own ------------------------------------------------------------------------------


def serve(folder: Path) -> None:
    """Make a release for each line of standard input, which names its target, and tell each step."""
    import shoal.spark
    from shoal.engines import plan
    from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

    plan.LARGE, plan._FRAGMENT, plan._FAST_FRAGMENT, plan._MANY_GROUPS, plan._PILOT = 300, 150, 150, 1, 300
    papq.write_table(people(RECORDS), folder / "people.parquet")
    spark = _cluster(folder)
    _say("ready")
    for line in sys.stdin:
        try:
            with shoal.spark.anonymize(
                spark.read.parquet(str(folder / "people.parquet")),
                k=K,
                quasi_identifiers=QUASI_IDENTIFIERS,
                sensitive=["illness"],
                identifiers=["note"],
                hierarchies=HIERARCHIES,
                effort="fast",
                ends="round",
                staging=str(folder / "staging"),
                progress=lambda _, text: _say(f"step {text}"),
            ) as result:
                _say("step saving")
                result.save(line.strip())
            _say("done")
        except Exception as fault:  # noqa: BLE001  (whatever a dead JVM raises)
            _say(f"failed {type(fault).__name__}")


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def _cluster(folder: Path) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": QUICK_JAVA,
        "spark.executor.extraJavaOptions": QUICK_JAVA,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.executor.memory": "1g",
        "spark.driver.memory": "1g",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("shoal")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


# --- the one who kills ---------------------------------------------------------------------------------------------


class Driver:
    """A driver in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("staging", "local"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join(sys.path)
        home = _own_home(folder / "home")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.faults", "--serve", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": path,
                "PYSPARK_PYTHON": sys.executable,
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_HOME": str(home),
            },
        )
        if self.line() != "ready":
            raise RuntimeError("the cluster did not start")

    def line(self) -> str:
        """Return the next thing the driver says; nothing where it is gone."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def release(self, target: Path) -> Iterator[str]:
        """Ask for a release, and yield its steps and how it ended."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{target}\n")
        self.process.stdin.flush()
        while line := self.line():
            yield line
            if not line.startswith("step"):
                return

    def end(self) -> None:
        """End the driver, if it lives."""
        with contextlib.suppress(OSError):
            self.process.communicate()


def _own_home(folder: Path) -> Path:
    """Return a home of Spark that is links to the installed one: what executors write there is not left in it."""
    import pyspark

    if not folder.exists():
        folder.mkdir()
        for one in Path(pyspark.__file__).parent.iterdir():
            if one.name != "work":
                (folder / one.name).symlink_to(one)
    return folder


def _below(process: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    parents: dict[int, list[int]] = {}
    for one in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(one.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(one.parent.name))
    found, waiting = [], [process]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def find_victims(driver: int, kind: str) -> list[int]:
    """Return the processes of a kind that work for a driver."""
    if kind == "driver":
        return [driver]
    found = []
    for one in _below(driver):
        with contextlib.suppress(OSError):
            if _MARKS[kind] in Path(f"/proc/{one}/cmdline").read_text().replace("\0", " "):
                found.append(one)
    return found


def strike(driver: Driver, draw: np.random.Generator, kind: str, target: Path) -> bool:
    """Make a release and kill somebody at one of its steps; tell whether somebody was hit."""
    at, hit = int(draw.integers(0, 6)), False
    for number, line in enumerate(driver.release(target)):
        if not line.startswith("step") or hit:
            continue
        victims = find_victims(driver.process.pid, kind) if number >= at else []
        if victims:
            time.sleep(float(draw.uniform(0.0, 1.5)))  # somewhere inside the step
            with contextlib.suppress(ProcessLookupError):
                os.kill(victims[int(draw.integers(len(victims)))], signal.SIGKILL)
                hit = True
    return hit


def fault_in(folder: Path, target: Path, *, cleared: bool) -> str | None:
    """Return what is wrong with what a release left, or None; ``cleared``: Spark's own folders must be empty too."""
    begin = time.monotonic()
    places = [folder / "staging", *([folder / "local"] if cleared else [])]
    while left := [one.name for place in places for one in place.iterdir()]:
        if time.monotonic() - begin > _PATIENCE:
            return f"{len(left)} folders left behind, such as {left[0][:6]}…"
        time.sleep(0.2)
    others = [one.name for one in target.parent.iterdir() if one != target]
    if others:
        return f"{len(others)} half-written folders beside the release"
    if not target.exists():
        return None
    rows = papq.read_table(target)
    names = rows.column_names[:-1]
    least = min(Counter(zip(*(rows.column(name).to_pylist() for name in names), strict=True)).values())
    return None if rows.num_rows == RECORDS and least >= K else "a release that is not whole or not anonymous"


def run(count: int, seed: int, say: Callable[[str], None], kinds: tuple[str, ...] = VICTIMS) -> Counter[str]:
    """Strike ``count`` times; return what came of it."""
    draw, tally = np.random.default_rng(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        driver = Driver(folder)
        for number in range(count):
            kind = kinds[number % len(kinds)]
            target = folder / f"target-{number}" / "release"
            target.parent.mkdir()
            hit = strike(driver, draw, kind, target)
            tally["struck" if hit else "missed"] += 1
            fatal = hit and kind in ("driver", "jvm")
            if fatal:
                driver.end()
            fault = fault_in(folder, target, cleared=hit and kind == "driver")
            if not hit and not target.exists():
                fault = fault or "no release though nobody was killed"
            tally["violations" if fault else "released" if target.exists() else "nothing left"] += 1
            if fault:
                say(f"{kind}: {fault}")
            if fatal and number + 1 < count:
                for one in (folder / "local").iterdir():  # what a killed JVM left is Spark's own
                    shutil.rmtree(one, ignore_errors=True)
                driver = Driver(folder)
            say(f"{number + 1} strikes: {dict(tally)}")
        driver.end()
    return tally


def main() -> None:
    """Run the campaign, or be its driver."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.faults", description=__doc__)
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
