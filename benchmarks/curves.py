"""Loss and time for k = 2 to 500, method by method, beside the figures of ARX if there are some, to see cliffs.

python -m benchmarks.curves                                   Adult (A, X, S) and made tables, effort "fast" and the other methods
python -m benchmarks.curves --tables S --others mondrian,top-down,bottom-up,k-member    k-member takes minutes
python -m benchmarks.curves --tables A --efforts balanced --others "" --sizes 10,50    rows kept before stay; these are added

The page marks what must not be: a loss that falls or jumps with k, the optimizer above another method, more effort that loses more.
Times are CPU seconds of all threads, kernels compiled beforehand; run with NUMBA_NUM_THREADS=1 for one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import exp, log

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.adult import coded
from benchmarks.measuring import Row, Table, cpu_seconds, kept_rows, write_page
from benchmarks.optimize import EFFORTS, SHAPES, loss_of, made
from shoal.arrays import Effort
from shoal.encoding import CodedTable, encode
from shoal.frames import Frame
from shoal.methods import make_method
from shoal.methods.base import Task

SIZES = (2, 3, 5, 7, 10, 15, 20, 35, 50, 75, 100, 200, 500)
OTHERS = ("mondrian", "top-down")
"""Of the other methods these take less than a second at any k."""
ALL_OTHERS = (*OTHERS, "bottom-up", "k-member")
"""What the optimizer is compared with wherever it was measured: ``--others``."""
JUMP = 1.1
"""How many times as much as a smooth curve has is a jump."""
ROUNDING = 1.0 + 1e-12
"""Two losses that differ by a smaller factor are the same: groups in another order are added up otherwise."""
TOWNS = "towns"
TABLES = ("A", "X", "S", TOWNS, *SHAPES)

ARX = {
    ("A", 2): (0.0264, 4.1),
    ("A", 5): (0.0590, 15.0),
    ("A", 10): (0.0842, 20.0),
    ("A", 50): (0.1594, 40.0),
    ("A", 100): (0.2025, 42.0),
}
"""Loss and CPU seconds of ARX's local recoding, its finer setting, on the same columns and hierarchies.

