"""From groups to typical values: what microaggregation releases instead of ranges."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, FloatArray, IntArray, LongArray
from shoal.encoding import CodedColumn, CodedTable, exact_numbers, value_texts
from shoal.frames.canonical import is_period
from shoal.hierarchy import Hierarchy
from shoal.methods.base import Typical


def representatives(table: CodedTable, labels: IntArray, typical: Typical) -> dict[str, pa.Array]:
    """Return columns in which every record has its group's mean (numbers, dates), median (orders) or typical category.

    Missing values do not count; a group in which all are missing stays missing.
    """
    kept = labels >= 0
    groups = int(labels.max(initial=-1)) + 1
    return {
        column.name: _representative(column, codes[kept], labels[kept], groups, typical).take(pa.array(labels[kept]))
        for codes, column in zip(table.codes, table.columns, strict=True)
    }


def _representative(column: CodedColumn, codes: IntArray, labels: IntArray, groups: int, typical: Typical) -> pa.Array:
    present = codes != column.missing
    codes, labels = codes[present], labels[present]
    order = np.lexsort((codes, labels))  # a sum of floats must not depend on the order of the input
    codes, labels = codes[order], labels[order]
    count = np.bincount(labels, minlength=groups)
    if not column.kind.ordered:
        tree = column.hierarchy if typical.nominal == "centroid" else None
        return _values_of(column, typical_codes(codes, labels, groups, column.cardinality, tree), count)
    if column.ordinal:
        return _values_of(column, _medians(codes, labels, count), count)
    return _means_of(column, codes, labels, count, typical.round_integers)


def _values_of(column: CodedColumn, codes: IntArray, count: AnyArray) -> pa.Array:
    return value_texts(column.values).take(pa.array(codes, mask=count == 0))


def typical_codes(codes: IntArray, labels: IntArray, groups: int, cardinality: int, tree: Hierarchy | None) -> IntArray:
    """Return each group's most frequent code or, with a tree, the one nearest to all; ties go to the lowest.

    Groups without a record get any code.
    """
    key, count = np.unique(labels.astype(np.int64) * cardinality + codes, return_counts=True)
    if not key.size:
        return np.zeros(groups, np.int32)
    penalty = -count if tree is None else _summed_costs(key, count, cardinality, tree)
    order = np.lexsort((key, penalty, key // cardinality))
    first = np.searchsorted(key[order] // cardinality, np.arange(groups))
    return np.asarray(key[order[np.minimum(first, key.size - 1)]] % cardinality, np.int32)


def _summed_costs(key: LongArray, count: LongArray, cardinality: int, tree: Hierarchy) -> LongArray:
    """Return how far each code of a group is from the group's records, in leaves below their common ancestors.

    Only codes of the group are looked at: if another code meets the nearest of them, that one meets the rest no
    higher. The climb from a code to the root adds at each node the records that were not below the one before.
    """
    before: LongArray = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    group, node = key - key % cardinality, key % cardinality
    inside, summed = count, np.zeros_like(count)
    # ends: each round goes one level up
    while (node != tree.root).any():
        node = np.where(node == tree.root, node, tree.parent[node])
        low, high = tree.low[node].astype(np.int64), tree.high[node].astype(np.int64)
        below = before[np.searchsorted(key, group + high + 1)] - before[np.searchsorted(key, group + low)]
        summed += (high - low + 1) * (below - inside)
        inside = below
    return summed


def _medians(codes: IntArray, labels: IntArray, count: AnyArray) -> IntArray:
    """Return each group's lower median code."""
    ordered = codes[np.lexsort((codes, labels))]
    middle = np.concatenate(([0], np.cumsum(count)[:-1])) + (np.maximum(count, 1) - 1) // 2
    return ordered[np.minimum(middle, max(ordered.size - 1, 0))] if ordered.size else np.zeros(len(count), np.int32)


def _means_of(
    column: CodedColumn, codes: IntArray, labels: IntArray, count: LongArray, round_integers: bool
) -> pa.Array:
    """Return means in the type of the column; dates, and integers unless they may have decimals, are rounded."""
    kind, absent = column.original_type, count == 0
    exact = pa.types.is_integer(kind) and not round_integers
    if exact or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.array(_means(column.numbers[codes], labels, count), pa.float64(), mask=absent)
    whole = pa.array(_whole_means(exact_numbers(column.values)[codes], labels, count), mask=absent)
    if is_period(kind):
        return pa.ExtensionArray.from_storage(kind, whole)
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return whole.cast(pa.int32()).cast(kind)
    return whole.cast(kind)


def _means(values: FloatArray, labels: IntArray, count: LongArray) -> FloatArray:
    """Return each group's mean, never beyond its least and largest value; sums that overflow are taken smaller."""
    if not values.size:
        return np.zeros(len(count))
    summed = np.bincount(labels, values, len(count))
    exponent = 0
    if not np.isfinite(summed).all():
        exponent = int(count.max()).bit_length()
        summed = np.bincount(labels, np.ldexp(values, -exponent), len(count))
    least, largest = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(least, labels, values)
    np.maximum.at(largest, labels, values)
    mean = np.ldexp(summed / np.maximum(count, 1), exponent)
    return np.where(count == 0, 0.0, np.clip(mean, least, largest))


def _whole_means(values: AnyArray, labels: IntArray, count: LongArray) -> AnyArray:
    """Return each group's mean to the nearest integer, a half upwards.

    Only distances from the group's least value are added up, as unsigned integers: these fit whatever the values are.
    """
    least = np.full(len(count), np.iinfo(values.dtype).max, values.dtype)
    np.minimum.at(least, labels, values)
    above = values.view(np.uint64) - least.view(np.uint64)[labels]  # as unsigned: no distance is too large
    most = np.zeros(len(count), np.uint64)
    np.maximum.at(most, labels, above)
    mean = np.bincount(labels, above.astype(np.float64), len(count)) / np.maximum(count, 1)
    rounded = np.floor(mean + 0.5)
    largest = np.nextafter(2.0**64, 0)  # what the sum of two nearly as large distances may be rounded to has no integer
    whole = np.minimum(np.minimum(rounded, largest).astype(np.uint64), most)
    return np.where(count == 0, np.zeros(1, values.dtype), (least.view(np.uint64) + whole).view(values.dtype))
