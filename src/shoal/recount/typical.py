"""The cover check of a release with representatives: a representative is among the values of the records of its group.

A mean lies between the least and the largest value of the records released alike, a median or a typical category is one of
their values, and a cell is missing if all of them are. The groups are read from the released table, not from a method.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import AnyArray, BoolArray, IntArray, LongArray
from shoal.encoding import CodedColumn, value_texts
from shoal.errors import PrivacyError
from shoal.frames.canonical import encode_dictionary, is_period
from shoal.hierarchy.texts import match_texts
from shoal.recount.cover import own_numbers


def check_typical(column: CodedColumn, original: pa.ChunkedArray, released: pa.ChunkedArray, groups: IntArray) -> None:
    """Raise unless every representative of a column is among the values of the records in its group."""
    some = np.bincount(groups[_there(encode_dictionary(original))], minlength=int(groups.max(initial=-1)) + 1) > 0
    shown = _there(released)
    fits = _between if column.measured else _among
    good = np.where(shown, some[groups], ~some[groups])
    both = np.flatnonzero(shown & good)
    if len(both):
        good[both] = fits(column, original, released, groups)[both]
    if not good.all():
        raise PrivacyError(
            f"{int((~good).sum())} representatives in the column {column.name!r} would be outside the values of their "
            "groups. Nothing was released.",
            hint="this is an internal error; please report it.",
        )


def _there(column: pa.Array | pa.ChunkedArray) -> BoolArray:
    return np.asarray(pc.is_valid(column)).astype(np.bool_)


def _between(column: CodedColumn, original: pa.ChunkedArray, released: pa.ChunkedArray, groups: IntArray) -> BoolArray:
    """Return which means are between the ends of their groups; a mean that is a float is compared with floats."""
    encoded, cell = encode_dictionary(original), _numbers(released)
    present = np.flatnonzero(_there(encoded))
    numbers = own_numbers(column, encoded.dictionary).astype(cell.dtype)
    own = numbers[np.asarray(encoded.indices.drop_null())]
    order = np.lexsort((own, groups[present]))
    own, group = own[order], groups[present][order]
    every = np.arange(int(groups.max(initial=-1)) + 1)
    low = own[np.minimum(np.searchsorted(group, every), len(own) - 1)]
    high = own[np.maximum(np.searchsorted(group, every, side="right") - 1, 0)]
    return np.asarray((low[groups] <= cell) & (cell <= high[groups]), np.bool_)


def _numbers(column: pa.ChunkedArray) -> AnyArray:
    """Return released means as floats, days and moments as integers; 0 if one is missing."""
    kind = column.type
    if is_period(kind):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    return np.asarray(pc.fill_null(column, pa.scalar(0, column.type)))


def _among(column: CodedColumn, original: pa.ChunkedArray, released: pa.ChunkedArray, groups: IntArray) -> BoolArray:
    """Return which cells are one of the values of their groups."""
    known = {text: place for place, text in enumerate(column.texts)}
    own, cell = _places(original, known), _places(released, known)
    width = len(known) + 1
    here = groups.astype(np.int64) * width
    return np.asarray(np.isin(here + cell, here + own) & (cell >= 0), np.bool_)


def _places(column: pa.ChunkedArray, known: dict[str, int]) -> LongArray:
    encoded = encode_dictionary(column)
    place = np.array([*match_texts(known, value_texts(encoded.dictionary).to_pylist()), -1], np.int64)
    found: LongArray = place[np.asarray(encoded.indices.fill_null(len(place) - 1))]
    return found
