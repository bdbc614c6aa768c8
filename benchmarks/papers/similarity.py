"""Similarity-based clustering beside Mondrian: the experiments of Sarrafi Aghdam & Sonehara (2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.adult import coded, hierarchy_file, train
from benchmarks.papers.tables import Table, measured, parse_arguments, registered, write_tables
from benchmarks.plots import Plot
from shoal.cells.recode import released_cover
from shoal.encoding import CodedTable, encode
from shoal.frames import Frame, to_frame
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Method, Task
from shoal.methods.global_recoding.full_domain import Datafly, Incognito
from shoal.methods.mondrian import Mondrian
from shoal.methods.sbca import SBCA

COLUMNS = ("age", "sex", "native-country")
PAPER_KS = (2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
SAMPLE = 5_000


SECOND = ("age", "sex", "location")
"""The quasi-identifiers of the paper's second data set."""


def first_rows() -> Frame:
    """Return the first 5,000 records of Adult.

    Their cardinalities are the paper's 67, 2 and 39; so are those of 1,143 others of the 25,163 windows of 5,000 rows, so
    that the paper's records may be others.
    """
    frame = train()
    rows = frame.table.slice(0, SAMPLE)
    texts = {name: rows.column(name).cast(pa.string()) for name in rows.column_names}  # no values of later rows
    return replace(frame, table=pa.table(texts))


def customers(records: int = 5_750, seed: int = 0) -> Frame:
    """Return a made-up table of the shape of the paper's second data set, an internet provider's customers.

    Age has 70 values, location 49 with a long tail, sex two; the real table is not to be had.
    """
    random = np.random.default_rng(seed)
    age = np.clip(np.rint(random.gamma(9.0, 5.0, records)), 18, 87).astype(np.int64)
    age[:70] = np.arange(18, 88)  # every value occurs
    tail = 1.0 / np.arange(1, 50)
    place = random.choice(49, records, p=tail / tail.sum())
    place[:49] = np.arange(49)
    sex = np.where(random.random(records) < 0.72, "male", "female")
    columns = {"age": age, "sex": sex, "location": [f"place {number:02d}" for number in place]}
    return to_frame(pa.table(columns))


@dataclass(frozen=True)
class Case:
    """A method, what it recodes by, and what the paper counts for it in table 3."""

    name: str
    method: Method
    trees: bool = False
    stated: str = "–"
    drawn: bool = True
    """Whether the picture has a curve for it; the table has all, but more than eight cannot be told apart."""


def cases(stated: Sequence[str]) -> list[Case]:
    """Return what is compared; ``stated`` are the rows of table 3: Mondrian, Incognito, Datafly, SBCA."""
    mondrian, incognito, datafly, sbca = stated
    return [
        Case("SBCA", SBCA(), stated=sbca),
        Case("SBCA, rest to the nearest", SBCA(rest="nearest"), drawn=False),
        Case(
            "Mondrian, median only, alphabetical, by hierarchy",
            Mondrian(cut="median", order="given"),
            trees=True,
            stated=mondrian,
        ),
        Case("Mondrian, median only, by size, by hierarchy", Mondrian(cut="median"), trees=True, stated=mondrian),
        Case("Mondrian, median only, alphabetical, sets", Mondrian(cut="median", order="given"), drawn=False),
        Case("Mondrian, median only, by size, sets", Mondrian(cut="median"), drawn=False),
        Case("shoal's Mondrian, sets", Mondrian()),
        Case("Incognito", Incognito(), trees=True, stated=incognito),
        Case("Datafly", Datafly(), trees=True, stated=datafly),
        *[Case(f"{method.info.name}, sets", method) for method in registered("optimize")],
    ]


def adult_trees() -> dict[str, Any]:
    """Return what the paper's baselines recode by, as far as it can be guessed: ARX's trees of ages and countries, sex or nothing."""
    return {
        "age": hierarchy_file("age"),
        "sex": "flat",
        "native-country": hierarchy_file("native-country"),
    }


def customer_trees(frame: Frame) -> dict[str, Any]:
    """Return trees of that kind for the made table: ages in steps of 5, 10 and 20, places in sevens."""
    ages = Hierarchy.from_intervals(frame.table.column("age").to_pylist(), [5, 10, 20])
    places: dict[str, list[str]] = {}
    for number in range(49):
        places.setdefault(f"region {number // 7}", []).append(f"place {number:02d}")
    return {"age": ages, "sex": "flat", "location": Hierarchy.from_dict({"*": places})}


def coded_for(case: Case, frame: Frame, names: Sequence[str], trees: dict[str, Any]) -> CodedTable:
    """Return the table as a method sees it; Mondrian cuts ages as numbers."""
    if not case.trees:
        return encode(frame, names)
    given = trees if case.method.info.needs_hierarchies else {name: trees[name] for name in trees if name != "age"}
    kinds = {"age": "nominal"} if "age" in given else {}
    return encode(frame, names, hierarchies=given, kinds=kinds)


def loss_table(title: str, note: str, frame: Frame, names: Sequence[str], trees: dict[str, Any], quick: bool) -> Table:
    """Repeat a half of figure 5: losses, and utilities as the picture's other side."""
    compared = cases(["–"] * 4)
    tables = {case.name: coded_for(case, frame, names, trees) for case in compared}
    rows = [
        {"k": k, **{case.name: measured(case.method, tables[case.name], k)["ncp"] for case in compared}}
        for k in ((2, 10, 100) if quick else PAPER_KS)
    ]
    curves = [case.name for case in compared if case.drawn]
    limit = (("the paper: SBCA below 0.20", 0.2),)
    return Table(title, note, rows, Plot("k", curves, label="normalized NCP (utility is 1 less that)", stated=limit))


