"""Which original records fit which released combinations of cells, whatever the order of the rows is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, LongArray
from shoal.encoding import CodedColumn, CodedTable
from shoal.frames import Frame
from shoal.frames.canonical import encode_dictionary
from shoal.kernels.space.tuples import distinct_tuples
from shoal.recount.cover import Pairs, covered_pairs, original_values
from shoal.recount.tuples import count_tuples

_PAIRS = 300_000_000
"""Pairs of a released combination and an original one that are compared at most; beyond, some combinations are drawn."""
_CHUNK = 256
"""Released combinations compared at once."""
_AT_ONCE = 2_000_000
"""Pairs of a cell and a value of one column that are compared at once, about: each takes some dozens of bytes for the time of the comparison."""


class Fit(NamedTuple):
    """What comparing released combinations with original records found."""

    looked_at: int
    """Combinations that were compared."""
    lacking: int
    """Those that fit fewer original records than they have rows."""
    left_over: int
    """Original records that fit no combination; 0 if not all were compared."""


class ColumnFit(NamedTuple):
    """A column: which of its distinct cells cover which distinct original values."""

    covers: BoolArray
    """(cells, values); the last of each is the missing one."""
    value: LongArray
    """The value of each original combination."""
    cell: LongArray
    """The cell of each released combination."""


def fit_combinations(coded: CodedTable, original: Frame, released: pa.Table, pairs: int = _PAIRS) -> Fit:
    """Count the original records that fit each released combination; ``coded`` are the quasi-identifiers of the original."""
    people, groups = distinct_tuples(coded.codes), count_tuples(released, coded.names)
    chosen = _some(len(groups.size), pairs // max(len(people.size), 1))
    columns = [
        _compare(
            column,
            original_values(original, column).take(pa.array(people.first)),
            released.column(column.name).take(pa.array(groups.first[chosen])),
        )
        for column in coded.columns
    ]
    lacking, reached = 0, np.zeros(len(people.size), np.bool_)
    for start in range(0, len(chosen), _CHUNK):
        part = slice(start, start + _CHUNK)
        fits = np.ones((len(chosen[part]), len(people.size)), np.bool_)
        for one in columns:
            fits &= one.covers[one.cell[part]][:, one.value]
        lacking += int((fits @ people.size < groups.size[chosen[part]]).sum())
        reached |= fits.any(axis=0)
    left_over = int(people.size[~reached].sum()) if len(chosen) == len(groups.size) else 0
    return Fit(len(chosen), lacking, left_over)


def _compare(column: CodedColumn, original: pa.ChunkedArray, released: pa.ChunkedArray) -> ColumnFit:
    """Compare every distinct cell of a column with every distinct value."""
    values, cells = encode_dictionary(original), encode_dictionary(released)
    texts, step = cells.dictionary.to_pylist(), max(_AT_ONCE // (len(values.dictionary) + 1), 1)
    parts = [
        _covers(column, values.dictionary, texts[start : start + step]) for start in range(0, max(len(texts), 1), step)
    ]
    return ColumnFit(
        np.concatenate([*(part[:-1] for part in parts), parts[0][-1:]]),
        np.asarray(values.indices.fill_null(len(values.dictionary))).astype(np.int64),
        np.asarray(cells.indices.fill_null(len(texts))).astype(np.int64),
    )


def _covers(column: CodedColumn, values: pa.Array, texts: list[str]) -> BoolArray:
    """Return which of some cells cover which values, (cells, values); the last of each is the missing one."""
    width, height = len(values) + 1, len(texts) + 1
    cell, value = np.divmod(np.arange(width * height), width)
    pairs = Pairs(values, [*texts, None], value, cell, np.ones_like(cell))
    return covered_pairs(column, pairs).reshape(height, width)


def _some(number: int, most: int) -> LongArray:
    """Return all places of this number of rows, or a sample of them that is always the same."""
    if number <= most:
        return np.arange(number)
    return np.sort(np.random.default_rng(0).choice(number, max(most, 1), replace=False))
