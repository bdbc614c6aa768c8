"""Guards: the sensitive values of every group, kept up to date, and whether a group may take or give a record.

A group keeps a tally of its sensitive codes (see ``enforcement.rules``), on which a step is tried first. Swaps of two records of one
*class* (the same sensitive codes) change no tally. If a population is given, the people who fit the box that the group
would be released as are counted too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.guarded.population_guard import CrowdGuard, crowd_allows, make_crowd_guard
from shoal.kernels.measuring.matching import Points
from shoal.kernels.models.population_rules import PopulationRules
from shoal.kernels.models.rules import Rules, Tally, add, clear, remove, shortfall
from shoal.kernels.optimize.state.groups import NOBODY, Groups, cost_with, move_record
from shoal.kernels.space.space import Space


class Guard(NamedTuple):
    """The rules, and a tally for each of g groups."""

    rules: Rules
    class_of: IntArray
    """The class of each record: records with the same sensitive codes are of one class."""
    counts: LongArray
    """(g, codes): ``Tally.counts`` of each group."""
    met: IntArray
    used: LongArray
    extra: LongArray
    """Scratch that all tallies share."""
    crowd: CrowdGuard
    """The rules on people of a population."""


@kernel()
def make_guard(
    space: Space, rules: Rules, crowds: PopulationRules, points: Points, class_of: IntArray, groups: int
) -> Guard:
    """Return a guard whose ``groups`` groups have no records yet."""
    rows = rules.codes.shape[0]
    codes = rules.start[rows]
    return Guard(
        rules,
        class_of,
        np.full((groups, codes), -1, np.int64),
        np.zeros((groups, codes), np.int32),
        np.zeros((groups, 2 * rows + 1), np.int64),
        np.zeros(rules.node_parent.shape[0], np.int64),
        make_crowd_guard(space, crowds, points),
    )


@kernel(inline=True, allocates=False)
def tally_of(guard: Guard, group: int) -> Tally:
    """Return the tally of one group, as a view."""
    return Tally(guard.counts[group], guard.met[group], guard.used[group], guard.extra)


@kernel()
def load_guard(
    space: Space, rules: Rules, crowds: PopulationRules, points: Points, class_of: IntArray, groups: Groups
) -> Guard:
    """Return the guard of groups as they are."""
    guard = make_guard(space, rules, crowds, points, class_of, groups.size.shape[0])
    for record in range(groups.label.shape[0]):
        if groups.label[record] >= 0:
            add(rules, tally_of(guard, groups.label[record]), record)
    return guard


@kernel(allocates=False)
def recount(guard: Guard, groups: Groups, group: int) -> None:
    """Count the tally of a group again from its members."""
    tally = tally_of(guard, group)
    clear(guard.rules, tally)
    for place in range(groups.size[group]):
        add(guard.rules, tally, groups.member[group, place])


@kernel(allocates=False)
def holds(space: Space, groups: Groups, guard: Guard, group: int) -> bool:
    """Return whether a group meets every rule."""
    return shortfall(guard.rules, tally_of(guard, group)) == 0.0 and crowd_allows(
        space, groups, guard.crowd, group, NOBODY, NOBODY
    )


@kernel(allocates=False)
def tally_allows(guard: Guard, group: int, leaver: int, joiner: int) -> bool:
    """Return whether the sensitive values of a group meet every rule after ``leaver`` left and ``joiner`` came."""
    if leaver != NOBODY and joiner != NOBODY and guard.class_of[leaver] == guard.class_of[joiner]:
        return True
    tally = tally_of(guard, group)
    if leaver != NOBODY:
        remove(guard.rules, tally, leaver)
    if joiner != NOBODY:
        add(guard.rules, tally, joiner)
    allowed = shortfall(guard.rules, tally) == 0.0
    if joiner != NOBODY:
        remove(guard.rules, tally, joiner)
    if leaver != NOBODY:
        add(guard.rules, tally, leaver)
    return allowed


@kernel(allocates=False)
def may_change(space: Space, groups: Groups, guard: Guard, group: int, leaver: int, joiner: int) -> bool:
    """Return whether a group meets every rule after ``leaver`` left and ``joiner`` came; either may be NOBODY."""
    return tally_allows(guard, group, leaver, joiner) and crowd_allows(
        space, groups, guard.crowd, group, leaver, joiner
    )


@kernel(allocates=False)
def note_change(guard: Guard, group: int, leaver: int, joiner: int) -> None:
    """Keep the tally of a group up to date when ``leaver`` leaves and ``joiner`` comes; either may be NOBODY."""
    tally = tally_of(guard, group)
    if leaver != NOBODY:
        remove(guard.rules, tally, leaver)
    if joiner != NOBODY:
        add(guard.rules, tally, joiner)


@kernel(allocates=False)
def change_places(space: Space, groups: Groups, guard: Guard, record: int, target: int, partner: int) -> None:
    """Move a record into group ``target``, in exchange for ``partner`` unless that is NOBODY."""
    own = groups.label[record]
    note_change(guard, own, record, partner)
    note_change(guard, target, partner, record)
    move_record(space, groups, record, target, partner)


@kernel(allocates=False)
def cheapest_host(
    space: Space, groups: Groups, guard: Guard, group: int, record: int, most: float
) -> tuple[int, float]:
    """Return the group whose cost rises least, below ``most``, among those that may take a record, and the rise.

    Group ``group`` is passed over; NOBODY if there is none to pass over, or none that takes the record.
    """
    best, least = NOBODY, most
    for host in range(groups.size.shape[0]):
        size = groups.size[host]
        if host == group or size == 0 or size >= groups.member.shape[1]:
            continue
        before = size * groups.cost[host]
        limit = (least + before) / (size + 1)
        if groups.cost[host] > limit:
            continue
        cost = cost_with(space, groups, host, record, limit)
        rise = (size + 1) * cost - before
        if cost <= limit and rise < least and may_change(space, groups, guard, host, NOBODY, record):
            best, least = host, rise
    return best, least
