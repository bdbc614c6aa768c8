"""Measures of a release that follow from its cells alone, with few digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.cells.parse import Cell
from shoal.frames.canonical import encode_dictionary
from shoal.publication.cells import ColumnCells, Kind, as_json, few_digits, read_cells


def public_measures(released: pa.Table, fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sizes of groups, the values in them, and what cells of each quasi-identifier show."""
    known = [name for name, one in fields.items() if one["shoal"]["role"] == "quasi-identifier"]
    sensitive = [name for name, one in fields.items() if one["shoal"]["role"] == "sensitive"]
    group = _numbered(released, known)
    sizes = np.bincount(group) if len(group) else np.zeros(0, np.int64)
    columns = {name: _column(released.column(name), fields[name]["shoal"]) for name in known}
    widths = [one["width"] for one in columns.values() if one.get("width") is not None]
    return {
        "groups": len(sizes),
        "smallest": int(sizes.min(initial=released.num_rows)),
        "mean_size": few_digits(float(sizes.mean())) if len(sizes) else 0.0,
        "largest": int(sizes.max(initial=0)),
        "different_values": {name: _fewest(group, released.column(name)) for name in sensitive},
        "columns": columns,
        "width": few_digits(float(np.mean(widths))) if widths else None,
    }


def _numbered(released: pa.Table, names: list[str]) -> Any:
    """Return the group of each row: rows that are equal in all these columns have one number."""
    group = np.zeros(released.num_rows, np.int64)
    for name in names:
        code = _codes(released.column(name))
        _, group = np.unique(group * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
        group = group.reshape(-1)
    return group


def _codes(column: pa.ChunkedArray) -> Any:
    encoded = encode_dictionary(column)
    return np.asarray(encoded.indices.fill_null(len(encoded.dictionary))).astype(np.int64)


def _fewest(group: Any, column: pa.ChunkedArray) -> int:
    """Return how many different values the group with the fewest has."""
    try:
        code = _codes(column)
    except pa.ArrowNotImplementedError:  # lists and other cells that hold several values
        return 1
    if not len(code):
        return 0
    pairs = np.unique(group * (int(code.max(initial=0)) + 1) + code)
    return int(np.bincount(pairs // (int(code.max(initial=0)) + 1)).min())


def _column(column: pa.ChunkedArray, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return how coarse the cells of a column are."""
    if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
        return {"different_cells": int(_codes(column).max(initial=-1)) + 1, "width": None}
    cells = read_cells(column)
    shown = {
        "different_cells": len(cells.cells),
        "exact": few_digits(cells.share("value", "missing")),
        "suppressed": few_digits(cells.share("any")),
    }
    width = _mean_width(cells, told)
    return shown | {"width": None if width is None else few_digits(width)}


def _mean_width(cells: ColumnCells, told: Mapping[str, Any]) -> float | None:
    """Return the mean width of cells as a share of what the column shows; None for forms whose cells do not say it."""
    if told["form"] not in {"ranges", "sets", "exact"}:
        return None
    widths = [_width(cell, told) for cell in cells.cells]
    return float(np.dot(widths, cells.rows)) / max(cells.records, 1)


def _width(cell: Cell, told: Mapping[str, Any]) -> float:
    if cell.form == "any":
        return 1.0
    if cell.form == "set":
        return (len(cell.values) - 1) / max(len(told["values"]) - 1, 1)
    return _range_width(cell, told) if cell.form == "range" else 0.0


def _range_width(cell: Cell, told: Mapping[str, Any]) -> float:
    """Return the width of a range over the released extremes, or over the places of an order."""
    order = told["order"]
    if order:
        first, last = (order.index(one) if one in order else 0 for one in cell.values)
        return (last - first) / max(len(order) - 1, 1)
    low, high = (_scale(told[end], told["kind"]) for end in ("low", "high"))
    first, last = (_scale(as_json(one, told["kind"]), told["kind"]) for one in cell.values)
    return (last - first) / (high - low) if high > low else 0.0


def _scale(value: Any, kind: Kind) -> float:
    """Return a number for a value: dates in days."""
    if kind in {"date", "datetime"}:
        return float(np.datetime64(str(value)[:19].replace(" ", "T"), "s").astype(np.int64))
    return float(value) if isinstance(value, (int, float)) else 0.0
