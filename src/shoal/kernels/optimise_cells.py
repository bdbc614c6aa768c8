"""Cells first: groups from generalization cells, cheap cells before dear ones.

A cell takes one level of each column (see ``optimise_ladder``). Combinations of levels are visited from cheap
to dear through a heap, so that a lattice of any size can be entered; every cell that still holds k records
becomes a group, and what stays goes on to the next combination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_ladder import Ladder
from shoal.typing import FloatArray, IntArray, LongArray, WordArray

PATIENCE = 1.02
"""Cells up to this much dearer than the combination whose turn it is are taken with it."""
ROUNDING = 1e-9


class Queue(NamedTuple):
    """Combinations of levels still to be visited, as a binary heap over ``order``."""

    cost: FloatArray
    step: IntArray
    """(room, m): how many levels above the finest each column stands."""
    last: IntArray
    """Columns before this one are not raised any more, so that no combination comes twice."""
    order: LongArray
    size: LongArray
    """[0]: entries of the heap; [1]: entries in use."""


class Table(NamedTuple):
    """A hash table of cells; an entry counts only when its stamp is that of the present pass."""

    key: WordArray
    records: LongArray
    group: IntArray
    stamp: LongArray


@kernel()
def make_queue(ladder: Ladder, room: int) -> Queue:
    """Return a queue that holds the finest combination only."""
    columns = ladder.first.shape[0] - 1
    queue = Queue(
        np.zeros(room),
        np.zeros((room, columns), np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int64),
        np.ones(2, np.int64),
    )
    for column in range(columns):
        queue.cost[0] += ladder.cost[ladder.first[column]]
    return queue


@kernel(allocates=False)
def push(queue: Queue, entry: int) -> None:
    """Add an entry to the heap."""
    place = queue.size[0]
    queue.size[0] += 1
    while place > 0:
        above = (place - 1) // 2
        if queue.cost[queue.order[above]] <= queue.cost[entry]:
            break
        queue.order[place] = queue.order[above]
        place = above
    queue.order[place] = entry


@kernel(allocates=False)
def pop(queue: Queue) -> int:
    """Remove and return the cheapest entry."""
    best = queue.order[0]
    queue.size[0] -= 1
    size = queue.size[0]
    entry = queue.order[size]
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and queue.cost[queue.order[below + 1]] < queue.cost[queue.order[below]]:
            below += 1
        if queue.cost[queue.order[below]] >= queue.cost[entry]:
            break
        queue.order[place] = queue.order[below]
        place = below
    queue.order[place] = entry
    return best


@kernel(allocates=False)
def push_dearer(ladder: Ladder, queue: Queue, entry: int) -> None:
    """Queue the combinations one level above ``entry``, as long as there is room."""
    for column in range(queue.last[entry], queue.step.shape[1]):
        level = ladder.first[column] + queue.step[entry, column]
        if level + 1 >= ladder.first[column + 1] or queue.size[1] >= queue.cost.shape[0]:
            continue
        new = queue.size[1]
        queue.size[1] += 1
        for other in range(queue.step.shape[1]):
            queue.step[new, other] = queue.step[entry, other]
        queue.step[new, column] += 1
        queue.last[new] = column
        queue.cost[new] = queue.cost[entry] + ladder.cost[level + 1] - ladder.cost[level]
        push(queue, new)


@kernel()
def make_table(records: int) -> Table:
    """Return an empty hash table for up to ``records`` cells."""
    room = 16
    while room < 2 * records:
        room *= 2
    return Table(
        np.zeros(room, np.uint64), np.zeros(room, np.int64), np.zeros(room, np.int32), np.zeros(room, np.int64)
    )


@kernel(allocates=False)
def count_cells(
    ladder: Ladder, step: IntArray, count: IntArray, alive: IntArray, k: int, table: Table, stamp: int, slot: IntArray
) -> bool:
    """Count the records of each cell of one combination; tell whether any cell has k."""
    room = 16
    while room < 2 * alive.shape[0]:
        room *= 2
    mask = np.uint64(room - 1)
    enough = False
    for place in range(alive.shape[0]):
        record = alive[place]
        key = np.uint64(0)
        for column in range(step.shape[0]):
            key += ladder.mark[ladder.first[column] + step[column], record]
        at = (key >> np.uint64(32)) & mask
        while table.stamp[at] == stamp and table.key[at] != key:
            at = (at + np.uint64(1)) & mask
        if table.stamp[at] != stamp:
            table.stamp[at], table.key[at], table.records[at], table.group[at] = stamp, key, 0, -1
        table.records[at] += count[record]
        enough |= table.records[at] >= k
        slot[place] = at
    return enough


class Search(NamedTuple):
    """A walk through the combinations that can be halted and taken up again."""

    queue: Queue
    table: Table
    slot: IntArray
    """Where each record alive stands in the table."""
    alive: IntArray
    """Records no cell has taken yet, in the first ``state[0]`` places."""
    label: IntArray
    """The group of each record, -1 for those alive."""
    state: LongArray
    """Records alive, groups, passes made."""


@kernel(allocates=False)
def take_cells(ladder: Ladder, step: IntArray, k: int, limit: float, search: Search) -> float:
    """Make every cell with k records that costs at most ``limit`` a group; return the cost of the cheapest left."""
    state, stay, least = search.state, 0, np.inf
    for place in range(state[0]):
        record, at = search.alive[place], search.slot[place]
        price = np.inf
        if search.table.records[at] >= k:
            price = 0.0
            for column in range(step.shape[0]):
                price += ladder.price[ladder.first[column] + step[column], record]
        if price > limit:
            search.alive[stay] = record
            stay += 1
            least = min(least, price)
            continue
        if search.table.group[at] < 0:
            search.table.group[at] = state[1]
            state[1] += 1
        search.label[record] = search.table.group[at]
    state[0] = stay
    return least


@kernel()
def start_search(ladder: Ladder, most: int) -> Search:
    """Return the search before its first combination; at most ``most`` of them are ever queued."""
    records = ladder.mark.shape[1]
    columns, combinations = ladder.first.shape[0] - 1, 1.0
    for column in range(columns):
        combinations *= ladder.first[column + 1] - ladder.first[column]
    state, alive = np.zeros(3, np.int64), np.empty(records, np.int32)
    state[0] = records
    for record in range(records):
        alive[record] = record
    return Search(
        make_queue(ladder, int(min(combinations + columns, float(most)))),
        make_table(records),
        np.empty(records, np.int32),
        alive,
        np.full(records, -1, np.int32),
        state,
    )


@kernel(allocates=False)
def run_search(ladder: Ladder, count: IntArray, k: int, search: Search, budget: int) -> int:
    """Go on with a search for ``budget`` looks at records (``count`` of each); return the looks spent.

    A return below the budget says that the search is over. Cells that cost more than others of their combination
    wait until all cheaper ones had their turn.
    """
    spent, state, columns = 0, search.state, ladder.first.shape[0] - 1
    while search.queue.size[0] > 0 and state[0] > 0 and spent < budget:
        entry = pop(search.queue)
        push_dearer(ladder, search.queue, entry)
        search.queue.last[entry] = columns  # when it comes again, those above it are queued already
        spent += state[0] + 16  # an empty pass costs something too
        state[2] += 1
        alive = search.alive[: state[0]]
        step = search.queue.step[entry]
        if count_cells(ladder, step, count, alive, k, search.table, state[2], search.slot):
            limit = search.queue.cost[entry] * PATIENCE + ROUNDING
            search.queue.cost[entry] = take_cells(ladder, step, k, limit, search)
            if search.queue.cost[entry] < np.inf:
                push(search.queue, entry)
    return spent
