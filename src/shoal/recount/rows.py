"""The count before a release: its table is read again, value by value.

Nothing here knows how shoal codes columns, numbers tuples or puts values into one form, so that this count can
disagree with the groups a method found. Values are compared by what they read as: one zero, one missing value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def check_release(
    table: pa.Table, quasi_identifiers: Sequence[str], k: int, owners: Mapping[str, pa.ChunkedArray] | None = None
) -> IntArray:
    """Return the combination each row belongs to; raise unless every one occurs at least ``k`` times.

    ``owners`` are the columns that identify the person and household of each row, by name of the unit: every combination must then
    belong to at least ``k`` of each.
    """
    label = recount(table, quasi_identifiers)
    _check_size(np.bincount(label), k, "")
    for unit, column in (owners or {}).items():
        _check_size(count_owners(label, column), k, f" {unit}s")
    return label


def count_owners(label: IntArray, column: pa.ChunkedArray) -> LongArray:
    """Return how many different values a column has in the rows of each label."""
    owner = read_anew(column)
    pairs = np.unique(label * (int(owner.max(initial=0)) + 1) + owner)
    counts: LongArray = np.bincount(pairs // (int(owner.max(initial=0)) + 1)).astype(np.int64)
    return counts


def check_companions(label: IntArray, column: pa.ChunkedArray, k: int, unit: str) -> None:
    """Raise if somebody's combinations all together belong to fewer than ``k`` persons or households.

    An intruder who knows several rows of somebody looks who else has rows in all of the combinations they were released as.
    """
    met: dict[int, set[int]] = {}
    for owner, group in zip(read_anew(column).tolist(), label.tolist(), strict=True):
        met.setdefault(owner, set()).add(group)
    holders: dict[int, set[int]] = {}
    for owner, groups in met.items():
        for group in groups:
            holders.setdefault(group, set()).add(owner)
    enough: dict[frozenset[int], bool] = {}
    for known in map(frozenset, met.values()):
        if known not in enough:
            enough[known] = len(set.intersection(*(holders[group] for group in known))) >= k
    if not all(enough.values()):
        raise PrivacyError(
            f"The recount found a {unit} whose released rows all together fit fewer than {k} {unit}s. Nothing was released.",
            hint="this is an internal error of the method; please report it.",
        )


def _check_size(size: LongArray, k: int, whom: str) -> None:
    refuse_small_group(int(size.min(initial=k)), k, whom)


def refuse_small_group(smallest: int, k: int, whom: str = "") -> None:
    """Raise if the smallest group that was counted is below ``k``; every recount calls this."""
    if smallest < k:
        raise PrivacyError(
            f"The release is not {k}-anonymous: the recount found a group of {smallest}{whom}. Nothing was released.",
            hint="this is an internal error of the method; please report it.",
        )


def refuse_failing_model(name: str, groups: int) -> None:
    """Raise if a model does not hold in some of the groups that were counted."""
    if groups:
        raise PrivacyError(
            f"{name} does not hold in {groups} groups. Nothing was released.",
            hint="relax the model, allow suppression, or take another method.",
        )


def check_codes(name: str, codes: IntArray, column: pa.ChunkedArray) -> None:
    """Raise if rows that read the same were told apart: a model would count one sensitive value as two."""
    number = read_anew(column)
    pairs = np.unique(number * (int(codes.max(initial=0)) + 1) + codes)
    if len(pairs) > len(np.unique(number)):
        raise PrivacyError(
            f"The recount found fewer values in the column {name!r} than the models did. Nothing was released.",
            hint="this is an internal error; please report it.",
        )
