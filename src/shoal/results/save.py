"""How a release becomes a file: its rows in another order, read back and counted again before it gets its name."""

from __future__ import annotations

import hashlib
import hmac
import json
import platform
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal._version import __version__
from shoal.arrays import LongArray, Progress
from shoal.audit import Audit, check_release
from shoal.cells.counted import CountsChoice
from shoal.errors import DataError, FileError, NotationNotice, ParameterError, PrivacyWarning, SpreadsheetWarning, warn
from shoal.frames.canonical import table_hash
from shoal.hierarchy import Hierarchy
from shoal.io.databases import Database, Promise, check_target_table, new_file, write_release
from shoal.io.files import open_batches, open_table
from shoal.io.location import Location, locate
from shoal.io.registry import file_source, find_source
from shoal.io.source import CODEBOOK_KEY
from shoal.io.spreadsheet import formula_columns, without_formulas
from shoal.io.targets import check_target
from shoal.io.transaction import Transaction
from shoal.methods.base import say_nothing
from shoal.publication import (
    DICTIONARY_KEY,
    codebook_rows,
    dictionary_path,
    dictionary_text,
    groups_path,
    with_dictionary,
)
from shoal.recipe import Recipe, check_recipe
from shoal.results.columns import Describing
from shoal.treatments.pseudonyms import read_key


def holder_facts(recipe: Recipe, metrics: Mapping[str, Any], audit: Audit) -> dict[str, Any]:
    """Return where a release comes from: recipe, versions, measures against the original. For the holder, not for publication.

    No rows, and no hash of them: an intruder who knows all cells but one could try values until the hash agrees.
    """
    return {
        "audience": "holder",
        "shoal": __version__,
        "python": platform.python_version(),
        "pyarrow": pa.__version__,
        "numpy": np.__version__,
        "recipe": recipe.model_dump(exclude_none=True),
        "metrics": dict(metrics),
        "audit": audit.as_dict(),
    }


# --- the dictionary that travels with a release -------------------------------------------------------------------


def holds_dictionary(target: Path) -> bool:
    """Return whether files of this name, or the parts of a folder, hold their dictionary themselves."""
    return not target.suffix or file_source(target.name).holds_metadata


def dictionary_beside(target: Path, dictionary: Describing) -> Path | None:
    """Return the file that holds the dictionary of a release; None if there is none, or if the release holds it itself."""
    return None if dictionary is False or holds_dictionary(target) else dictionary_path(target)


def files_beside(target: Path, dictionary: Describing, counts: CountsChoice | None) -> list[Path]:
    """Return the files that a release gets next to it."""
    beside = dictionary_beside(target, dictionary)
    return [*([beside] if beside else []), *([groups_path(target)] if counts == "groups" else [])]


def stage_dictionary(files: Transaction, target: Path, rows: pa.Table, told: dict[str, Any]) -> pa.Table:
    """Write the dictionary of a release next to it, or return the rows with it if the file itself holds it."""
    if holds_dictionary(target):
        return with_dictionary(rows, told)
    files.temporary(dictionary_path(target)).write_text(dictionary_text(told), encoding="utf-8")
    if file_source(target.name).shows_codebook:
        return rows.replace_schema_metadata({CODEBOOK_KEY: json.dumps(codebook_rows(told)).encode()})
    return rows


def read_dictionary(release: Path) -> dict[str, Any] | None:
    """Return the dictionary of a released file; None without one, or with a file of another program."""
    try:
        told = json.loads(_dictionary_text(release))
    except (OSError, ValueError, RecursionError, pa.ArrowException, FileError):
        return None
    own = told.get("shoal") if isinstance(told, dict) else None
    return told if isinstance(own, dict) and own.get("dictionary") == 1 else None


def _dictionary_text(release: Path) -> bytes:
    """Return the text of the dictionary in a file, in the first file of a folder, or next to the file."""
    if not holds_dictionary(release):
        return dictionary_path(release).read_bytes()
    schema = open_batches(release).schema
    return bytes((schema.metadata or {})[DICTIONARY_KEY]) if DICTIONARY_KEY in (schema.metadata or {}) else b""


def dictionary_hierarchies(release: Path) -> dict[str, Hierarchy]:
    """Return the hierarchies that the dictionary of a release shows; none without one."""
    return {
        name: Hierarchy.from_dict(_as_nested(one["shoal"]["tree"]))
        for name, one in dictionary_fields(read_dictionary(release)).items()
        if one["shoal"].get("tree") and one["shoal"]["tree"].get("children")
    }


