"""Reopen: a cell that prices find worth opening takes the place of the groups whose records it takes.

Where k is large, better groups are many records away: no move, swap or eviction leads there. A cell on offer
(``optimise_offers``) is opened by force, the groups it takes records from are ruined, and what they leave goes to further cells,
from the worthiest on, or to the groups around. Such steps are tried by the ten thousand, and may cost something
at first (ruin and recreate, Schrimpf et al. 2000).
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.chance import draw_below, draw_share, make_state
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_groups import Groups, make_groups
from shoal.kernels.optimise_moves import LEAST_GAIN
from shoal.kernels.optimise_offers import (
    Loose,
    Offers,
    choose_cell,
    loosen,
    make_holding,
    make_loose,
    regroup_by_offers,
)
from shoal.kernels.optimise_open import clear, ruin, settle
from shoal.kernels.optimise_regions import Regions, load_region, store_region
from shoal.kernels.space import Space
from shoal.typing import IntArray, LongArray, WordArray

HOPEFUL = 0.82
"""What records left over are ready to pay, as a share of what is left for them, below which it is tried to give them away.

They pay more in the end: of the tries above hardly one in ten thousand is kept, and they take most of the time.
"""
MOST_RUINED = 8
"""Groups that make room for a cell, at most."""


@kernel(allocates=False)
def groups_around(
    groups: Groups, offers: Offers, cell: int, k: int, held: Loose, shared: LongArray, met: LongArray, near: LongArray
) -> int:
    """Find the groups with most of the records that a cell would take, at most ``near`` has room for; return how many.

    The last tuple it takes records of counts with all of them. ``held`` has all records by tuple; ``shared`` is 0 before and after.
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


@kernel(allocates=False)
def gather_loose(offers: Offers, loose: Loose, tuples: int, pool: IntArray) -> tuple[int, float]:
    """Write the records still loose into a pool, dear ones first, and forget them; return their number and what they are ready to pay."""
    count, ready = 0, 0.0
    for number in range(tuples):
        one = loose.found[number]
        ready += loose.left[one] * offers.price[one]
        record = loose.head[one]
        for _ in range(loose.left[one]):
            pool[count] = record
            record = loose.after[record]
            count += 1
        loose.left[one] = 0
    return count, ready


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
    """Open cells in the place of the groups around, ``tries`` times, and return the fall of the total.

    The cell comes first, whatever it is worth, if the groups ruined for it hold k of its records. Kept is what costs no more, or more by at most a random share of ``heat``, which is higher where the ruined groups cost more than the mean.

    Parameters
    ----------
    mine
        The tuple of each record of the groups.
    paid
        What a record pays in the mean: what ``heat`` is for, and k times as much, a random share of it in each try, is what further cells may lack.
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
        cell = choose_cell(offers.first, offers.cell, offers.worth, mine[record], state)
        if cell < 0 or groups.cost[groups.label[record]] == 0.0:
            continue
        most = 1 + draw_below(state, MOST_RUINED)
        count = groups_around(groups, offers, cell, k, held, shared, met, near[:most])
        total, before = ruin(groups, near[:count], pool, size)
        limit = before + LEAST_GAIN + heat * before / (total * paid) * draw_share(state)
        clear(trial, pool[:total])
        tuples = loosen(loose, mine, pool[:total])
        allowed = k * paid * draw_share(state)
        used, cost = regroup_by_offers(space, offers, loose, holding, trial, tuples, k, limit, allowed, cell)
        left, ready = gather_loose(offers, loose, tuples, pool)
        rest = limit - cost if used > 0 and ready < HOPEFUL * (limit - cost) else 0.0
        rest = settle(space, groups, trial, used, near[:count], size, pool, left, rest, host, price)
        if rest >= 0.0:
            fall += before - limit + rest
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
