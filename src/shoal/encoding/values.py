"""Values of a column as text, as numbers and as dates."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal.errors import DataError
from shoal.frames import encode_dictionary
from shoal.hierarchy import value_text
from shoal.typing import FloatArray


def value_texts(values: pa.Array) -> pa.Array:
    """Return values as text, the same that hierarchies use: dates in ISO form, 39.0 as ``39``."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal(kind):
        return pa.array([None if value is None else value_text(value) for value in values.to_pylist()], pa.string())
    return values.cast(pa.string())


def is_ordered(kind: pa.DataType) -> bool:
    """Tell whether values of this type have distances: numbers, dates, times."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
    )


def as_numbers(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column the user calls numeric as numbers, or say how many rows are none."""
    if is_ordered(column.type):
        return column
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    return _parse_texts(name, column, pa.float64(), "numeric", "numbers")


def as_dates(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column the user calls dates as dates, or say how many rows are none."""
    if pa.types.is_temporal(column.type):
        return column
    return _parse_texts(name, column, pa.date32(), "date", "dates like 2024-12-31")


def _parse_texts(name: str, column: pa.ChunkedArray, target: pa.DataType, kind: str, wanted: str) -> pa.ChunkedArray:
    encoded = encode_dictionary(column)
    values, faulty = [], []
    for index, text in enumerate(value_texts(encoded.dictionary)):
        try:
            values.append(text.cast(target).as_py())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            values.append(None)
            faulty.append(index)
    if faulty:
        rows = int(np.isin(np.asarray(encoded.indices.fill_null(-1)), faulty).sum())
        raise DataError(
            f"The column {name!r} is given as {kind} and must hold {wanted}. Got other text in {rows} rows.",
            hint="correct these rows, leave them empty, or give the column another kind.",
        )
    parsed = pa.array(values, target)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, parsed).cast(target)])


def positions(values: pa.Array | pa.ChunkedArray) -> FloatArray:
    """Return numbers, dates or times as floats; missing as NaN."""
    kind = values.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int64())
    return np.asarray(values.cast(pa.float64(), safe=False), np.float64)
