"""Looks for cliffs: the loss of the optimizer on made lattices of many shapes, by k, by records and by columns.

python -m benchmarks.cliffs                      all shapes, about half an hour; exit code 1 if there is a cliff
python -m benchmarks.cliffs --shapes deep,wide --sizes 20,50,100,200,400

A cliff is a loss above the line that its neighbours make where both axes are logarithms (``benchmarks.curves``; not where columns grow, which changes the
table), or effort "fast" more than 12 % above "balanced". Times are CPU seconds of all threads, kernels compiled beforehand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.curves import JUMP, above_line, jumps
from benchmarks.measuring import Row, Table, cpu_seconds, write_page
from benchmarks.optimize import loss_of
from benchmarks.plots import Plot
from shoal.arrays import Effort
from shoal.encoding import CodedTable, encode
from shoal.frames import Frame
from shoal.methods import make_method
from shoal.methods.base import Task

EFFORTS: tuple[Effort, ...] = ("fast", "balanced")
SIZES = (2, 5, 10, 20, 50, 100, 200, 400, 1_000)
RECORDS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000)
COLUMNS = (3, 6, 12, 24, 40)
APART = 1.12
"""How many times the loss of "balanced" that of "fast" may be."""


@dataclass(frozen=True)
class Lattice:
    """Records of some kinds, the first of which are frequent; values are texts of digits, and hierarchies cut digits off."""

    columns: int
    digits: int
    """Levels of a column below the root; every third column has one only."""
    kinds: int
    faithful: float
    """How often the first half of a value's digits goes with the kind of the record."""
    base: int = 4
    """Values of a digit."""


SHAPES = {
    "small": Lattice(5, 2, 6, 0.9),
    "deep": Lattice(6, 5, 30, 0.95),
    "loose": Lattice(9, 3, 12, 0.7),
    "survey": Lattice(16, 2, 20, 0.8, base=3),
    "wide": Lattice(24, 2, 12, 0.95),
}


