"""One column of a release as a field of its dictionary (Table Schema, with shoal's own words below ``shoal``)."""

from __future__ import annotations

import math
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.frames.canonical import decoded, encode_dictionary, is_text, value_type
from shoal.notation import Reading, understand
from shoal.publication.cells import Kind, extremes, kind_of, read_cells
from shoal.publication.code_labels import code_text, marks_for_missing
from shoal.publication.counts import counts_in_field
from shoal.publication.declared import ColumnAbout, Declared
from shoal.recipe import release_notation

MOST_VALUES = 200
"""Values of a column passed through that are listed, at most."""
_TYPES: dict[Kind, str] = {"text": "string"}
_PLAIN = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_READ_AS: dict[str, Kind] = {
    "whole number": "integer",
    "number": "number",
    "date": "date",
    "time stamp": "datetime",
}
_SECRET = frozenset({"seed", "person", "key"})
"""Parameters of treatments that are not published: they could undo it, or name a column that is not released."""


def make_field(name: str, column: pa.ChunkedArray, declared: Declared) -> dict[str, Any]:
    """Return the field of one released column."""
    recoded = declared.role(name) == "quasi-identifier"
    field = _recoded(name, column, declared) if recoded else _passed(name, column, declared)
    about = declared.about.columns.get(name, ColumnAbout())
    named = declared.labels.get(name)
    title = about.title or (named.title if named else "")
    own = field["shoal"]
    own["role"] = declared.role(name)
    own["unit"] = about.unit or None
    own["labels"] = _labels(column, declared, name) | about.labels
    own["treatment"] = _treatment(declared, name)
    counts = counts_in_field(declared.counts.columns.get(name)) if declared.counts else None
    own |= {} if counts is None else {"counts": counts}
    marks = marks_for_missing(column, named) if named and not recoded else []
    if marks:
        field["missingValues"] = [*field.get("missingValues", [""]), *marks]
    texts = {key: value for key, value in (("title", title), ("description", about.description)) if value}
    return {"name": name, "type": field.pop("type"), **texts, **field}


# --- recoded columns ---------------------------------------------------------------------------------------------


def _recoded(name: str, column: pa.ChunkedArray, declared: Declared) -> dict[str, Any]:
    """Return the field of a quasi-identifier."""
    if not is_text(column.type):
        return _typical(column)
    cells = read_cells(column)
    form = _form_of(name, declared, cells)
    order = declared.order(name)
    nominal = order is not None or form in {"nodes", "sets"} or declared.recipe.kinds.get(name) == "nominal"
    shown = cells.values if declared.counts is None else (*cells.values, *declared.counts.texts(name))
    kind: Kind = kind_of(shown) if not nominal else _nominal_kind(cells.values)
    low, high = extremes(cells.values, kind)
    measured = kind in {"integer", "number", "date", "datetime"}
    exact = form in {"exact", "representatives"} and not cells.has("any")
    own = {
        "role": "",
        "form": form,
        "kind": kind,
        "unit": None,
        "low": low,
        "high": high,
        "step": _step(name, declared) if form == "ranges" else None,
        "ends": _ends(name, declared) if form == "ranges" and measured else None,
        "order": order,
        "values": [] if measured else [one for one in order or cells.values if one in set(cells.values)],
        "labels": {},
        "tree": declared.trees.get(name) if form == "nodes" else None,
        "suppressed": "*",
        "treatment": None,
    }
    return {"type": _TYPES.get(kind, kind) if exact and kind != "datetime" else "string", "shoal": own}


def _form_of(name: str, declared: Declared, cells: Any) -> str:
    """Return in which form a column was recoded, by its cells and by what the recipe says of it."""
    if declared.recipe.release == "representatives":
        return "representatives"
    if cells.has("set"):
        return "sets"
    choice = declared.recipe.hierarchies.get(name)
    if choice is not None and choice != "set":
        return "nodes"
    if cells.has("range"):
        return "ranges"
    if not cells.has("any"):
        return "exact"
    measured = kind_of(cells.values) not in {"text", "boolean"} or declared.order(name) is not None
    return "ranges" if measured and choice != "set" else "sets"


def _nominal_kind(values: tuple[str, ...]) -> Kind:
    return "boolean" if kind_of(values) == "boolean" else "text"


def _typical(column: pa.ChunkedArray) -> dict[str, Any]:
    """Return the field of a column of representatives that are numbers or dates."""
    field = _typed(column)
    field["shoal"]["form"] = "representatives"
    return field


def _step(name: str, declared: Declared) -> float | str | None:
    """Return the step that the recipe names; one that shoal chose follows from the table, so it is left out."""
    ends = declared.recipe.ends
    return ends.get(name) if isinstance(ends, dict) else None


def _ends(name: str, declared: Declared) -> str:
    step = _step(name, declared)
    if name in declared.recipe.cells:
        return "Cells have no value in common: they divide the values of the column into parts. Both ends belong to a range."
    if step is not None:
        return f"Ranges begin at multiples of {step} and end at the next one, whole numbers just before it; both ends belong to the range."
    if declared.recipe.ends == "exact":
        return "Ranges end at values of the table; both ends belong to the range."
    return "Ranges end at round values outside the values they cover; both ends belong to the range."


