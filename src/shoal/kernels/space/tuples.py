"""Group-by of code tuples: the only step that touches every record of a table at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray

_MOST_KEYS = 1 << 62


class Tuples(NamedTuple):
    """The distinct tuples of a table."""

    label: IntArray
    """For each record the number of its tuple; tuples are numbered in lexicographic order."""
    size: LongArray
    """For each tuple how many records have it."""
    first: LongArray
    """For each tuple the first record that has it."""


def distinct_tuples(codes: IntArray) -> Tuples:
    """Number the distinct columns of ``codes`` (one row a column of the table, one column a record).

    Columns are packed into one integer as long as they fit, then packed tuples are numbered and the
    packing goes on: a few sorts of one integer key, whatever the number of columns.
    """
    columns, records = codes.shape
    key = np.zeros(records, np.int64)
    keys = 1
    for column in range(columns):
        row = codes[column]
        span = int(row.max(initial=0)) + 1
        if keys > _MOST_KEYS // span:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            keys = int(key.max(initial=0)) + 1
        key = key * span + row
        keys *= span
    _, first, label, size = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return Tuples(label.astype(np.int32), size.astype(np.int64), first.astype(np.int64))


def distinct_rows(codes: IntArray, tuples: Tuples) -> tuple[IntArray, IntArray]:
    """Return the codes of the distinct tuples, one row each, and their multiplicities, laid out for kernels."""
    return np.ascontiguousarray(codes.T[tuples.first]), tuples.size.astype(np.int32)
