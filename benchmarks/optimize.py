"""Loss against CPU: the optimizer at each effort, and other methods, on Adult and on made tables.

python -m benchmarks.optimize                     Adult (settings X, A, S) and made tables, k = 10
python -m benchmarks.optimize --sizes 2,5,25      Adult at other sizes of k (--efforts fast,balanced: not all efforts)
python -m benchmarks.optimize --falls             how the loss falls while effort "best" goes on, k = 10
python -m benchmarks.optimize --ablate            what each part of the optimizer gains (benchmarks/ablation.py)
python -m benchmarks.optimize --scale             30 thousand to 3 million records, and 30 columns

Times are CPU seconds of all threads, kernels compiled beforehand; run with NUMBA_NUM_THREADS=1 for one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.adult import coded
from benchmarks.measuring import Row, Table, cpu_seconds, in_new_process, kept_rows, peak_megabytes, publish, write_page
from benchmarks.plots import Plot
from benchmarks.scale import QUASI_IDENTIFIERS
from shoal.arrays import Effort, IntArray
from shoal.datasets import adult_like
from shoal.encoding import CodedTable, encode
from shoal.frames import Frame
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.methods import make_method
from shoal.methods.base import Task

EFFORTS: tuple[Effort, ...] = ("fast", "balanced", "best")
RIVALS = ("mondrian", "k-member", "bottom-up", "top-down")


def loss_of(table: CodedTable, labels: IntArray) -> float:
    """Return the normalized loss of a grouping."""
    cover = cover_groups(table.space, table.codes, labels, int(labels.max()) + 1)
    total = sum_of_products(group_costs(table.space, cover), cover.size)
    return total / (table.records * float(table.space.weight.sum()))


def made(name: str, records: int, seed: int = 0) -> CodedTable:
    """Return a table of a shape that Adult does not have."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any]
    hierarchies: dict[str, Any] = {}
    if name == "two numbers, all distinct":
        columns = {"x": random.normal(size=records), "y": random.normal(size=records)}
    elif name == "30 columns":
        kinds = random.integers(0, 5, records)
        columns = {}
        for column in range(30):
            values = (kinds + random.integers(0, 4, records)) % (3 + column % 6)
            columns[f"c{column}"] = values if column % 3 == 0 else [f"v{value}" for value in values]
            if column % 3 == 1:
                hierarchies[f"c{column}"] = "flat"
    elif name == "clusters of numbers":
        centre = random.normal(size=(40, 6))[random.integers(0, 40, records)]
        points = np.round(centre + 0.1 * random.normal(size=(records, 6)), 2)
        columns = {f"x{column}": points[:, column] for column in range(6)}
    elif name == "skewed sets of many values":
        columns = {f"s{column}": [f"v{value}" for value in random.zipf(1.6, records) % 300] for column in range(4)}
    elif name == "few distinct values":
        columns = {f"f{column}": random.integers(0, 2, records).astype(str) for column in range(6)}
        hierarchies = dict.fromkeys(columns, "flat")
    else:
        digits = random.integers(0, 10, (records, 3, 5)) // (1 + random.integers(0, 3, (records, 3, 1)))
        columns = {f"zip{column}": ["".join(map(str, row)) for row in digits[:, column]] for column in range(3)}
        hierarchies = {one: shoal.Hierarchy.from_prefixes(texts, [4, 3, 2, 1, 0]) for one, texts in columns.items()}
    frame = Frame(pa.table(columns))
    return encode(frame, list(columns), hierarchies=hierarchies)


SHAPES = (
    "two numbers, all distinct",
    "clusters of numbers",
    "30 columns",
    "skewed sets of many values",
    "few distinct values",
    "deep hierarchies",
)


def print_operators(statistics: Mapping[str, Mapping[str, Any]]) -> None:
    """Print what each operator tried, took and gained, and its CPU seconds."""
    for name, one in statistics.items():
        seconds = "" if one["seconds"] is None else f"{one['seconds']:8.2f} s"
        print(f"  {name:28} {one['tried']:>10,} tried {one['taken']:>9,} taken {one['gained']:+9.5f} gained {seconds}")


def measure(table: CodedTable, name: str, k: int, method: str, effort: Effort) -> Row:
    """Measure one run."""
    task = Task(k=k, effort=effort)
    grouping, seconds = cpu_seconds(lambda: make_method(method).run(table, task))
    row: Row = {"table": name, "k": k, "method": method, "effort": effort if method == "optimize" else None}
    row |= {"loss": loss_of(table, grouping.labels), "CPU s": round(seconds, 2)}
    row["lower bound"] = grouping.details.get("lower_bound")
    print(row, flush=True)  # a long run shows what it has
    print_operators(grouping.details.get("operators", {}))
    return row


def compare(
    table: CodedTable, name: str, k: int, *, rivals: bool, efforts: tuple[Effort, ...] = EFFORTS
) -> Iterator[Row]:
    """Measure the rivals and the optimizer at every effort."""
    for method in RIVALS if rivals else ():
        yield measure(table, name, k, method, "fast")
    for effort in efforts:
        yield measure(table, name, k, "optimize", effort)


