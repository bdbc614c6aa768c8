"""Counting combinations of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.frames import encode_dictionary
from shoal.kernels.space.tuples import Tuples, distinct_tuples


def column_codes(table: pa.Table, names: Sequence[str]) -> IntArray:
    """Return the columns of a table as integers, equal values equal, a missing value a value of its own."""
    codes = np.empty((len(names), table.num_rows), np.int32)
    for row, name in enumerate(names):
        encoded = encode_dictionary(table.column(name))
        missing = len(encoded.dictionary)
        codes[row] = np.asarray(encoded.indices.fill_null(missing)) if encoded.indices.null_count else encoded.indices
    return codes


def count_tuples(table: pa.Table, names: Sequence[str]) -> Tuples:
    """Return the distinct combinations of values in the columns ``names``, with their counts."""
    return distinct_tuples(column_codes(table, names))
