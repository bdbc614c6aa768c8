"""How a release becomes a file: its rows in another order, read back and counted again before it gets its name."""

from __future__ import annotations

import hashlib
import hmac
import json
import platform
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal._version import __version__
from shoal.arrays import LongArray
from shoal.audit import Audit, check_release
from shoal.canonical import encode_dictionary, is_period, table_hash
from shoal.encoding import value_texts
from shoal.errors import DataError, ParameterError, PrivacyWarning, SpreadsheetWarning, warn
from shoal.io.databases import Database, Promise, check_target_table, write_release
from shoal.io.files import open_table
from shoal.io.location import Location, locate
from shoal.io.registry import find_source
from shoal.io.spreadsheet import formula_columns, without_formulas
from shoal.recipe import Recipe
from shoal.summary import Release
from shoal.treatments.pseudonyms import read_key


def sidecar_path(release: Path) -> Path:
    """Return the file beside a release that says where it comes from."""
    return release.with_name(f"{release.name}.json")


def provenance(recipe: Recipe, metrics: Mapping[str, Any], audit: Audit) -> dict[str, Any]:
    """Return where a release comes from: recipe, versions, measures.

    No rows, and no hash of them: whoever knows all cells but one could try values until the hash agrees.
    """
    return {
        "shoal": __version__,
        "python": platform.python_version(),
        "pyarrow": pa.__version__,
        "numpy": np.__version__,
        "recipe": recipe.model_dump(exclude_none=True),
        "metrics": dict(metrics),
        "audit": audit.as_dict(),
    }


def write_provenance(path: Path, recipe: Recipe, metrics: Mapping[str, Any], audit: Audit) -> None:
    """Write the side-car of a release."""
    text = json.dumps(provenance(recipe, metrics, audit), indent=2, default=str) + "\n"
    path.write_text(text, encoding="utf-8")


def read_sidecar(release: Path) -> dict[str, Any] | None:
    """Return what the side-car of a release says; None without one, or with a file of another program."""
    try:
        told = json.loads(sidecar_path(release).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("recipe"), dict) else None


def sidecar_hierarchies(release: Path) -> dict[str, str]:
    """Return the hierarchies that the side-car of a release names and that are still there; none without a side-car."""
    try:
        named = (read_sidecar(release) or {})["recipe"]["hierarchies"]
        return {name: choice for name, choice in named.items() if Path(choice).is_file()}
    except (LookupError, OSError, TypeError, ValueError, AttributeError):  # none, or of another program
        return {}


def shuffle_secret(owner: str, path: str | Path | None, *, shuffle: bool) -> bytes | None:
    """Return the key that decides the order of the rows; none where no file is named."""
    if path is None:
        return None
    if not shuffle:
        raise ParameterError(
            "The rows cannot keep the order of the input and be shuffled by a key.", hint="leave one of the two out."
        )
    return read_key(path, owner, "shuffle_key")


def shuffled_order(released: pa.Table, key: bytes | None = None) -> LongArray:
    """Return a random order of the rows, or with a key the one order that key and rows decide.

    Every cell counts: who finds out the order of one table learns nothing about that of another made with the same key.
    """
    secret = secrets.token_bytes(32)
    if key is not None:
        secret = hmac.digest(key, b"order of rows " + table_hash(released).encode(), "sha256")
    drawn = np.frombuffer(hashlib.shake_256(secret).digest(8 * released.num_rows), "<u8")
    return np.argsort(drawn, kind="stable")


def rows_to_write(
    released: pa.Table, form: str, *, shuffle: bool, spreadsheet_safe: bool, key: bytes | None = None
) -> pa.Table:
    """Return the rows as a file of this form gets them: shuffled, and harmless to spreadsheets where asked."""
    if shuffle:
        released = released.take(pa.array(shuffled_order(released, key)))
    else:
        warn("The rows are written in the order of the input, which can help to name people.", PrivacyWarning)
    if form != "text":
        return released
    if spreadsheet_safe:
        return without_formulas(released)
    found = formula_columns(released)
    if found:
        listed = ", ".join(f"{name!r} ({cells:,})" for name, cells in found.items())
        warn(
            f"A spreadsheet would run cells of these columns as formulas: {listed}. "
            "Save with spreadsheet_safe=True to make them harmless.",
            SpreadsheetWarning,
        )
    return released


