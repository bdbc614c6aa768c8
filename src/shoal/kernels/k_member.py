"""Greedy k-member clustering (Byun, Kamra, Bertino, Li 2007): groups grown record by record."""

from __future__ import annotations

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.optimize.state.groups import ENDLESS, Groups, join, put, refresh
from shoal.kernels.space.kinds import lacks_value
from shoal.kernels.space.space import Space, released_cost


@kernel(allocates=False)
def cost_joined(space: Space, groups: Groups, group: int, record: int, limit: float) -> float:
    """Return a group's cost for each record if ``record`` joined, or any part of it above ``limit``.

    The columns are added up from the first to the last, never as a difference to the cost before: two records that
    lead to the same cover then have the same cost to the last bit, and the tie-break decides between them.
    """
    total = 0.0
    for column in range(space.kind.shape[0]):
        code = groups.codes[record, column]
        low, high = min(groups.low[group, column], code), max(groups.high[group, column], code)
        count = groups.distinct[group, column] + lacks_value(space, groups.words[group], column, code)
        total += space.weight[column] * released_cost(space, column, low, high, count)
        if total > limit:
            return total
    return total


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
    """Return the record that would make a group of one cost most; ties go to the first."""
    best, chosen = -1.0, pool[0]
    for place in range(pool.shape[0]):
        cost = cost_joined(space, groups, group, pool[place], ENDLESS)
        if cost > best:
            best, chosen = cost, pool[place]
    return chosen


@kernel()
def nearest(space: Space, groups: Groups, group: int, pool: IntArray) -> int:
    """Return the record that makes a group cost least; ties go to the first."""
    best, chosen = ENDLESS, pool[0]
    for place in range(pool.shape[0]):
        cost = cost_joined(space, groups, group, pool[place], best)
        if cost < best:
            best, chosen = cost, pool[place]
            if best == groups.cost[group]:
                break  # a cover never shrinks
    return chosen


@kernel(allocates=False)
def join_cheapest(space: Space, groups: Groups, used: int, record: int) -> None:
    """Add a record to the one of the first ``used`` groups whose total cost rises least; ties go to the first."""
    best, chosen = ENDLESS, -1
    for group in range(used):
        size = groups.size[group]
        rise = (size + 1) * cost_joined(space, groups, group, record, ENDLESS) - size * groups.cost[group]
        if rise < best:
            best, chosen = rise, group
    join(space, groups, chosen, record)


@kernel()
def run(space: Space, groups: Groups, pool: IntArray, state: LongArray, k: int, rounds: int) -> bool:
    """Make up to ``rounds`` groups; True when every record has one.

    Each group takes k records out of the pool, so there are at most n / k rounds; the fewer than k records left then
    fit into any group, which has room for 2k.

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
        # ends: each round puts one record into the group, and there are k: at least k were left
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