# --- columns passed through --------------------------------------------------------------------------------------


def _passed(name: str, column: pa.ChunkedArray, declared: Declared) -> dict[str, Any]:
    """Return the field of a column that was not recoded."""
    if not is_text(column.type):
        return _typed(column)
    texts = encode_dictionary(column).dictionary.cast(pa.string())
    reading = understand(texts, release_notation(declared.recipe)) if declared.untyped else Reading()
    kind: Kind = "text" if reading.values is None or reading.form else _READ_AS.get(reading.kind, "text")
    if kind == "text":
        field = _field("string", "text", None, None)
        field["shoal"]["order"] = declared.order(name) or _declared_order(column)
        field["shoal"]["values"] = _listed(texts)
        return field
    field = _typed(pa.chunked_array([reading.values]))
    return _as_written(field, kind, texts.to_pylist(), reading)


def _as_written(field: dict[str, Any], kind: Kind, texts: list[str], reading: Reading) -> dict[str, Any]:
    """Return how a text file writes numbers and dates; what Table Schema cannot say stays a string."""
    field["type"] = kind
    if reading.marks:
        field["missingValues"] = ["", *reading.marks]
    if kind in {"integer", "number"} and not all(
        _PLAIN.fullmatch(text) for text in texts if text.strip() not in reading.marks
    ):
        field["type"] = "string"
    if kind == "datetime":
        field["format"] = "any"
    return field


def _typed(column: pa.ChunkedArray) -> dict[str, Any]:
    """Return the field of a column of numbers, dates or truth values."""
    type_, kind = _table_schema_type(column.type)
    low, high = _extreme_values(column, kind)
    field = _field(type_, kind, low, high)
    if type_ == "datetime":
        field["format"] = "any"
    return field


def _field(type_: str, kind: Kind, low: Any, high: Any) -> dict[str, Any]:
    own = {"role": "", "form": "exact", "kind": kind, "unit": None, "low": low, "high": high, "step": None}
    rest: dict[str, Any] = {
        "ends": None,
        "order": None,
        "values": [],
        "labels": {},
        "tree": None,
        "suppressed": "*",
        "treatment": None,
    }
    return {"type": type_, "shoal": own | rest}


def _table_schema_type(kind: pa.DataType) -> tuple[str, Kind]:
    """Return the type of Table Schema and the kind of a column of Arrow."""
    kind = value_type(kind)
    if pa.types.is_boolean(kind):
        return "boolean", "boolean"
    if pa.types.is_integer(kind):
        return "integer", "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number", "number"
    if pa.types.is_date(kind):
        return "date", "date"
    if pa.types.is_timestamp(kind):
        return "datetime", "datetime"
    return "string", "text"


def _extreme_values(column: pa.ChunkedArray, kind: Kind) -> tuple[Any, Any]:
    """Return the lowest and the highest value of a column, as JSON holds them."""
    if kind in {"text", "boolean"}:
        return None, None
    plain = decoded(column)
    if pa.types.is_temporal(plain.type):  # as text, because Python knows no year beyond 9999
        ends = pc.min_max(plain)
        texts = [ends[end].cast(pa.string()).as_py() for end in ("min", "max")]
        return texts[0], texts[1]
    found = pc.min_max(plain.filter(pc.is_finite(plain)) if pa.types.is_floating(plain.type) else plain).as_py()
    return _number(found["min"]), _number(found["max"])


def _number(value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def _listed(texts: pa.Array) -> list[str]:
    """Return the values of a column of text, sorted, unless they are very many."""
    values = sorted(texts.drop_null().to_pylist())
    return values if len(values) <= MOST_VALUES else []


def _declared_order(column: pa.ChunkedArray) -> list[str] | None:
    """Return the values of an ordered category in their order."""
    if not (pa.types.is_dictionary(column.type) and column.type.ordered):
        return None
    return [str(one) for one in column.combine_chunks().dictionary.to_pylist()] if column.num_chunks else []


# --- what is said of any column ----------------------------------------------------------------------------------


def _labels(column: pa.ChunkedArray, declared: Declared, name: str) -> dict[str, str]:
    """Return the labels of codes that a column shows, as codes or as labels; a recoded column shows the labels themselves."""
    found = declared.labels.get(name)
    if found is None or not found.labels or declared.role(name) == "quasi-identifier":
        return {}
    shown = set(pc.unique(column).to_pylist())
    return {code_text(code): text for code, text in found.labels.items() if code in shown or text in shown}


def _treatment(declared: Declared, name: str) -> dict[str, Any] | None:
    """Return the treatment that the recipe names, with its plain parameters."""
    if name in declared.recipe.pseudonymize:
        return {"treatment": "pseudonyms"}
    found = declared.recipe.treat.get(name)
    if found is None:
        return None
    return {key: value for key, value in found.items() if key not in _SECRET and isinstance(value, (int, float, str))}
