"""Tasks about a table: reading it, counting whom its columns single out, counting a column's values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import shoal
from shoal.audit import count_tuples, unique_sets
from shoal.errors import DataError
from shoal.frames import Frame, encode_dictionary, to_frame
from shoal.inspection import column_views
from shoal.io.files import open_table as read_file
from shoal.notation import make_notation
from shoal.web.draft import NOTATION
from shoal.web.jobs.loading import load
from shoal.web.jobs.reading import describe_reading, sample_values
from shoal.web.jobs.worker import Tell
from shoal.web.stored import StoredTable, store

_DEMO_RECORDS = 10_000
_DEMO_HIERARCHIES = ("zip", "job")
_MANY_CELLS = 4_000_000
"""Rows times columns beyond which sets of three columns are not looked for: they would take minutes."""


def open_table(tell: Tell, *, place: str, path: str, options: dict[str, Any], folder: str, name: str) -> dict[str, Any]:
    """Read a table, keep it as a private file, and look at its columns."""
    tell("progress", (0.05, "reading"))
    home = Path(folder)
    frame, hierarchies = _read_demo(home) if place == "demo" else (_read(path, options), {})
    if frame.records == 0:
        raise DataError("The table has no rows. There is nothing to release.")
    tell("progress", (0.6, "keeping it in memory"))
    stored = store(frame, home / f"{name}.arrow")
    tell("progress", (0.8, "looking at the columns"))
    views = [vars(view) | {"values": sample_values(frame, view.name)} for view in column_views(frame)]
    understood = describe_reading(path, options, frame) if place in {"folder", "dropped"} else {}
    return {
        "stored": stored,
        "records": frame.records,
        "columns": views,
        "understood": understood,
        "hierarchies": hierarchies,
    }


def _read(path: str, options: dict[str, Any]) -> Frame:
    notation = {name: value for name, value in options.items() if name in NOTATION}
    return read_file(
        path,
        separator=options.get("separator"),
        encoding=options.get("encoding"),
        notation=make_notation("The page", **notation),
        table=options.get("table"),
        query=options.get("query"),
    )


def _read_demo(home: Path) -> tuple[Frame, dict[str, str]]:
    """Invent the register, and write the hierarchies that come with it."""
    register = shoal.datasets.hospital(n=_DEMO_RECORDS, seed=0)
    paths = {}
    for column, hierarchy in register.hierarchies.items():
        if column in _DEMO_HIERARCHIES:
            target = home / f"demo-{column}.csv"
            hierarchy.to_csv(target)
            paths[column] = str(target)
    return to_frame(register.patients), paths


def count_people(tell: Tell, *, table: StoredTable, columns: list[str]) -> dict[str, Any]:
    """Count whom these columns single out: together, without each of them, and by the fewest of them."""
    frame = load(table)
    found: dict[str, Any] = {"unique": _alone(frame, columns), "without": None, "sets": None}
    tell("part", dict(found))
    if len(columns) > 1:
        found["without"] = {name: _alone(frame, [other for other in columns if other != name]) for name in columns}
        tell("part", dict(found))
    largest = 3 if frame.records * len(columns) <= _MANY_CELLS else 2
    sets = unique_sets(frame, columns, largest=largest)
    found["sets"] = [{"columns": list(one.columns), "unique": one.unique} for one in sets]
    return found


def _alone(frame: Frame, columns: list[str]) -> int:
    return int((count_tuples(frame.table, columns).size == 1).sum())


def count_values(tell: Tell, *, table: StoredTable, column: str) -> dict[str, int]:  # noqa: ARG001
    """Return how often each value of a column occurs, as the texts a hierarchy knows them by."""
    typed = load(table).typed(column)
    encoded = encode_dictionary(typed)
    counts = encoded.indices.value_counts()
    texts = shoal.Hierarchy.flat(encoded.dictionary.to_pylist()).leaves
    return {texts[pair["values"]]: pair["counts"] for pair in counts.to_pylist() if pair["values"] is not None}
