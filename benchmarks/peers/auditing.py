"""Counting what protection a release has."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import shoal
from benchmarks import adult
from benchmarks.measuring import Row, Table, cpu_seconds
from benchmarks.peers.environment import run
from benchmarks.peers.grouping import K, sample
from shoal.files import read_table
from shoal.frames import Frame


def audit_table(python: Path, sizes: list[int]) -> Table:
    """Compare counting k and l of a released table."""
    rows: list[Row] = []
    for records in sizes:
        frame, chosen = sample(records), adult.setting("S")
        released = shoal.anonymize(
            frame.select([*chosen["quasi_identifiers"], "salary-class"]), k=K, sensitive=["salary-class"], **chosen
        )
        with tempfile.TemporaryDirectory() as name:
            released.save(Path(name) / "released.csv")
            theirs = run(python, "pycanon", Path(name) / "released.csv", "salary-class")
            table = read_table(Path(name) / "released.csv")

        def count(table: Frame = table, names: list[str] = chosen["quasi_identifiers"]) -> Any:
            return shoal.audit(table, quasi_identifiers=names, sensitive=["salary-class"])

        count()
        ours, seconds = cpu_seconds(count)
        rows.append(
            {
                "records": frame.records,
                "pycanon k, l": f"{theirs['k']}, {theirs['l']}",
                "shoal k, l": f"{ours.k}, {ours.l}",
                "pycanon k CPU s": theirs["k CPU s"],
                "pycanon l CPU s": theirs["l CPU s"],
                "shoal k and l CPU s": seconds,
            }
        )
    return Table(
        "Counting k and l of a release (Adult by shoal's default, k = 10)",
        "pycanon has a function for each model; shoal's clock includes t-closeness, α, β and δ, which its audit always counts.",
        rows,
    )
