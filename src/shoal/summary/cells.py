"""What each released cell stands for, as codes: the view of an analyst who has only the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, BoolArray, FloatArray, IntArray, LongArray
from shoal.encoding import CodedColumn, CodedTable, positions
from shoal.frames import encode_dictionary
from shoal.kernels.space.space import Cover


@dataclass(frozen=True)
class Cells:
    """The released cells of one column: one for each group, and the group of each released record.

    A cell stands for codes ``members[start[g]:start[g + 1]]`` in columns released as sets, else for ``low..high``.
    """

    group: IntArray
    low: LongArray
    high: LongArray
    hidden: BoolArray
    """The cell shows nothing (*)."""
    missing: BoolArray
    """The value is missing for the whole group."""
    members: LongArray | None = None
    start: LongArray | None = None

    @property
    def size(self) -> LongArray:
        """Released records of each group."""
        return np.bincount(self.group, minlength=len(self.low)).astype(np.int64)

    @property
    def width(self) -> LongArray:
        """How many codes each cell stands for."""
        if self.start is not None:
            return np.diff(self.start)
        return self.high - self.low + 1


def group_cells(table: CodedTable, labels: IntArray, cover: Cover, row: int) -> Cells:
    """Return what the groups of a release with ranges, nodes and sets show in one column."""
    column = table.columns[row]
    low, high = cover.low[row].astype(np.int64), cover.high[row].astype(np.int64)
    group = labels[labels >= 0]
    missing = (low == column.missing) & column.has_missing
    mixed = (high == column.missing) & ~missing & column.has_missing
    if column.kind.by_members:
        members, start = _set_members(table, cover, row)
        return Cells(group, low, high, mixed, missing, members, start)
    if column.hierarchy is not None:
        apart, tree = missing | mixed, column.hierarchy
        node = tree.nodes_above(np.where(apart, 0, low), np.where(apart, 0, high))
        low, high = tree.low[node].astype(np.int64), tree.high[node].astype(np.int64)
        whole = (high - low + 1 == len(column.values)) & (len(column.values) > 1)
        return Cells(group, low, high, (mixed | whole) & ~missing, missing)
    return Cells(group, low, high, mixed, missing)


def _set_members(table: CodedTable, cover: Cover, row: int) -> tuple[LongArray, LongArray]:
    first, last = table.space.word_start[row], table.space.word_start[row + 1]
    words = np.ascontiguousarray(cover.words[:, first:last])
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    group, code = np.nonzero(bits)
    start = np.searchsorted(group, np.arange(len(words) + 1))
    return code.astype(np.int64), start.astype(np.int64)


def value_cells(codes: IntArray, column: CodedColumn) -> Cells:
    """Return cells that show one value each: columns passed through, and values before the release."""
    number = np.arange(column.cardinality, dtype=np.int64)
    missing = number == column.missing
    return Cells(codes, number, number.copy(), np.zeros(len(number), bool), missing)


def representative_codes(column: CodedColumn, released: pa.ChunkedArray) -> IntArray:
    """Return released representatives as codes of the nearest original value."""
    if column.position is None or column.ordinal:
        lookup = {text: code for code, text in enumerate(column.texts)}
        encoded = encode_dictionary(released)
        codes = np.array([lookup[str(text)] for text in encoded.dictionary.to_pylist()] + [column.missing], np.int32)
        return np.asarray(codes[np.asarray(encoded.indices.fill_null(len(codes) - 1))], np.int32)
    numbers = positions(released)
    nearest = _nearest(column.numbers, numbers)
    return np.where(np.isnan(numbers), column.missing, nearest).astype(np.int32)


def _nearest(position: FloatArray, numbers: FloatArray) -> AnyArray:
    place = np.clip(np.searchsorted(position, numbers), 1, max(len(position) - 1, 1))
    left, right = position[place - 1], position[np.minimum(place, len(position) - 1)]
    return np.where(numbers - left <= right - numbers, place - 1, np.minimum(place, len(position) - 1))


def expected_counts(cells: Cells, codes: int) -> FloatArray:
    """Return how many records each code has if every cell is spread evenly over the codes it stands for."""
    shown = ~(cells.hidden | cells.missing)
    share = np.where(shown, cells.size / np.maximum(cells.width, 1), 0.0)
    if cells.members is not None:
        return np.asarray(np.bincount(cells.members, np.repeat(share, cells.width), codes + 1)[:codes], np.float64)
    steps = np.bincount(cells.low[shown], share[shown], codes + 1)
    steps -= np.bincount(cells.high[shown] + 1, share[shown], codes + 1)
    return np.asarray(np.cumsum(steps)[:codes], np.float64)


def draw_codes(cells: Cells, codes: int, random: Any) -> LongArray:
    """Return one code for each released record, drawn evenly from its cell; -1 if missing."""
    low = np.where(cells.hidden, 0, cells.low)
    width = np.where(cells.hidden, codes, cells.width)
    place = (random.random(len(cells.group)) * width[cells.group]).astype(np.int64)
    drawn = low[cells.group] + place
    if cells.members is not None and cells.start is not None:
        inside = np.minimum(cells.start[cells.group] + place, max(len(cells.members) - 1, 0))
        drawn = np.where(cells.hidden[cells.group], place, cells.members[inside])
    return np.where(cells.missing[cells.group], -1, drawn)
