"""Merge & Split told plainly: every record of the merge set is looked at for every merge and every split."""

from __future__ import annotations

from tests.kernels.spaces import Interval
from tests.support.reference import plain_sum


def group(columns, weights, codes, k, *, grow=True, utility=1, privacy=1):
    """Return the group of each record."""
    merge_set = corner_first(columns, weights, codes)
    splits = dict.fromkeys(merge_set, 0)
    final = []

    def quality(members):
        spent, size = cost(columns, weights, codes, members), len(members)
        value = ipg(plain_sum(weights), spent, size)
        for _ in range(utility - 1):
            value *= (plain_sum(weights) - spent) / plain_sum(weights)
        for _ in range(privacy - 1):
            value *= (size - 1) / size
        return value

    while len(merge_set) >= k:
        members = [merge_set.pop(0)]
        while merge_set and len(members) < (2 * k - 1 if grow else k):
            best = min(merge_set, key=lambda record: (cost(columns, weights, codes, [*members, record]), record))
            if len(members) >= k and quality([*members, best]) <= quality(members):
                break
            merge_set.remove(best)
            members.append(best)
        while len(members) > k:
            movable = sorted(record for record in members[1:] if splits[record] < k)
            if not movable:
                break
            worst = min(movable, key=lambda record: cost(columns, weights, codes, _without(members, record)))
            if quality(_without(members, worst)) <= quality(members):
                break
            members.remove(worst)
            merge_set.append(worst)
            splits[worst] += 1
        final.append(members)
    for record in merge_set:
        max(final, key=lambda members: quality([*members, record]) - quality(members)).append(record)
    label = {record: number for number, members in enumerate(final) for record in members}
    return [label[record] for record in range(len(label))]


def corner_first(columns, weights, codes):
    """Return the records by how many have no smaller number and how many have another category."""
    records = range(len(codes[0]))

    def outside(record):
        total = 0.0
        for column, weight, row in zip(columns, weights, codes, strict=True):
            if isinstance(column, Interval):
                total += weight * sum(code >= row[record] for code in row)
            else:
                total += weight * sum(code != row[record] for code in row)
        return total

    return sorted(records, key=lambda record: -outside(record))


def cost(columns, weights, codes, members):
    """Return the weighted cost of releasing ``members`` together, for each of them."""
    total = 0.0
    for column, weight, row in zip(columns, weights, codes, strict=True):
        total += weight * column.cost([row[record] for record in members])
    return total


def ipg(total_weight, spent, size):
    """Return (1 - IL)·PG."""
    return (total_weight - spent) * (size - 1) / (total_weight * size)


def _without(members, record):
    return [other for other in members if other != record]
