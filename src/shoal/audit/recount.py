"""The count before a release: its table is read anew, value by value.

Nothing here knows how shoal codes columns, numbers tuples or puts values into one form, so that this count can
disagree with the groups a method found. Values are compared by what they read as: one zero, one missing value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.errors import PrivacyError


def read_anew(column: pa.ChunkedArray) -> LongArray:
    """Return a number for each row of a column, equal where rows read the same."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = pa.chunked_array(column.dictionary_encode().chunks or [pa.array([], pa.string()).dictionary_encode()])
    encoded = encoded.unify_dictionaries()
    numbers: dict[str | None, int] = {}
    table = [numbers.setdefault(text, len(numbers)) for text in _readings(encoded.chunk(0).dictionary)]
    missing = numbers.setdefault(None, len(numbers))
    indices = np.concatenate([np.asarray(chunk.indices.fill_null(len(table))) for chunk in encoded.chunks])
    found: LongArray = np.array([*table, missing], np.int64)[indices]
    return found


def _readings(values: pa.Array) -> list[str | None]:
    """Return what values read as; moments and durations by the number they are stored as."""
    kind = values.type
    if pa.types.is_temporal(kind):
        values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_floating(kind):
        words = {"nan": None, "-0": "0", "-0.0": "0"}
        return [words.get(text, text) for text in values.cast(pa.float64()).cast(pa.string()).to_pylist()]
    return [None if value is None else str(value) for value in values.to_pylist()]


def recount(table: pa.Table, names: Sequence[str]) -> IntArray:
    """Return the number of each row's combination of values in the columns ``names``."""
    label: LongArray = np.zeros(table.num_rows, np.int64)
    for name in names:
        number = read_anew(table.column(name))
        key = pa.array(label * (int(number.max(initial=0)) + 1) + number)
        label = np.asarray(key.dictionary_encode().indices).astype(np.int64)  # numbered as they first appear
    return label.astype(np.int32)


def check_release(table: pa.Table, quasi_identifiers: Sequence[str], k: int) -> IntArray:
    """Return the combination each row belongs to; raise unless every one occurs at least ``k`` times."""
    label = recount(table, quasi_identifiers)
    size = np.bincount(label)
    if len(size) and size.min() < k:
        raise PrivacyError(
            f"The release is not {k}-anonymous: the fresh count found a group of {size.min()}. Nothing was released.",
            hint="this is a fault in the method; please report it.",
        )
    return label


def check_codes(name: str, codes: IntArray, column: pa.ChunkedArray) -> None:
    """Raise where rows that read the same were told apart: a model would count one sensitive value as two."""
    number = read_anew(column)
    pairs = np.unique(number * (int(codes.max(initial=0)) + 1) + codes)
    if len(pairs) > len(np.unique(number)):
        raise PrivacyError(
            f"The fresh count found fewer values in the column {name!r} than the models did. Nothing was released.",
            hint="this is a fault in shoal; please report it.",
        )
