"""Large tables: loss beside CPU seconds and the peak memory of all processes, in memory and streamed.

python -m benchmarks.large                       both tables at 1,000,000 records in memory, efforts fast and balanced
python -m benchmarks.large A 1000000 fast        one table, its records, an effort
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from benchmarks.large_tables import make
from benchmarks.measuring import Row, in_new_process, kept_rows, peak_megabytes, publish
from shoal.arrays import Effort
from shoal.encoding import CodedTable, encode
from shoal.engines.memory import group_table
from shoal.frames import to_frame
from shoal.methods.base import Task
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimise import Optimise
from shoal.methods.optimise.problem import Problem

K = 10
TABLES = ("A", "M")


def coded_table(name: str, records: int) -> CodedTable:
    """Return a table as codes."""
    made = make(name, records)
    return encode(to_frame(made.table), made.quasi_identifiers, hierarchies=made.hierarchies, attributes=made.sensitive)


def loss_of(table: CodedTable, labels: Any) -> float:
    """Return the normalised loss of a grouping."""
    return Problem.of(table, Task(k=K)).solution(labels, int(labels.max()) + 1).loss


def measure(name: str, records: int, effort: Effort) -> Row:
    """Group a table in memory by cuts alone and by the plan, kernels compiled beforehand."""
    table = coded_table(name, records)
    few = table.take(np.arange(3_000))
    Mondrian().run(few, Task(k=K))
    Optimise().run(few, Task(k=K, effort=effort))
    cuts = loss_of(table, Mondrian().run(table, Task(k=K)).labels)
    begin = time.process_time()
    found = group_table(Optimise(), table, Task(k=K, effort=effort))
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


def main() -> None:
    """Measure what is asked for, and keep it beside what was measured before."""
    asked = sys.argv[1:]
    cases = (
        [(asked[0], int(asked[1]), asked[2])]
        if asked
        else [(name, 1_000_000, effort) for name in TABLES for effort in ("fast", "balanced")]
    )
    rows = kept_rows("large")
    for case in cases:
        row = in_new_process(measure, *case)
        rows = [one for one in rows if _key(one) != _key(row)] + [row]
        rows.sort(key=_key)
        publish("large", f"Large tables, k = {K} (CPU seconds of grouping)", rows, "python -m benchmarks.large")


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("table", "records", "engine", "effort"))


if __name__ == "__main__":
    main()
