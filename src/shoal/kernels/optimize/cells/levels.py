"""Ladders of levels: how coarse each column of some records can be made, from each value to one cell for all.

A level divides the values of a column into cells: ancestors at one height of a hierarchy, windows of one
width, single values of a set or all of them. Each has a *mark*, a random 64-bit word. A cell of the table is one such cell a
column; the sum of their marks is its key (as in Zobrist hashing).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_word
from shoal.kernels.common.sorting import order_by_key
from shoal.kernels.space.kinds import has_members, has_order, has_tree
from shoal.kernels.space.space import Space, parent_of, range_cost

MOST_LEVELS = 32
"""Levels of one column, at most."""


class Levels(NamedTuple):
    """The levels of all columns for n records."""

    first: LongArray
    """The first level of each column, m + 1 entries."""
    cost: FloatArray
    """Mean cost of a record at each level; it rises within a column."""
    mark: WordArray
    """(levels, n): the mark of each record's cell."""
    cell_cost: FloatArray
    """(levels, n): what each record's cell costs."""


@kernel()
def distinct_values(codes: IntArray, column: int, rank: IntArray) -> tuple[IntArray, IntArray]:
    """Return the sorted values of a column and how often each occurs; ``rank`` receives each record's place among them."""
    records = codes.shape[0]
    key = np.empty(records, np.int64)
    for record in range(records):
        key[record] = codes[record, column]
    order = order_by_key(key)
    value, count = np.empty(records, np.int32), np.zeros(records, np.int32)
    number = -1
    for place in range(records):
        record = order[place]
        if number < 0 or codes[record, column] != value[number]:
            number += 1
            value[number] = codes[record, column]
        count[number] += 1
        rank[record] = number
    return value[: number + 1], count[: number + 1]


@kernel(allocates=False)
def node_heights(space: Space, column: int, value: IntArray, height: IntArray) -> None:
    """Write the height of each node above the values: the longest way down from it to one of them."""
    for place in range(value.shape[0]):
        node, steps = value[place], 0
        parent = parent_of(space, column, node)
        while parent != node:
            node, steps = parent, steps + 1
            height[node] = max(height[node], steps)
            parent = parent_of(space, column, node)


@kernel(allocates=False)
def node_level(space: Space, column: int, value: IntArray, height: IntArray, level: int, cell: IntArray) -> None:
    """Put values into cells by their highest ancestor that is at most ``level`` above the leaves."""
    number, before = 0, -1
    for place in range(cell.shape[0]):
        node = value[place]
        parent = parent_of(space, column, node)
        while parent != node and height[parent] <= level:
            node = parent
            parent = parent_of(space, column, node)
        number += place > 0 and node != before
        before = node
        cell[place] = number


@kernel(allocates=False)
def window_level(position: FloatArray, width: float, offset: float, cell: IntArray) -> None:
    """Put values into cells by windows of ``width``, the first of which begins ``offset`` before the lowest value."""
    number, before = 0, 0.0
    for place in range(position.shape[0]):
        window = np.floor((position[place] - position[0] + offset) / width)
        number += place > 0 and window != before
        before = window
        cell[place] = number


@kernel(allocates=False)
def smallest_gap(position: FloatArray) -> float:
    """Return the smallest step between neighbouring values, but no less than a share of their span."""
    span = position[-1] - position[0]
    gap = span
    for place in range(1, position.shape[0]):
        gap = min(gap, position[place] - position[place - 1])
    return max(gap, span / 65536.0)


@kernel()
def write_cell_costs(
    space: Space, column: int, value: IntArray, count: IntArray, cell: IntArray, k: int, cell_cost: FloatArray
) -> float:
    """Write what the cell of each value costs, weighted, and return the mean over records.

    A set is charged for the values to expect among k records drawn from the cell.
    """
    size = value.shape[0]
    low, high, total, distinct = np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1)
    for place in range(size):
        at = cell[place]
        if total[at] == 0.0:
            low[at] = place
        high[at] = place
        total[at] += count[place]
    for place in range(size):
        distinct[cell[place]] += 1.0 - (1.0 - count[place] / total[cell[place]]) ** k
    weighed, records = 0.0, 0
    for place in range(size):
        at = cell[place]
        first, last = value[int(low[at])], value[int(high[at])]
        if first == last:
            cost = 0.0
        elif last == space.missing[column]:
            cost = 1.0
        elif not has_members(space.kind[column]):  # k records seldom have all values of a set's cell
            cost = range_cost(space, column, first, last)
        else:
            cost = max(distinct[at], 2.0) / space.domain[column]
        cell_cost[place] = space.weight[column] * cost
        weighed += count[place] * cell_cost[place]
        records += count[place]
    return weighed / records


