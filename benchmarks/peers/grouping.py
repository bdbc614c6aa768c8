"""Releases by ranges, sets and hierarchies."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import shoal
from benchmarks import adult
from benchmarks.measuring import Row, Table, cpu_seconds, in_new_process
from benchmarks.memory import peak_megabytes
from benchmarks.peers.environment import run
from benchmarks.peers.released import loss_of_release
from shoal.frames import Frame
from shoal.io.files import write_table
from shoal.methods import REGISTRY

K = 10
_TEXT_COLUMNS = {*adult.setting("A")["quasi_identifiers"], *adult.setting("S")["quasi_identifiers"]}


def sample(records: int) -> Frame:
    """Return Adult, or some of it."""
    whole = adult.train()
    return whole if records >= whole.records else adult.sample(records)


def shoal_row(method: str, options: dict[str, Any], records: int, setting: str) -> Row:
    """Return the figures of one of shoal's methods, from the table in memory to the checked release."""
    frame, chosen = sample(records), adult.setting(setting)

    def release(data: Frame) -> shoal.Result:
        narrow = data.select(chosen["quasi_identifiers"])
        return shoal.anonymize(narrow, k=K, method=method, ends="exact", **options, **chosen)

    release(adult.sample(500))  # compile, or load what was compiled
    result, seconds = cpu_seconds(lambda: release(frame))
    return {
        "records": frame.records,
        "tool": f"shoal {method}" + "".join(f", {value}" for value in options.values()),
        "loss": result.metrics["ncp"],
        "groups": result.audit.groups,
        "smallest": result.audit.k,
        "suppressed": frame.records - result.audit.records,
        "CPU s": seconds,
        "peak MB": round(peak_megabytes()),
    }


Job = Callable[[Path, Path], Row]
"""Takes the folder with ``table.csv`` and the file to write."""


@dataclass(frozen=True)
class Release:
    """What another package released, and what that cost."""

    tool: str
    records: int
    table: pa.Table
    cost: Row

    def row(self, setting: str) -> Row:
        """Return its figures, with the loss as a setting counts it."""
        figures = loss_of_release(adult.coded(setting, sample(self.records)), self.table)
        costs = {"CPU s": self.cost["CPU s"], "peak MB": round(self.cost["peak MB"])}
        return {"records": self.records, "tool": self.tool, **figures, **costs}


def release_by(tool: str, records: int, columns: Sequence[str], job: Job) -> Release:
    """Let another package release some columns of Adult."""
    frame = sample(records)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(frame.select(columns).table, folder / "table.csv")
        as_text = pa.csv.ConvertOptions(column_types=dict.fromkeys(_TEXT_COLUMNS, pa.string()))
        cost = job(folder, folder / "released.csv")
        released = pa.csv.read_csv(folder / "released.csv", convert_options=as_text)
    return Release(tool, frame.records, released, cost)


Choice = tuple[str, dict[str, Any]]


def shoal_methods(names: Sequence[str]) -> list[Choice]:
    """Return those of the methods this version has, the optimizer with two of its efforts."""
    found: list[Choice] = [(name, {}) for name in names if name in REGISTRY and name != "optimize"]
    if "optimize" in names and "optimize" in REGISTRY:
        found += [("optimize", {"effort": "fast"}), ("optimize", {"effort": "balanced"})]
    return found


def mondrian_releases(python: Path, records: int) -> list[Release]:
    """Return what the two other Mondrians make of eight columns; the ninth is their sensitive one."""
    columns = [*adult.setting("S")["quasi_identifiers"], "salary-class"]
    jobs: dict[str, Job] = {
        "anonypy Mondrian": lambda at, to: run(python, "anonypy", at / "table.csv", K, to),
        "anonypyx Mondrian": lambda at, to: run(
            python, "anonypyx", at / "table.csv", K, to, "Mondrian", "human-readable"
        ),
    }
    return [release_by(tool, records, columns, job) for tool, job in jobs.items()]


def range_tables(python: Path, sizes: list[int], methods: Sequence[str]) -> list[Table]:
    """Compare what can release ranges and sets; the same releases are measured twice, as sets and by hierarchy."""
    rows: dict[str, list[Row]] = {"S": [], "X": []}
    for records in sizes:
        releases = mondrian_releases(python, records)
        for setting, found in rows.items():
            found += [release.row(setting) for release in releases]
            found += [in_new_process(shoal_row, *choice, records, setting) for choice in shoal_methods(methods)]
    return [
        Table(
            "Ranges and sets: UCI Adult, 8 columns, k = 10",
            "Age and years of education are released as ranges, six text columns as sets. anonypy and anonypyx both "
            "release a table of groups with counts, not one row a record in the order of the input. They need less memory "
            "than shoal, whose process holds the compiler.",
            rows["S"],
        ),
        Table(
            "Ranges and hierarchies: UCI Adult, 8 columns, k = 10",
            "Work class and marital status by their hierarchies, four text columns as a value or nothing. Neither anonypy nor "
            "anonypyx knows hierarchies: their sets of the table above are read as the closest node that covers them, which "
            "they did not aim at, so this shows what the lack costs, not how good their algorithm is.",
            rows["X"],
        ),
    ]


def trees_table(python: Path, sizes: list[int], methods: Sequence[str]) -> Table:
    """Compare what recodes a whole table by hierarchies."""
    chosen = adult.setting("A")

    def job(folder: Path, target: Path) -> Row:
        (folder / "trees.json").write_text(json.dumps(chosen["hierarchies"]), "utf-8")
        return run(python, "anjana", folder / "table.csv", K, target, folder / "trees.json")

    rows = []
    for records in sizes:
        rows.append(release_by("anjana k_anonymity", records, chosen["quasi_identifiers"], job).row("A"))
        rows += [in_new_process(shoal_row, *choice, records, "A") for choice in shoal_methods(methods)]
    return Table(
        "By hierarchy: UCI Adult, 9 columns, k = 10, no record suppressed",
        "anjana, datafly and incognito map each value of a column the same way everywhere (incognito: the least loss any "
        "such mapping has), and bug each subtree; the others may treat groups differently, and lose less. "
        "anjana checks its parameters by type and needs no compiler.",
        rows,
    )
