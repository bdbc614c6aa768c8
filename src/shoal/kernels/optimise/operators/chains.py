"""Ejection chains (Glover 1996): records move on from cell to cell, each into a cell that holds it; only the ends of the chain change in size.

A chain raises the total by the cost of its last cell minus that of its first, however many records move in between. So one cell can
be filled with records that another one gives up far away, which no move or swap of records finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.kernels.common.journal import Journal, make_journal, note
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise.groups import ENDLESS
from shoal.kernels.optimise.operators.assignment import Assignment, cheapest_open, close_cell, enter, leave, open_cell

MOST_MOVES = 3
"""Records that move in one chain, at most."""


class Trail(NamedTuple):
    """Scratch space of a search for chains."""

    seen: LongArray
    """For each cell the number of the last search that reached it."""
    searches: LongArray
    """[0]: number of searches made so far."""
    moved: IntArray
    """For each cell reached: the record that would leave it along the chain."""
    onward: IntArray
    """For each cell reached: the cell that record would go to."""
    queue: IntArray


@kernel()
def make_trail(cells: int) -> Trail:
    """Return scratch space for ``cells`` cells."""
    return Trail(
        np.zeros(cells, np.int64),
        np.zeros(1, np.int64),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int32),
    )


@kernel()
def make_exchange_journal(records: int, k: int) -> Journal:
    """Return a journal with room for all that one exchange may move: each record four times, and 2k chains."""
    return make_journal(4 * records + 2 * MOST_MOVES * k)


@kernel(allocates=False)
def shift(assigned: Assignment, journal: Journal, record: int, cell: int) -> float:
    """Move a record to another cell, note it, and return the change of the total."""
    origin = assigned.label[record]
    note(journal, record, origin)
    leave(assigned, record)
    enter(assigned, cell, record)
    return assigned.cost[cell] - assigned.cost[origin]


@kernel(allocates=False)
def shift_back(assigned: Assignment, journal: Journal) -> None:
    """Undo all moves that were noted."""
    for at in range(journal.used[0] - 1, -1, -1):
        leave(assigned, journal.record[at])
        enter(assigned, journal.origin[at], journal.record[at])
    journal.used[0] = 0


@kernel(allocates=False)
def find_source(assigned: Assignment, trail: Trail, cell: int, wanted: int, k: int) -> int:
    """Return a cell from which a chain leads to ``cell``, -1 if there is none.

    It is ``wanted`` or, if that is -1, one with more than k records: of the nearest ones the dearest.
    """
    trail.searches[0] += 1
    search = trail.searches[0]
    trail.seen[cell], trail.queue[0] = search, cell
    at, end, best = 0, 1, -1
    for _ in range(MOST_MOVES):
        far = end
        while at < far:
            here = trail.queue[at]
            at += 1
            for place in range(assigned.tuples.start[here], assigned.tuples.start[here + 1]):
                record = assigned.head[assigned.tuples.item[place]]
                while record >= 0:
                    other = assigned.label[record]
                    if other >= 0 and trail.seen[other] != search:
                        trail.seen[other], trail.moved[other], trail.onward[other] = search, record, here
                        trail.queue[end] = other
                        end += 1
                        if other == wanted:
                            return other
                        spare = wanted < 0 and assigned.size[other] > k
                        if spare and (best < 0 or assigned.cost[other] > assigned.cost[best]):
                            best = other
                    record = assigned.after[record]
        if best >= 0:
            break
    return best


@kernel(allocates=False)
def pull(assigned: Assignment, trail: Trail, journal: Journal, source: int, cell: int) -> float:
    """Move one record after the other along the chain found; return the change of the total."""
    change = 0.0
    while source != cell:
        change += shift(assigned, journal, trail.moved[source], trail.onward[source])
        source = trail.onward[source]
    return change


@kernel(allocates=False)
def send_on(assigned: Assignment, journal: Journal, cell: int, least: int, dearest: float) -> float:
    """Move records of a cell to their cheapest other cells below ``dearest``, while it has more than ``least``; return the change."""
    change, record = 0.0, assigned.first[cell]
    while record >= 0 and assigned.size[cell] > least:
        later = assigned.later[record]
        target = cheapest_open(assigned, assigned.tuple_of[record], cell)
        if target >= 0 and assigned.cost[target] < dearest:
            change += shift(assigned, journal, record, target)
        record = later
    return change


@kernel(allocates=False)
def take_from(assigned: Assignment, journal: Journal, cell: int, origin: int, k: int) -> float:
    """Move into a cell all records it holds of ``origin`` or, if that is -1, of dearer cells as long as these have more than k.

    Returns the change.
    """
    change = 0.0
    for place in range(assigned.tuples.start[cell], assigned.tuples.start[cell + 1]):
        record = assigned.head[assigned.tuples.item[place]]
        while record >= 0:
            other = assigned.label[record]
            spare = (
                other >= 0 and origin < 0 and assigned.size[other] > k and assigned.cost[other] > assigned.cost[cell]
            )
            if other != cell and (spare or (origin >= 0 and other == origin)):
                change += shift(assigned, journal, record, cell)
            record = assigned.after[record]
    return change


@kernel(allocates=False)
def exchange(
    assigned: Assignment, trail: Trail, journal: Journal, opened: int, closed: int, k: int, limit: float
) -> float:
    """Open one cell and close another (-1: none); return the change of the total, ENDLESS where it cannot be done or is given up.

    The opened cell takes the records of the closed one, directly or by chains, then those that other cells can spare, until this would raise
    the change above ``limit``. ``undo`` takes all back.
    """
    change = 0.0
    open_cell(assigned, opened)
    if closed >= 0:
        close_cell(assigned, closed)
        change += take_from(assigned, journal, opened, closed, k)
        # ends: each pull adds a record to the opened cell, or the loop breaks
        while assigned.size[opened] < k and assigned.size[closed] > 0:
            if find_source(assigned, trail, opened, closed, k) < 0:
                break
            change += pull(assigned, trail, journal, closed, opened)
        change += send_on(assigned, journal, closed, 0, ENDLESS)
        if assigned.size[closed] > 0:
            return ENDLESS
    change += take_from(assigned, journal, opened, -1, k)
    # ends: each pull adds a record to the opened cell, or the function returns
    while assigned.size[opened] < k:
        source = find_source(assigned, trail, opened, -1, k)
        if source < 0:
            return ENDLESS
        rise = assigned.cost[opened] - assigned.cost[source]
        if rise > 0.0 and change + rise > limit:
            return ENDLESS
        change += pull(assigned, trail, journal, source, opened)
    return change + send_on(assigned, journal, opened, k, assigned.cost[opened])


@kernel(allocates=False)
def undo(assigned: Assignment, journal: Journal, opened: int, closed: int) -> None:
    """Take an exchange back."""
    shift_back(assigned, journal)
    if closed >= 0:
        open_cell(assigned, closed)
    close_cell(assigned, opened)
