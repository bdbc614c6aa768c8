"""The data dictionary that travels with a release: a Frictionless Data Package with one resource."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal._version import __version__
from shoal.publication.declared import Declared
from shoal.publication.fields import make_field
from shoal.publication.measures import public_measures

DICTIONARY_KEY = b"datapackage"
"""The key under which Parquet and Arrow files hold their dictionary: a key of the metadata of their schema."""
_TEXT = re.compile(r"(?i)\.(csv|tsv|txt)(\.(gz|zst|zip))?$")
_VERSION = 1


def dictionary_path(release: Path) -> Path:
    """Return the file next to a release that holds its dictionary.

    That of ``release.csv`` is ``release.datapackage.json``; other formats keep their ending (``release.sav.datapackage.json``),
    so that two of them can be next to each other.
    """
    text = _TEXT.search(release.name)
    stem = release.name[: text.start()] if text else release.name
    return release.with_name(f"{stem or release.name}.datapackage.json")


def make_dictionary(
    released: pa.Table, declared: Declared, release: Path, parts: Sequence[str] = (), *, records: int | None = None
) -> dict[str, Any]:
    """Return the dictionary of released rows, as they are in the file.

    Parameters
    ----------
    released
        The rows; their order does not matter.
    declared
        The recipe and what else was declared.
    release
        The name of the file; nothing of its folder is written.
    parts
        The names of the files of a folder, relative to the folder of the dictionary.
    records
        How many rows the whole release has, if these are some of them.
    """
    recipe, about = declared.recipe, declared.about
    fields = {name: make_field(name, released.column(name), declared) for name in released.column_names}
    own = {
        "dictionary": _VERSION,
        "version": __version__,
        "audience": "public",
        "k": recipe.k,
        "counts": _counted(declared),
        **{unit: name for unit, name in _units(declared).items() if name in fields},
        "max_suppression": recipe.max_suppression,
        "models": [_plain_model(one) for one in recipe.models],
        "method": recipe.method,
        "records": released.num_rows if records is None else records,
        "measures": public_measures(released, fields),
    } | ({"value_counts": declared.counts.choice} if declared.counts else {})
    named = {"title": about.title, "description": about.description, "licenses": about.licenses}
    named |= {"contributors": about.contributors, "citation": about.citation}
    return {
        "name": _slug(release),
        **{key: value for key, value in named.items() if value},
        "created": f"{dt.datetime.now(tz=dt.UTC).date().isoformat()}T00:00:00Z",
        "shoal": own,
        "resources": [_resource(list(fields.values()), declared, release, parts)],
    }


def rename_fields(told: dict[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Return a dictionary of columns that have other names in the file; each says which name it had."""
    if not renamed:
        return told

    def named(given: Mapping[str, Any]) -> dict[str, Any]:
        return {renamed.get(name, name): one for name, one in given.items()}

    (resource,), own = told["resources"], told["shoal"]
    fields = [_renamed(field, renamed) for field in resource["schema"]["fields"]]
    measures = own["measures"] | {part: named(own["measures"][part]) for part in ("different_values", "columns")}
    units = {unit: renamed.get(own[unit], own[unit]) for unit in ("person", "household") if unit in own}
    schema = resource["schema"] | {"fields": fields}
    return told | {"shoal": own | units | {"measures": measures}, "resources": [resource | {"schema": schema}]}


def _renamed(field: dict[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    name = field["name"]
    if name not in renamed:
        return field
    return field | {"name": renamed[name], "shoal": field["shoal"] | {"original_name": name}}


def dictionary_text(told: dict[str, Any]) -> str:
    """Return a dictionary as JSON."""
    return json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def with_dictionary(rows: pa.Table, told: dict[str, Any]) -> pa.Table:
    """Return rows with their dictionary as metadata, for Parquet and Arrow files."""
    return rows.replace_schema_metadata({DICTIONARY_KEY: dictionary_text(told).encode()})


def _resource(fields: list[dict[str, Any]], declared: Declared, release: Path, parts: Sequence[str]) -> dict[str, Any]:
    text = _TEXT.search(release.name)
    format_ = text[1].lower() if text else release.suffix[1:].lower() or "parquet"
    tabs = format_ == "tsv"
    return {
        "name": _slug(release),
        "path": list(parts) or release.name,
        "format": format_,
        **({"encoding": declared.encoding} if text else {}),
        **({"dialect": {"delimiter": "\t" if tabs else declared.separator}} if text else {}),
        "schema": {"fields": fields, "missingValues": [""]},
    }


def _slug(release: Path) -> str:
    """Return a name as Data Packages allow it: small letters, digits, dots, dashes and underscores."""
    text = _TEXT.search(release.name)
    stem = (release.name[: text.start()] if text else release.stem).lower()
    return re.sub(r"[^a-z0-9._-]+", "-", stem).strip("-") or "release"


def _units(declared: Declared) -> dict[str, str | None]:
    """Return the columns that identify the person and household of a record; only released ones may be named."""
    return {"person": declared.recipe.person, "household": declared.recipe.household}


def _counted(declared: Declared) -> str:
    """Return what k counts; the column that identifies persons is not named."""
    recipe = declared.recipe
    if recipe.household is not None:
        return "persons and households" if recipe.person is not None else "households"
    return "records" if recipe.person is None else "persons"


def _plain_model(settings: dict[str, Any]) -> dict[str, Any]:
    """Return a privacy model with its plain parameters; a population is left out."""
    return {
        key: value for key, value in settings.items() if key != "population" and isinstance(value, (int, float, str))
    }
