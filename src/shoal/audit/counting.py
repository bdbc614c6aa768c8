"""Counting combinations of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.errors import PrivacyError
from shoal.frames import encode_dictionary
from shoal.kernels.tuples import Tuples, distinct_tuples
from shoal.typing import IntArray


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


def check_release(table: pa.Table, quasi_identifiers: Sequence[str], k: int) -> None:
    """Raise unless every combination of released values occurs at least ``k`` times."""
    counts = count_tuples(table, quasi_identifiers).size
    if len(counts) and counts.min() < k:
        raise PrivacyError(
            f"The release is not {k}-anonymous: the fresh count found a group of {counts.min()}. Nothing was released.",
            hint="this is a fault in the method; please report it.",
        )