def adult_table(frame: Frame, quick: bool) -> Table:
    """Repeat figure 5 (a) and (b)."""
    return loss_table(
        "Normalized NCP on Adult, its first 5,000 records, age, sex, country (figure 5 a, b)",
        "The paper states: SBCA below 0.20 for every k, much less than Mondrian, which loses 98 % of sex, and than Incognito and Datafly, whose "
        "loss hardly depends on k. Its Mondrian recodes categories by hierarchy and cuts at the median or not at all. What that can do rests on "
        "the order of the categories: with Female before Male the median falls on the last value and sex is never cut, with the larger group first it "
        "is. Both orders stand here. shoal's own Mondrian takes the nearest cut that is possible, treats a set as a set, and comes below SBCA. "
        "Incognito and Datafly withhold nothing here.",
        frame,
        COLUMNS,
        adult_trees(),
        quick,
    )


def customer_table(quick: bool) -> Table:
    """Repeat figure 5 (c) and (d) on a made table."""
    frame = customers()
    return loss_table(
        "Normalized NCP on a made table of 5,750 customers, age, sex, location (figure 5 c, d)",
        "The paper's second data set belongs to an internet provider and is not to be had; this one is made with its number of records and "
        "cardinalities (70, 2, 49) and a long tail of locations, so its shape can be compared, not its figures.",
        frame,
        SECOND,
        customer_trees(frame),
        quick,
    )


def released_rows(case: Case, frame: Frame) -> tuple[int, int]:
    """Return how many different rows a release of Adult at k = 2 has, and how many groups."""
    table = coded_for(case, frame, COLUMNS, adult_trees())
    cover = released_cover(table, case.method.run(table, Task(k=2)))
    cells = np.vstack([part.astype(np.int64) for part in (cover.low, cover.high, cover.words.T)])
    return len({column.tobytes() for column in cells.T}), len(cover.size)


def rows_table(frame: Frame) -> Table:
    """Repeat table 3."""
    rows: list[dict[str, Any]] = []
    for case in cases(["209", "22", "16", "582"]):
        different, groups = released_rows(case, frame)
        lost = measured(case.method, coded_for(case, frame, COLUMNS, adult_trees()), 2)["ncp_by_column"]
        rows.append({"method": case.name, "different rows": different, "the paper": case.stated, "groups": groups})
        rows[-1] |= {f"{name} lost %": 100 * lost[name] for name in COLUMNS}
    distinct = len(distinct_tuples(encode(frame, COLUMNS).codes).size)
    return Table(
        "Different released rows at k = 2 (table 3)",
        f"The first 5,000 records of Adult, {distinct} different ones in all. The paper's hierarchies are not printed, and a full-domain release has as "
        "many rows as its hierarchies allow. Of sex the paper's Mondrian loses 98 % and its Incognito all, of age its Datafly 50 %.",
        rows,
    )


def spread_table(frame: Frame) -> Table:
    """Repeat figure 6 in figures: how the values of each column are spread."""
    rows = []
    for name in COLUMNS:
        counts = np.sort(np.unique(frame.table.column(name).to_numpy(), return_counts=True)[1])[::-1]
        rows.append(
            {
                "column": name,
                "different values": len(counts),
                "most common value %": 100 * counts[0] / counts.sum(),
                "values that half of the records have": 1 + int((np.cumsum(counts) < counts.sum() / 2).sum()),
                "values of fewer than 10 records": int((counts < 10).sum()),
            }
        )
    return Table(
        "How the values are spread (figure 6)",
        "The first 5,000 records of Adult. The paper: not normally distributed, and a long tail in sex and country. So it is here.",
        rows,
    )


def work_row(table: CodedTable, records: int, k: int) -> dict[str, Any]:
    """Return CPU time on the first ``records`` of a shuffled table."""
    seconds = min(measured(SBCA(), table.take(np.arange(records, dtype=np.int32)), k)["cpu_s"] for _ in range(2))
    return {"records": records, "k": k, "CPU s": seconds, "CPU s · k / n² · 10⁹": seconds * k / records**2 * 1e9}


def work_table(quick: bool) -> Table:
    """Show how time grows with records and falls with k."""
    whole = coded("S")
    shuffled = whole.take(np.random.default_rng(0).permutation(whole.records).astype(np.int32))
    measured(SBCA(), shuffled.take(np.arange(50, dtype=np.int32)), 5)  # compile before the clock runs
    cases = [(7_500, 10), (15_000, 10), (30_162, 10)]
    if not quick:
        cases += [(30_162, 2), (30_162, 5), (30_162, 20), (30_162, 50), (30_162, 100)]
    return Table(
        "Time on Adult with 8 columns",
        "The paper's O(n²/k) is there where the last column stays about the same; what is added per record (sorting, "
        "counting, taking records out of the tables) shows where n/k is small.",
        [work_row(shuffled, records, k) for records, k in cases],
    )


def main() -> None:
    """Run all and write the tables."""
    arguments = parse_arguments(__doc__)
    frame = first_rows()
    tables = [
        adult_table(frame, arguments.quick),
        rows_table(frame),
        customer_table(arguments.quick),
        work_table(arguments.quick),
        spread_table(frame),
    ]
    write_tables("similarity", "Similarity-based clustering (Sarrafi Aghdam, Sonehara 2016)", tables, arguments.output)


if __name__ == "__main__":
    main()
