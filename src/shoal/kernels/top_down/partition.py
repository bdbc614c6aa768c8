"""Top-Down local recoding, the partitioning (Xu et al. 2006, section 4.2, Figure 5).

A part of the table is cut in two: two records far apart are its seeds, every other record goes to the side whose
penalty it raises least. The records of a part come one after the other; they come in random order and keep it, so
the order of assignment in each part is random and its first record a random start. Only columns in which the records
of a part differ are read: all others cost nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, BoolArray, FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.range_costs import RangeCosts, cost_with_code, cover_by_group
from shoal.kernels.space.space import Cover, Space, add_record, pair_cost


class Parts(NamedTuple):
    """The state of a run."""

    rows: IntArray
    """The codes of the records, (m, n), reordered in place."""
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
    moved: IntArray
    """Room for a number of each row."""
    total: FloatArray
    """Room for a cost of each row."""
    is_second: BoolArray
    """Whether a row of the part that is cut goes to the second side."""
    columns: LongArray
    """Room for the columns in which the rows of a part differ."""
    sides: Cover
    """Room for the boxes of the two sides of a cut."""


@kernel()
def start(space: Space, rows: IntArray, record: IntArray) -> Parts:
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
        np.empty(records, np.int32),
        np.empty(records),
        np.empty(records, np.bool_),
        np.empty(rows.shape[0], np.int64),
        cover_by_group(space, 2),
    )
    parts.begin[0], parts.end[0] = 0, records
    parts.depth[0] = 1
    return parts


@kernel(allocates=False)
def find_columns(rows: IntArray, columns: LongArray) -> int:
    """Write down the columns in which rows differ and return how many."""
    count = 0
    for column in range(rows.shape[0]):
        line = rows[column]
        for row in range(1, line.shape[0]):
            if line[row] != line[0]:
                columns[count] = column
                count += 1
                break
    return count


@kernel(allocates=False)
def find_seeds(
    space: Space, costs: RangeCosts, columns: LongArray, rows: IntArray, rounds: int, total: FloatArray
) -> tuple[int, int, float]:
    """Return two rows far apart, counted over those columns, and their cost; ``total`` is room for a number for each row.

    From the first row on, each round takes the row farthest from the last one found (the earliest among
    equals); it ends early when a round finds no more expensive pair.
    """
    one, other, most = 0, 0, 0.0
    for _ in range(rounds):
        for row in range(rows.shape[1]):
            total[row] = 0.0
        for column in columns:
            _add_pair_costs(space, costs, column, rows[column], other, total)
        found = -1
        for row in range(rows.shape[1]):
            if total[row] > most:
                found, most = row, total[row]
        if found < 0:
            break
        one, other = other, found
    return one, other, most


@kernel(inline=True, allocates=False)
def _add_pair_costs(space: Space, costs: RangeCosts, column: int, line: IntArray, one: int, total: FloatArray) -> None:
    """Add, for each row, what one column costs when it is released with row ``one``."""
    code, begin = line[one], costs.start[column]
    if begin >= 0:
        codes = space.cardinality[column]
        pair = costs.table[begin + code * codes : begin + (code + 1) * codes]
        for row in range(line.shape[0]):
            total[row] += pair[line[row]]
    else:
        for row in range(line.shape[0]):
            total[row] += space.weight[column] * pair_cost(space, column, code, line[row])


@kernel(inline=True, allocates=False)
def _cost_with_row(
    space: Space, costs: RangeCosts, columns: LongArray, sides: Cover, side: int, rows: IntArray, row: int
) -> float:
    """Return the weighted cost of a side once it takes in a row."""
    total = 0.0
    for column in columns:
        total += cost_with_code(space, costs, sides, side, column, rows[column, row])
    return total


@kernel(allocates=False)
def assign_to_seeds(
    space: Space,
    costs: RangeCosts,
    columns: LongArray,
    parts: Parts,
    rows: IntArray,
    one: int,
    other: int,
) -> int:
    """Write down which rows go to the second side and return how many.

    A row goes where it raises the penalty least; ties go to the smaller side, then to the first.
    """
    sides, is_second = parts.sides, parts.is_second
    sides.words[:] = 0
    sides.size[:] = 0
    add_record(space, sides, 0, rows, one)
    add_record(space, sides, 1, rows, other)
    cost, second_cost = 0.0, 0.0
    for row in range(rows.shape[1]):
        if row == one or row == other:
            is_second[row] = row == other
            continue
        size, second_size = float(sides.size[0]), float(sides.size[1])
        first = _cost_with_row(space, costs, columns, sides, 0, rows, row)
        second = _cost_with_row(space, costs, columns, sides, 1, rows, row)
        growth = (size + 1) * first - size * cost
        second_growth = (second_size + 1) * second - second_size * second_cost
        goes_second = second_growth < growth or (second_growth == growth and second_size < size)
        is_second[row] = goes_second
        add_record(space, sides, int(goes_second), rows, row)
        if goes_second:
            second_cost = second
        else:
            cost = first
    return sides.size[1]


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
def cut_part(space: Space, costs: RangeCosts, parts: Parts, begin: int, end: int, k: int, rounds: int) -> int:
    """Cut a part in two and return where the second side begins; -1, and nothing is done, when neither would keep k records."""
    rows = parts.rows[:, begin:end]
    columns = parts.columns[: find_columns(rows, parts.columns)]
    one, other, most = find_seeds(space, costs, columns, rows, rounds, parts.total)
    if most == 0.0:
        other = end - begin - 1  # all alike: any two rows serve
    second = assign_to_seeds(space, costs, columns, parts, rows, one, other)
    if second < k and end - begin - second < k:
        return -1
    for column in columns:
        _separate(rows[column], parts.moved, parts.is_second)
    return begin + _separate(parts.record[begin:end], parts.moved, parts.is_second)


@kernel()
def partition(space: Space, costs: RangeCosts, parts: Parts, k: int, rounds: int, budget: int) -> bool:
    """Cut parts from the stack until ``budget`` records were touched; True when nothing is left to cut."""
    touched = 0
    # ends: a part is cut into two smaller ones or becomes a group
    while parts.depth[0] > 0 and touched < budget:
        top = parts.depth[0] - 1
        begin, end = parts.begin[top], parts.end[top]
        touched += end - begin
        middle = -1
        if end - begin > k:
            middle = cut_part(space, costs, parts, begin, end, k, rounds)
        if middle >= 0:  # the first side is cut first
            parts.rank[middle] = end - begin
            parts.begin[top], parts.end[top] = middle, end
            parts.begin[top + 1], parts.end[top + 1] = begin, middle
            parts.depth[0] += 1
        else:
            parts.group_end[parts.depth[1]] = end
            parts.depth[1] += 1
            parts.depth[0] -= 1
    return parts.depth[0] == 0
