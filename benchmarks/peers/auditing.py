"""Counting what protection a release has."""

from __future__ import annotations

import tempfile
from pathlib import Path

import shoal
from benchmarks import adult
from benchmarks.measuring import Row, Table, cpu_seconds, in_new_process
from benchmarks.memory import peak_megabytes
from benchmarks.peers.environment import run
from benchmarks.peers.grouping import K, sample
from shoal.io.files import open_table

SENSITIVE = "salary-class"


def audit_table(python: Path, sizes: list[int]) -> Table:
    """Compare counting k and l of a released table."""
    rows: list[Row] = []
    for records in sizes:
        with tempfile.TemporaryDirectory() as name:
            file = str(Path(name) / "released.csv")
            in_new_process(make_release, records, file)
            rows += [pycanon_row(python, records, file), in_new_process(shoal_row, records, file)]
    return Table(
        "Counting k and l of a release (Adult by shoal's default, k = 10)",
        "pycanon has a function for each model. shoal's audit counts k, l, t-closeness, α, β and δ at once, so there is one time.",
        rows,
    )


def make_release(records: int, file: str) -> Row:
    """Save a release of Adult."""
    chosen = adult.setting("S")
    table = sample(records).select([*chosen["quasi_identifiers"], SENSITIVE])
    shoal.anonymize(table, k=K, sensitive=[SENSITIVE], **chosen).save(file)
    return {}


def pycanon_row(python: Path, records: int, file: str) -> Row:
    """Return what pycanon counts."""
    found = run(python, "pycanon", file, SENSITIVE)
    return {
        "records": records,
        "tool": "pycanon",
        "k": found["k"],
        "l": found["l"],
        "CPU s of k": found["k CPU s"],
        "CPU s of l": found["l CPU s"],
        "CPU s of all": None,
        "peak MB": round(found["peak MB"]),
    }


def shoal_row(records: int, file: str) -> Row:
    """Return what shoal's audit counts; compiled before the clock runs."""
    table, names = open_table(Path(file)), adult.setting("S")["quasi_identifiers"]

    def count() -> shoal.Audit:
        return shoal.audit(table, quasi_identifiers=names, sensitive=[SENSITIVE])

    count()
    found, seconds = cpu_seconds(count)
    return {
        "records": records,
        "tool": "shoal audit",
        "k": found.k,
        "l": found.l,
        "CPU s of k": None,
        "CPU s of l": None,
        "CPU s of all": seconds,
        "peak MB": round(peak_megabytes()),
    }
