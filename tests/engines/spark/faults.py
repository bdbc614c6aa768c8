"""Kill -9 whoever works on a release, at random moments: ``python -m tests.engines.spark.faults --strikes 50``.

A cluster of two executors on this machine makes one release after the other. In each, at a random step, one process is killed: an executor, a Python
worker, the JVM of the driver, or the driver itself. Afterwards the whole checked release has its name, or nothing is there; the
folder for staging is empty in either case, and so are Spark's own folders wherever its JVM could still clear them up.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as papq

from tests.engines.spark.conftest import QUICK_JAVA
from tests.tools.killing import RECORDS, K, Say, Served, campaign, fault_in_rows, main, say, serve, strike, wait_while

VICTIMS = {
    "executor": "CoarseGrainedExecutorBackend",
    "worker": "pyspark.daemon",
    "driver": None,
    "jvm": "org.apache.spark.deploy.SparkSubmit",
}
"""Whom to kill, and a part of its command; None: the driver itself."""


# --- the driver, a process of its own ------------------------------------------------------------------------------


def make_releases(place: str) -> None:
    """Release a table on a cluster of its own into the targets that are named."""
    import shoal.spark
    from shoal.plan import steps
    from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

    folder = Path(place)
    steps.LARGE, steps._FRAGMENT, steps._FAST_FRAGMENT, steps._MANY_GROUPS, steps._PILOT = 300, 150, 150, 1, 300
    papq.write_table(people(RECORDS), folder / "people.parquet")
    spark = _cluster(folder)

    def release(target: str) -> None:
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
            progress=lambda _, text: say(f"step {text}"),
        ) as result:
            say("step saving")
            result.save(target)

    serve(release)


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


def start(folder: Path) -> Served:
    """Return a driver in a process of its own."""
    for name in ("staging", "local"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return Served(
        ["-m", "tests.engines.spark.faults", "--serve", str(folder)],
        folder,
        PYSPARK_PYTHON=sys.executable,
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_HOME=str(_own_home(folder / "home")),
    )


def _own_home(folder: Path) -> Path:
    """Return a home of Spark that is links to the installed one: what executors write there is not left in it."""
    import pyspark

    if not folder.exists():
        folder.mkdir()
        for one in Path(pyspark.__file__).parent.iterdir():
            if one.name != "work":
                (folder / one.name).symlink_to(one)
    return folder


def fault_in(folder: Path, target: Path, *, cleared: bool) -> str | None:
    """Return what is wrong with what a release left, or None; ``cleared``: Spark's own folders must be empty too."""
    places = [folder / "staging", *([folder / "local"] if cleared else [])]

    def left() -> list[str]:
        return [one.name for place in places for one in place.iterdir()]

    if wait_while(lambda: bool(left())):
        return f"{len(left())} folders left behind, such as {min(left(), default='')[:6]}…"
    others = [one.name for one in target.parent.iterdir() if one != target]
    if others:
        return f"{len(others)} half-written folders beside the release"
    return fault_in_rows(target) if target.exists() else None


class Campaign:
    """A folder, and the driver that works in it at present."""

    def __init__(self, folder: Path, seed: int, kinds: tuple[str, ...]) -> None:
        self.folder, self.draw, self.kinds = folder, np.random.default_rng(seed), kinds
        self.driver = start(folder)

    def one(self, number: int, tally: Counter[str]) -> str | None:
        """Strike once; return what was wrong."""
        if not self.driver.lives:
            for one in (self.folder / "local").iterdir():  # what a killed JVM left is Spark's own
                shutil.rmtree(one, ignore_errors=True)
            self.driver = start(self.folder)
        kind = self.kinds[number % len(self.kinds)]
        target = self.folder / f"target-{number}" / "release"
        target.parent.mkdir()
        at = int(self.draw.integers(0, 6))
        hit = strike(self.driver, self.draw, VICTIMS[kind], target, at=at, within=1.5).hit
        tally[f"{kind} struck" if hit else "missed"] += 1
        if hit and kind in ("driver", "jvm"):
            self.driver.end()
        fault = fault_in(self.folder, target, cleared=hit and kind == "driver")
        if not hit and not target.exists():
            fault = fault or "no release though nobody was killed"
        tally["released" if target.exists() else "nothing left"] += 1
        return fault and f"{kind}: {fault}"


def run(count: int, seed: int, tell: Say, kinds: tuple[str, ...] = tuple(VICTIMS)) -> Counter[str]:
    """Strike ``count`` times; return what came of it."""
    with tempfile.TemporaryDirectory() as name:
        strikes = Campaign(Path(name), seed, kinds)
        tally = campaign(count, tell, strikes.one)
        strikes.driver.end()
    return tally


if __name__ == "__main__":
    main("tests.engines.spark.faults", __doc__, run, make_releases)
