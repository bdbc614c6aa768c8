"""Large tables on Spark: loss beside the CPU seconds of all processes, Java's too, and the peak memory of the driver.

python -m benchmarks.large_spark A 1000000 fast [FOLDER]     from file to file with two cores of this machine; rows lie in FOLDER meanwhile
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import large
from benchmarks.large import K, keep, row_of, write_source
from benchmarks.large_tables import make
from benchmarks.measuring import Row, in_new_process, peak_megabytes
from benchmarks.memory import watch_process
from shoal.arrays import Effort

MASTER = "local[2]"


def measure_spark(name: str, records: int, effort: Effort, folder: str | None = None) -> Row:
    """Release a folder of Parquet files into another one; CPU is that of the driver, Java and all Python workers together."""
    with tempfile.TemporaryDirectory(dir=folder) as room:
        place = Path(room)
        in_new_process(write_source, name, records, place)
        large.release_source(name, effort, place, "few")  # compiles the kernels
        watched = watch_process(release_source, name, effort, place)
    return row_of(name, records, "spark", effort, watched) | {"driver MB": round(watched.value["driver"])}


def release_source(name: str, effort: Effort, place: Path) -> Row:
    """Release the folder of a benchmark's place, and wait for Java's end, so that its CPU seconds count."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    import shoal.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(place / "local"),
        "spark.executorEnv.NUMBA_NUM_THREADS": "1",
        "spark.sql.shuffle.partitions": "8",
    }
    builder = SparkSession.builder.master(MASTER)
    for setting, value in settings.items():
        builder = builder.config(setting, value)
    spark = builder.getOrCreate()
    made = make(name, 1)
    with shoal.spark.anonymize(
        spark.read.parquet(str(place / "source")),
        k=K,
        quasi_identifiers=made.quasi_identifiers,
        sensitive=made.sensitive,
        hierarchies=made.hierarchies,
        effort=effort,
        ends="exact",
        staging=str(place),
    ) as result:
        result.save(str(place / "released"))
        row: Row = {"fragments": result.details["fragments"], "loss": result.metrics["ncp"], "driver": peak_megabytes()}
    spark.stop()
    _wait_for_java(SparkContext._gateway)  # noqa: SLF001  (there is no public way)
    return row


def _wait_for_java(gateway: Any) -> None:
    java: subprocess.Popen[bytes] = gateway.proc
    gateway.shutdown()
    if java.stdin is not None:
        java.stdin.close()
    java.wait()


if __name__ == "__main__":
    asked = sys.argv[1:]
    effort: Effort = "fast" if asked[2] == "fast" else "balanced"
    keep(measure_spark(asked[0], int(asked[1]), effort, *asked[3:4]))
