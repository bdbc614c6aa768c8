"""Columns rebuilt from their own rows, so that nothing else travels in their memory.

An Arrow column may carry more than it shows: a dictionary names values of rows that were filtered away, in the order of
their first appearance; a slice keeps the whole buffer; a missing value may lie over the value that it hides.
A column that leaves shoal is therefore built again. Dictionaries hold the values of the rows in sorted order, or in the
declared order of an ordered category.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def compact_table(table: pa.Table) -> pa.Table:
    """Return a table whose columns hold their own rows and nothing else, without metadata."""
    return pa.table({name: compact(table.column(name)) for name in table.column_names})


def compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in fresh memory that holds the values of its rows and nothing else; its type stays."""
    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([_one_dictionary(column)], column.type)
    try:
        return pa.chunked_array([_fresh(_joined(column))], column.type)
    except (
        pa.ArrowNotImplementedError,
        pa.ArrowInvalid,
    ):  # a type without `take`, or more than 2 GB of text
        return pa.chunked_array([_copied(chunk) for chunk in column.chunks], column.type)


def _joined(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        return joined.chunk(0) if joined.num_chunks else pa.array([], joined.type)
    return joined


def _fresh(values: pa.Array) -> pa.Array:
    """Return an array whose missing values lie over zeros."""
    places = pa.array(np.arange(len(values)))
    if not values.null_count:
        return values.take(places)
    there = values.is_valid()
    rank = np.cumsum(there.to_numpy(zero_copy_only=False)) - 1
    return values.drop_null().take(pa.array(rank, mask=~there.to_numpy(zero_copy_only=False)))


def _copied(chunk: pa.Array) -> pa.Array:
    """Return an array built from its Python values."""
    try:
        return _fresh(chunk)
    except pa.ArrowNotImplementedError:
        return pa.array(chunk.to_pylist(), chunk.type)


def _one_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column with a dictionary of the values that its rows have."""
    kind = column.type
    plain = _joined(column.cast(kind.value_type))
    distinct = pc.unique(plain.drop_null())
    if kind.ordered:
        declared = _joined(column.unify_dictionaries()).dictionary if column.num_chunks else distinct
        order = pc.array_sort_indices(pc.index_in(distinct, declared))
    else:
        order = pc.array_sort_indices(distinct)
    values = _fresh(distinct.take(order))
    indices = _fresh(pc.index_in(plain, values).cast(kind.index_type))
    return pa.DictionaryArray.from_arrays(indices, values, ordered=kind.ordered)
