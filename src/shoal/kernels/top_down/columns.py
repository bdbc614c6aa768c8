"""Top-Down local recoding: the columns in which the records of a part differ.

All others cost nothing. What is needed of these columns is copied side by side, because it is read for each record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.packing import Packing, number_guard
from shoal.kernels.space.range_costs import RangeCosts, weighted_cost
from shoal.kernels.space.space import Space


class Columns(NamedTuple):
    """The columns in which the records of a part differ, from the first place on."""

    found: LongArray
    """[0]: how many they are."""
    number: LongArray
    """The column."""
    word: LongArray
    """Where the column is in a packed row, as in :class:`Packing`."""
    shift: WordArray
    mask: WordArray
    start: LongArray
    """Where the costs of its ranges begin in the table of costs; -1 when there is none."""
    codes: LongArray
    """How many codes it has."""
    kind: LongArray
    """The kind of the column, as in a space."""
    guard: LongArray
    """The number of its guard (:func:`number_guard`)."""


@kernel()
def make_columns(columns: int) -> Columns:
    """Return room for so many columns."""
    return Columns(
        np.zeros(1, np.int64),
        np.empty(columns, np.int64),
        np.empty(columns, np.int64),
        np.empty(columns, np.uint64),
        np.empty(columns, np.uint64),
        np.empty(columns, np.int64),
        np.empty(columns, np.int64),
        np.empty(columns, np.int64),
        np.empty(columns, np.int64),
    )


@kernel(allocates=False)
def find_columns(space: Space, costs: RangeCosts, packing: Packing, rows: WordArray, columns: Columns) -> None:
    """Write down the columns in which rows differ."""
    count = 0
    word, differs = -1, np.uint64(0)
    for column in range(packing.word.shape[0]):
        if packing.word[column] != word:
            word, differs = packing.word[column], np.uint64(0)
            line = rows[word]
            for row in range(line.shape[0]):
                differs |= line[row] ^ line[0]
        if (differs >> packing.shift[column]) & packing.mask[column]:
            columns.number[count] = column
            columns.word[count] = word
            columns.shift[count] = packing.shift[column]
            columns.mask[count] = packing.mask[column]
            columns.start[count] = costs.start[column]
            columns.codes[count] = space.cardinality[column]
            columns.kind[count] = space.kind[column]
            guard = (packing.mask[column] + np.uint64(1)) << packing.shift[column]
            columns.guard[count] = number_guard(word, guard)
            count += 1
    columns.found[0] = count


@kernel(inline=True, allocates=False)
def code_at(columns: Columns, rows: WordArray, row: int, place: int) -> int:
    """Return the code of a row in the column at a place."""
    return np.int64((rows[columns.word[place], row] >> columns.shift[place]) & columns.mask[place])  # type: ignore[return-value]


@kernel(inline=True, allocates=False)
def cost_at(space: Space, costs: RangeCosts, columns: Columns, place: int, low: int, high: int) -> float:
    """Return the weighted cost of a range in the column at a place, which is not a SET."""
    if columns.start[place] >= 0:
        return costs.table[np.uint64(columns.start[place] + low * columns.codes[place] + high)]
    return weighted_cost(space, costs, columns.number[place], low, high)
