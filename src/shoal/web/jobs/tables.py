"""Tasks about a table: reading it, counting whom its columns single out, counting a column's values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.audit import count_tuples, unique_sets
from shoal.errors import DataError
from shoal.frames import Frame, encode_dictionary, to_frame
from shoal.hierarchy.texts import value_text
from shoal.inspection import column_views, repeating_key, text_meanings
from shoal.io.files import open_table as read_file
from shoal.notation import make_notation
from shoal.recount.rows import count_owners
from shoal.recount.tuples import column_codes
from shoal.web.databases import database_tables
from shoal.web.draft import NOTATION
from shoal.web.identity import digest_file, digest_rows, stamp_files
from shoal.web.jobs.loading import load
from shoal.web.jobs.reading import describe_reading, sample_values
from shoal.web.jobs.worker import Tell
from shoal.web.private import private_file
from shoal.web.stored import StoredTable, store

_DEMO_RECORDS = 10_000
_DEMO_HIERARCHIES = ("zip", "job")
_MOST_LOOKED_AT = 100_000_000
"""Rows times sets of columns that are counted; beyond, only smaller sets are: they would take minutes."""
_AS_SETS = 20
"""So many sets of columns can be counted by rows while one is counted by people."""


def open_table(
    tell: Tell,
    *,
    place: str,
    path: str,
    options: dict[str, Any],
    files: list[str],
    folder: str,
    name: str,
    salt: bytes,
) -> dict[str, Any]:
    """Read a table, keep it as a private file, and look at its columns."""
    tell("progress", (0.05, "reading"))
    home, stamp = Path(folder), stamp_files(files)
    frame, hierarchies = _read_demo(home) if place == "demo" else (_read(path, options), {})
    if frame.records == 0:
        raise DataError("The table has no rows. There is nothing to release.")
    identity = digest_rows(frame.table, salt) if place == "database" else digest_file(path, salt) if path else place
    if place == "folder" and stamp_files(files) != stamp:
        raise DataError("The file changed while it was read.", hint="wait until it is complete, then open it again.")
    tell("progress", (0.6, "keeping it in memory"))
    stored = store(frame, home / f"{name}.arrow")
    tell("progress", (0.8, "looking at the columns"))
    views = [vars(view) | {"values": sample_values(frame, view.name)} for view in column_views(frame)]
    key = repeating_key(frame, [view["name"] for view in views if view["role"] == "identifier"])
    understood = describe_reading(path, frame) if place in {"folder", "dropped"} else {}
    return {
        "stored": stored,
        "records": frame.records,
        "columns": views,
        "understood": understood,
        "hierarchies": hierarchies,
        "person": key.name if key else None,
        "identity": identity,
        "stamp": stamp,
    }


def identify(tell: Tell, *, path: str, options: dict[str, Any], salt: bytes) -> str:  # noqa: ARG001
    """Return what distinguishes the rows of a database's table from any others; they are read again, because no stamp is kept of them."""
    return digest_rows(_read(path, options).table, salt)


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
            target = private_file(home / f"demo-{column}.csv")
            hierarchy.to_csv(target)
            paths[column] = str(target)
    return to_frame(register.patients), paths


def count_people(tell: Tell, *, table: StoredTable, columns: list[str], person: str | None = None) -> dict[str, Any]:
    """Count whom these columns single out: together, without each of them, and by the fewest of them.

    If a column names people, it is also counted whom every column of the table singles out by itself: the rows of one person
    may be alike, so the values that occur once do not tell it.
    """
    frame = load(table)
    total = frame.records if person is None else len(encode_dictionary(frame.table.column(person)).dictionary)
    found: dict[str, Any] = {"people": total, "unique": _alone(frame, columns, person), "without": None, "sets": None}
    found["alone"] = None
    tell("part", dict(found))
    if len(columns) > 1 and frame.records * len(columns) ** 2 <= 4 * _MOST_LOOKED_AT:
        found["without"] = {
            name: _alone(frame, [other for other in columns if other != name], person) for name in columns
        }
        tell("part", dict(found))
    if person is None:
        found["sets"] = _row_sets(frame, columns)
    else:
        found["alone"] = _alone_each(frame, columns, person)
        found["sets"] = _person_sets(frame, columns, person, found["alone"])
    return found


def _row_sets(frame: Frame, columns: list[str]) -> list[dict[str, Any]]:
    sets = unique_sets(frame, columns, largest=_largest(frame.records, len(columns), 3))
    return [{"columns": list(one.columns), "unique": one.unique} for one in sets]


def _largest(records: int, columns: int, most: int) -> int:
    """Return how large sets of columns can be if all of them shall be counted."""
    sizes = range(most, 1, -1)
    return next((size for size in sizes if records * math.comb(columns, size) <= _MOST_LOOKED_AT), 1)


def _alone_each(frame: Frame, columns: list[str], person: str) -> dict[str, int]:
    """Return how many people each column of the table singles out; of a large table, only each of ``columns``."""
    few = _AS_SETS * frame.records * len(frame.names) <= _MOST_LOOKED_AT
    return {name: _alone(frame, [name], person) for name in (frame.names if few else columns)}


def _person_sets(frame: Frame, columns: list[str], person: str, alone: dict[str, int]) -> list[dict[str, Any]]:
    """Return how many people one or two of the columns single out."""
    pairs = combinations(columns, 2) if _largest(_AS_SETS * frame.records, len(columns), 2) == 2 else ()
    return [{"columns": [name], "unique": alone[name]} for name in columns] + [
        {"columns": list(names), "unique": _alone(frame, names, person)} for names in pairs
    ]


def _alone(frame: Frame, columns: Sequence[str], person: str | None) -> int:
    """Return how many people a combination of values has to itself: rows, or persons if a column names them."""
    tuples = count_tuples(frame.table, columns)
    if person is None:
        return int((tuples.size == 1).sum())
    owner = frame.table.column(person)
    alone = count_owners(tuples.label, owner)[tuples.label] == 1
    return len(np.unique(column_codes(frame.table, [person])[0][alone]))


def list_tables(tell: Tell, *, address: str) -> list[str]:  # noqa: ARG001
    """Return the tables of a database."""
    return database_tables(address)


def count_values(tell: Tell, *, table: StoredTable, column: str) -> dict[str, int]:  # noqa: ARG001
    """Return how often each value of a column occurs, as the texts a hierarchy knows them by: as they are in the table."""
    encoded = encode_dictionary(load(table).cells(column))
    texts = [value_text(value) for value in encoded.dictionary.to_pylist()]
    counts = encoded.indices.value_counts()
    return {texts[pair["values"]]: pair["counts"] for pair in counts.to_pylist() if pair["values"] is not None}


def read_values(tell: Tell, *, table: StoredTable, column: str) -> dict[str, Any]:  # noqa: ARG001
    """Return what each text of a column means: ``01.03.2024`` a date, ``1.234,5`` a number; None for a missing value."""
    return text_meanings(load(table), column)