def made(lattice: Lattice, records: int, seed: int = 0) -> CodedTable:
    """Return records of a lattice."""
    random = np.random.default_rng([seed, records, lattice.columns])
    kind = random.zipf(1.4, records) % lattice.kinds
    data = {}
    for column in range(lattice.columns):
        digits = 1 if column % 3 == 2 else lattice.digits
        usual = np.random.default_rng([seed, column]).integers(0, lattice.base, (lattice.kinds, digits))[kind]
        drawn = np.minimum(random.geometric(0.6, (records, digits)) - 1, lattice.base - 1)
        follows = random.random((records, 1)) < lattice.faithful
        follows = follows & (np.arange(digits) < (digits + 1) // 2)
        values = np.where(follows, usual, drawn)
        data[f"c{column}"] = ["".join(map(str, row)) for row in values]
    lengths = {name: list(range(len(texts[0]) - 1, -1, -1)) for name, texts in data.items()}
    trees = {name: shoal.Hierarchy.from_prefixes(sorted(set(data[name])), lengths[name]) for name in data}
    return encode(Frame(pa.table(data)), list(data), hierarchies=trees)


def measure(table: CodedTable, k: int, efforts: Sequence[Effort]) -> Row:
    """Return loss and CPU seconds by effort."""
    row: Row = {}
    for effort in efforts:
        grouping, seconds = cpu_seconds(partial(make_method("optimize").run, table, Task(k=k, effort=effort)))
        row |= {str(effort): loss_of(table, grouping.labels), f"{effort}, CPU s": round(seconds, 2)}
    return row


def by_size(lattice: Lattice, records: int, sizes: Iterable[int], efforts: Sequence[Effort]) -> Iterator[Row]:
    """Yield a row for each k of which the table has room for eight groups."""
    table = made(lattice, records)
    for k in sizes:
        if 8 * k <= records:
            yield {"records": records, "columns": lattice.columns, "k": k} | measure(table, k, efforts)


def by_records(lattice: Lattice, counts: Iterable[int], k: int, efforts: Sequence[Effort]) -> Iterator[Row]:
    """Yield a row for each number of records."""
    for records in counts:
        yield {"columns": lattice.columns, "k": k, "records": records} | measure(made(lattice, records), k, efforts)


def by_columns(
    lattice: Lattice, records: int, counts: Iterable[int], k: int, efforts: Sequence[Effort]
) -> Iterator[Row]:
    """Yield a row for each number of columns."""
    for columns in counts:
        table = made(replace(lattice, columns=columns), records)
        yield {"records": records, "k": k, "columns": columns} | measure(table, k, efforts)


def cliffs(rows: Sequence[Row], by: str) -> list[str]:
    """Return the cliffs of a curve, in words; ``by`` is the column that grows from row to row."""
    found = [
        f"fast is {row['fast'] / row['balanced'] - 1.0:.0%} above balanced at {by} = {row[by]}"
        for row in rows
        if "balanced" in row and row["fast"] > APART * row["balanced"]
    ]
    for name in (str(effort) for effort in EFFORTS if str(effort) in rows[0]):
        if by == "k":
            found += jumps(rows, name, ())
        elif by == "records":  # another column is another table, so there only the efforts are compared
            found += _bumps(rows, name, by)
    return found


def _bumps(rows: Sequence[Row], name: str, by: str) -> list[str]:
    """Return where a loss stands above the line through its neighbours."""
    places, losses = [int(row[by]) + 1 for row in rows], [float(row[name]) for row in rows]
    return [
        f"{name} jumps at {by} = {rows[place][by]}"
        for place in range(1, len(rows) - 1)
        if above_line(places, losses, place, (place - 1, place + 1)) > JUMP
    ]


def table_of(title: str, rows: list[Row], by: str, efforts: Sequence[Effort]) -> Table:
    """Return the rows of a curve with its cliffs and pictures of loss and time."""
    names = [str(effort) for effort in efforts]
    loss = Plot(by, names, label="loss", log_x=True, caption=f"{title}: loss")
    seconds = Plot(by, [f"{name}, CPU s" for name in names], label="CPU s", log_x=True, caption=f"{title}: time")
    return Table(title, "; ".join(cliffs(rows, by)) or "No cliff.", rows, loss, (seconds,))


def main() -> None:
    """Measure, keep the page and fail if there is a cliff."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--records", type=int, default=20_000, help="records of the tables whose k grows")
    parser.add_argument("--counts", default=",".join(map(str, RECORDS)), help="records at k = 50; empty: none")
    parser.add_argument("--columns", default=",".join(map(str, COLUMNS)), help="columns at k = 50; empty: none")
    parser.add_argument("--efforts", default=",".join(map(str, EFFORTS)))
    parser.add_argument("--keep", default="cliffs", help="name of the page of results")
    given = parser.parse_args()
    efforts = given.efforts.split(",")
    sizes, counts, columns = (
        [int(one) for one in text.split(",") if one] for text in (given.sizes, given.counts, given.columns)
    )
    measure(made(SHAPES["small"], 600), 20, efforts)  # compiles, or loads
    tables, found = [], []
    works = [
        *(
            (f"{name}: k grows", "k", by_size(SHAPES[name], given.records, sizes, efforts))
            for name in given.shapes.split(",")
        ),
        ("deep: records grow", "records", by_records(SHAPES["deep"], counts, 50, efforts)),
        ("survey: columns grow", "columns", by_columns(SHAPES["survey"], given.records, columns, 50, efforts)),
    ]
    for title, by, work in works:
        rows = []
        for row in work:
            print(title, row, flush=True)
            rows.append(row)
        if rows:
            tables.append(table_of(title, rows, by, efforts))
            found += [f"{title}: {one}" for one in cliffs(rows, by)]
    write_page(
        given.keep,
        "Cliffs looked for on made lattices",
        tables,
        " ".join(["python -m benchmarks.cliffs", *sys.argv[1:]]),
    )
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
