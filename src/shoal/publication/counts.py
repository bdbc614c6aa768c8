"""Released counts in the data dictionary, and the file that holds those of groups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.cells.counted import PREFIX, ColumnCounts, counts_of

_TEXT = re.compile(r"(?i)\.(csv|tsv|txt)(\.(gz|zst|zip))?$")


def groups_path(release: Path) -> Path:
    """Return the file next to a release that holds the counts of its groups: that of ``release.csv`` is ``release.groups.csv``."""
    text = _TEXT.search(release.name)
    stem = release.name[: text.start()] if text else release.name
    return release.with_name(f"{stem or release.name}.groups.csv")


def counts_in_field(counts: ColumnCounts | None) -> dict[str, Any] | None:
    """Return the counts of a column as its field says them."""
    if counts is None:
        return None
    return {"values": [list(pair) for pair in counts.values], "rest": counts.rest}


def renamed_groups(groups: pa.Table, renamed: Mapping[str, str]) -> pa.Table:
    """Return the counts of groups with the names that the columns have in the file."""

    def own(name: str) -> str:
        base = name.removeprefix(PREFIX)
        new = renamed.get(base, base)
        return counts_of(new) if name != base else new

    return groups.rename_columns([own(name) for name in groups.column_names])


def with_groups(told: dict[str, Any], groups: pa.Table, release: Path) -> dict[str, Any]:
    """Return a dictionary that describes the file with the counts of groups as its second resource."""
    (resource,) = told["resources"]
    kinds = {name: "array" if name.startswith(PREFIX) else "string" for name in groups.column_names}
    second = {
        "name": f"{resource['name']}-groups",
        "path": groups_path(release).name,
        "format": "csv",
        "encoding": "utf-8",
        "dialect": {"delimiter": ","},
        "schema": {"fields": [{"name": name, "type": kind} for name, kind in kinds.items()], "missingValues": [""]},
    }
    return told | {"resources": [resource, second]}
