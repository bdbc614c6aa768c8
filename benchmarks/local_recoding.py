"""Bottom-Up and Top-Down beside a plain loop and Mondrian: CPU, memory and loss as the table grows, and the whole job by k.

python -m benchmarks.local_recoding            UCI Adult, 10, 30, 100, 300 thousand and a million records like it; six k
python -m benchmarks.local_recoding --quick    UCI Adult and 10 thousand records, k = 10 only
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import shoal
from benchmarks import adult
from benchmarks.measuring import Row, Table, cpu_seconds, in_new_process, peak_megabytes, write_page
from shoal.arrays import IntArray
from shoal.cells.recode import released_cover
from shoal.compiling.decorator import kernel
from shoal.datasets import adult_like
from shoal.encoding import CodedTable, encode
from shoal.frames import to_frame
from shoal.kernels import bottom_up
from shoal.kernels.common.lists import label_chains
from shoal.kernels.space.range_costs import tabulate_costs
from shoal.kernels.space.space import Cover, Space, union_cost
from shoal.methods.base import Grouping, Method, Task
from shoal.methods.local_recoding import BottomUp, TopDown
from shoal.methods.mondrian import Mondrian
from shoal.metrics import Outcome
from shoal.metrics.loss import ncp

K = 10


@kernel()
def merge_by_plain_loop(space: Space, cover: Cover, lists: bottom_up.MemberLists, turns: IntArray, k: int) -> None:
    """Merge each small group with its nearest one, found by looking at every group."""
    for group in turns:
        if lists.head[group] < 0 or cover.size[group] >= k:
            continue
        best, least = -1, np.inf
        for other in range(cover.size.shape[0]):
            if other != group and cover.size[other] > 0:
                size = cover.size[group] + cover.size[other]
                penalty = size * union_cost(space, cover, group, other)
                if penalty < least:
                    best, least = other, penalty
        if best < 0:
            break
        bottom_up.merge_groups(space, cover, lists, group, best)


def plain_bottom_up(table: CodedTable, k: int) -> Grouping:
    """Return the groups of Bottom-Up, found without skipping anything."""
    space, costs = table.space, tabulate_costs(table.space)
    cover, lists = bottom_up.start_single(space, table.codes)
    while cover.size.shape[0] > 1 and (cover.size < k).any():
        turns = np.flatnonzero(cover.size < k).astype(np.int32)
        merge_by_plain_loop(space, cover, lists, turns, k)
        cover, lists = bottom_up.renumber(space, costs, table.codes, cover, lists, k, split=True)
    return Grouping(label_chains(lists.head, lists.next))


METHODS: dict[str, Method | None] = {
    "mondrian": Mondrian(),
    "top-down": TopDown(),
    "bottom-up": BottomUp(),
    "bottom-up, plain loop": None,
}


COMPARED: dict[str, Method] = {name: method for name, method in METHODS.items() if method is not None}


LIMIT = {"mondrian": 1_000_000, "top-down": 1_000_000, "bottom-up": 300_000, "bottom-up, plain loop": 30_000}
"""The largest table each is given: the plain loop takes minutes beyond."""


def run(name: str, table: CodedTable) -> Grouping:
    """Group a table with one of ``METHODS``."""
    method = METHODS[name]
    return plain_bottom_up(table, K) if method is None else method.run(table, Task(k=K))


def load(records: int) -> CodedTable:
    """Return UCI Adult (0) or so many records like it, columns as in setting X."""
    if records == 0:
        return adult.coded("X")
    made = adult_like(records)
    chosen = adult.setting("X")
    trees: dict[str, Any] = dict.fromkeys(adult.TEXT, "flat")
    trees |= {name: made.hierarchies[name] for name in ("workclass", "marital-status")}
    return encode(to_frame(made.table), chosen["quasi_identifiers"], hierarchies=trees)


def best_seconds(works: dict[str, Callable[[], Any]], runs: int = 9) -> Row:
    """Return the least CPU seconds of each work, after a run that is not counted; they take turns, so that none has a quieter machine."""
    for work in works.values():
        work()
    taken = [{name: cpu_seconds(work)[1] for name, work in works.items()} for _ in range(runs)]
    return {name: min(one[name] for one in taken) for name in works}


def measure(name: str, records: int) -> Row:
    """Measure one method at one size, kernels compiled beforehand."""
    run(name, load(500))
    table = load(records)
    before = peak_megabytes()
    grouping, seconds = cpu_seconds(lambda: run(name, table))
    megabytes = round(peak_megabytes() - before)
    if seconds < 1:
        seconds = best_seconds({name: lambda: run(name, table)}, runs=4)[name]
    loss = ncp(Outcome(table, grouping.labels, released_cover(table, grouping), K))
    return {
        "table": "UCI Adult" if records == 0 else "like Adult",
        "records": table.records,
        "method": name,
        "CPU s": seconds,
        "MB above the data": megabytes,
        "loss": loss,
    }


def growth(rows: list[Row], name: str) -> float:
    """Return the exponent with which CPU grows from the smallest to the largest table of the same kind."""
    times = {row["records"]: row["CPU s"] for row in rows if row["method"] == name and row["table"] == "like Adult"}
    least, most = min(times), max(times)
    return math.log(times[most] / times[least]) / math.log(most / least)


def beside_mondrian(k: int, seconds: Row) -> Row:
    """Return CPU seconds at one k and how many times Mondrian's they are."""
    ratios = {f"{name} ÷ mondrian": seconds[name] / seconds["mondrian"] for name in seconds if name != "mondrian"}
    return {"k": k, **seconds, **ratios}


