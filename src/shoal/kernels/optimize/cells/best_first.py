"""Cells first: groups from generalization cells, cheap cells before expensive ones.

A cell takes one level of each column (see ``cells/levels.py``). Combinations of levels are visited from cheap
to expensive through a heap, so that a lattice of any size can be entered; every cell that still holds k records
becomes a group, and what stays goes on to the next combination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.hashing import table_room
from shoal.kernels.common.heap import Queue, drop_first, make_queue, push
from shoal.kernels.optimize.cells.levels import Levels

COST_TOLERANCE = 1.02
"""Cells of a combination are taken if they cost at most this many times what it was queued at; more expensive ones wait."""
ROUNDING_ALLOWANCE = 1e-9
"""Added to such a limit, so that rounding excludes no cell of exactly that cost."""


class Combinations(NamedTuple):
    """Combinations of one level a column: those met so far, and a heap of those still to be visited."""

    cost: FloatArray
    """What a combination costs a record on average; once its cheap cells are taken, what the cheapest of the others costs."""
    step: IntArray
    """(room, m): how many levels above the finest each column is."""
    last: IntArray
    """The column raised last. Only it and those after it are raised further, so that no combination is made twice."""
    heap: Queue
    size: LongArray
    """[0]: combinations in the heap; [1]: combinations met so far."""


class CellTable(NamedTuple):
    """A hash table of cells; an entry counts only when its stamp is that of the present pass."""

    key: WordArray
    """The sum of the cell's marks (``Levels``)."""
    records: LongArray
    """How many records it holds."""
    group: IntArray
    """The group made of it, -1 for none."""
    stamp: LongArray
    """The pass that wrote the entry."""


@kernel()
def start_combinations(levels: Levels, room: int) -> Combinations:
    """Return the finest combination only, as the one to visit first."""
    columns = levels.first.shape[0] - 1
    combinations = Combinations(
        np.zeros(room),
        np.zeros((room, columns), np.int32),
        np.zeros(room, np.int32),
        make_queue(room),
        np.ones(2, np.int64),
    )
    for column in range(columns):
        combinations.cost[0] += levels.cost[levels.first[column]]
    combinations.size[0] = 0
    enqueue(combinations, 0)
    return combinations


@kernel(allocates=False)
def enqueue(combinations: Combinations, entry: int) -> None:
    """Add a combination to the heap by its cost; the order of equal ones is not defined."""
    combinations.size[0] = push(combinations.heap, combinations.size[0], combinations.cost[entry], 0, entry)


@kernel(allocates=False)
def dequeue(combinations: Combinations) -> int:
    """Remove and return the cheapest combination."""
    entry = combinations.heap.item[0]
    combinations.size[0] = drop_first(combinations.heap, combinations.size[0])
    return entry


@kernel(allocates=False)
def push_dearer(levels: Levels, combinations: Combinations, entry: int) -> None:
    """Queue the combinations that are ``entry`` with one column raised by a level, as long as there is room."""
    for column in range(combinations.last[entry], combinations.step.shape[1]):
        level = levels.first[column] + combinations.step[entry, column]
        if level + 1 >= levels.first[column + 1] or combinations.size[1] >= combinations.cost.shape[0]:
            continue
        new = combinations.size[1]
        combinations.size[1] += 1
        for other in range(combinations.step.shape[1]):
            combinations.step[new, other] = combinations.step[entry, other]
        combinations.step[new, column] += 1
        combinations.last[new] = column
        combinations.cost[new] = combinations.cost[entry] + levels.cost[level + 1] - levels.cost[level]
        enqueue(combinations, new)


@kernel()
def make_cell_table(records: int) -> CellTable:
    """Return an empty hash table for up to ``records`` cells."""
    room = table_room(records)
    return CellTable(
        np.zeros(room, np.uint64), np.zeros(room, np.int64), np.zeros(room, np.int32), np.zeros(room, np.int64)
    )


@kernel(allocates=False)
def cell_key(levels: Levels, step: IntArray, record: int) -> np.uint64:
    """Return the key of the cell of one combination that holds a record."""
    key = np.uint64(0)
    for column in range(step.shape[0]):
        key += levels.mark[levels.first[column] + step[column], record]
    return key


@kernel(allocates=False)
def find_slot(table: CellTable, mask: np.uint64, stamp: int, key: np.uint64) -> int:
    """Return the slot of the hash table where a cell is or belongs; ``mask`` is the number of slots in use, less 1."""
    at = (key >> np.uint64(32)) & mask
    # ends: the table has twice as many slots as keys, so a free one comes
    while table.stamp[at] == stamp and table.key[at] != key:
        at = (at + np.uint64(1)) & mask
    return int(at)


