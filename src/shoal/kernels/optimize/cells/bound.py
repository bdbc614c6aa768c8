"""A loss no grouping can be below: each record's cheapest cell that holds k records of the whole table.

Whatever group a record ends in, the group's box is a combination of one level a column that costs no less
than the level says, and all k records of the group lie in the record's cell of that combination. Visiting the
combinations from cheap to expensive, the first one whose cell has k records gives a cost the record cannot avoid.

So every range that a group may have must lie in a cell of some level that costs no more. Hierarchies: one level for each
cost of a node. Sets: two or more values cost at least two. Intervals: a range of width at most w lies within a window of width
2w of one of two grids, shifted by w; it is charged the next smaller width of the ladder.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.hashing import scramble, table_room
from shoal.kernels.optimize.cells.best_first import (
    CellSearch,
    cell_key,
    count_cells,
    dequeue,
    find_slot,
    push_dearer,
)
from shoal.kernels.optimize.cells.levels import Levels, distinct_values, smallest_gap, window_level
from shoal.kernels.space.kinds import has_order, has_tree
from shoal.kernels.space.space import Space, parent_of

MOST_BOUND_LEVELS = 24
"""Levels of one column, at most; further ones are merged into one, at the cost of the cheapest of them."""
GROWTH = 1.5
"""By what factor the widths of windows grow."""
WINDOW_WIDENING = 1.0 + 1e-9
"""Widths of windows are multiplied by this, so that no range falls out of its window by rounding."""


@kernel()
def bound_nodes(space: Space, column: int, value: IntArray, cells: IntArray, cost: FloatArray) -> int:
    """Write one level for each cost of a node above the values; return the number of levels."""
    first, used = space.start[column], 1
    node = value.copy()
    while used < MOST_BOUND_LEVELS:
        least = np.inf
        for place in range(node.shape[0]):
            parent = parent_of(space, column, node[place])
            if parent != node[place]:
                least = min(least, space.node_cost[first + parent])
        if least == np.inf:
            break
        for place in range(node.shape[0]):
            parent = parent_of(space, column, node[place])
            while parent != node[place] and space.node_cost[first + parent] <= least:
                node[place] = parent
                parent = parent_of(space, column, parent)
            cells[used, place] = 0 if used == MOST_BOUND_LEVELS - 1 else node[place]
        cost[used] = least
        used += 1
    return used


@kernel()
def bound_windows(space: Space, column: int, value: IntArray, cells: IntArray, cost: FloatArray) -> int:
    """Write two grids of windows for each width of a ladder; the last level holds all values."""
    size = value.shape[0]
    position = np.empty(size)
    for place in range(size):
        position[place] = space.position[space.start[column] + value[place]]
    span, used = position[-1] - position[0], 1
    least, width = span, smallest_gap(position)
    for place in range(1, size):
        least = min(least, position[place] - position[place - 1])
    if width * GROWTH ** (MOST_BOUND_LEVELS // 2 - 2) < span:
        width = span / GROWTH ** (MOST_BOUND_LEVELS // 2 - 2)
    while 2.0 * width < span and used + 3 <= MOST_BOUND_LEVELS:
        for grid in range(2):
            window_level(position, 2.0 * width * WINDOW_WIDENING, grid * width * WINDOW_WIDENING, cells[used])
            cost[used] = least / space.domain[column]
            used += 1
        least, width = width, width * GROWTH
    for place in range(size):
        cells[used, place] = 0
    cost[used] = least / space.domain[column]
    return used + 1


@kernel()
def bound_column_levels(space: Space, column: int, value: IntArray, cells: IntArray, cost: FloatArray) -> int:
    """Write the levels of one column, cheap to expensive, as its kind has them (see above); return their number. A missing value is mixed only at the last."""
    size = value.shape[0]
    for place in range(size):
        cells[0, place] = place
    cost[0] = 0.0
    if size == 1:
        return 1
    if has_tree(space.kind[column]):
        return bound_nodes(space, column, value, cells, cost)
    present = size - (value[-1] == space.missing[column])
    used = 1
    if present > 1 and has_order(space.kind[column]):
        for level in range(cells.shape[0]):
            for place in range(present, size):
                cells[level, place] = size
        used = bound_windows(space, column, value[:present], cells[:, :present], cost)
    elif present > 1:
        for place in range(size):
            cells[1, place] = 0 if place < present else size
        cost[1] = 2.0 / space.domain[column]
        used = 2
    if present < size:
        for place in range(size):
            cells[used, place] = 0
        cost[used] = 1.0
        used += 1
    return used


@kernel()
def bound_levels(space: Space, codes: IntArray) -> Levels:
    """Return the levels of all columns for some records, one row each."""
    records, columns = codes.shape
    first = np.zeros(columns + 1, np.int64)
    costs = np.zeros(columns * (MOST_BOUND_LEVELS + 1))
    marks = np.empty((columns * (MOST_BOUND_LEVELS + 1), records), np.uint64)
    rank, cost = np.empty(records, np.int32), np.zeros(MOST_BOUND_LEVELS + 1)
    used = 0
    for column in range(columns):
        value, _ = distinct_values(codes, column, rank)
        cells = np.zeros((MOST_BOUND_LEVELS + 1, value.shape[0]), np.int32)
        levels = bound_column_levels(space, column, value, cells, cost)
        for level in range(levels):
            costs[used] = space.weight[column] * cost[level]
            for record in range(records):
                marks[used, record] = mark_of(used, cells[level, rank[record]])
            used += 1
        first[column + 1] = used
    return Levels(first, costs[:used], marks[:used], np.zeros((0, 0)))


@kernel(allocates=False)
def mark_of(level: int, cell: int) -> np.uint64:
    """Return the mark of a cell of a level."""
    return scramble(
        np.uint64(level + 1) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(cell) * np.uint64(0xD1B54A32D192ED03)
    )


@kernel(allocates=False)
def count_others(levels: Levels, step: IntArray, multiplicity: IntArray, search: CellSearch) -> None:
    """Count the records that have their bound in the cells of those that have none; other cells need no count."""
    alive, stamp = search.state[0], search.state[2]
    mask = np.uint64(table_room(alive) - 1)
    for place in range(alive, search.alive.shape[0]):
        record = search.alive[place]
        at = find_slot(search.table, mask, stamp, cell_key(levels, step, record))
        if search.table.stamp[at] == stamp:
            search.table.records[at] += multiplicity[record]


@kernel(allocates=False)
def bound_cells(k: int, cost: float, search: CellSearch, bound: FloatArray) -> None:
    """Give the records of cells that hold k their bound, and put them behind those that have none."""
    place = 0
    while place < search.state[0]:
        record = search.alive[place]
        if search.table.records[search.slot[place]] < k:
            place += 1
            continue
        bound[record] = cost
        search.state[0] -= 1
        last = search.state[0]
        search.alive[place], search.alive[last] = search.alive[last], record
        search.slot[place] = search.slot[last]


@kernel(allocates=False)
def run_bound(
    levels: Levels, multiplicity: IntArray, k: int, search: CellSearch, bound: FloatArray, budget: int
) -> int:
    """Go on for ``budget`` visits of records; return the visits spent, fewer once every record has its bound.

    ``bound`` is below 0 for records whose cell is not found yet, those first in ``search.alive``; they cost at least as much as the cheapest
    combination still queued. The search ends before the queue would have to drop a combination.
    """
    spent, state, records = 0, search.state, multiplicity.shape[0]
    # ends: every pass over a combination spends at least 16 of the budget
    while search.combinations.size[0] > 0 and state[0] > 0 and spent < budget:
        if search.combinations.size[1] + search.combinations.step.shape[1] > search.combinations.cost.shape[0]:
            break
        entry = dequeue(search.combinations)
        push_dearer(levels, search.combinations, entry)
        spent += records + 16
        state[2] += 1
        step = search.combinations.step[entry]
        count_cells(levels, step, multiplicity, search.alive[: state[0]], k, search.table, state[2], search.slot)
        count_others(levels, step, multiplicity, search)
        bound_cells(k, search.combinations.cost[entry], search, bound)
    return spent
