"""Offers: cells that are worth opening, as prices tell, and how records without a group find those that hold k of them.

Prices know which cells can be part of good groupings (``optimise_prices``). Tuples are numbered by falling price, so that a
cell takes its first tuples, and what it is worth is seen in one pass over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.chance import draw_below
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_groups import ENDLESS, Groups, put, refresh
from shoal.kernels.search_queue import Queue, drop_first, make_queue, push
from shoal.kernels.sorting import sort_codes
from shoal.kernels.space import Space
from shoal.typing import FloatArray, IntArray, LongArray, WordArray

TRIED = 3
"""Cells looked at for one to open."""


class Offers(NamedTuple):
    """Cells that are worth a try. Tuples are numbered by falling price."""

    tuple_of: IntArray
    """The tuple of each record of the table."""
    price: FloatArray
    """What each tuple is ready to pay."""
    start: LongArray
    member: IntArray
    """The tuples of each cell, by falling price."""
    cost: FloatArray
    """What a cell costs each record in it."""
    worth: FloatArray
    """What a cell is worth while no other takes its records."""
    first: LongArray
    cell: IntArray
    """The cells of each tuple."""


class Loose(NamedTuple):
    """Some records by tuple."""

    left: IntArray
    """Records of each tuple."""
    head: IntArray
    """One of them, where there are some."""
    after: IntArray
    """The record of the same tuple after each record, -1 for none."""
    found: IntArray
    """The tuples they have, by falling price."""


@kernel()
def make_loose(tuples: int, records: int) -> Loose:
    """Return room for ``records`` of ``tuples``, with none in it."""
    return Loose(
        np.zeros(tuples, np.int32),
        np.full(tuples, -1, np.int32),
        np.full(records, -1, np.int32),
        np.zeros(records, np.int32),
    )


class Holding(NamedTuple):
    """Scratch space to find the cells that hold k loose records. ``regroup_by_offers`` leaves it as it was, but for ``seen``."""

    records: IntArray
    """Records in each cell, 0."""
    tuples: IntArray
    """Tuples in each cell, 0."""
    place: IntArray
    """The place of each cell among those that hold k of them, -1."""
    seen: IntArray
    """Cells that hold some of them; those that hold k first."""


@kernel()
def make_holding(cells: int) -> Holding:
    """Return scratch space for so many cells."""
    return Holding(
        np.zeros(cells, np.int32), np.zeros(cells, np.int32), np.full(cells, -1, np.int32), np.zeros(cells, np.int32)
    )


@kernel(allocates=False)
def choose_cell(first: LongArray, cell: IntArray, worth: FloatArray, one: int, state: WordArray) -> int:
    """Return the worthiest of a few random cells that hold a tuple, -1 if none does."""
    begin, cells = first[one], first[one + 1] - first[one]
    best = -1
    for _ in range(min(TRIED, cells)):
        chosen = cell[begin + draw_below(state, cells)]
        if best < 0 or worth[chosen] > worth[best]:
            best = chosen
    return best


@kernel()
def transpose(start: LongArray, member: IntArray, members: int) -> tuple[LongArray, IntArray]:
    """Return for each member the lists it is in, in their order."""
    begin = np.zeros(members + 1, np.int64)
    for place in range(member.shape[0]):
        begin[member[place] + 1] += 1
    for one in range(members):
        begin[one + 1] += begin[one]
    at, lists = begin[:members].copy(), np.empty(member.shape[0], np.int32)
    for one in range(start.shape[0] - 1):
        for place in range(start[one], start[one + 1]):
            lists[at[member[place]]] = one
            at[member[place]] += 1
    return begin, lists


@kernel(allocates=False)
def worth_in_order(member: IntArray, cost: float, price: FloatArray, left: IntArray, k: int) -> tuple[float, int]:
    """Return what a cell is worth and how many records it takes, the first ones; -inf if it holds fewer than k.

    Its tuples come by falling price.
    """
    total, taken = 0.0, 0
    for place in range(member.shape[0]):
        one = member[place]
        over, many = price[one] - cost, left[one]
        if over <= 0.0:
            if taken >= k:
                break
            many = min(many, k - taken)
        total += over * many
        taken += many
    return (total if taken >= k else -np.inf), taken


@kernel(allocates=False)
def loosen(loose: Loose, mine: IntArray, pool: IntArray) -> int:
    """Sort records by tuple; return how many tuples they have."""
    count = 0
    for place in range(pool.shape[0]):
        record = pool[place]
        one = mine[record]
        if loose.left[one] == 0:
            loose.found[count], loose.head[one] = one, -1
            count += 1
        loose.after[record], loose.head[one] = loose.head[one], record
        loose.left[one] += 1
    sort_codes(loose.found[:count])
    return count


@kernel()
def find_offers(offers: Offers, loose: Loose, holding: Holding, tuples: int, k: int) -> tuple[LongArray, IntArray]:
    """Find the cells that hold k loose records; return where the tuples of each begin, and those tuples."""
    seen = 0
    for number in range(tuples):
        one = loose.found[number]
        for at in range(offers.first[one], offers.first[one + 1]):
            cell = offers.cell[at]
            if holding.tuples[cell] == 0:
                holding.seen[seen] = cell
                seen += 1
            holding.tuples[cell] += 1
            holding.records[cell] += loose.left[one]
    start, cells = np.zeros(seen + 1, np.int64), 0
    for place in range(seen):
        cell = holding.seen[place]
        if holding.records[cell] >= k:
            holding.seen[cells], holding.place[cell] = cell, cells
            start[cells + 1] = start[cells] + holding.tuples[cell]
            cells += 1
        holding.tuples[cell] = holding.records[cell] = 0
    at_cell, member = start[:cells].copy(), np.empty(start[cells], np.int32)
    for number in range(tuples):
        one = loose.found[number]
        for at in range(offers.first[one], offers.first[one + 1]):
            place = holding.place[offers.cell[at]]
            if place >= 0:
                member[at_cell[place]] = one
                at_cell[place] += 1
    return start[: cells + 1], member


@kernel(allocates=False)
def take_loose(trial: Groups, group: int, loose: Loose, member: IntArray, wanted: int) -> None:
    """Put ``wanted`` loose records of some tuples, the first ones, into a group."""
    for place in range(member.shape[0]):
        one = member[place]
        while loose.left[one] > 0 and wanted > 0:
            record = loose.head[one]
            loose.head[one] = loose.after[record]
            loose.left[one] -= 1
            wanted -= 1
            put(trial, group, record)
        if wanted == 0:
            break


@kernel()
def queue_offers(
    offers: Offers,
    loose: Loose,
    holding: Holding,
    start: LongArray,
    member: IntArray,
    k: int,
    allowed: float,
    forced: int,
) -> tuple[Queue, int]:
    """Return a queue of the cells found, the one forced first, then from the worthiest on to those that lack ``allowed``."""
    cells = start.shape[0] - 1
    queue, waiting = make_queue(max(cells, 1)), 0
    for place in range(cells):
        cell, inside = holding.seen[place], member[start[place] : start[place + 1]]
        worth, _ = worth_in_order(inside, offers.cost[cell], offers.price, loose.left, k)
        if cell == forced:
            waiting = push(queue, waiting, -ENDLESS, place, place)
        elif worth + allowed > 0.0:
            waiting = push(queue, waiting, -worth, place, place)
    return queue, waiting


@kernel()
def regroup_by_offers(
    space: Space,
    offers: Offers,
    loose: Loose,
    holding: Holding,
    trial: Groups,
    tuples: int,
    k: int,
    limit: float,
    allowed: float,
    forced: int,
) -> tuple[int, float]:
    """Open cells for loose records, while they cost less than ``limit``; return how many groups they make and what these cost.

    A cell's worth only falls while others take records, so it is worked out anew only when the cell comes first.
    """
    start, member = find_offers(offers, loose, holding, tuples, k)
    queue, waiting = queue_offers(offers, loose, holding, start, member, k, allowed, forced)
    used, cost, room = 0, 0.0, trial.member.shape[1]
    while waiting > 0 and cost < limit:
        place, first = queue.item[0], queue.bound[0] == -ENDLESS
        waiting = drop_first(queue, waiting)
        inside, price = member[start[place] : start[place + 1]], offers.cost[holding.seen[place]]
        worth, taken = worth_in_order(inside, price, offers.price, loose.left, k)
        if worth + allowed <= 0.0 and not first:
            continue
        if not first and waiting > 0 and -worth > queue.bound[0]:
            waiting = push(queue, waiting, -worth, place, place)
            continue
        take_loose(trial, used, loose, inside, min(taken, room))
        refresh(space, trial, used)
        cost += trial.size[used] * trial.cost[used]
        used += 1
        waiting = push(queue, waiting, -worth, place, place)  # it may hold another k
    for place in range(start.shape[0] - 1):
        holding.place[holding.seen[place]] = -1
    return used, cost
