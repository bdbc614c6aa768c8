"""The memory of the parts of a streamed release, each by itself, compared with the formulas of docs/reference/large-tables.md.

python -m benchmarks.large_memory        some minutes once kernels are compiled (Linux only)

Each part runs in a new process, once on a few records so that its kernels are loaded, then on many while the peak of the process is watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.large import K, coded_table
from benchmarks.measuring import Row, in_new_process, publish
from benchmarks.memory import peak_megabytes
from shoal.arrays import IntArray
from shoal.encoding import CodedTable
from shoal.engines.stream.recounting import Recount
from shoal.methods.base import Task
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimize import Optimize
from shoal.plan.contents import draw_sample
from shoal.plan.steps import Job, run_fragment
from shoal.plan.table import group_table

RECORDS = 1_000_000
BATCH = 65_536
FRAGMENTS = (("A", 6_000), ("A", 24_000), ("M", 5_000), ("M", 12_000))
"""Tables, and the records of a fragment that are searched."""
FEW = 3_000
SAMPLED = 0.2


def growth(work: Callable[[], object]) -> float:
    """Return by how many megabytes the process grows at most meanwhile."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak begins again with what the process has now
    before = peak_megabytes()
    work()
    return peak_megabytes() - before


def row(part: str, table: str, size: str, formula: float, measured: float) -> Row:
    """Return one line of the page; the formula is in bytes."""
    expected = formula / 1024**2
    return {
        "part": part,
        "table": table,
        "size": size,
        "formula MB": round(expected, 1),
        "measured MB": round(measured, 1),
        "measured ÷ formula": round(measured / expected, 2),
    }


def fragment(name: str, records: int) -> Row:
    """Group one fragment of a larger table."""
    job, table = Job(Optimize(), Task(k=K)), coded_table(name, records)
    run_fragment(table.take(np.arange(FEW)), job, RECORDS)
    found = growth(partial(run_fragment, table, job, RECORDS))
    formula = 30.0 * 1024**2 + 200.0 * len(table.columns) * records
    return row("a fragment in work", name, f"{records:,} records", formula, found)


def sample(name: str) -> Row:
    """Draw the sample of a table."""
    table = coded_table(name, RECORDS)
    drawn = draw_sample(table, 0, SAMPLED)
    tuples, columns = len(drawn.copies), len(table.columns)
    held = (drawn.codes.nbytes + drawn.copies.nbytes) / 1024**2
    return row("sample", name, f"{tuples:,} distinct tuples", (4.0 * columns + 8) * tuples, held)


def recount(name: str) -> Row:
    """Count a release again, batch by batch, as it would be read from its files."""
    table = coded_table(name, RECORDS)
    labels = group_table(Optimize(), table, Task(k=K)).labels
    batches = list(released(table, labels))
    counted = Recount(list(batches[0]))

    def count() -> None:
        for batch in batches:
            counted.add(pa.table(batch))
        counted.groups()

    found = growth(count)
    columns, groups = len(table.columns), len(counted.groups()[0])
    formula = 2.0 * (8 * -(-columns // 3) + 8) * groups
    return row("recount", name, f"{groups:,} groups", formula, found)


def released(table: CodedTable, labels: IntArray) -> Iterator[dict[str, pa.Array]]:
    """Yield batches of cells that are equal within a group: the lowest code of the group in each column."""
    lowest = np.full((len(table.codes), int(labels.max()) + 1), np.iinfo(np.int32).max, np.int32)
    for column, codes in zip(lowest, table.codes, strict=True):
        np.minimum.at(column, labels, codes)
    for begin in range(0, len(labels), BATCH):
        part = labels[begin : begin + BATCH]
        yield {f"c{place}": pa.array(column[part]) for place, column in enumerate(lowest)}


def whole(name: str) -> Row:
    """Group a table that is not cut into fragments, its codes among what is counted."""
    table = coded_table(name, RECORDS)
    Mondrian().run(table.take(np.arange(FEW)), Task(k=K))
    found = growth(partial(Mondrian().run, table, Task(k=K))) + table.codes.nbytes / 1024**2
    return row("a table grouped as a whole", name, f"{RECORDS:,} records", 40.0 * table.codes.size, found)


def main() -> None:
    """Measure all parts and keep them."""
    rows = [in_new_process(fragment, *one) for one in FRAGMENTS]
    rows += [in_new_process(part, "A") for part in (sample, recount, whole)]
    publish("large_memory", "Memory of the parts of a streamed release", rows, "python -m benchmarks.large_memory")


if __name__ == "__main__":
    main()