def readable(released: pa.Table) -> pa.Table:
    """Return a table with periods and durations as text, which a text file has no other form for."""
    for place, field in enumerate(released.schema):
        if is_period(field.type) or pa.types.is_duration(field.type):
            encoded = encode_dictionary(released.column(place))
            texts = value_texts(encoded.dictionary).take(encoded.indices)
            released = released.set_column(place, field.name, texts)
    return released


class Written(NamedTuple):
    """What the files of a release take from the original table."""

    decimals: Mapping[str, str]
    """The decimal mark of each column of numbers, by its name."""
    own: Mapping[str, pa.ChunkedArray]
    """The released columns that were not changed, in the type that came."""


def decimal_marks(release: Release) -> Mapping[str, str]:
    """Return the decimal marks of quasi-identifiers that come from a text file and are released as numbers or ranges of numbers."""
    return {
        one.name: release.source.decimal_of(one.name)
        for one in release.coded.columns
        if one.measured and not pa.types.is_temporal(one.original_type)
        if release.source.layout is not None
    }


def own_columns(release: Release) -> Mapping[str, pa.ChunkedArray]:
    """Return the released columns that were not changed, in the type that came."""
    kept = pa.array(np.flatnonzero(release.groups >= 0))
    names = [name for name in release.released.column_names if name not in release.changed]
    return {name: release.source.own(name).take(kept) for name in names}


def columns_to_write(release: Release, form: str, written: Written | None) -> pa.Table:
    """Return a release as a file of this form holds it: text is readable, all else has the type that came.

    ``written`` stands for the original table where that is no longer at hand.
    """
    if form == "text":
        return in_own_notation(readable(release.released), written.decimals if written else decimal_marks(release))
    own = written.own if written else own_columns(release)
    return pa.table({name: own.get(name, release.released.column(name)) for name in release.released.column_names})


def in_own_notation(released: pa.Table, decimals: Mapping[str, str]) -> pa.Table:
    """Return a table whose columns of numbers have the decimal mark of the text file they come from."""
    return _with_marks(released, {name: (".", mark) for name, mark in decimals.items()})


def in_plain_notation(released: pa.Table, decimals: Mapping[str, str]) -> pa.Table:
    """Return a table read from a file of ``in_own_notation`` with points as decimal marks."""
    return _with_marks(released, {name: (mark, ".") for name, mark in decimals.items()})


def _with_marks(released: pa.Table, changes: Mapping[str, tuple[str, str]]) -> pa.Table:
    """Change the marks between digits in the texts of columns."""
    for name, (old, new) in changes.items():
        if old != new:
            encoded = encode_dictionary(released.column(name))
            pattern = rf"([0-9])[{old}]([0-9])"
            texts = pc.replace_substring_regex(value_texts(encoded.dictionary), pattern, rf"\1{new}\2")
            place = released.column_names.index(name)
            released = released.set_column(place, name, texts.take(encoded.indices))
    return released


def save_to_database(released: pa.Table, recipe: Recipe, address: str, table: str, *, force: bool) -> None:
    """Write a release, its rows in a fresh order, into a new table of a database that counts it before it is seen."""
    location, source = _database(address)
    rows = rows_to_write(released, "table", shuffle=True, spreadsheet_safe=False)
    with source.session(location, f"the table {table!r}", read_only=False) as session:
        write_release(session, table, rows, Promise(recipe.quasi_identifiers, recipe.k), force=force)


def check_database(address: str, table: str, *, force: bool) -> None:
    """Refuse a database that cannot be reached, or a table that is there, before any work begins."""
    location, source = _database(address)
    with source.session(location, f"the table {table!r}") as session:
        check_target_table(session, table, force=force)


def _database(address: str) -> tuple[Location, Database]:
    location = locate(address)
    source = find_source(location)
    if not isinstance(source, Database):
        raise ParameterError(
            f"A release can be written into a table of a database only. Got a {source.name}.",
            hint="name an address such as postgresql://host/db, or save to a file.",
        )
    return location, source


def verify_written(path: Path, rows: pa.Table, released: pa.Table, recipe: Recipe) -> None:
    """Read a written file back and count it again; its columns may bear other names than those of the release."""
    written = open_table(path).table
    if written.column_names != rows.column_names or written.num_rows != rows.num_rows:
        raise DataError("The file read back differs from what was written. Nothing was released.")
    check_release(written.rename_columns(released.column_names), recipe.quasi_identifiers, recipe.k)
