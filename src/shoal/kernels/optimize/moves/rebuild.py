"""Rebuild: a few groups are dissolved and built again from the best cells that hold a random record (ruin and recreate).

If costs are step functions, as by hierarchy, a group that grows record by record climbs a step for a record that soon
proves useless. Here all records of a group are found at once (``cells/steps.py``). Records that no cell takes go to the group whose cost
rises least, be it new or a neighbour that was not dissolved.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_below, draw_share
from shoal.kernels.optimize.cells.steps import (
    BitsetSearch,
    SeedDistances,
    bucket_by_step,
    find_cell,
    make_bitset_search,
)
from shoal.kernels.optimize.moves.relocate_swap import LEAST_GAIN, cheapest_hosts
from shoal.kernels.optimize.state.groups import ENDLESS, Groups, join, make_groups, put, refresh, take
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.optimize.state.regroup import neighbours, replace_groups
from shoal.kernels.space.bits import holds_code
from shoal.kernels.space.space import Space


@kernel(allocates=False)
def clear(trial: Groups, pool: IntArray) -> None:
    """Empty all groups of a trial; records of ``pool`` are in none."""
    for place in range(pool.shape[0]):
        trial.label[pool[place]] = -1
    for group in range(trial.size.shape[0]):
        trial.size[group] = 0


@kernel(allocates=False)
def take_found(trial: Groups, group: int, seed: int, pool: IntArray, left: int, sieve: BitsetSearch, most: int) -> int:
    """Move up to ``most`` records of the cell found, the seed first, from ``pool[:left]`` to a group; return how many stay."""
    put(trial, group, seed)
    for place in range(left):
        if pool[place] != seed and trial.size[group] < most:
            if holds_code(sieve.found, 0, place):
                put(trial, group, pool[place])
    stay = 0
    for place in range(left):
        if trial.label[pool[place]] != group:
            pool[stay] = pool[place]
            stay += 1
    return stay


@kernel(allocates=False)
def draw_seed(
    groups: Groups,
    steps: SeedDistances,
    weight: FloatArray,
    pool: IntArray,
    left: int,
    sieve: BitsetSearch,
    state: WordArray,
) -> int:
    """Draw a seed among the records ``pool[:left]`` and write their steps from it, and what each cost in its old group, into ``sieve``; return the seed."""
    for place in range(left):
        sieve.cost_before[place] = groups.cost[groups.label[pool[place]]]
    seed = pool[draw_below(state, left)]
    bucket_by_step(steps, groups.codes, weight, seed, pool, left, sieve)
    return int(seed)


@kernel(allocates=False)
def regroup_by_cells(
    space: Space,
    groups: Groups,
    trial: Groups,
    steps: SeedDistances,
    weight: FloatArray,
    pool: IntArray,
    k: int,
    limit: float,
    sieve: BitsetSearch,
    state: WordArray,
) -> tuple[int, int, float]:
    """Put records of ``pool`` into the best cells that hold a random one of them, again and again, as long as they cost below ``limit``.

    Returns the number of groups, how many records stay at the front of the pool, and the cost of the groups.
    """
    left, used, cost = pool.shape[0], 0, 0.0
    share = draw_share(state)
    most = k if draw_below(state, 2) == 0 else 2 * k - 1
    clear(trial, pool)
    # ends: each cell found takes at least k records out of the pool, or the loop breaks
    while left >= k and cost < limit:
        seed = draw_seed(groups, steps, weight, pool, left, sieve, state)
        if not find_cell(sieve, steps.counts, left, k, share):
            break
        left = take_found(trial, used, seed, pool, left, sieve, most)
        refresh(space, trial, used)
        cost += trial.size[used] * trial.cost[used]
        used += 1
    return used, left, cost


@kernel(allocates=False)
def ruin(groups: Groups, near: LongArray, pool: IntArray, size: LongArray) -> tuple[int, float]:
    """Take the records of some groups into a pool; ``size`` keeps how many each had. Returns their number and cost."""
    count, cost = 0, 0.0
    for number in range(near.shape[0]):
        group = near[number]
        size[number] = groups.size[group]
        cost += groups.size[group] * groups.cost[group]
        for place in range(size[number]):
            pool[count] = groups.member[group, place]
            count += 1
        groups.size[group] = 0
    return count, cost


@kernel(allocates=False)
def restore(groups: Groups, near: LongArray, size: LongArray) -> None:
    """Undo ``ruin``: covers and members of the groups are still there."""
    for number in range(near.shape[0]):
        group = near[number]
        groups.size[group] = size[number]
        for place in range(size[number]):
            groups.label[groups.member[group, place]] = group
            groups.place[groups.member[group, place]] = place


@kernel(allocates=False)
def give_away(
    space: Space,
    groups: Groups,
    trial: Groups,
    pool: IntArray,
    left: int,
    limit: float,
    host: LongArray,
    rises: FloatArray,
) -> tuple[int, float]:
    """Move each of ``pool[:left]`` to the group, new or old, with room whose cost rises least, while that is below ``limit``.

    Returns how many were given and what is left of the limit.
    """
    room = groups.member.shape[1]
    for given in range(left):
        record = pool[given]
        new = cheapest_hosts(space, trial, record, room, limit, host, rises) > 0
        target, rise = host[0], rises[0] if new else limit
        if cheapest_hosts(space, groups, record, room, rise, host, rises) > 0:
            join(space, groups, host[0], record)
            rise = rises[0]
        elif new:
            join(space, trial, target, record)
        else:
            return given, limit
        limit -= rise
    return left, limit


@kernel(allocates=False)
def take_back(space: Space, groups: Groups, trial: Groups, pool: IntArray, given: int) -> None:
    """Undo ``give_away`` for the records that went to old groups; the pool is of no use afterwards."""
    for place in range(given):
        record = pool[place]
        pool[place] = -1
        if trial.label[record] < 0:
            pool[place] = groups.label[record]  # from here on the entry names the group to count again
            groups.cost[pool[place]] = ENDLESS
            take(groups, record)
    for place in range(given):
        if pool[place] >= 0 and groups.cost[pool[place]] == ENDLESS:
            refresh(space, groups, pool[place])


@kernel(allocates=False)
def replace_or_undo(
    space: Space,
    groups: Groups,
    trial: Groups,
    used: int,
    near: LongArray,
    size: LongArray,
    pool: IntArray,
    left: int,
    limit: float,
    host: LongArray,
    rises: FloatArray,
) -> float:
    """Put ``used`` new groups instead of ``near`` if the records left over can be given away below ``limit``, else undo all.

    Returns what is left of the limit, -1 if all was undone.
    """
    given = 0
    if limit > 0.0:
        given, limit = give_away(space, groups, trial, pool, left, limit, host, rises)
        if given == left:
            replace_groups(space, groups, near, trial, used)
            return limit
    take_back(space, groups, trial, pool, given)
    restore(groups, near, size)
    return -1.0


@kernel(allocates=False)
def sort_near(groups: Groups, near: LongArray, state: WordArray) -> None:
    """Sort groups by falling cost, roughly: comparisons are noisy."""
    for place in range(1, near.shape[0]):
        group, at = near[place], place
        while at > 0 and groups.cost[near[at - 1]] < groups.cost[group] * (0.7 + 0.6 * draw_share(state)):
            near[at] = near[at - 1]
            at -= 1
        near[at] = group


@kernel(allocates=False)
def shake_weights(space: Space, noise: float, state: WordArray, weight: FloatArray) -> None:
    """Write the weights of the columns, each times a random factor near 1, so that other cells are tried each time."""
    for column in range(weight.shape[0]):
        weight[column] = space.weight[column] * np.exp(noise * (2.0 * draw_share(state) - 1.0))


@kernel()
def rebuild_by_cells(
    space: Space,
    steps: SeedDistances,
    groups: Groups,
    k: int,
    tries: int,
    most: int,
    noise: float,
    temperature: float,
    state: WordArray,
) -> Outcome:
    """Rebuild random groups, each with up to ``most`` neighbours, by cells, ``tries`` times; return how often, and what was gained.

    New groups are kept if they raise the total by no more than a random share of ``temperature``.
    """
    records, room = groups.codes.shape[0], groups.member.shape[1]
    near, size, pool = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64), np.zeros((most + 1) * room, np.int32)
    trial = make_groups(space, groups.codes, pool.shape[0] // k + 1, room)
    sieve = make_bitset_search(groups.codes.shape[1], pool.shape[0])
    host, rises, weight = np.zeros(1, np.int64), np.zeros(1), np.zeros(space.weight.shape[0])
    tried, taken, fall = 0, 0, 0.0
    for _ in range(tries):
        group = groups.label[draw_below(state, records)]
        if groups.cost[group] == 0.0:
            continue
        tried += 1
        count = neighbours(space, groups, group, 1 + draw_below(state, most), state, near)
        sort_near(groups, near[:count], state)
        shake_weights(space, noise, state, weight)
        total, before = ruin(groups, near[:count], pool, size)
        limit = before + LEAST_GAIN + temperature * draw_share(state)
        used, left, cost = regroup_by_cells(space, groups, trial, steps, weight, pool[:total], k, limit, sieve, state)
        rest = limit - cost if left < k else 0.0
        rest = replace_or_undo(space, groups, trial, used, near[:count], size, pool, left, rest, host, rises)
        if rest >= 0.0:
            taken += 1
            fall += before - limit + rest
    return Outcome(tried, taken, fall)