@kernel(allocates=False)
def count_cells(
    levels: Levels,
    step: IntArray,
    multiplicity: IntArray,
    alive: IntArray,
    k: int,
    table: CellTable,
    stamp: int,
    slot: IntArray,
) -> bool:
    """Count the records of each cell of one combination; return whether any cell has k.

    ``multiplicity`` says how many records each tuple has; ``slot`` receives the place of the cell of each tuple alive in the table.
    """
    mask = np.uint64(table_room(alive.shape[0]) - 1)
    enough = False
    for place in range(alive.shape[0]):
        record = alive[place]
        key = cell_key(levels, step, record)
        at = find_slot(table, mask, stamp, key)
        if table.stamp[at] != stamp:
            table.stamp[at], table.key[at], table.records[at], table.group[at] = stamp, key, 0, -1
        table.records[at] += multiplicity[record]
        enough |= table.records[at] >= k
        slot[place] = at
    return enough


class CellSearch(NamedTuple):
    """A best-first search through the combinations that can be halted and taken up again.

    Its records are distinct tuples if the caller passes multiplicities.
    """

    combinations: Combinations
    table: CellTable
    slot: IntArray
    """For each place of ``alive``: where its record's cell is in the hash table."""
    alive: IntArray
    """The records that no cell has taken yet (alive), in the first ``state[0]`` places."""
    label: IntArray
    """The group of each record, -1 for those alive."""
    state: LongArray
    """[0]: records alive; [1]: groups made; [2]: passes made."""


@kernel(allocates=False)
def take_cells(levels: Levels, step: IntArray, k: int, limit: float, search: CellSearch) -> float:
    """Make every cell with k records that costs at most ``limit`` a group; return the cost of the cheapest left."""
    state, stay, least = search.state, 0, np.inf
    for place in range(state[0]):
        record, at = search.alive[place], search.slot[place]
        cost = np.inf
        if search.table.records[at] >= k:
            cost = 0.0
            for column in range(step.shape[0]):
                cost += levels.cell_cost[levels.first[column] + step[column], record]
        if cost > limit:
            search.alive[stay] = record
            stay += 1
            least = min(least, cost)
            continue
        if search.table.group[at] < 0:
            search.table.group[at] = state[1]
            state[1] += 1
        search.label[record] = search.table.group[at]
    state[0] = stay
    return least


@kernel()
def start_cell_search(levels: Levels, most: int) -> CellSearch:
    """Return the search before its first combination; at most ``most`` of them are ever queued."""
    records = levels.mark.shape[1]
    columns, possible = levels.first.shape[0] - 1, 1.0
    for column in range(columns):
        possible *= levels.first[column + 1] - levels.first[column]
    state, alive = np.zeros(3, np.int64), np.empty(records, np.int32)
    state[0] = records
    for record in range(records):
        alive[record] = record
    return CellSearch(
        start_combinations(levels, int(min(possible + columns, float(most)))),
        make_cell_table(records),
        np.empty(records, np.int32),
        alive,
        np.full(records, -1, np.int32),
        state,
    )


@kernel(allocates=False)
def run_cell_search(levels: Levels, multiplicity: IntArray, k: int, search: CellSearch, budget: int) -> int:
    """Go on with a search for ``budget`` visits of tuples, each of ``multiplicity`` records; return the visits spent.

    A return below the budget says that the search is over. A combination with cells above the limit goes back into
    the heap, by the cost of the cheapest of them.
    """
    spent, state, columns = 0, search.state, levels.first.shape[0] - 1
    # ends: every pass over a combination spends at least 16 of the budget
    while search.combinations.size[0] > 0 and state[0] > 0 and spent < budget:
        entry = dequeue(search.combinations)
        push_dearer(levels, search.combinations, entry)
        search.combinations.last[entry] = columns  # when it comes again, those above it are queued already
        spent += state[0] + 16  # an empty pass costs something too
        state[2] += 1
        alive = search.alive[: state[0]]
        step = search.combinations.step[entry]
        if count_cells(levels, step, multiplicity, alive, k, search.table, state[2], search.slot):
            limit = search.combinations.cost[entry] * COST_TOLERANCE + ROUNDING_ALLOWANCE
            search.combinations.cost[entry] = take_cells(levels, step, k, limit, search)
            if search.combinations.cost[entry] < np.inf:
                enqueue(search.combinations, entry)
    return spent
