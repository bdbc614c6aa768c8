"""The dictionary of a release: a Data Package descriptor, read into what the reader needs to know.

A descriptor follows Frictionless Data Package 1 with Table Schema; what only shoal says is below the key ``shoal``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal_reader.errors import ReleaseError

PARQUET_KEY = b"datapackage"
"""The key of the descriptor in the metadata of a Parquet or Arrow schema."""
_TEXT = re.compile(r"(?i)\.(csv|tsv|txt)(\.(gz|zst|zip))?$")
_KIND = {"integer": "integer", "number": "number", "date": "date", "datetime": "datetime", "boolean": "boolean"}


@dataclass(frozen=True)
class Field:
    """What the dictionary says of one column."""

    name: str
    kind: str = "text"
    """``integer``, ``number``, ``date``, ``datetime``, ``text`` or ``boolean``: what the original values are."""
    role: str = "kept"
    form: str = "exact"
    """``ranges``, ``nodes``, ``sets``, ``representatives`` or ``exact``."""
    title: str = ""
    description: str = ""
    unit: str = ""
    low: float | str | None = None
    high: float | str | None = None
    step: Any = None
    order: tuple[str, ...] | None = None
    values: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    tree: Mapping[str, Any] | None = None
    suppressed: str = "*"
    treatment: Any = None
    missing: tuple[str, ...] = ()
    """Marks for a missing value that this column has besides those of the table."""
    pattern: str = "default"
    """How dates are written, by the signs of ``strftime``; ``default`` is the ISO form."""
    decimal: str = "."
    counts: tuple[tuple[str | None, int], ...] = ()
    """How often values occur in the release, if the publisher tells it; rounded."""
    rest: int = 0
    """How many records have a value that is not counted."""


@dataclass(frozen=True)
class Dictionary:
    """What the dictionary says of a release."""

    fields: Mapping[str, Field]
    title: str = ""
    k: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    """Everything below the key ``shoal``: models, method, records, measures."""
    encoding: str = "utf-8"
    delimiter: str | None = None
    missing: tuple[str, ...] = ("",)
    groups: str | None = None
    """The name of the file with the counts of groups, if there is one."""


def dictionary_path(release: Path) -> Path:
    """Return the path of the dictionary of a released file: that of ``release.csv`` is ``release.datapackage.json``."""
    text = _TEXT.search(release.name)
    stem = release.name[: text.start()] if text else release.name
    return release.with_name(f"{stem or release.name}.datapackage.json")


def read_dictionary(source: str | Path | bytes | Mapping[str, Any], name: str = "") -> Dictionary:
    """Read a descriptor: a path, its bytes, or the object itself. ``name`` chooses among several resources by file."""
    told = _descriptor(source)
    resources = told.get("resources")
    if not isinstance(resources, list) or not resources:
        raise ReleaseError("The dictionary describes no table. A descriptor of shoal has one entry in 'resources'.")
    resource = next((one for one in resources if one.get("path") == name), resources[0])
    schema, dialect, about = resource.get("schema") or {}, resource.get("dialect") or {}, told.get("shoal") or {}
    if not isinstance(schema.get("fields"), list):
        raise ReleaseError(
            "The dictionary has no 'fields'. Get the release.datapackage.json that came with the release."
        )
    fields = [_field(one) for one in schema["fields"]]
    return Dictionary(
        fields={one.name: one for one in fields},
        title=str(told.get("title") or ""),
        k=about.get("k"),
        about=about,
        encoding=str(resource.get("encoding") or "utf-8"),
        delimiter=dialect.get("delimiter"),
        missing=tuple(schema.get("missingValues", [""])),
        groups=_groups_file(resources) if about.get("value_counts") == "groups" else None,
    )


def _groups_file(resources: list[Any]) -> str | None:
    """Return the name of the file with the counts of groups; a folder in it is not followed."""
    paths = [one.get("path") for one in resources[1:] if isinstance(one, Mapping)]
    return Path(paths[0]).name if paths and isinstance(paths[0], str) else None


def _counts(told: Any) -> tuple[tuple[tuple[str | None, int], ...], int]:
    try:
        pairs = tuple((None if value is None else str(value), int(count)) for value, count in told["values"])
        return pairs, int(told["rest"])
    except (KeyError, TypeError, ValueError):
        raise ReleaseError(
            "The counts in the dictionary are not well formed. Get the dictionary that came with the release."
        ) from None


def _descriptor(source: str | Path | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        return source
    try:
        text = source if isinstance(source, bytes) else Path(source).read_bytes()
        told = json.loads(text)
    except OSError as fault:
        raise ReleaseError(f"The dictionary cannot be read: {fault.strerror}. Give its path as dictionary=.") from None
    except (ValueError, RecursionError):
        raise ReleaseError("The dictionary is not JSON. Get the release.datapackage.json that came with it.") from None
    if not isinstance(told, Mapping):
        raise ReleaseError("The dictionary is not a JSON object. Get the release.datapackage.json that came with it.")
    return told


def _field(told: Mapping[str, Any]) -> Field:
    if not isinstance(told, Mapping) or not isinstance(told.get("name"), str):
        raise ReleaseError("A field of the dictionary has no 'name'. Get the dictionary that came with the release.")
    own = told.get("shoal") or {}
    order, tree = own.get("order"), own.get("tree")
    counts, rest = _counts(own["counts"]) if own.get("counts") else ((), 0)
    return Field(
        name=told["name"],
        kind=str(own.get("kind") or _KIND.get(str(told.get("type")), "text")),
        role=str(own.get("role") or "kept"),
        form=str(own.get("form") or "exact"),
        title=str(told.get("title") or ""),
        description=str(told.get("description") or ""),
        unit=str(own.get("unit") or ""),
        low=own.get("low"),
        high=own.get("high"),
        step=own.get("step"),
        order=None if not order else tuple(map(str, order)),
        values=tuple(map(str, own.get("values") or ())),
        labels=own.get("labels") or {},
        tree=tree or None,
        suppressed=str(own.get("suppressed") or "*"),
        treatment=own.get("treatment"),
        missing=tuple(map(str, told.get("missingValues") or ())),
        pattern=str(own.get("pattern") or told.get("format") or "default"),
        decimal=str(own.get("decimal") or told.get("decimalChar") or "."),
        counts=counts,
        rest=rest,
    )
