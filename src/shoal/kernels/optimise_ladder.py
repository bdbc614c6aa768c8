"""Ladders of levels: how coarse each column of some records can be made, from each value to one cell for all.

A level divides the values of a column into cells: ancestors at one height of a hierarchy, windows of one
width, sets of one size. A cell has a *mark*, a random 64-bit word; the marks of a record's cells, one a column,
added up name its cell in the whole table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.chance import draw_below, draw_share, draw_word
from shoal.kernels.compiling import kernel
from shoal.kernels.sorting import order_by_key
from shoal.kernels.space import INTERVAL, NODE, SET, Space, range_cost
from shoal.typing import FloatArray, IntArray, LongArray, WordArray

MOST_LEVELS = 32
"""Levels of one column, at most."""


class Ladder(NamedTuple):
    """The levels of all columns for n records."""

    first: LongArray
    """The first level of each column, m + 1 entries."""
    cost: FloatArray
    """Mean cost of a record at each level; it rises within a column."""
    mark: WordArray
    """(levels, n): the mark of each record's cell."""


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
def climb(space: Space, column: int, node: int) -> int:
    """Return the parent of a node, the root for the root."""
    parent = space.node_parent[space.start[column] + node]
    return node if parent < 0 else parent


@kernel(allocates=False)
def node_level(space: Space, column: int, node: IntArray, ratio: float, cell: IntArray) -> None:
    """Raise nodes to the cheapest costs above them, up to ``ratio`` times the least, and make each node a cell."""
    first = space.start[column]
    least = np.inf
    for place in range(node.shape[0]):
        parent = climb(space, column, node[place])
        if parent != node[place]:
            least = min(least, space.node_cost[first + parent])
    number = 0
    for place in range(node.shape[0]):
        parent = climb(space, column, node[place])
        while parent != node[place] and space.node_cost[first + parent] <= least * ratio:
            node[place] = parent
            parent = climb(space, column, parent)
        number += place > 0 and node[place] != node[place - 1]
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
def chunk_level(shuffled: LongArray, size: int, cell: IntArray) -> None:
    """Put values into cells of ``size`` values each, in the order of ``shuffled``."""
    for place in range(shuffled.shape[0]):
        cell[place] = shuffled[place] // size


@kernel(allocates=False)
def smallest_gap(position: FloatArray) -> float:
    """Return the smallest step between neighbouring values, but no less than a share of their span."""
    span = position[-1] - position[0]
    gap = span
    for place in range(1, position.shape[0]):
        gap = min(gap, position[place] - position[place - 1])
    return max(gap, span / 65536.0)


@kernel(allocates=False)
def expected_cost(
    space: Space, column: int, value: IntArray, count: IntArray, members: LongArray, total: int, k: int
) -> float:
    """Return the cost to expect of k records drawn from the ``total`` of one cell: sets hold only the values drawn.

    ``members`` are the places of the cell's values, the smallest value first.
    """
    low, high = value[members[0]], value[members[-1]]
    if low == high:
        return 0.0
    if high == space.missing[column]:
        return 1.0
    if space.kind[column] != SET:
        return range_cost(space, column, low, high)
    distinct = 0.0
    for place in members:
        distinct += 1.0 - (1.0 - count[place] / total) ** k
    return max(distinct, 2.0) / space.domain[column]


@kernel()
def level_cost(space: Space, column: int, value: IntArray, count: IntArray, cell: IntArray, k: int) -> float:
    """Return the mean cost of a record at a level (cells are numbered in any order)."""
    key = np.empty(cell.shape[0], np.int64)
    for place in range(cell.shape[0]):
        key[place] = cell[place]
    order = order_by_key(key)
    total, weighed, begin = 0, 0.0, 0
    for end in range(1, order.shape[0] + 1):
        if end < order.shape[0] and cell[order[end]] == cell[order[begin]]:
            continue
        members = order[begin:end]
        size = 0
        for place in members:
            size += count[place]
        total += size
        weighed += size * expected_cost(space, column, value, count, members, size, k)
        begin = end
    return space.weight[column] * weighed / total


