"""Which groups are near, how records join the cheapest of them, and how new groups take the place of old ones."""

from __future__ import annotations

import numpy as np

from shoal.arrays import LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_below, draw_share
from shoal.kernels.optimize.state.groups import ENDLESS, Groups, cost_with, join, put, refresh
from shoal.kernels.space.space import Space


@kernel()
def neighbours(space: Space, groups: Groups, group: int, wanted: int, state: WordArray, near: LongArray) -> int:
    """Find the ``wanted`` groups that a random member of ``group`` would cost least, roughly; ``near[0]`` is the group itself.

    Each cost is times a random factor of 1 to 2, so that other neighbours are found each time. Returns how many were found, the group included.
    """
    record = groups.member[group, draw_below(state, groups.size[group])]
    costs = np.full(wanted, ENDLESS)
    near[0] = group
    found = 0
    for other in range(groups.size.shape[0]):
        if other == group or groups.size[other] == 0:
            continue
        shake = 1.0 + draw_share(state)
        cost = shake * cost_with(space, groups, other, record, costs[wanted - 1] / shake)
        if cost >= costs[wanted - 1]:
            continue
        place = wanted - 1
        while place > 0 and costs[place - 1] > cost:
            costs[place], near[place + 1] = costs[place - 1], near[place]
            place -= 1
        costs[place], near[place + 1] = cost, other
        found = min(found + 1, wanted)
    return found + 1


@kernel(allocates=False)
def join_cheapest(space: Space, groups: Groups, used: int, record: int) -> None:
    """Add a record to the group with room, among the first ``used``, whose cost rises least."""
    best, chosen = ENDLESS, -1
    for group in range(used):
        size = groups.size[group]
        if size == 0 or size >= groups.member.shape[1]:
            continue
        before = size * groups.cost[group]
        limit = (best + before) / (size + 1)
        cost = cost_with(space, groups, group, record, limit)
        rise = (size + 1) * cost - before
        if cost <= limit and rise < best:
            best, chosen = rise, group
    join(space, groups, chosen, record)


@kernel(allocates=False)
def replace_groups(space: Space, groups: Groups, near: LongArray, trial: Groups, used: int) -> None:
    """Put the new groups of ``trial`` instead of the groups ``near``, which are empty."""
    free = 0
    for new in range(used):
        if new < near.shape[0]:
            group = near[new]
        else:
            while groups.size[free] > 0:
                free += 1
            group = free
        for place in range(trial.size[new]):
            put(groups, group, trial.member[new, place])
        refresh(space, groups, group)
