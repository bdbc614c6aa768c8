"""Ruin and recreate: a few neighbouring groups are dissolved and built again around new seeds."""

from __future__ import annotations

import numpy as np

from shoal.kernels.chance import draw_below, draw_share
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_groups import ENDLESS, Groups, cost_with, make_groups, put, refresh
from shoal.kernels.optimise_moves import LEAST_GAIN
from shoal.kernels.space import Space
from shoal.typing import IntArray, LongArray, WordArray


@kernel()
def neighbours(space: Space, groups: Groups, group: int, wanted: int, state: WordArray, near: LongArray) -> int:
    """Find groups that a random member of ``group`` would fit into; ``near[0]`` is the group itself."""
    record = groups.member[group, draw_below(state, groups.size[group])]
    price = np.full(wanted, ENDLESS)
    near[0] = group
    found = 0
    for other in range(groups.size.shape[0]):
        if other == group or groups.size[other] == 0:
            continue
        shake = 1.0 + draw_share(state)
        cost = shake * cost_with(space, groups, other, record, price[wanted - 1] / shake)
        if cost >= price[wanted - 1]:
            continue
        place = wanted - 1
        while place > 0 and price[place - 1] > cost:
            price[place], near[place + 1] = price[place - 1], near[place]
            place -= 1
        price[place], near[place + 1] = cost, other
        found = min(found + 1, wanted)
    return found + 1


@kernel()
def shake_weights(space: Space, noise: float, state: WordArray) -> Space:
    """Return the space with weights changed by up to e^noise either way."""
    weight = np.empty_like(space.weight)
    for column in range(weight.shape[0]):
        weight[column] = space.weight[column] * np.exp(noise * (2.0 * draw_share(state) - 1.0))
    return Space(
        space.kind,
        weight,
        space.cardinality,
        space.missing,
        space.domain,
        space.start,
        space.position,
        space.node_parent,
        space.node_high,
        space.node_cost,
        space.word_start,
    )


@kernel(allocates=False)
def grow_group(space: Space, groups: Groups, group: int, pool: IntArray, left: int, k: int, state: WordArray) -> int:
    """Fill a group with k records of ``pool[:left]``, each time the one that costs least; return how many stay."""
    while groups.size[group] < k:
        best, chosen, ties = ENDLESS, 0, 0
        for place in range(left):
            cost = cost_with(space, groups, group, pool[place], best)
            if cost < best:
                best, chosen, ties = cost, place, 1
            elif cost == best:
                ties += 1
                if draw_below(state, ties) == 0:
                    chosen = place
        left -= 1
        put(groups, group, pool[chosen])
        pool[chosen] = pool[left]
        if best > groups.cost[group]:
            refresh(space, groups, group)
    return left


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
    put(groups, chosen, record)
    refresh(space, groups, chosen)


@kernel()
def regroup(space: Space, trial: Groups, pool: IntArray, k: int, noise: float, state: WordArray) -> int:
    """Put the records of ``pool`` into new groups of ``trial``; return their number."""
    left, used = pool.shape[0], 0
    while left >= k:
        shaken = shake_weights(space, noise, state)
        seed = draw_below(state, left)
        trial.size[used] = 0
        put(trial, used, pool[seed])
        left -= 1
        pool[seed] = pool[left]
        refresh(shaken, trial, used)
        left = grow_group(shaken, trial, used, pool, left, k, state)
        refresh(space, trial, used)
        used += 1
    for place in range(left):
        join_cheapest(space, trial, used, pool[place])
    return used


@kernel(allocates=False)
def replace_groups(space: Space, groups: Groups, near: LongArray, trial: Groups, used: int) -> None:
    """Put the new groups of ``trial`` in the place of the groups ``near``."""
    for group in near:
        groups.size[group] = 0
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


@kernel()
def ruin_and_recreate(
    space: Space, groups: Groups, k: int, tries: int, most: int, noise: float, state: WordArray
) -> float:
    """Rebuild up to ``most`` neighbours of random groups, ``tries`` times, keeping what costs no more.

    It ends early when a quarter of the tries in a row gained nothing.
    """
    records, room = groups.codes.shape[0], groups.member.shape[1]
    near, pool = np.zeros(most + 1, np.int64), np.zeros((most + 1) * room, np.int32)
    trial = make_groups(space, groups.codes, (most + 1) * room // k + 1, room)
    fall, last_gain = 0.0, 0
    for turn in range(tries):
        if 4 * (turn - last_gain) > tries:
            break
        group = groups.label[draw_below(state, records)]
        if groups.cost[group] == 0.0:
            continue
        count = neighbours(space, groups, group, 1 + draw_below(state, most), state, near)
        size, before = 0, 0.0
        for one in near[:count]:
            before += groups.size[one] * groups.cost[one]
            for place in range(groups.size[one]):
                pool[size] = groups.member[one, place]
                size += 1
        used = regroup(space, trial, pool[:size], k, noise, state)
        after = 0.0
        for one in range(used):
            after += trial.size[one] * trial.cost[one]
        if after <= before + LEAST_GAIN:
            replace_groups(space, groups, near[:count], trial, used)
            fall += before - after
            if after < before - LEAST_GAIN:
                last_gain = turn
    return fall
