"""One form of a value, whatever wrote it: what is equal to a reader is equal to every count.

There is one zero (``-0.0`` is ``0.0``), one missing value (null, NaN of any payload, a null entry of a dictionary),
one type of text, and a dictionary names each value once. Integers, instants and durations stay as exact as they came.
Coding, models and audit rely on this form; the recount before a release reads values in a way of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import uuid
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def canonical(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with every value in its one form; text that comes with a dictionary keeps one."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType) and not is_period(kind):
        return canonical(_without_extension(column))
    if pa.types.is_dictionary(kind):
        if is_text(kind.value_type):
            return pa.chunked_array([_one_dictionary(_plain_text(column))])
        return canonical(column.cast(kind.value_type))
    if pa.types.is_null(kind) or is_text(kind):
        return column.cast(pa.string())
    if pa.types.is_float16(kind):
        return canonical(column.cast(pa.float32()))
    return _one_zero(column) if pa.types.is_floating(kind) else column


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, which a dictionary hides."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def decoded_table(table: pa.Table) -> pa.Table:
    """Return a table with dictionaries as plain values."""
    return pa.table({name: decoded(table.column(name)) for name in table.column_names})


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column holds text, plain or by dictionary."""
    kind = value_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def _plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text with a dictionary, whatever type of text and of numbers the dictionary had."""
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string()))
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))


def _one_zero(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return floats without NaN and without a zero of the other sign."""
    not_a_number = pc.is_nan(column)
    if pc.any(not_a_number).as_py():
        column = pc.if_else(not_a_number, pa.scalar(None, column.type), column)
    return pc.add(column, pa.scalar(0.0, column.type))


def encode_dictionary(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """Return a column as one array of indices into its distinct values in canonical form; missing values stay missing."""
    column = canonical(pa.chunked_array([column]) if isinstance(column, pa.Array) else column)
    if pa.types.is_dictionary(column.type):
        return _one_dictionary(column)
    if not is_period(column.type):
        return _one_array(column.dictionary_encode())
    storage = [chunk.storage for chunk in column.chunks]
    encoded = _one_array(pa.chunked_array(storage, column.type.storage_type).dictionary_encode())
    values = pa.ExtensionArray.from_storage(column.type, encoded.dictionary)
    return pa.DictionaryArray.from_arrays(encoded.indices, values)


def _one_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return text with one dictionary that names each value once, no missing one, and none that no row has."""
    encoded = _one_array(column.unify_dictionaries())
    values = encoded.dictionary
    used = len(pc.unique(encoded.indices.drop_null()))
    if used < len(values) or values.null_count or len(pc.unique(values)) < len(values):
        plain = encoded.cast(values.type)
        return plain.dictionary_encode()
    return encoded


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = joined.chunk(0) if joined.num_chunks else pa.array([], joined.type)
    return joined


def _without_extension(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of an extension type as the plain type a reader takes them for."""
    kind = column.type
    stored = pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind.storage_type)
    name = extension_name(kind)
    if name == "arrow.uuid":
        encoded = _one_array(stored.dictionary_encode())
        texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in encoded.dictionary.to_pylist()]
        return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))])
    return stored.cast(pa.bool_()) if name == "arrow.bool8" else stored


def extension_name(kind: pa.DataType) -> str:
    """Return the name an extension type is registered under."""
    return str(getattr(kind, "extension_name", ""))


# --- periods of pandas: a month or a quarter is a value of its own, stored as a number -----------------------------


def is_period(kind: pa.DataType) -> bool:
    """Return whether a type is that of pandas' periods."""
    return extension_name(kind) == "pandas.period"


def period_texts(values: pa.Array) -> list[str]:
    """Return periods as pandas writes them: 2024-03, 2024Q1."""
    import pandas as pd  # noqa: PLC0415  (the type exists only if pandas does)

    frequency = values.type.freq
    return [str(pd.Period(ordinal=ordinal, freq=frequency)) for ordinal in values.storage.to_pylist()]


def period_ordinal(text: str, kind: Any) -> int:
    """Return the number a period is stored as."""
    import pandas as pd  # noqa: PLC0415

    return int(pd.Period(text, freq=kind.freq).ordinal)


def table_hash(table: pa.Table) -> str:
    """Return a SHA-256 of a table's names, types and values, however they are stored in memory."""
    digest = hashlib.sha256()
    for field, column in zip(table.schema, table.columns, strict=True):
        digest.update(repr((field.name, str(field.type))).encode())
        try:
            encoded = encode_dictionary(column)
        except pa.ArrowNotImplementedError:  # lists and other cells that hold several values
            digest.update(repr(column.to_pylist()).encode())
            continue
        digest.update(repr(_ticks(encoded.dictionary).to_pylist()).encode())
        digest.update(encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy().tobytes())
    return digest.hexdigest()


def _ticks(values: pa.Array) -> pa.Array:
    """Return dates, times and periods as the numbers they are stored as, because Python knows no year beyond 9999."""
    if is_period(values.type):
        return values.storage
    if pa.types.is_temporal(values.type):
        return values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return values


def as_whole(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return floating-point numbers that are all whole as whole numbers, and everything else as it is."""
    if pa.types.is_floating(values.type) and pc.all(pc.equal(values, pc.floor(values))).as_py():
        with contextlib.suppress(pa.ArrowInvalid):  # beyond 64 bits
            return values.cast(pa.int64())
    return values
