"""Relocate, swap and dissolve: records go to other groups if the total cost falls."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_share, shuffle
from shoal.kernels.optimize.state.groups import (
    ENDLESS,
    NOBODY,
    Groups,
    cost_after,
    cost_with,
    join,
    move_record,
    put,
    refresh,
    take,
)
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.space.space import Space

MOST_PARTNERS = 16
"""Members of a group with whom a swap is tried, at most; the others have their turn in other rounds."""
LEAST_GAIN = 1e-9
"""Smaller falls are rounding, not gain."""
ANY_SIZE = 2147483647
"""No group has as many records."""


@kernel(allocates=False)
def cheapest_hosts(
    space: Space, groups: Groups, record: int, room: int, most: float, host: LongArray, rises: FloatArray
) -> int:
    """Find the groups whose cost rises least if ``record`` joins, below ``most``; return how many there are.

    Only groups of fewer than ``room`` records are tried. ``host`` and ``rises`` are filled from the least rise on, ties in the order of groups.
    """
    own, found, wanted = groups.label[record], 0, host.shape[0]
    bound = most
    for group in range(groups.size.shape[0]):
        size = groups.size[group]
        if group == own or size == 0 or size >= room:
            continue
        before = size * groups.cost[group]
        limit = (bound + before) / (size + 1)
        if groups.cost[group] > limit:
            continue
        cost = cost_with(space, groups, group, record, limit)
        rise = (size + 1) * cost - before
        if cost > limit or rise >= bound:
            continue
        place = found if found < wanted else wanted - 1
        while place > 0 and rises[place - 1] > rise:
            rises[place], host[place] = rises[place - 1], host[place - 1]
            place -= 1
        rises[place], host[place] = rise, group
        found = min(found + 1, wanted)
        if found == wanted:
            bound = rises[wanted - 1]
    return found


@kernel(allocates=False)
def swap_change(space: Space, groups: Groups, record: int, candidate: int, best: float) -> float:
    """Return by how much the total changes if two records change places, ENDLESS if that is not below ``best``."""
    own, other = groups.label[record], groups.label[candidate]
    own_size, other_size = groups.size[own], groups.size[other]
    before = own_size * groups.cost[own] + other_size * groups.cost[other]
    limit = (before + best) / own_size
    own_cost = cost_after(space, groups, own, record, candidate, limit)
    if own_cost > limit:
        return ENDLESS
    limit = (before + best - own_size * own_cost) / other_size
    other_cost = cost_after(space, groups, other, candidate, record, limit)
    change = own_size * own_cost + other_size * other_cost - before
    return change if other_cost <= limit and change < best else ENDLESS  # a cost above its limit is not complete


@kernel(allocates=False)
def best_swap(space: Space, groups: Groups, record: int, other: int, best: float) -> tuple[float, int]:
    """Return the largest fall (a negative change below ``best``) by swapping ``record`` with one of group ``other``."""
    partner, size = NOBODY, groups.size[other]
    for turn in range(min(size, MOST_PARTNERS)):
        candidate = groups.member[other, (record + turn) % size]
        change = swap_change(space, groups, record, candidate, best)
        if change < best:
            best, partner = change, candidate
    return best, partner


@kernel(allocates=False)
def improve_record(
    space: Space, groups: Groups, record: int, k: int, most: float, host: LongArray, rises: FloatArray
) -> float:
    """Take the best move or swap of one record if it changes the total by less than ``most``; return the change (0 if none).

    If a record's group is as wide without it, a swap can only gain by what the other record saves, and that one has its own turn. So
    swaps are tried then only if the total may rise: they make room for other moves.
    """
    own = groups.label[record]
    size = groups.size[own]
    before = size * groups.cost[own]
    if before == 0.0:
        return 0.0
    rest = cost_after(space, groups, own, record, NOBODY, ENDLESS)
    widens = rest < groups.cost[own]
    swaps = widens or most > 0.0
    if size <= k and not swaps:
        return 0.0
    fall = before - (size - 1) * rest
    found = cheapest_hosts(space, groups, record, ANY_SIZE, (before if widens else fall) + most, host, rises)
    best, target, partner = most, NOBODY, NOBODY
    for place in range(found if size > k else 0):
        if groups.size[host[place]] < groups.member.shape[1]:
            if rises[place] - fall < best:
                best, target = rises[place] - fall, host[place]
            break
    for place in range(found if swaps else 0):
        change, candidate = best_swap(space, groups, record, host[place], best)
        if candidate != NOBODY:
            best, target, partner = change, host[place], candidate
    if target == NOBODY:
        return 0.0
    move_record(space, groups, record, target, partner)
    return best


@kernel()
def sweep(space: Space, groups: Groups, k: int, hosts: int, temperature: float, state: WordArray) -> Outcome:
    """Try the best move or swap of every record once, in random order; return how often, and what was gained.

    A step may raise the total by a random share of ``temperature``; with 0 every step lowers it.
    """
    order = np.arange(groups.codes.shape[0])
    shuffle(state, order)
    host, rises = np.zeros(hosts, np.int64), np.zeros(hosts)
    taken, fall = 0, 0.0
    for place in range(order.shape[0]):
        most = temperature * draw_share(state) - LEAST_GAIN
        change = improve_record(space, groups, order[place], k, most, host, rises)
        taken += change != 0.0
        fall -= change
    return Outcome(order.shape[0], taken, fall)


@kernel(allocates=False)
def dissolve(space: Space, groups: Groups, group: int, member: LongArray, host: LongArray, rises: FloatArray) -> float:
    """Move each record of a group to the group with room whose cost rises least, if the total falls; return the fall.

    A group of k records cannot lose a single one, however expensive it is; so all leave together, or none.
    """
    size, room = groups.size[group], groups.member.shape[1]
    gain, given = size * groups.cost[group] - LEAST_GAIN, 0
    for place in range(size):
        member[place] = groups.member[group, place]
    groups.size[group] = 0
    while given < size and cheapest_hosts(space, groups, member[given], room, gain, host, rises) > 0:
        join(space, groups, host[0], member[given])
        gain -= rises[0]
        given += 1
    if given == size:
        return gain + LEAST_GAIN
    for place in range(given):
        taken_back = groups.label[member[place]]
        take(groups, member[place])
        refresh(space, groups, taken_back)
    for place in range(size):
        put(groups, group, member[place])
    refresh(space, groups, group)
    return 0.0


@kernel()
def dissolve_groups(space: Space, groups: Groups) -> Outcome:
    """Dissolve every group whose records cost less elsewhere; return how many, and what was gained."""
    member, host, rises = np.zeros(groups.member.shape[1], np.int64), np.zeros(1, np.int64), np.zeros(1)
    tried, taken, fall = 0, 0, 0.0
    for group in range(groups.size.shape[0]):
        if groups.size[group] > 0 and groups.cost[group] > 0.0:
            gain = dissolve(space, groups, group, member, host, rises)
            tried += 1
            taken += gain > 0.0
            fall += gain
    return Outcome(tried, taken, fall)
