"""Reopen: a cell that prices find worth opening takes the place of the groups whose records it takes.

Where k is large, better groups are many records away: no move, swap or eviction leads there. Prices know which
cells can be part of good groupings. One of them is opened by force, the groups it takes records from are ruined, and
what they leave goes to further cells, from the worthiest on, or to the groups around. Such steps
are tried by the ten thousand, and may cost something at first (ruin and recreate, Schrimpf et al. 2000).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.chance import draw_below, draw_share, make_state
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_groups import Groups, make_groups, put, refresh
from shoal.kernels.optimise_moves import LEAST_GAIN
from shoal.kernels.optimise_open import give_away, restore, ruin, take_back
from shoal.kernels.optimise_regions import Regions, load_region, store_region
from shoal.kernels.optimise_regroup import replace_groups
from shoal.kernels.search_queue import Queue, drop_first, make_queue, push
from shoal.kernels.space import Space
from shoal.typing import FloatArray, IntArray, LongArray, WordArray

MOST_RUINED = 8
"""Groups that make room for a cell, at most."""
TRIED = 3
"""Cells looked at for one to open."""
FORCED = np.inf
"""Makes a cell come first."""


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
    """Scratch space to find the cells that hold k loose records; as it was after each search, but for ``seen``."""

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
def choose_offer(offers: Offers, one: int, state: WordArray) -> int:
    """Return the worthiest of a few random cells that hold a tuple, -1 if none does."""
    begin, cells = offers.first[one], offers.first[one + 1] - offers.first[one]
    best = -1
    for _ in range(min(TRIED, cells)):
        cell = offers.cell[begin + draw_below(state, cells)]
        if best < 0 or offers.worth[cell] > offers.worth[best]:
            best = cell
    return best


@kernel(allocates=False)
def groups_around(
    groups: Groups, offers: Offers, cell: int, k: int, held: Loose, shared: LongArray, met: LongArray, near: LongArray
) -> int:
    """Find the groups with most of the records that a cell would take, at most ``near`` has room for; return how many.

    ``held`` has all records by tuple; ``shared`` is 0 before and after.
    """
    taken, some = 0, 0
    for place in range(offers.start[cell], offers.start[cell + 1]):
        one = offers.member[place]
        if taken >= k and offers.price[one] <= offers.cost[cell]:
            break
        record = held.head[one]
        while record >= 0:
            group = groups.label[record]
            if shared[group] == 0:
                met[some] = group
                some += 1
            shared[group] += 1
            taken += 1
            record = held.after[record]
    count = min(some, near.shape[0])
    for number in range(count):
        best = met[0]
        for place in range(1, some):
            if shared[met[place]] > shared[best]:
                best = met[place]
        near[number], shared[best] = best, 0
    for place in range(some):
        shared[met[place]] = 0
    return count


@kernel()
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
    loose.found[:count].sort()
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
            waiting = push(queue, waiting, -FORCED, place, place)
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
        place, first = queue.item[0], queue.bound[0] == -FORCED
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


@kernel(allocates=False)
def gather_loose(loose: Loose, tuples: int, pool: IntArray) -> int:
    """Write the records still loose into a pool, dear ones first, and forget them; return their number."""
    count = 0
    for number in range(tuples):
        one = loose.found[number]
        record = loose.head[one]
        for _ in range(loose.left[one]):
            pool[count] = record
            record = loose.after[record]
            count += 1
        loose.left[one] = 0
    return count


@kernel()
def reopen_cells(
    space: Space,
    offers: Offers,
    mine: IntArray,
    groups: Groups,
    k: int,
    tries: int,
    paid: float,
    heat: float,
    state: WordArray,
) -> float:
    """Open cells by force in the place of the groups around, ``tries`` times, and return the fall of the total.

    Kept is what costs no more, or more by at most a random share of ``heat``.

    Parameters
    ----------
    mine
        The tuple of each record of the groups.
    paid
        What a record pays in the mean.
    """
    records, room = groups.codes.shape[0], groups.member.shape[1]
    shared, met = np.zeros(groups.size.shape[0], np.int64), np.zeros(groups.size.shape[0], np.int64)
    near, size, pool = (
        np.zeros(MOST_RUINED, np.int64),
        np.zeros(MOST_RUINED, np.int64),
        np.zeros(MOST_RUINED * room, np.int32),
    )
    trial = make_groups(space, groups.codes, pool.shape[0] // k + 1, room)
    held, loose = make_loose(offers.price.shape[0], records), make_loose(offers.price.shape[0], records)
    holding = make_holding(offers.cost.shape[0])
    loosen(held, mine, np.arange(records).astype(np.int32))
    host, price = np.zeros(1, np.int64), np.zeros(1)
    fall = 0.0
    for _ in range(tries):
        record = draw_below(state, records)
        cell = choose_offer(offers, mine[record], state)
        if cell < 0 or groups.cost[groups.label[record]] == 0.0:
            continue
        most = 1 + draw_below(state, MOST_RUINED)
        count = groups_around(groups, offers, cell, k, held, shared, met, near[:most])
        total, before = ruin(groups, near[:count], pool, size)
        limit = before + LEAST_GAIN + heat * draw_share(state)
        for place in range(total):
            trial.label[pool[place]] = -1
        trial.size[:] = 0
        tuples = loosen(loose, mine, pool[:total])
        allowed = k * paid * draw_share(state)
        used, cost = regroup_by_offers(space, offers, loose, holding, trial, tuples, k, limit, allowed, cell)
        left, given, rest = gather_loose(loose, tuples, pool), 0, limit - cost
        if used > 0 and rest > 0.0:
            given, rest = give_away(space, groups, trial, pool, left, rest, host, price)
            if given == left:
                replace_groups(space, groups, near[:count], trial, used)
                fall += before - limit + rest
                continue
        take_back(space, groups, trial, pool, given)
        restore(groups, near[:count], size)
    return fall


@kernel()
def reopen_region(
    space: Space,
    codes: IntArray,
    label: IntArray,
    regions: Regions,
    region: int,
    offers: Offers,
    k: int,
    tries: float,
    paid: float,
    heat: float,
    seed: int,
) -> None:
    """Reopen cells in one region, ``tries`` times for each group of k records."""
    groups = load_region(space, codes, label, regions, region, k)
    records = regions.record[regions.start[region] : regions.start[region + 1]]
    state = make_state(seed, region + (1 << 32))  # other numbers than those of the region's other steps
    count = 1 + int(tries * records.shape[0] / k)
    reopen_cells(space, offers, offers.tuple_of[records], groups, k, count, paid, heat, state)
    store_region(groups, label, regions, region)