def fall(name: str, k: int = 10) -> Iterator[Row]:
    """Give the loss after the start and after each round of effort "best", with the CPU seconds spent by then."""
    table, begin = coded(name), time.process_time()
    rows: list[Row] = []

    def note(_: float, text: str) -> None:
        word, *figures = text.split()
        if word == "loss":
            spent = round(time.process_time() - begin, 2)
            loss = float(figures[0])
            share = 100.0 * loss / rows[0]["loss"] if rows else 100.0
            rows.append({"setting": name, "CPU s": spent, "loss": loss, "% of the start": round(share, 2)})

    make_method("optimize").run(table, Task(k=k, effort="best", progress=note))
    yield from rows


def grow(records: int) -> Row:
    """Measure time and memory of effort "fast" at one size."""
    shoal.Optimize().run(made("few distinct values", 500), Task(k=10, effort="fast"))
    data = adult_like(records)
    table = encode(Frame(data.table), QUASI_IDENTIFIERS, hierarchies=data.hierarchies)
    del data
    return measure_memory(table, "adult-like", "fast")


def widen(effort: Effort) -> Row:
    """Measure time and memory on many columns."""
    shoal.Optimize().run(made("30 columns", 500), Task(k=10, effort=effort))
    return measure_memory(made("30 columns", 30_000), "30 columns", effort)


def measure_memory(table: CodedTable, name: str, effort: Effort) -> Row:
    """Measure one run of the optimizer and what memory it took."""
    before = peak_megabytes()
    row = measure(table, name, 10, "optimize", effort)
    return {"records": table.records} | row | {"MB above the data": round(peak_megabytes() - before)}


def compile_all() -> None:
    """Compile what will be measured, or load what was compiled."""
    for shape in ("deep hierarchies", "skewed sets of many values"):  # the second one has no walk over all cells
        table = made(shape, 300)
        for method in (*RIVALS, "optimize"):
            make_method(method).run(table, Task(k=5, effort="best"))


def _place(row: Row) -> tuple[int, int, int]:
    """Return where a row of the page of sizes stands."""
    return "XAS".index(str(row["table"])), int(row["k"]), EFFORTS.index(row["effort"])


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", help="sizes of k, for Adult only and without rivals")
    parser.add_argument("--efforts", default=",".join(map(str, EFFORTS)), help="efforts, with --sizes")
    parser.add_argument(
        "--settings", default="XAS", help="settings, with --sizes; kept rows that are not measured stay"
    )
    parser.add_argument("--falls", action="store_true", help="how the loss falls over time")
    parser.add_argument(
        "--ablate",
        action="store_true",
        help="switch every part off in turn; with --tables, --sizes, --efforts, --records",
    )
    parser.add_argument("--tables", help="X, A, S or names of made tables, with ; between them, with --ablate")
    parser.add_argument("--scale", action="store_true", help="time and memory up to 3 million records")
    parser.add_argument("--records", type=int, default=5_000, help="records of the made tables")
    given = parser.parse_args()
    if given.ablate:
        from benchmarks.ablation import TABLES, publish_ablation

        sizes = [int(size) for size in (given.sizes or "5,10,50").split(",")]
        efforts = tuple(effort for effort in EFFORTS[1:] if effort in given.efforts.split(","))
        publish_ablation((given.tables or ";".join(TABLES)).split(";"), sizes, efforts, given.records)
        return
    if given.falls:
        compile_all()
        rows = [row for name in "XAS" for row in fall(name)]
        plot = Plot(
            "CPU s", ["% of the start"], series="setting", label="loss, % of the start's", log_x=True, from_zero=False
        )
        note = "The first row of a setting is the best start; then comes the best so far after each round, two close starts in turn first."
        title = 'The loss on Adult while effort "best" goes on, k = 10'
        write_page("optimize_falls", title, [Table("", note, rows, plot)], "python -m benchmarks.optimize --falls")
        return
    if given.scale:
        rows = [in_new_process(grow, size) for size in (30_000, 300_000, 1_000_000, 3_000_000)]
        rows += [in_new_process(widen, effort) for effort in EFFORTS]
        publish(
            "optimize_scale",
            "The optimizer as a table grows, and on many columns",
            rows,
            "python -m benchmarks.optimize --scale",
        )
        return
    compile_all()
    if given.sizes:
        sizes = [int(size) for size in given.sizes.split(",")]
        efforts = tuple(effort for effort in EFFORTS if effort in given.efforts.split(","))
        tables = {name: coded(name) for name in given.settings}
        rows = [
            row
            for name in tables
            for k in sizes
            for row in compare(tables[name], name, k, rivals=False, efforts=efforts)
        ]
        measured = {_place(row) for row in rows}
        rows += [row for row in kept_rows("optimize_sizes") if _place(row) not in measured]
        rows.sort(key=_place)
        sizes = sorted({int(row["k"]) for row in rows})  # those of the rows kept too: the command makes them all
        command = f"python -m benchmarks.optimize --sizes {','.join(map(str, sizes))}"
        publish("optimize_sizes", "The optimizer on Adult", rows, command)
        return
    rows = [row for name in "XAS" for row in compare(coded(name), f"Adult, {name}", 10, rivals=True)]
    for shape in SHAPES:
        rows += compare(made(shape, given.records), shape, 10, rivals=True)
    publish("optimize", "Loss against CPU, k = 10", rows, "python -m benchmarks.optimize")


if __name__ == "__main__":
    main()