def measure_job(k: int) -> Row:
    """Measure ``shoal.anonymize`` on UCI Adult: coding, grouping, recoding and measures, kernels compiled beforehand."""
    warnings.simplefilter("ignore", shoal.errors.ColumnLeftOutWarning)  # setting X leaves columns out
    frame, chosen = adult.train(), adult.setting("X")

    def job(name: str) -> Callable[[], Any]:
        return lambda: shoal.anonymize(frame, k=k, method=name, ends="exact", **chosen)

    return beside_mondrian(k, best_seconds({name: job(name) for name in COMPARED}))


def measure_grouping(k: int) -> Row:
    """Measure what the methods themselves take of that."""
    table = load(0)

    def group(method: Method) -> Callable[[], Any]:
        return lambda: method.run(table, Task(k=k))

    return beside_mondrian(k, best_seconds({name: group(method) for name, method in COMPARED.items()}))


def growth_rows(sizes: list[int]) -> list[Row]:
    """Return CPU, memory and loss of each method at each size it is given."""
    rows = [in_new_process(measure, name, records) for records in sizes for name in METHODS if records <= LIMIT[name]]
    return rows + [{"method": name, "growth exponent": growth(rows, name)} for name in METHODS if len(sizes) > 2]


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    sizes = [0, 10_000] if quick else [0, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    ks = [K] if quick else [2, 5, 10, 25, 50, 100]
    best = "UCI Adult, 30,162 records; CPU seconds, the best of nine runs that take turns."
    job = f"`shoal.anonymize` from a table to its release. {best}"
    tables = [
        Table("The whole job", job, [in_new_process(measure_job, k) for k in ks]),
        Table(
            "The grouping alone",
            f"The part of the method itself. {best}",
            [in_new_process(measure_grouping, k) for k in ks],
        ),
        Table(
            "As the table grows",
            f"k = {K}; the best of four runs, a single one where it takes a second or more.",
            growth_rows(sizes),
        ),
    ]
    write_page(
        "local_recoding", "Local recoding, columns as in setting X", tables, "python -m benchmarks.local_recoding"
    )


if __name__ == "__main__":
    main()