@kernel()
def write_levels(space: Space, column: int, value: IntArray, cells: IntArray, ratio: float) -> int:
    """Write the cells of the levels of a column, fine to coarse, into the rows of ``cells``; return their number.

    Nodes rise in the hierarchy, windows of numbers grow by ``ratio`` from the smallest step, and a set is either single values or one cell for all.
    A missing value keeps its own cell until the last level.
    """
    size, kind = value.shape[0], space.kind[column]
    present = size - (value[-1] == space.missing[column] and not has_tree(kind))
    for place in range(size):
        cells[0, place] = place
    used = 1
    height, position = np.zeros(0, np.int32), np.zeros(0)
    unit, steps = 1.0, 1.0
    if has_tree(kind):
        height = np.zeros(space.node_cost.shape[0], np.int32)
        node_heights(space, column, value, height)
    elif has_order(kind) and present > 1:
        position = np.zeros(present)
        for place in range(present):
            position[place] = space.position[space.start[column] + value[place]]
        unit = smallest_gap(position)
        steps = max(1.0, np.floor((position[-1] - position[0]) / unit / ratio ** (MOST_LEVELS - 4)))
    while not has_members(kind) and present > 1 and used < MOST_LEVELS - 1:
        cell = cells[used]
        for place in range(present, size):
            cell[place] = size
        if has_tree(kind):
            node_level(space, column, value, height, used, cell[:present])
        elif has_order(kind):
            window_level(position, (steps + 1.0) * unit, 0.0, cell[:present])
            steps = max(steps + 1.0, np.floor(steps * ratio + 0.5))
        if cell[present - 1] == cell[0]:
            break
        used += 1
    for place in range(size):
        cells[used, place] = 0 if place < present else size
        cells[used + 1, place] = 0
    used += present > 1
    return used + (size > present)


@kernel()
def build_levels(space: Space, codes: IntArray, k: int, ratio: float, state: WordArray) -> Levels:
    """Return the ladders of all columns for some records, one row each; windows grow by ``ratio``."""
    records, columns = codes.shape
    most = columns * (MOST_LEVELS + 2)
    first, costs, levels = np.zeros(columns + 1, np.int64), np.zeros(most), 0
    marks, cell_costs = np.empty((4 * columns, records), np.uint64), np.empty((4 * columns, records))
    rank = np.empty(records, np.int32)
    for column in range(columns):
        value, count = distinct_values(codes, column, rank)
        cells, cell_cost = np.zeros((MOST_LEVELS + 2, value.shape[0]), np.int32), np.zeros(value.shape[0])
        for level in range(write_levels(space, column, value, cells, ratio)):
            if levels == marks.shape[0]:
                more_marks, more_costs = np.empty((2 * levels, records), np.uint64), np.empty((2 * levels, records))
                for row in range(levels):
                    for record in range(records):
                        more_marks[row, record], more_costs[row, record] = marks[row, record], cell_costs[row, record]
                marks, cell_costs = more_marks, more_costs
            costs[levels] = write_cell_costs(space, column, value, count, cells[level], k, cell_cost)
            if level > 0:
                costs[levels] = max(costs[levels], costs[levels - 1])
            word = draw_word(state) | np.uint64(1)
            for record in range(records):
                cell = np.uint64(cells[level, rank[record]] + 1)
                mixed = (cell * word) ^ ((cell * word) >> np.uint64(29))
                marks[levels, record] = mixed * np.uint64(0xBF58476D1CE4E5B9)
                cell_costs[levels, record] = cell_cost[rank[record]]
            levels += 1
        first[column + 1] = levels
    return Levels(first, costs[:levels], marks[:levels], cell_costs[:levels])
