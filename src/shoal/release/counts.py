"""Counts of exact values, from the released records alone: pooled below k and rounded, or group by group.

The only place that makes them. Withheld records are not counted, and a count of fewer than k people is left out of a column.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.audit.determined import people_behind
from shoal.cells.counted import ColumnCounts, ExactCounts, counts_of
from shoal.encoding import CodedColumn, CodedTable
from shoal.errors import DataError
from shoal.recipe import Recipe


def released_counts(
    coded: CodedTable, counted: IntArray, released: pa.Table, owners: Mapping[str, pa.ChunkedArray], recipe: Recipe
) -> ExactCounts | None:
    """Return the counts that a recipe asks for; None without any.

    Parameters
    ----------
    coded
        The original values of the quasi-identifiers.
    counted
        The combination of cells of each record as the recount found it, -1 for a withheld one.
    released
        The released rows.
    owners
        Whose each released row is.
    recipe
        The recipe.
    """
    if recipe.counts is None:
        return None
    kept = np.flatnonzero(counted >= 0)
    codes = {column.name: coded.codes[row][kept].astype(np.int64) for row, column in enumerate(coded.columns)}
    if recipe.counts == "columns":
        return ExactCounts({one.name: _of_column(one, codes[one.name], owners, recipe.k) for one in coded.columns})
    return ExactCounts({}, _of_groups(coded, codes, counted[kept].astype(np.int64), released))


def _text(column: CodedColumn, code: int) -> str | None:
    return None if code == column.missing else column.texts[code]


def _of_column(column: CodedColumn, codes: LongArray, owners: Mapping[str, pa.ChunkedArray], k: int) -> ColumnCounts:
    """Return the counts of values that at least k people have, in multiples of k; all other values are one count."""
    values, place = np.unique(codes, return_inverse=True)
    label: IntArray = place.reshape(-1).astype(np.int32)
    records = np.bincount(label, minlength=len(values))
    people = people_behind(label, owners)
    told = np.flatnonzero(people >= k)
    counts = tuple((_text(column, int(values[one])), _rounded(int(records[one]), k)) for one in told)
    return ColumnCounts(counts, _rounded(int(records.sum() - records[told].sum()), k))


def _rounded(count: int, k: int) -> int:
    """Return the nearest multiple of k; halves go up."""
    return (2 * count + k) // (2 * k) * k


def _of_groups(coded: CodedTable, codes: Mapping[str, LongArray], label: LongArray, released: pa.Table) -> pa.Table:
    """Return the combinations of cells, in the order of their texts, each with the counts of the values behind it."""
    names = [column.name for column in coded.columns]
    both = [*names, *map(counts_of, names)]
    if len(set(both)) < len(both):
        raise DataError(
            "A quasi-identifier has the name that the counts of another one get.",
            hint=f"rename it: not {counts_of('…')!r}.",
        )
    first = np.unique(label, return_index=True)[1]
    cells = released.select(names).take(pa.array(first))
    for column in coded.columns:
        counts = [json.dumps(one, ensure_ascii=False) for one in _histograms(column, codes[column.name], label)]
        cells = cells.append_column(counts_of(column.name), pa.array(counts, pa.string()))
    return cells.sort_by([(name, "ascending") for name in names]).combine_chunks()


def _histograms(column: CodedColumn, codes: LongArray, label: LongArray) -> Iterator[list[tuple[str | None, int]]]:
    """Yield the counts of the values of each group, in the order of the codes."""
    values = column.cardinality
    pairs, often = np.unique(label * values + codes, return_counts=True)
    edges = np.flatnonzero(np.r_[True, np.diff(pairs // values) != 0, True])
    for start, end in pairwise(edges):
        yield [
            (_text(column, int(pair % values)), int(count))
            for pair, count in zip(pairs[start:end], often[start:end], strict=True)
        ]