def dictionary_fields(told: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Return the fields of a dictionary by name; none if there is no dictionary, or one that is not whole."""
    try:
        fields = (told or {})["resources"][0]["schema"]["fields"]
        return {one["name"]: one for one in fields if isinstance(one["shoal"], dict)}
    except (LookupError, TypeError):
        return {}


def _as_nested(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree of a dictionary as ``Hierarchy.from_dict`` reads it."""
    children = tree.get("children") or ()
    return {tree["label"]: {label: below for one in children for label, below in _as_nested(one).items()} or None}


def recipe_of_dictionary(told: Mapping[str, Any], owner: str) -> Recipe:
    """Return what a dictionary promises, as a recipe; what only the holder knows stays open."""
    fields = dictionary_fields(told)
    roles: dict[str, list[str]] = {}
    for name, one in fields.items():
        roles.setdefault(str(one["shoal"].get("role")), []).append(name)
    forms = {name: one["shoal"].get("form") for name, one in fields.items()}
    orders = {name: one["shoal"]["order"] for name, one in fields.items() if one["shoal"].get("order")}
    own = told["shoal"]
    return check_recipe(
        {
            "k": own.get("k"),
            "quasi_identifiers": roles.get("quasi-identifier", []),
            "sensitive": roles.get("sensitive", []),
            "keep": [*roles.get("kept", []), *roles.get("weight", [])],
            "pseudonymize": roles.get("pseudonym", []),
            "kinds": orders | {name: "nominal" for name, form in forms.items() if form == "sets"},
            "hierarchies": {name: UNKNOWN_TREE for name, form in forms.items() if form == "nodes"},
            "treat": {name: one["shoal"]["treatment"] for name, one in fields.items() if _treated(one)},
            "models": own.get("models", []),
            "method": own.get("method"),
            "max_suppression": float(own.get("max_suppression", 1.0)),
            "person": own.get("person", UNRELEASED if "person" in str(own.get("counts")) else None),
            "household": own.get("household", UNRELEASED if "household" in str(own.get("counts")) else None),
            "release": "representatives" if "representatives" in forms.values() else "ranges",
        },
        owner,
    )


UNRELEASED = "(not released)"
"""Written in such a recipe instead of the column of persons or households if the release does not hold it."""
UNKNOWN_TREE = "(in the dictionary)"
"""Written in a recipe made from a dictionary instead of a hierarchy that the dictionary shows in part."""


def _treated(field: Mapping[str, Any]) -> bool:
    told = field["shoal"].get("treatment")
    return isinstance(told, dict) and field["shoal"].get("role") != "pseudonym"


def shuffle_secret(owner: str, path: str | Path | None, *, shuffle: bool) -> bytes | None:
    """Return the key that decides the order of the rows; none if no file is named."""
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
    """Return the rows as a file of this form gets them: shuffled, and harmless to spreadsheets if asked."""
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


def warn_of_names(renamed: Mapping[str, str], target: Path) -> None:
    """Say which columns have another name in a file, because its format cannot hold theirs."""
    listed = ", ".join(f"{old!r} is {new!r}" for old, new in renamed.items())
    warn(f"A {target.suffix} file cannot hold every name: {listed}. The dictionary names both.", NotationNotice)


def tell_notation(names: Collection[str]) -> None:
    """Say which columns a text file writes otherwise than the original does."""
    if names:
        warn(
            f"A text file has one notation: {', '.join(sorted(names))} are written with decimal points and ISO dates, as ranges are.",
            NotationNotice,
        )


def save_to_database(released: pa.Table, recipe: Recipe, address: str, table: str, *, force: bool) -> None:
    """Write a release, its rows in a fresh order, into a new table of a database that counts it before it is seen."""
    location, source = _database(address)
    rows = rows_to_write(released, "table", shuffle=True, spreadsheet_safe=False)
    made = new_file(location)
    try:
        with source.session(location, f"the table {table!r}", read_only=False) as session:
            write_release(session, table, rows, Promise(recipe.quasi_identifiers, recipe.k), force=force)
    except BaseException:
        if made is not None:
            made.unlink(missing_ok=True)
        raise


def check_database(address: str, table: str, *, force: bool) -> None:
    """Refuse a database that cannot be reached, or a table that is there, before any work begins; a file that is not there will be made."""
    location, source = _database(address)
    made = new_file(location)
    if made is not None:
        check_target(made)
        return
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


def verify_written(
    path: Path, rows: pa.Table, released: pa.Table, recipe: Recipe, progress: Progress = say_nothing
) -> None:
    """Read a written file back and count it again; its columns may have other names than those of the release.

    What is stored besides the rows is checked too: no dictionary may name a value that no row has, and no metadata but shoal's own may be there.
    """
    progress(0.5, "reading the file back")
    written = open_table(path, table=file_source(path.name).release_table).table
    progress(0.8, "counting it again")
    if written.column_names != rows.column_names or written.num_rows != rows.num_rows:
        raise DataError("The file read back differs from what was written. Nothing was released.")
    check_release(written.rename_columns(released.column_names), recipe.quasi_identifiers, recipe.k)
    if file_source(path.name).holds_metadata:
        refuse_stowaways(path)


def refuse_stowaways(path: Path) -> None:
    """Refuse a file whose dictionaries or metadata hold more than its rows."""
    reader = open_batches(path)
    named: dict[str, set[Any]] = {}
    shown: dict[str, set[Any]] = {}
    for batch in reader:
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if pa.types.is_dictionary(field.type):
                named.setdefault(field.name, set()).update(column.dictionary.to_pylist())
                shown.setdefault(field.name, set()).update(pc.unique(column.cast(field.type.value_type)).to_pylist())
    beside = set(reader.schema.metadata or {}) - {DICTIONARY_KEY, b"ARROW:schema"}
    if beside or any(named[name] - shown[name] for name in named):
        raise DataError(
            "The file would hold more than its rows: values that no row has, or metadata. Nothing was released.",
            hint="this is an internal error; please report it.",
        )
