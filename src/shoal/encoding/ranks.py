"""The distinct values of a column in rising order, and which of them each row has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import AnyArray, IntArray
from shoal.encoding.values import exact_numbers
from shoal.frames import encode_dictionary
from shoal.frames.canonical import canonical

_LONG = 10_000
"""Rows from which on it pays to look how often values repeat, and how many are looked at."""


class Ranked(NamedTuple):
    """A column of numbers, dates or times by rank."""

    values: pa.Array
    """The distinct values, rising."""
    exact: AnyArray
    """The same as numbers."""
    codes: IntArray
    """The place of each row's value; a missing one comes last."""
    has_missing: bool


def rank_values(column: pa.ChunkedArray) -> Ranked:
    """Rank a column, in the way that is quicker for it."""
    plain = canonical(column)
    return _by_sorting(plain) if _mostly_distinct(plain) else _by_hashing(plain)


def _mostly_distinct(column: pa.ChunkedArray) -> bool:
    """Return whether a long column of plain numbers, none of them missing, repeats few of its first values."""
    kind = column.type
    if len(column) < _LONG or column.null_count or not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        return False
    return bool(pc.count_distinct(column.slice(0, _LONG)).as_py() > _LONG // 2)


def _by_hashing(column: pa.ChunkedArray) -> Ranked:
    """Find the distinct values, then rank them."""
    encoded = encode_dictionary(column)
    exact = exact_numbers(encoded.dictionary)
    order = np.argsort(exact, kind="stable")
    codes, has_missing = rank_codes(encoded, order)
    return Ranked(encoded.dictionary.take(pa.array(order)), exact[order], codes, has_missing)


def _by_sorting(column: pa.ChunkedArray) -> Ranked:
    """Rank the rows, then drop repeated values: a fifth of the time for a million measured quantities."""
    plain = pa.concat_arrays(column.chunks)
    exact = exact_numbers(plain)
    order = np.argsort(exact)
    rising = exact[order]
    first = np.append(True, rising[1:] != rising[:-1])
    codes = np.empty(len(order), np.int32)
    codes[order] = np.cumsum(first) - 1
    return Ranked(plain.take(pa.array(order[first])), rising[first], codes, has_missing=False)


def rank_codes(encoded: pa.DictionaryArray, order: AnyArray) -> tuple[IntArray, bool]:
    """Turn dictionary indices into codes: position in ``order``, missing last; return whether some are missing too."""
    size = len(order)
    rank = np.empty(size + 1, np.int32)
    rank[order] = np.arange(size, dtype=np.int32)
    rank[size] = size
    indices = np.asarray(encoded.indices.fill_null(size)) if encoded.indices.null_count else np.asarray(encoded.indices)
    return rank[indices], encoded.indices.null_count > 0
