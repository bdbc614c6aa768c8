"""Top-Down local recoding, the partitioning (Xu et al. 2006, section 4.2, Figure 5).

A part of the table is cut in two: two records far apart are its seeds, every other record goes to the side whose
penalty it raises least. A part is a block of packed rows that come one after the other; they come in random order and keep it, so
the order of assignment in each part is random and its first row a random start. Only columns in which the rows of a
part differ are read: all others cost nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, BoolArray, FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.packing import Packing
from shoal.kernels.space.range_costs import RangeCosts
from shoal.kernels.space.space import Space, pair_cost
from shoal.kernels.top_down.columns import Columns, code_at, find_columns, make_columns
from shoal.kernels.top_down.sides import Sides, assign_to_seeds, make_sides


class Parts(NamedTuple):
    """The state of a run."""

    rows: WordArray
    """Packed records, reordered in place."""
    record: IntArray
    """The record each row belongs to."""
    group_end: IntArray
    """Where each final group ends; the next one begins there."""
    rank: IntArray
    """For a row at which a part was cut: how many rows that part had, the more the earlier it was cut."""
    begin: LongArray
    """Stack of parts still to be cut: first row."""
    end: LongArray
    """Stack of parts still to be cut: row after the last."""
    depth: LongArray
    """[0]: size of the stack; [1]: number of final groups."""
    moved_rows: WordArray
    """Room for one word of each row."""
    moved_record: IntArray
    total: FloatArray
    """Room for a cost of each row."""


@kernel()
def start(rows: WordArray, record: IntArray) -> Parts:
    """Return the state before the first cut: one part with all records."""
    records = record.shape[0]
    parts = Parts(
        rows,
        record,
        np.empty(records, np.int32),
        np.zeros(records, np.int32),
        np.empty(records + 1, np.int64),
        np.empty(records + 1, np.int64),
        np.zeros(2, np.int64),
        np.empty(records, np.uint64),
        np.empty(records, np.int32),
        np.empty(records),
    )
    parts.begin[0], parts.end[0] = 0, records
    parts.depth[0] = 1
    return parts


@kernel(allocates=False)
def find_seeds(
    space: Space, costs: RangeCosts, columns: Columns, rows: WordArray, rounds: int, total: FloatArray
) -> tuple[int, int, float]:
    """Return two rows far apart, counted over those columns, and their cost; ``total`` is room for a number for each row.

    From the first row on, each round takes the row farthest from the last one found (the earliest among
    equals); it ends early when a round finds no more expensive pair.
    """
    one, other, most = 0, 0, 0.0
    for _ in range(rounds):
        for row in range(rows.shape[1]):
            total[row] = 0.0
        for place in range(columns.found[0]):
            _add_pair_costs(space, costs, columns, place, rows, other, total)
        found = -1
        for row in range(rows.shape[1]):
            if total[row] > most:
                found, most = row, total[row]
        if found < 0:
            break
        one, other = other, found
    return one, other, most


@kernel(inline=True, allocates=False)
def _add_pair_costs(
    space: Space, costs: RangeCosts, columns: Columns, place: int, rows: WordArray, one: int, total: FloatArray
) -> None:
    """Add, for each row, what one column costs when it is released with row ``one``."""
    line, shift, mask = rows[columns.word[place]], columns.shift[place], columns.mask[place]
    code = code_at(columns, rows, one, place)
    if columns.start[place] >= 0:
        begin = columns.start[place] + code * columns.codes[place]
        pair = costs.table[begin : begin + columns.codes[place]]
        for row in range(line.shape[0]):
            total[row] += pair[(line[row] >> shift) & mask]
    else:
        column = columns.number[place]
        for row in range(line.shape[0]):
            other = code_at(columns, rows, row, place)
            total[row] += space.weight[column] * pair_cost(space, column, code, other)


@kernel(allocates=False)
def _separate(line: AnyArray, room: AnyArray, is_second: BoolArray) -> int:
    """Put the rows of the second side behind those of the first, both in their order; return where the second side begins."""
    first, second = 0, 0
    for row in range(line.shape[0]):  # written down for both sides: quicker than a choice
        line[first] = room[second] = line[row]
        first += not is_second[row]
        second += is_second[row]
    for row in range(second):
        line[first + row] = room[row]
    return first


@kernel(inline=True, allocates=False)
def cut_part(
    space: Space,
    costs: RangeCosts,
    packing: Packing,
    parts: Parts,
    begin: int,
    end: int,
    k: int,
    rounds: int,
    columns: Columns,
    sides: Sides,
) -> int:
    """Cut a part in two and return where the second side begins; -1, and nothing is done, when neither would keep k records."""
    rows = parts.rows[:, begin:end]
    find_columns(space, costs, packing, rows, columns)
    one, other, most = find_seeds(space, costs, columns, rows, rounds, parts.total)
    if most == 0.0:
        other = end - begin - 1  # all alike: any two rows serve
    second = assign_to_seeds(space, costs, packing, rows, one, other, columns, sides)
    if second < k and end - begin - second < k:
        return -1
    for word in range(parts.rows.shape[0]):
        _separate(parts.rows[word, begin:end], parts.moved_rows, sides.is_second)
    return begin + _separate(parts.record[begin:end], parts.moved_record, sides.is_second)


@kernel(allocates=False)
def _cut_parts(
    space: Space,
    costs: RangeCosts,
    packing: Packing,
    parts: Parts,
    k: int,
    rounds: int,
    columns: Columns,
    sides: Sides,
    budget: int,
) -> None:
    """Cut parts from the stack until ``budget`` records were touched or nothing is left to cut."""
    touched = 0
    # ends: a part is cut into two smaller ones or becomes a group
    while parts.depth[0] > 0 and touched < budget:
        top = parts.depth[0] - 1
        begin, end = parts.begin[top], parts.end[top]
        touched += end - begin
        middle = -1
        if end - begin > k:
            middle = cut_part(space, costs, packing, parts, begin, end, k, rounds, columns, sides)
        if middle >= 0:  # the first side is cut first
            parts.rank[middle] = end - begin
            parts.begin[top], parts.end[top] = middle, end
            parts.begin[top + 1], parts.end[top + 1] = begin, middle
            parts.depth[0] += 1
        else:
            parts.group_end[parts.depth[1]] = end
            parts.depth[1] += 1
            parts.depth[0] -= 1


@kernel()
def partition(
    space: Space, costs: RangeCosts, packing: Packing, parts: Parts, k: int, rounds: int, budget: int
) -> bool:
    """Cut parts from the stack until ``budget`` records were touched; True when nothing is left to cut."""
    columns, sides = make_columns(space.kind.shape[0]), make_sides(space, packing, parts.record.shape[0])
    _cut_parts(space, costs, packing, parts, k, rounds, columns, sides, budget)
    return parts.depth[0] == 0