Measured once on a machine of two cores (the project's page of performance figures, section 1); not run here.
"""


def towns(records: int, seed: int = 0) -> CodedTable:
    """Return a table by hierarchy of nearly distinct records: few large towns and many small ones, ages, jobs, schools."""
    random = np.random.default_rng(seed)
    town = random.zipf(1.4, records) % 40
    ages = np.clip(random.normal(45, 18, records), 0, 99).astype(int)
    digits, jobs = random.integers(0, 10, (records, 2)), random.zipf(1.6, records) % 12
    schools = random.integers(0, 9, records) + town % 4
    columns = {
        "zip": [f"{place * 25 % 100:02d}{one}{two}" for place, (one, two) in zip(town, digits, strict=True)],
        "age": [f"{age:02d}" for age in ages],
        "sex": random.integers(0, 2, records).astype(str).tolist(),
        "job": [f"{(place + job) % 6}{job % 4}" for place, job in zip(town, jobs, strict=True)],
        "school": [f"{school % 5}{school % 3}" for school in schools],
    }
    kept = {"zip": [3, 2, 1, 0], "age": [1, 0], "sex": [0], "job": [1, 0], "school": [1, 0]}
    trees = {name: shoal.Hierarchy.from_prefixes(sorted(set(texts)), kept[name]) for name, texts in columns.items()}
    return encode(Frame(pa.table(columns)), list(columns), hierarchies=trees)


def curve(
    table: CodedTable, sizes: Iterable[int], efforts: Sequence[Effort], others: Sequence[str] = OTHERS
) -> Iterator[Row]:
    """Yield the loss and the CPU seconds of the optimizer by effort and of other methods, size by size."""
    for k in sizes:
        row: Row = {"k": k}
        works = [*((str(effort), "optimize", effort) for effort in efforts), *((name, name, "fast") for name in others)]
        for name, method, effort in works:
            work = partial(make_method(method).run, table, Task(k=k, effort=effort))
            grouping, seconds = cpu_seconds(work)
            row |= {name: loss_of(table, grouping.labels), f"{name}, CPU s": round(seconds, 2)}
        yield row


def faults(rows: Sequence[Row], efforts: Sequence[Effort], others: Sequence[str] = OTHERS) -> list[str]:
    """Return what must not be in a curve, in words; what was not measured at some k is left out there.

    Groups of 2k records are groups of k records too, so a loss may not fall; and it may not jump (``jumps``).
    """
    found = []
    names = [str(effort) for effort in efforts]
    for name in names:
        known = [row for row in rows if name in row]
        found += [
            f"{name} falls from k = {before['k']} to {after['k']}"
            for before, after in pairwise(known)
            if after[name] < before[name] * 0.98
        ]
        found += jumps(known, name, others)
    above = [*((names[0], name) for name in others), *((more, less) for less, more in pairwise(names))]
    above += [(names[0], "ARX")]
    for row in rows:
        found += [
            f"{more} is above {less} at k = {row['k']}"
            for more, less in above
            if more in row and less in row and row[more] > row[less] * ROUNDING
        ]
    return found


def jumps(rows: Sequence[Row], name: str, others: Sequence[str]) -> list[str]:
    """Return where a loss jumps.

    A group of k spans k - 1 steps, and the loss is nearly a power of them: a jump stands above the line that its neighbours make where both axes are
    logarithms, or, at the end of a curve, above the line of the two before. A rise by more than k - 1 rises is a jump whatever comes after. Unless the table
    itself has a step there, which the best of the other methods shows too.
    """
    best = [min((row[other] for other in others if other in row), default=0.0) for row in rows]
    losses, sizes, found = [float(row[name]) for row in rows], [int(row["k"]) for row in rows], []
    for place in range(1, len(rows)):
        rises = losses[place] * (sizes[place - 1] - 1) > losses[place - 1] * (sizes[place] - 1)
        line = (place - 1, place + 1) if place + 1 < len(rows) else (place - 2, place - 1)
        above, step = (above_line(sizes, curve, place, line) if line[0] >= 0 else 1.0 for curve in (losses, best))
        if above > JUMP * max(step, 1.0) or (rises and not _rise_as_much(best, losses, place)):
            found.append(f"{name} jumps from k = {sizes[place - 1]} to {sizes[place]}")
    return found


def _rise_as_much(best: Sequence[float], losses: Sequence[float], place: int) -> bool:
    """Return whether other methods rise nearly as much as a loss does from the size before."""
    return best[place] > 0.0 and losses[place] * best[place - 1] <= JUMP * losses[place - 1] * best[place]


def above_line(sizes: Sequence[int], losses: Sequence[float], place: int, line: tuple[int, int]) -> float:
    """Return how many times as much is lost at one place as the line through two others has there; 1 where one of them loses nothing."""
    first, second = line
    if min(losses[place], losses[first], losses[second]) <= 0.0:
        return 1.0
    x = [log(sizes[one] - 1) for one in (first, place, second)]
    y = [log(losses[one]) for one in (first, place, second)]
    return exp(y[1] - y[0] - (y[2] - y[0]) * (x[1] - x[0]) / (x[2] - x[0]))


def with_arx(name: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Add ARX's figures if there are some."""
    for row in rows:
        found = ARX.get((name, int(row["k"])))
        yield row if found is None else row | {"ARX": found[0], "ARX, CPU s": found[1]}


def table_of(name: str, records: int) -> CodedTable:
    """Return a table by its name."""
    if name == TOWNS:
        return towns(records)
    return made(name, records) if name in SHAPES else coded(name)


def keep(name: str, records: int, rows: Iterable[Row]) -> None:
    """Add rows of one table to the page, beside those kept before."""
    kept = {(row["table"], row["records"], row["k"]): row for row in kept_rows("curves")}
    for row in with_arx(name, rows):
        place = (name, records, row["k"])
        kept[place] = kept.get(place, {}) | {"table": name, "records": records} | row
    pages = []
    for one in TABLES:
        ordered = sorted((row for row in kept.values() if row["table"] == one), key=lambda row: int(row["k"]))
        if ordered:
            note = "; ".join(faults(ordered, EFFORTS, ALL_OTHERS)) or "No cliff, and nothing below the optimizer."
            pages.append(Table(f"{one}: {ordered[0]['records']:,} records", note, ordered))
    names = ";".join(one for one in TABLES if any(row["table"] == one for row in kept.values()))
    write_page("curves", "Loss and time for k = 2 to 500", pages, f'python -m benchmarks.curves --tables "{names}"')


def main() -> None:
    """Measure and keep the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=";".join(TABLES), help="names, with ; between them")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--efforts", default="fast")
    parser.add_argument("--others", default=",".join(OTHERS), help="other methods")
    parser.add_argument("--records", type=int, default=5_000, help="records of the made tables")
    given = parser.parse_args()
    sizes, efforts = [int(size) for size in given.sizes.split(",")], given.efforts.split(",")
    others = [name for name in given.others.split(",") if name]
    for name in given.tables.split(";"):
        table = table_of(name, given.records)
        next(curve(table, [50], efforts, others))  # compiles, or loads
        keep(name, table.records, curve(table, sizes, efforts, others))


if __name__ == "__main__":
    main()
