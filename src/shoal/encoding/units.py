"""The persons and households that records belong to; each may have several records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray
from shoal.encoding.tables import CodedTable, Unit
from shoal.encoding.values import value_texts
from shoal.errors import DataError
from shoal.frames import Frame, encode_dictionary, refuse_nested


def encode_unit(frame: Frame, unit: Unit, name: str) -> IntArray:
    """Number the persons or households that a column names, from 0 without gaps in the order of their names; raise if it is empty in a record."""
    refuse_nested(frame, [name])
    encoded = encode_dictionary(frame.cells(name))
    nobody = encoded.indices.null_count
    if nobody:
        raise DataError(
            f"The {unit} column {name!r} is empty in {nobody} of {frame.records} records, so it is not known whose they are.",
            hint=f"fill it in, or leave these records out before the release: each must belong to one {unit}.",
        )
    rank = np.argsort(np.argsort(np.array(value_texts(encoded.dictionary).to_pylist(), object), kind="stable"))
    numbers: IntArray = (
        np.unique(rank[np.asarray(encoded.indices)], return_inverse=True)[1].astype(np.int32).reshape(-1)
    )
    return numbers


def numbered_as_met(table: CodedTable) -> CodedTable:
    """Return a table with its persons and households numbered in the order in which their first records come."""
    units = {}
    for unit, codes in table.units.items():
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        units[unit] = np.argsort(np.argsort(first)).astype(np.int32)[number.reshape(-1)]
    return _with_numbers(table, units)


def numbered_anew(table: CodedTable) -> CodedTable:
    """Return a part of a table with its own persons and households numbered from 0 without gaps."""
    if not table.units:
        return table
    return _with_numbers(
        table, {unit: np.unique(codes, return_inverse=True)[1].astype(np.int32) for unit, codes in table.units.items()}
    )


def _with_numbers(table: CodedTable, units: Mapping[Unit, IntArray]) -> CodedTable:
    attributes = {
        name: one if one.person is None else replace(one, person=units["person"])
        for name, one in table.attributes.items()
    }
    part = replace(table, units=units, attributes=attributes)
    part.__dict__["space"] = table.space
    return part


def survey_weights(frame: Frame, name: str) -> FloatArray:
    """Return how many people of the population each record represents, or say what is wrong with the column."""
    refuse_nested(frame, [name])
    column = frame.typed(name)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        raise DataError(
            f"The survey weights in column {name!r} are not numbers.",
            hint="a survey weight says how many people of the population a record represents.",
        )
    weight = np.asarray(column.cast(pa.float64()).combine_chunks().fill_null(np.nan), np.float64)
    bad = int((~(np.isfinite(weight) & (weight > 0))).sum())
    if bad:
        raise DataError(
            f"The survey weight in column {name!r} is missing, infinite or not above 0 in {bad} of {frame.records} records.",
            hint="every record stands for some people of the population; correct or leave out the others.",
        )
    return weight


def with_units(table: CodedTable, frame: Frame, names: Mapping[Unit, str | None]) -> CodedTable:
    """Return a coded table that knows whose its records are, as do its sensitive columns."""
    units = {unit: encode_unit(frame, unit, name) for unit, name in names.items() if name is not None}
    person = units.get("person")
    attributes = {name: replace(one, person=person) for name, one in table.attributes.items()}
    return replace(table, units=units, attributes=attributes)
