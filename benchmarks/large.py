"""Large tables: loss beside CPU seconds and the peak memory of all processes, in memory and streamed.

python -m benchmarks.large                       both tables at 1,000,000 records in memory, efforts fast and balanced
python -m benchmarks.large A 1000000 fast        one table, its records, an effort
python -m benchmarks.large A 10000000 fast stream [FOLDER]    from file to file; rows lie in FOLDER meanwhile
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from benchmarks.large_tables import make, write_parts
from benchmarks.measuring import Row, in_new_process, kept_rows, peak_megabytes, publish
from benchmarks.memory import Watched, watch_process
from shoal.arrays import Effort
from shoal.encoding import CodedTable, encode
from shoal.frames import to_frame
from shoal.methods.base import Task
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.problem import Problem
from shoal.plan.table import group_table

K = 10
TABLES = ("A", "M")
MEMORY = "2GB"
WORKERS = 2


def coded_table(name: str, records: int) -> CodedTable:
    """Return a table as codes."""
    made = make(name, records)
    return encode(to_frame(made.table), made.quasi_identifiers, hierarchies=made.hierarchies, attributes=made.sensitive)


def loss_of(table: CodedTable, labels: Any) -> float:
    """Return the normalized loss of a grouping."""
    return Problem.of(table, Task(k=K)).solution(labels, int(labels.max()) + 1).loss


def measure(name: str, records: int, effort: Effort) -> Row:
    """Group a table in memory by cuts alone and by the plan, kernels compiled beforehand."""
    table = coded_table(name, records)
    few = table.take(np.arange(3_000))
    Mondrian().run(few, Task(k=K))
    Optimize().run(few, Task(k=K, effort=effort))
    cuts = loss_of(table, Mondrian().run(table, Task(k=K)).labels)
    begin = time.process_time()
    found = group_table(Optimize(), table, Task(k=K, effort=effort))
    seconds = time.process_time() - begin
    loss = loss_of(table, found.labels)
    return {
        "table": name,
        "records": records,
        "engine": "memory",
        "effort": effort,
        "fragments": found.details.get("fragments", 1),
        "loss": loss,
        "loss ÷ Mondrian's": loss / cuts,
        "CPU s": seconds,
        "peak MB": round(peak_megabytes()),
    }


def measure_stream(name: str, records: int, effort: Effort, folder: str | None = None) -> Row:
    """Release a folder of Parquet files into another one; CPU and memory are those of all processes together."""
    with tempfile.TemporaryDirectory(dir=folder) as room:
        place = Path(room)
        in_new_process(write_source, name, records, place)
        release_source(name, effort, place, "few")  # compiles the kernels
        watched = watch_process(release_source, name, effort, place, "source")
    row = row_of(name, records, "stream", effort, watched)
    return row | {"with mapped files MB": round(watched.with_files)}


def row_of(name: str, records: int, engine: str, effort: Effort, watched: Watched) -> Row:
    """Return what is kept of a release from file to file, by whichever engine."""
    return {
        "table": name,
        "records": records,
        "engine": engine,
        "effort": effort,
        "fragments": watched.value["fragments"],
        "loss": watched.value["loss"],
        "CPU s": watched.seconds,
        "peak MB": round(watched.megabytes),
    }


def write_source(name: str, records: int, place: Path) -> Row:
    """Write a table as a folder of files, and a few of its rows beside it, by which kernels are compiled."""
    for folder, count in (("source", records), ("few", 3_000)):
        (place / folder).mkdir()
        write_parts(name, count, place / folder)
    return {}


def release_source(name: str, effort: Effort, place: Path, source: str) -> Row:
    """Release one of the folders of a benchmark's place."""
    made = make(name, 1)
    recipe = shoal.Anonymizer(
        k=K,
        quasi_identifiers=made.quasi_identifiers,
        sensitive=made.sensitive,
        hierarchies=made.hierarchies,
        effort=effort,
        ends="exact",
    )
    found = recipe.stream(place / source, place / f"released-{source}", memory=MEMORY, workers=WORKERS)
    return {"fragments": found.fragments, "loss": found.metrics["ncp"]}


def main() -> None:
    """Measure what is asked for, and keep it beside what was measured before."""
    asked = sys.argv[1:]
    if asked[3:4] == ["stream"]:
        keep(measure_stream(asked[0], int(asked[1]), _effort(asked[2]), *asked[4:5]))
        return
    cases = (
        [(asked[0], int(asked[1]), asked[2])]
        if asked
        else [(name, 1_000_000, effort) for name in TABLES for effort in ("fast", "balanced")]
    )
    for case in cases:
        keep(in_new_process(measure, *case))


def _effort(text: str) -> Effort:
    return "fast" if text == "fast" else "balanced"


def keep(row: Row) -> None:
    """Keep one row instead of an older one of its kind."""
    rows = [one for one in kept_rows("large") if _key(one) != _key(row)] + [row]
    rows.sort(key=_key)
    title = f"Large tables, k = {K} (CPU seconds: of grouping in memory, from file to file streamed by {WORKERS} workers in {MEMORY})"
    publish("large", title, rows, "python -m benchmarks.large")


def _key(row: Row) -> tuple[str, str, str, int]:
    return str(row["table"]), str(row["engine"]), str(row["effort"]), int(row["records"])


if __name__ == "__main__":
    main()
