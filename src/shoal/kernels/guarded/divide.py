"""Dividing groups in two and dissolving them, if every rule holds afterwards and the total falls.

Mended groups are often twice as large as they need to be, and moves of single records cannot divide them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.sorting import sort_by_key
from shoal.kernels.guarded.guard import Guard, cheapest_host, note_change, recount
from shoal.kernels.guarded.population_guard import crowd_allows
from shoal.kernels.models.rules import Tally, add, clear, new_tally, remove, shortfall
from shoal.kernels.optimize.moves.relocate_swap import LEAST_GAIN
from shoal.kernels.optimize.state.groups import NOBODY, Groups, join, make_groups, put, refresh, take
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.space.space import Space


class Halves(NamedTuple):
    """Scratch for the two parts of a group."""

    part: Groups
    """One group that grows record by record."""
    member: IntArray
    """The members of the group that is divided, in the order of a column."""
    before: FloatArray
    """What each record costs in a part of the first members, by how many they are."""
    after: FloatArray
    """The same for the members from a place on."""
    left: Tally
    right: Tally


@kernel()
def make_halves(space: Space, groups: Groups, guard: Guard) -> Halves:
    """Return scratch for groups of these."""
    room = groups.member.shape[1]
    return Halves(
        make_groups(space, groups.codes, 1, room),
        np.zeros(room, np.int32),
        np.zeros(room + 1),
        np.zeros(room + 1),
        new_tally(guard.rules),
        new_tally(guard.rules),
    )


@kernel()
def order_members(groups: Groups, group: int, column: int, halves: Halves) -> None:
    """Write the members of a group in the order of their codes in a column, ties by record."""
    size = groups.size[group]
    key = np.empty(size, np.int64)
    for place in range(size):
        record = groups.member[group, place]
        halves.member[place] = record
        key[place] = (np.int64(groups.codes[record, column]) << 32) + record
    sort_by_key(halves.member[:size], key)


@kernel(allocates=False)
def cost_parts(space: Space, size: int, halves: Halves) -> None:
    """Compute, for every number of members, the cost of the first and of the last ones."""
    for backwards in range(2):
        halves.part.size[0] = 0
        for count in range(1, size + 1):
            record = halves.member[size - count] if backwards else halves.member[count - 1]
            if count == 1:
                put(halves.part, 0, record)
                refresh(space, halves.part, 0)
            else:
                join(space, halves.part, 0, record)
            if backwards:
                halves.after[size - count] = halves.part.cost[0]
            else:
                halves.before[count] = halves.part.cost[0]


@kernel(allocates=False)
def part_allowed(space: Space, guard: Guard, halves: Halves, begin: int, end: int) -> bool:
    """Return whether a part of the members meets every rule on the people of a population."""
    if guard.crowd.crowds.kind.shape[0] == 0:
        return True
    halves.part.size[0] = 0
    for place in range(begin, end):
        put(halves.part, 0, halves.member[place])
    refresh(space, halves.part, 0)
    return crowd_allows(space, halves.part, guard.crowd, 0, NOBODY, NOBODY)


@kernel(allocates=False)
def best_cut(
    space: Space, groups: Groups, guard: Guard, group: int, column: int, halves: Halves, best: float
) -> tuple[float, int]:
    """Return the cheapest total below ``best`` of two valid parts, and how many members the first one has (0: none)."""
    size, cut = groups.size[group], 0
    clear(guard.rules, halves.left)
    clear(guard.rules, halves.right)
    for place in range(size):
        add(guard.rules, halves.right, halves.member[place])
    for count in range(1, size):
        record = halves.member[count - 1]
        remove(guard.rules, halves.right, record)
        add(guard.rules, halves.left, record)
        if groups.codes[record, column] == groups.codes[halves.member[count], column]:
            continue
        total = count * halves.before[count] + (size - count) * halves.after[count]
        if (
            total < best
            and shortfall(guard.rules, halves.left) == 0.0
            and shortfall(guard.rules, halves.right) == 0.0
            and part_allowed(space, guard, halves, 0, count)
            and part_allowed(space, guard, halves, count, size)
        ):
            best, cut = total, count
    return best, cut


@kernel()
def divide_group(space: Space, groups: Groups, guard: Guard, group: int, empty: int, halves: Halves) -> float:
    """Divide a group by the best cut of any column, its second part becoming group ``empty``; return the fall."""
    size = groups.size[group]
    whole = size * groups.cost[group]
    best, chosen, where = whole - LEAST_GAIN, -1, 0
    for column in range(space.kind.shape[0]):
        if groups.column_cost[group, column] > 0.0:
            order_members(groups, group, column, halves)
            cost_parts(space, size, halves)
            total, cut = best_cut(space, groups, guard, group, column, halves, best)
            if cut > 0:
                best, chosen, where = total, column, cut
    if chosen < 0:
        return 0.0
    order_members(groups, group, chosen, halves)
    for place in range(where, size):
        take(groups, halves.member[place])
        put(groups, empty, halves.member[place])
    for one in (group, empty):
        refresh(space, groups, one)
        recount(guard, groups, one)
    return whole - best


@kernel()
def divide_groups(space: Space, groups: Groups, guard: Guard, k: int) -> Outcome:
    """Divide every group that can be, as long as there are empty ones to use; return how many, and what was gained."""
    halves = make_halves(space, groups, guard)
    tried, taken, fall, empty = 0, 0, 0.0, 0
    for group in range(groups.size.shape[0]):
        # ends: each round takes at least k records out of the group, or breaks
        while groups.size[group] >= 2 * k and groups.cost[group] > 0.0:
            while empty < groups.size.shape[0] and groups.size[empty] > 0:
                empty += 1
            if empty == groups.size.shape[0]:
                return Outcome(tried, taken, fall)
            gain = divide_group(space, groups, guard, group, empty, halves)
            tried += 1
            if gain == 0.0:
                break
            taken += 1
            fall += gain
    return Outcome(tried, taken, fall)


@kernel(allocates=False)
def dissolve_group(space: Space, groups: Groups, guard: Guard, group: int, member: IntArray) -> float:
    """Move each record of a group to the cheapest one that may take it, if the total falls; return the fall."""
    size, given = groups.size[group], 0
    gain = size * groups.cost[group] - LEAST_GAIN
    for place in range(size):
        member[place] = groups.member[group, place]
    while given < size:
        host, rise = cheapest_host(space, groups, guard, group, member[given], gain)
        if host == NOBODY:
            break
        take(groups, member[given])
        join(space, groups, host, member[given])
        note_change(guard, host, NOBODY, member[given])
        gain -= rise
        given += 1
    if given == size:
        recount(guard, groups, group)
        return gain + LEAST_GAIN
    for place in range(given):
        host = groups.label[member[place]]
        take(groups, member[place])
        put(groups, group, member[place])
        refresh(space, groups, host)
        note_change(guard, host, member[place], NOBODY)
    refresh(space, groups, group)
    recount(guard, groups, group)
    return 0.0


@kernel()
def dissolve_groups(space: Space, groups: Groups, guard: Guard) -> Outcome:
    """Dissolve every group whose records cost less elsewhere; return how many, and what was gained."""
    member = np.zeros(groups.member.shape[1], np.int32)
    tried, taken, fall = 0, 0, 0.0
    for group in range(groups.size.shape[0]):
        if groups.size[group] > 0 and groups.cost[group] > 0.0:
            gain = dissolve_group(space, groups, guard, group, member)
            tried += 1
            taken += gain > 0.0
            fall += gain
    return Outcome(tried, taken, fall)
