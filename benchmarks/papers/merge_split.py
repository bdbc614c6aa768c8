"""Merge & Split beside Mondrian: the slides' experiment (Zhong 2012), and UCI Adult."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.adult import coded
from benchmarks.papers.tables import Table, measured, method_text, parse_arguments, registered, write_tables
from benchmarks.plots import Plot
from shoal.encoding import CodedTable, encode
from shoal.frames import to_frame
from shoal.methods.base import Method
from shoal.methods.merge_split import MergeSplit
from shoal.methods.mondrian import Mondrian

METHODS: tuple[Method, ...] = (Mondrian(strict=False), MergeSplit(), MergeSplit(grow=False), *registered("optimize"))
"""The slides' Mondrian keeps below 2k records in a group: the relaxed one."""


def uniform_points(random: np.random.Generator) -> Any:
    """Return 1,000 points spread evenly over a square."""
    return random.random((1000, 2))


def clustered_points(random: np.random.Generator) -> Any:
    """Return a dense cluster of 600 points, a wider one of 300, and 100 points anywhere."""
    dense = random.normal((0.3, 0.3), 0.05, (600, 2))
    wide = random.normal((0.7, 0.6), 0.08, (300, 2))
    return np.vstack([dense, wide, random.random((100, 2))])


def skewed_points(random: np.random.Generator) -> Any:
    """Return 1,000 points crowded into one corner, with a long tail along both axes."""
    return random.beta(0.6, 4.0, (1000, 2))


POINTS: dict[str, Callable[[np.random.Generator], Any]] = {
    "uniform": uniform_points,
    "clustered": clustered_points,
    "skewed": skewed_points,
}


def code_points(points: Any) -> CodedTable:
    """Return points as a coded table with the columns x and y."""
    return encode(to_frame(pa.table({"x": points[:, 0], "y": points[:, 1]})), ["x", "y"])


def points_row(name: str, k: int, method: Method, seeds: int) -> dict[str, Any]:
    """Return the figures of one method on one kind of points, means over the seeds."""
    runs = [measured(method, code_points(POINTS[name](np.random.default_rng(seed))), k) for seed in range(seeds)]

    def mean(key: str) -> float:
        return float(np.mean([run[key] for run in runs]))

    sizes = f"{min(run['smallest'] for run in runs)}–{max(run['largest'] for run in runs)}"
    return {
        "points": name,
        "k": k,
        "method": method_text(method),
        "group sizes": sizes,
        "mean size": mean("mean_size"),
        "IL": mean("il"),
        "PG": mean("pg"),
        "IPG": mean("ipg"),
    }


def points_table(quick: bool) -> Table:
    """Repeat the slides' experiment."""
    seeds, ks = (2, (5, 20)) if quick else (10, (2, 5, 10, 15, 20, 25, 50, 100))
    rows = [points_row(name, k, method, seeds) for name in POINTS for k in ks for method in METHODS]
    return Table(
        "1,000 points in two columns",
        "The slides show a figure without numbers and say: group sizes closer to k than Mondrian's and so more utility on "
        f"uniform data, flexible sizes on non-uniform data. Means over {seeds} tables; IL, PG and IPG are means over groups. "
        "Mondrian halves, so all its groups have the size that halving 1,000 happens to give; where that is near the "
        "size of highest IPG (here about 16), as at k = 10 and 15, its mean IPG is the higher one.",
        rows,
        Plot("k", ["IPG"], series="method", facet="points", label="mean IPG", log_x=True),
        [Plot("k", ["IL"], series="method", facet="points", label="mean IL", log_x=True, caption="mean IL")],
    )


def adult_tables() -> dict[str, CodedTable]:
    """Return Adult with categories as sets, and by hierarchy or flat as in Xu et al. (2006)."""
    return {"sets": coded("S"), "hierarchies": coded("X")}


def adult_table(quick: bool) -> Table:
    """Measure loss and time on Adult."""
    rows = []
    for setting, table in adult_tables().items():
        measured(MergeSplit(), table.take(np.arange(50, dtype=np.int32)), 5)  # compile before the clock runs
        for k in (10,) if quick else (2, 5, 10, 25, 50, 100):
            for method in METHODS:
                run = measured(method, table, k)
                row = {"categories": setting, "k": k, "method": method_text(method), "mean size": run["mean_size"]}
                rows.append(row | {key.upper(): run[key] for key in ("ncp", "il", "ipg")} | {"CPU s": run["cpu_s"]})
    return Table(
        "UCI Adult, 30,162 records, 8 columns",
        "Not in the slides: loss and time on a real table.",
        rows,
        Plot("k", ["NCP"], series="method", facet="categories", label="normalized NCP", log_x=True),
    )


def growth_table(quick: bool) -> Table:
    """Measure how time grows with the number of records."""
    whole = adult_tables()["sets"]
    sizes = (5_000, 10_000) if quick else (3_750, 7_500, 15_000, 30_000)
    rows: list[dict[str, Any]] = []
    for size in sizes:
        chosen = np.random.default_rng(0).choice(whole.records, size, replace=False).astype(np.int32)
        seconds = measured(MergeSplit(), whole.take(np.sort(chosen)), 10)["cpu_s"]
        factor: float | str = seconds / rows[-1]["CPU s"] if rows else "–"
        rows.append({"records": size, "CPU s": seconds, "times the row above": factor})
    return Table(
        "Time by number of records, Adult with sets, k = 10",
        "Looking at every record for every merge would take four times as long for twice the records.",
        rows,
    )


def main() -> None:
    """Run all and write the tables."""
    arguments = parse_arguments(__doc__)
    tables = [points_table(arguments.quick), adult_table(arguments.quick), growth_table(arguments.quick)]
    write_tables("merge_split", "Merge & Split (Zhong 2012)", tables, arguments.output)


if __name__ == "__main__":
    main()
