"""The file with the counts of groups: written next to a release, and read back against its rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.cells.counted import CountsChoice, ExactCounts, counts_of
from shoal.errors import DataError, FileError, ParameterError
from shoal.io.files import open_table, write_table
from shoal.io.transaction import Transaction
from shoal.publication import groups_path, renamed_groups, with_groups

_OTHER = "The counts of groups do not agree with the released rows."


def check_counts_are_told(
    counts: CountsChoice | None, *, dictionary: bool, plain_text: bool, table: str | None
) -> None:
    """Refuse targets that could not hold the counts a release was asked for: they would be lost without a word."""
    if counts is None:
        return
    lacks = {
        "a table of a database has no dictionary": table is not None,
        "the dictionary was left out": not dictionary,
        "cells are written otherwise than as they were counted": not plain_text,
    }
    for reason, lacking in lacks.items():
        if lacking:
            raise ParameterError(
                f"Counts are told in the dictionary, next to the cells as text; {reason}. Got counts={counts!r}.",
                hint="write a file with its dictionary and cells as text, or release without counts.",
            )


def stage_counts(
    files: Transaction,
    counts: ExactCounts,
    target: Path,
    rows: pa.Table,
    told: dict[str, Any],
    renamed: Mapping[str, str],
) -> dict[str, Any]:
    """Write the counts of groups next to a release, count them against its rows, and return the dictionary that names the file."""
    if counts.groups is None:
        return told
    groups = renamed_groups(counts.groups, renamed)
    temporary = files.temporary(groups_path(target))
    write_table(groups, temporary)
    check_groups(open_table(temporary).table, rows)
    return with_groups(told, groups, target)


def read_groups(release: Path, rows: pa.Table) -> None:
    """Read the counts of groups next to a released file against its rows."""
    try:
        groups = open_table(groups_path(release)).table
    except FileError:
        raise DataError(f"The file {groups_path(release).name!r} with the counts of groups cannot be read.") from None
    check_groups(groups, rows)


def check_groups(groups: pa.Table, rows: pa.Table) -> None:
    """Raise unless there is one line for each combination of cells, and each of its counts adds up to the rows of it."""
    names = groups.column_names[: groups.num_columns // 2]
    if groups.column_names != [*names, *map(counts_of, names)] or not set(names) <= set(rows.column_names):
        raise DataError(f"{_OTHER} Nothing was released.")
    sizes, seen = Counter(_combinations(rows, names)), _combinations(groups, names)
    if len(seen) != len(sizes) or set(seen) != set(sizes):
        raise DataError(f"{_OTHER} Nothing was released.")
    for name in names:
        for cells, text in zip(seen, groups.column(counts_of(name)).to_pylist(), strict=True):
            if _records(text) != sizes[cells]:
                raise DataError(f"{_OTHER} Nothing was released.")


def _combinations(table: pa.Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    columns = [[one or "" for one in table.column(name).cast(pa.string()).to_pylist()] for name in names]
    return list(zip(*columns, strict=True))


def _records(text: str) -> int:
    """Return how many records the counts of a group are of; -1 if they cannot be read."""
    try:
        return sum(count if count > 0 else -1_000_000 for _, count in json.loads(text))
    except (TypeError, ValueError):
        return -1
