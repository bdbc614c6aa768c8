"""Microaggregation, of many columns and of one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import shoal
from benchmarks.measuring import Row, Table, cpu_seconds, data_folder, in_new_process
from benchmarks.peers.environment import run
from shoal.encoding import encode
from shoal.files import read_table, write_table
from shoal.frames import to_frame
from shoal.methods import REGISTRY, make_method
from shoal.methods.base import Task


def mdav_table(python: Path) -> Table:
    """Compare MDAV on the census reference set."""
    frame = read_table(data_folder() / "microaggregation" / "census.csv")
    values = np.column_stack([np.asarray(column, np.float64) for column in frame.table.columns])
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "table.csv", Path(name) / "released.csv"
        numbered = frame.table.append_column("all", pa.array([0] * frame.records))
        write_table(numbered, source)
        cost = run(python, "anonypyx", source, 3, target, "MDAV-generic", "microaggregation")
        released = pa.csv.read_csv(target)
    means = np.column_stack([np.asarray(released[column], np.float64) for column in frame.names])
    between = (((means - values.mean(axis=0)) / values.std(axis=0)) ** 2).sum(axis=1) @ np.asarray(released["count"])
    rows = [{"tool": "anonypyx MDAV-generic", "IL %": 100 * (1 - between / (scaled**2).sum()), "CPU s": cost["CPU s"]}]
    rows += [in_new_process(shoal_mdav_row, name) for name in ("mdav", "v-mdav", "forest") if name in REGISTRY]
    return Table(
        "Microaggregation: census reference set, 1,080 × 13, k = 3",
        "IL % is the sum of squares within groups, of standardised columns, as a share of all. anonypyx draws at random.",
        rows,
    )


def shoal_mdav_row(method: str) -> Row:
    """Return the figures of one of shoal's methods on the census reference set."""
    frame = read_table(data_folder() / "microaggregation" / "census.csv")

    def release() -> shoal.Result:
        return shoal.anonymize(frame, k=3, quasi_identifiers=frame.names, method=method)

    release()
    result, seconds = cpu_seconds(release)
    return {"tool": f"shoal {method}", "IL %": result.metrics["il_percent"], "CPU s": seconds}


def univariate_table(python: Path, sizes: list[int]) -> Table:
    """Compare the optimal grouping of one column."""
    rows: list[Row] = []
    for records in sizes:
        for k in (3, 10, 100):
            values = np.random.default_rng(records + k).normal(size=records)
            with tempfile.TemporaryDirectory() as name:
                source = Path(name) / "values.npy"
                np.save(source, values)
                theirs = run(python, "microagg1d", source, k)
            ours, seconds = univariate_sse(values, k)
            rows.append(
                {
                    "records": records,
                    "k": k,
                    "microagg1d CPU s": theirs["CPU s"],
                    "shoal univariate CPU s": seconds,
                    "microagg1d SSE": theirs["SSE"],
                    "shoal SSE": ours,
                    "ratio of SSE - 1": ours / theirs["SSE"] - 1,
                }
            )
    return Table(
        "One column of normal numbers, optimal groups",
        "Both are exact, so the sums of squares agree to rounding. microagg1d changes to an algorithm whose time does not "
        "grow with k where k > 21; shoal's grows with k. shoal's clock includes coding the column.",
        rows,
    )


def univariate_sse(values: np.ndarray[Any, np.dtype[np.float64]], k: int) -> tuple[float, float]:
    """Return the sum of squares of shoal's groups of one column, and the CPU seconds with coding."""

    def group(numbers: Any) -> Any:
        coded = encode(to_frame(pa.table({"x": numbers})), ["x"])
        return make_method("univariate").run(coded, Task(k=k)).labels

    group(values[:1000])
    labels, seconds = cpu_seconds(lambda: group(values))
    means = np.bincount(labels, values) / np.bincount(labels)
    return float(((values - means[labels]) ** 2).sum()), seconds
