"""An estimate of what an exchange saves (open one cell, close another), made before it is tried.

A record that the opened cell takes from another cell is replaced there, by a chain, from the dearest cell that can spare a record: so the
estimate counts that cell's cost as saved. Trying an exchange takes a hundred times as long, and most cost far more than they save.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.kernels.common.random_state import draw_below
from shoal.kernels.common.sorting import order_by_key
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise.groups import ENDLESS
from shoal.kernels.optimise.operators.assignment import Assignment, cheapest_open
from shoal.kernels.optimise.regions import KEYS

MOST_CLOSED = 3
"""Open cells tried as the one to close, beside that of a random record."""


class Sources(NamedTuple):
    """Where the records of a cell are, and what they save when they leave."""

    saving: FloatArray
    """For each open cell: what is saved when a record leaves it and one from ``spare`` takes its place; undefined where ``spare`` is -1."""
    spare: IntArray
    """For each open cell: the dearest cell of more than k records that a chain connects with it, -1 if there is none."""
    dear: LongArray
    """All cells, the dearest first."""
    cell: IntArray
    """The open cells to which records of the cell to be opened are assigned, by falling saving."""
    inside: IntArray
    """How many such records each of these cells has."""
    seen: LongArray
    """For each open cell the number of the last search for sources that met it."""
    fits: LongArray
    """For each tuple the number of the last search for sources in whose cell it lies."""
    taken: IntArray
    """For each cell: records that the estimate numbered ``counted`` has taken from it so far."""
    counted: LongArray
    """For each cell: the number of the last estimate that took records from it."""
    estimates: LongArray
    """[0]: estimates made; [1]: searches for sources made."""
    closed_saving: FloatArray
    """What each record of the cell to be closed saves if it goes to the cell to be opened, the largest saving first."""


@kernel()
def make_sources(assigned: Assignment) -> Sources:
    """Return scratch space to list the sources of one cell after the other."""
    cells, records = assigned.cost.shape[0], assigned.label.shape[0]
    key = np.empty(cells, np.int64)
    for cell in range(cells):
        key[cell] = -np.int64(assigned.cost[cell] * KEYS)
    return Sources(
        np.zeros(cells),
        np.zeros(cells, np.int32),
        order_by_key(key),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int64),
        np.zeros(assigned.opens.shape[0], np.int64),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int64),
        np.zeros(2, np.int64),
        np.zeros(records),
    )


@kernel(allocates=False)
def find_spare_cells(assigned: Assignment, sources: Sources, queue: IntArray, k: int) -> None:
    """Find for each open cell the dearest one of more than k records from which a chain, of any length, leads to it: breadth first, the dearest first."""
    for cell in range(assigned.cost.shape[0]):
        sources.spare[cell] = -1
    for root in sources.dear:
        if assigned.size[root] <= k or sources.spare[root] >= 0:
            continue
        sources.spare[root], sources.saving[root], queue[0] = root, assigned.cost[root], root
        at, end = 0, 1
        while at < end:
            record = assigned.first[queue[at]]
            at += 1
            while record >= 0:
                one = assigned.tuple_of[record]
                for place in range(assigned.cells.start[one], assigned.cells.start[one] + assigned.opens[one]):
                    cell = assigned.opened[place]
                    if sources.spare[cell] < 0:
                        sources.spare[cell], sources.saving[cell], queue[end] = root, assigned.cost[root], cell
                        end += 1
                record = assigned.later[record]


@kernel(allocates=False)
def find_sources(assigned: Assignment, sources: Sources, cell: int) -> int:
    """List the open cells to which records of a cell are assigned, by falling saving; return how many there are."""
    sources.estimates[1] += 1
    search, count = sources.estimates[1], 0
    for place in range(assigned.tuples.start[cell], assigned.tuples.start[cell + 1]):
        one = assigned.tuples.item[place]
        sources.fits[one] = search
        record = assigned.head[one]
        while record >= 0:
            other = assigned.label[record]
            if other >= 0 and sources.seen[other] != search:
                sources.seen[other], sources.inside[other], sources.cell[count] = search, 0, other
                count += 1
            if other >= 0:
                sources.inside[other] += 1
            record = assigned.after[record]
    for place in range(1, count):
        other, at = sources.cell[place], place
        while at > 0 and sources.saving[sources.cell[at - 1]] < sources.saving[other]:
            sources.cell[at] = sources.cell[at - 1]
            at -= 1
        sources.cell[at] = other
    return count


@kernel(allocates=False)
def reaches(assigned: Assignment, sources: Sources, one: int, closed: int) -> bool:
    """Return whether a record of a tuple can get into the cell to be opened, at once or in the place of another one."""
    search = sources.estimates[1]
    if sources.fits[one] == search:
        return True
    for place in range(assigned.cells.start[one], assigned.cells.start[one] + assigned.opens[one]):
        other = assigned.opened[place]
        if other != closed and sources.seen[other] == search:
            return True
    return False


@kernel(allocates=False)
def savings_of_closing(assigned: Assignment, sources: Sources, cell: int, closed: int) -> tuple[float, int]:
    """Return what is saved if all records of a closed cell go to their cheapest other open cells, and how many could go to ``cell`` instead.

    What each of these would save beyond that is listed in ``closed_saving``, the largest first. -ENDLESS where a record can go nowhere.
    """
    saved, count, record = 0.0, 0, assigned.first[closed]
    while record >= 0:
        one = assigned.tuple_of[record]
        host, near = cheapest_open(assigned, one, closed), reaches(assigned, sources, one, closed)
        if host < 0 and not near:
            return -ENDLESS, 0
        paid = assigned.cost[host] if host >= 0 else 2.0 * assigned.cost[closed] + assigned.cost[cell]
        saved += assigned.cost[closed] - paid
        if near:
            at, saving = count, paid - assigned.cost[cell]
            while at > 0 and sources.closed_saving[at - 1] < saving:
                sources.closed_saving[at] = sources.closed_saving[at - 1]
                at -= 1
            sources.closed_saving[at] = saving
            count += 1
        record = assigned.later[record]
    return saved, count


@kernel(allocates=False)
def spare_records(assigned: Assignment, sources: Sources, other: int, closed: int, k: int) -> int:
    """Return how many records an open cell can still give away in this estimate."""
    root = sources.spare[other]
    if root < 0 or root == closed or other == closed:
        return 0
    if sources.counted[root] != sources.estimates[0]:
        sources.counted[root], sources.taken[root] = sources.estimates[0], 0
    return min(sources.inside[other], assigned.size[root] - k - sources.taken[root])


@kernel(allocates=False)
def estimate(assigned: Assignment, sources: Sources, cell: int, count: int, closed: int, k: int) -> float:
    """Return about what it saves to open a cell and to close another one, or none if that is -1.

    The cell takes the records that save most, at least k, those of the closed cell and what others can spare.
    """
    sources.estimates[0] += 1
    saved, own = (0.0, 0) if closed < 0 else savings_of_closing(assigned, sources, cell, closed)
    if saved == -ENDLESS:
        return saved
    filled, at, own_used = 0, 0, 0
    while at < count or own_used < own:
        over = sources.saving[sources.cell[at]] - assigned.cost[cell] if at < count else -ENDLESS
        if own_used < own and sources.closed_saving[own_used] >= over:
            over, moved = sources.closed_saving[own_used], 1
            own_used += 1
        else:
            moved = spare_records(assigned, sources, sources.cell[at], closed, k)
            if over <= 0.0:
                moved = min(moved, k - filled)
            if moved > 0:
                sources.taken[sources.spare[sources.cell[at]]] += moved
            at += 1
        if over <= 0.0 and filled >= k:
            break
        if moved > 0:
            saved += over * moved
            filled += moved
    return saved if filled >= k else -ENDLESS


@kernel(allocates=False)
def choose_closed(
    assigned: Assignment, sources: Sources, cell: int, count: int, own: int, k: int, state: WordArray
) -> tuple[int, float]:
    """Return which of a few open cells to close for a cell, -1 for none, and about what that saves."""
    best, most = -1, estimate(assigned, sources, cell, count, -1, k)
    for number in range(MOST_CLOSED + 1):
        closed = own if number == 0 else sources.cell[draw_below(state, count)]
        saved = estimate(assigned, sources, cell, count, closed, k)
        if saved > most:
            best, most = closed, saved
    return best, most
