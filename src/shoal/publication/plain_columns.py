"""A release in plain columns: the ends and the middle of each range, shares of the values of sets, levels of trees.

The reader of recipients (``shoal_reader``) does the work, so that a file says what ``Release.columns`` says. Columns that are not
coarsened stay as the file would hold them anyway.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from shoal.errors import DataError, MissingExtraError

Cells = Literal["text", "columns", "midpoints"]
"""How coarsened cells are written: as text, as several plain columns, or as the middle of ranges."""
SHAPES = ("text", "columns", "midpoints")
_TYPES = {"low": "lowest possible value", "high": "highest possible value", "mid": "middle of the range"}


class ShapedTable(NamedTuple):
    """Rows without coarsened cells, and what is said of them."""

    rows: pa.Table
    dictionary: dict[str, Any]
    quasi_identifiers: list[str]
    """The columns that stand for quasi-identifiers."""


def shape_release(released: pa.Table, written: pa.Table, told: dict[str, Any], cells: Cells) -> ShapedTable:
    """Return a release in plain columns.

    Parameters
    ----------
    released
        The released rows, in the plain notation.
    written
        The same rows as the file would hold them.
    told
        Their dictionary.
    cells
        The shape.
    """
    (resource,) = told["resources"]
    fields = {field["name"]: field for field in resource["schema"]["fields"]}
    coarsened = [name for name, field in fields.items() if field["shoal"]["role"] == "quasi-identifier"]
    columns: dict[str, pa.ChunkedArray] = {}
    described: list[dict[str, Any]] = []
    parts = _parts(released.select(coarsened), told, cells)
    for name in written.column_names:
        if name not in coarsened:
            columns[name] = written.column(name)
            described.append(fields[name])
        for one in parts if name in coarsened else ():
            if one.of != name:
                continue
            if one.name in columns or (one.name in written.column_names and one.name not in coarsened):
                raise DataError(
                    f"Two columns of the release would be named {one.name!r}.",
                    hint="rename one before it is anonymized.",
                )
            unchanged = not one.part and one.name == name
            if unchanged:
                columns[one.name] = written.column(name)
                described.append(fields[name])
                continue
            columns[one.name] = _column(one.values)
            described.append(_field(fields[name], one, columns[one.name].type))
    made = {one.name for one in parts}
    schema = resource["schema"] | {"fields": described}
    dictionary = told | {"resources": [resource | {"schema": schema}]}
    return ShapedTable(pa.table(columns), dictionary, [name for name in columns if name in made])


def _parts(coarsened: pa.Table, told: dict[str, Any], cells: Cells) -> list[Any]:
    try:
        import pandas as pd  # noqa: PLC0415  (an extra)

        from shoal_reader.dictionary import read_dictionary  # noqa: PLC0415
        from shoal_reader.errors import ReleaseError  # noqa: PLC0415
        from shoal_reader.reading import make_release  # noqa: PLC0415
        from shoal_reader.shaping import shape  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("pandas", "pandas", f"Writing cells as {cells}") from None
    (resource,) = told["resources"]
    names = set(coarsened.column_names)
    fields = [field for field in resource["schema"]["fields"] if field["name"] in names]
    own = {"resources": [{"schema": {"fields": fields}}]}
    frame = pd.DataFrame({name: coarsened.column(name).to_pylist() for name in coarsened.column_names})
    try:
        with warnings.catch_warnings(action="ignore"):
            return shape(make_release(frame, read_dictionary(own)), "columns" if cells == "columns" else "midpoints")
    except ReleaseError as fault:
        raise DataError(str(fault)) from None


def _column(values: Any) -> pa.ChunkedArray:
    """Return a column of pandas as Arrow, whole days as dates."""
    array = pa.chunked_array([pa.array(values, from_pandas=True)])
    if pa.types.is_timestamp(array.type):
        days = array.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
        if days.cast(pa.timestamp("us")).equals(array.cast(pa.timestamp("us"))):
            return days
        return array.cast(pa.timestamp("us"))
    return array


def _field(field: dict[str, Any], part: Any, kind: pa.DataType) -> dict[str, Any]:
    """Return what the dictionary says of one part of a column."""
    own = field["shoal"] | {
        "form": "exact",
        "of": part.of,
        "part": part.part,
        "tree": None,
        "order": None,
        "values": [],
    }
    if part.part.startswith("share"):
        own |= {"kind": "number", "low": 0, "high": 1, "labels": {}}
    if part.part == "mid" and own["kind"] == "integer":
        own["kind"] = "number"
    if part.part.startswith("level"):
        own |= {"kind": "text", "labels": {}}
    says = _TYPES.get(part.part, part.part)
    about = {"title": f"{field.get('title') or part.of}: {says}", "description": f"{part.of}: {says}."}
    return {"name": part.name, "type": _table_schema_type(kind), **about, "shoal": own}


def _table_schema_type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind):
        return "number"
    if pa.types.is_date(kind):
        return "date"
    return "datetime" if pa.types.is_timestamp(kind) else "string"
