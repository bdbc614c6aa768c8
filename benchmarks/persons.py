"""Panels of people with several records each: what counting people costs in loss and time.

python -m benchmarks.persons                     panels of 20,000 and 1,000,000 records, ten of each person
python -m benchmarks.persons 1000000             one size

The table is shaped like UCI Adult, drawn out over ten waves: everybody ages, and some change job or marital status. Beside the release
by records (too few people in most of its groups) and that by people stands the naive way, one record of each person.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

from benchmarks.measuring import Row, in_new_process, kept_rows, peak_megabytes, publish
from shoal.datasets import adult_like
from shoal.encoding import CodedTable, Unit, encode, with_units
from shoal.frames import to_frame
from shoal.methods.base import Task
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.problem import Problem
from shoal.plan.table import group_table
from shoal.privacy.base import failing_groups
from shoal.privacy.k_anonymity import at_least_units

K = 10
WAVES = 10
_CHANGES = {"occupation": 0.05, "marital-status": 0.04, "workclass": 0.03}
"""How likely somebody changes from one wave to the next."""


def make_panel(records: int, seed: int = 0) -> tuple[pa.Table, list[str]]:
    """Return a panel and its quasi-identifiers; the column ``nr`` says whose a record is."""
    persons = records // WAVES
    made = adult_like(persons, seed)
    draw = np.random.default_rng([seed, records])
    who, wave = np.repeat(np.arange(persons), WAVES), np.tile(np.arange(WAVES), persons)
    columns = {"nr": pa.array(who), "wave": pa.array(wave)}
    for name in made.table.column_names:
        values = np.asarray(made.table.column(name).to_pylist(), dtype=object)
        if name == "age":
            columns[name] = pa.array(values.astype(np.int64)[who] + wave)
            continue
        source = who.reshape(persons, WAVES)
        if name in _CHANGES:  # from then on what somebody else has
            changed = draw.random((persons, WAVES)) < _CHANGES[name]
            other = np.where(changed, draw.integers(0, persons, (persons, WAVES)), source)
            last = np.maximum.accumulate(np.where(changed, np.arange(WAVES), 0), axis=1)
            source = np.take_along_axis(other, last, axis=1)
        columns[name] = pa.array(values[source.reshape(-1)].tolist())
    names = ["wave", *(name for name in made.table.column_names if name != "salary-class")]
    return pa.table(columns), names


def coded_panel(records: int) -> CodedTable:
    """Return a panel as codes that know whose each record is."""
    panel, names = make_panel(records)
    frame = to_frame(panel)
    trees = {name: tree for name, tree in adult_like(100).hierarchies.items() if name in names and name != "age"}
    return with_units(encode(frame, names, hierarchies=trees), frame, {"person": "nr"})


def _grouped(table: CodedTable, together: tuple[Unit, ...] = ()) -> Row:
    """Group a table and return what it came to."""
    task = Task(k=K, effort="fast", requirements=at_least_units(table, K), together=together)
    begin = time.process_time()
    labels = group_table(Optimize(), table, task).labels
    seconds = time.process_time() - begin
    return {
        "records": table.records,
        "groups": int(labels.max()) + 1,
        "loss": Problem.of(table, Task(k=K)).solution(labels, int(labels.max()) + 1).loss,
        "CPU s": seconds,
        "labels": labels,
    }


def measure(records: int) -> Row:
    """Group a panel in all ways, kernels compiled beforehand; return a row for each way."""
    _ways(coded_panel(3_000))
    rows = _ways(coded_panel(records))
    peak = round(peak_megabytes())
    return {"rows": [{"records of the panel": records, **row, "peak MB": peak} for row in rows]}


def _ways(table: CodedTable) -> list[Row]:
    people = at_least_units(table, K)
    plain = CodedTable(table.codes, table.columns, table.weights)
    first = np.unique(table.units["person"], return_index=True)[1]
    ways = {
        "by records": _grouped(plain),
        "by people": _grouped(table),
        "by people, together": _grouped(table, ("person",)),
        "naive: one record of each person": _grouped(plain.take(first)),
    }
    rows = []
    for way, row in ways.items():
        labels = row.pop("labels")
        few = None
        if len(labels) == table.records:
            few = float(failing_groups(people, labels, int(labels.max()) + 1).mean())
        rows.append({"way": way, **row, "time ÷ by records": row["CPU s"] / ways["by records"]["CPU s"]})
        rows[-1] |= {"groups of too few people": few}
    return rows


def main() -> None:
    """Measure the sizes that are asked for, and keep them beside what was measured before."""
    sizes = [int(text) for text in sys.argv[1:]] or [20_000, 1_000_000]
    rows = kept_rows("persons")
    for size in sizes:
        found = in_new_process(measure, size)["rows"]
        rows = [one for one in rows if one["records of the panel"] != size] + found
        rows.sort(key=lambda one: one["records of the panel"])
        title = f"Panels: people counted, not records, k = {K}, effort fast (CPU seconds of grouping)"
        publish("persons", title, rows, "python -m benchmarks.persons")


if __name__ == "__main__":
    main()
