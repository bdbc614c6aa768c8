"""Slow twins of the optimizer's parts and of k-member, in the plainest Python."""

from __future__ import annotations

from itertools import combinations

from tests.support.reference import group_cost, numbered


def k_member(table, k, first):
    """Grow groups from the record farthest from the last seed; ties go to the record that comes first."""
    alive, seed, groups = list(range(table.records)), first, []
    while len(alive) >= k:
        seed = max(alive, key=lambda record: (group_cost(table, [seed, record]), -record))
        group = [seed]
        alive.remove(seed)
        while len(group) < k:
            best = min(alive, key=lambda record: (group_cost(table, [*group, record]), record))
            group.append(best)
            alive.remove(best)
        groups.append(group)
    for record in alive:
        chosen = min(groups, key=lambda group: _rise(table, group, record))
        chosen.append(record)
    return numbered(groups, table.records)


def _rise(table, group, record):
    return (len(group) + 1) * group_cost(table, [*group, record]) - len(group) * group_cost(table, group)


def least_loss(table, k):
    """Return the normalized loss of the best grouping, by trying all (small tables only)."""
    total = _least_cost(table, k, tuple(range(table.records)), {})
    return total / (table.records * sum(table.weights))


def _least_cost(table, k, records, known):
    if not records:
        return 0.0
    if records in known:
        return known[records]
    first, rest, best = records[0], records[1:], float("inf")
    for size in range(k, min(2 * k, len(records) + 1)):
        if 0 < len(records) - size < k:
            continue
        for others in combinations(rest, size - 1):
            left = tuple(record for record in rest if record not in others)
            cost = size * group_cost(table, [first, *others]) + _least_cost(table, k, left, known)
            best = min(best, cost)
    known[records] = best
    return best