@kernel()
def fill_cells(
    space: Space, column: int, value: IntArray, cells: IntArray, ratio: float, chance: bool, state: WordArray
) -> int:
    """Write the cells of the levels of a column, fine to coarse, into the rows of ``cells``; return their number.

    Windows grow by ``ratio`` from the smallest step; with ``chance`` they begin anywhere and sets take values in
    any order. A missing value keeps its own cell until the last level.
    """
    size = value.shape[0]
    present = size - (value[-1] == space.missing[column] and space.kind[column] != NODE)
    used, first = 1, space.start[column]
    node, position, shuffled = np.empty(size, np.int32), np.zeros(present), np.empty(present, np.int64)
    for place in range(size):
        cells[0, place] = place
        node[place] = value[place]
    if space.kind[column] == INTERVAL:
        for place in range(present):
            position[place] = space.position[first + value[place]]
    for place in range(present):
        shuffled[place] = place
    if chance:
        for place in range(present - 1, 0, -1):
            other = draw_below(state, place + 1)
            shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    unit, steps, chunk = 1.0, 1.0, 2
    if present > 1 and space.kind[column] == INTERVAL:
        unit = smallest_gap(position)
        span = position[-1] - position[0]
        steps = max(1.0, np.floor(span / unit / ratio ** (MOST_LEVELS - 4)))
    while used < MOST_LEVELS - 1:
        cell = cells[used]
        for place in range(present, size):
            cell[place] = size
        if space.kind[column] == NODE:
            node_level(space, column, node, ratio, cell[:present])
        elif space.kind[column] == INTERVAL:
            width = (steps + 1.0) * unit
            offset = np.floor(draw_share(state) * (steps + 1.0)) * unit if chance else 0.0
            window_level(position, width, offset, cell[:present])
            steps = max(steps + 1.0, np.floor(steps * ratio + 0.5))
        else:
            chunk_level(shuffled, chunk, cell[:present])
            chunk *= 2
        last, before = 0, 0
        for place in range(present):
            last, before = max(last, cell[place]), max(before, cells[used - 1, place])
        if last == 0:
            break
        used += last < before or space.kind[column] == INTERVAL
    if present > 1:
        for place in range(size):
            cells[used, place] = 0 if place < present else size
        used += 1
    if size > present:
        for place in range(size):
            cells[used, place] = 0
        used += 1
    return used


@kernel()
def build_ladder(space: Space, codes: IntArray, k: int, ratio: float, noise: float, state: WordArray) -> Ladder:
    """Return the ladder of some records (one row each); costs are shaken by up to e^noise either way."""
    records, columns = codes.shape
    first, costs = np.zeros(columns + 1, np.int64), np.zeros(columns * (MOST_LEVELS + 1))
    marks = np.empty((4 * columns, records), np.uint64)
    rank = np.empty(records, np.int32)
    used = 0
    for column in range(columns):
        value, count = distinct_values(codes, column, rank)
        cells = np.zeros((MOST_LEVELS + 1, value.shape[0]), np.int32)
        levels = 1
        if value.shape[0] > 1:
            levels = fill_cells(space, column, value, cells, ratio, noise > 0.0, state)
        shake = np.exp(noise * (2.0 * draw_share(state) - 1.0))
        for level in range(levels):
            if used == marks.shape[0]:
                wider = np.empty((2 * used, records), np.uint64)
                for row in range(used):
                    for record in range(records):
                        wider[row, record] = marks[row, record]
                marks = wider
            cost = level_cost(space, column, value, count, cells[level], k) * shake
            costs[used] = cost if level == 0 else max(cost, costs[used - 1])
            word = draw_word(state) | np.uint64(1)
            for record in range(records):
                cell = np.uint64(cells[level, rank[record]] + 1)
                mixed = (cell * word) ^ ((cell * word) >> np.uint64(29))
                marks[used, record] = mixed * np.uint64(0xBF58476D1CE4E5B9)
            used += 1
        first[column + 1] = used
    return Ladder(first, costs[:used], marks[:used])
