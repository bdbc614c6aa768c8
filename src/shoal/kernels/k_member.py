"""Greedy k-member clustering (Byun, Kamra, Bertino, Li 2007): groups grown record by record."""

from __future__ import annotations

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_groups import ENDLESS, Groups, cost_with, put, refresh
from shoal.kernels.optimise_regroup import join_cheapest
from shoal.kernels.space import Space
from shoal.typing import IntArray, LongArray


@kernel()
def remove(pool: IntArray, left: int, record: int) -> int:
    """Take a record out of ``pool[:left]``, which keeps its order; return how many stay."""
    stay = 0
    for place in range(left):
        if pool[place] != record:
            pool[stay] = pool[place]
            stay += 1
    return stay


@kernel()
def farthest(space: Space, groups: Groups, group: int, pool: IntArray) -> int:
    """Return the record that would make a group of one cost most; of several the first."""
    best, chosen = -1.0, pool[0]
    for place in range(pool.shape[0]):
        cost = cost_with(space, groups, group, pool[place], ENDLESS)
        if cost > best:
            best, chosen = cost, pool[place]
    return chosen


@kernel()
def nearest(space: Space, groups: Groups, group: int, pool: IntArray) -> int:
    """Return the record that makes a group cost least; of several the first."""
    best, chosen = ENDLESS, pool[0]
    for place in range(pool.shape[0]):
        cost = cost_with(space, groups, group, pool[place], best)
        if cost < best:
            best, chosen = cost, pool[place]
            if best == groups.cost[group]:
                break  # a cover never shrinks
    return chosen


@kernel()
def run(space: Space, groups: Groups, pool: IntArray, state: LongArray, k: int, rounds: int) -> bool:
    """Make up to ``rounds`` groups; True when every record has one.

    ``state`` holds how many records are left, how many groups there are, and the last seed. The last of the
    groups of ``groups`` is scratch: the seed alone.
    """
    scratch = groups.size.shape[0] - 1
    for _ in range(rounds):
        if state[0] < k:
            break
        groups.size[scratch] = 0
        own = groups.label[state[2]]
        at = groups.place[state[2]]
        put(groups, scratch, state[2])
        refresh(space, groups, scratch)
        groups.label[state[2]], groups.place[state[2]] = own, at
        group = state[1]
        record = farthest(space, groups, scratch, pool[: state[0]])
        state[2] = record
        while True:
            put(groups, group, record)
            refresh(space, groups, group)
            state[0] = remove(pool, state[0], record)
            if groups.size[group] == k:
                break
            record = nearest(space, groups, group, pool[: state[0]])
        state[1] += 1
    if state[0] >= k:
        return False
    for place in range(state[0]):
        join_cheapest(space, groups, state[1], pool[place])
    return True
