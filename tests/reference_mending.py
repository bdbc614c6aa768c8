"""Exchanges between mended groups, as slowly and plainly as possible."""

from __future__ import annotations

import numpy as np

from shoal.kernels.space.space import cost_table, cover_groups

_TINY = 1e-9


def cost(table, records):
    """Return what each of some records costs as one group."""
    labels = np.full(table.records, -1, np.int32)
    labels[list(records)] = 0
    column = cost_table(table.space, cover_groups(table.space, table.codes, labels, 1))[:, 0]
    total = 0.0
    for weight, one in zip(table.space.weight, column, strict=True):
        total += weight * one
    return total


def is_valid(requirements, groups, k, records):
    """Tell whether each of some groups has k records and meets all requirements."""
    for group in groups:
        labels = np.full(records, -1, np.int32)
        labels[list(group)] = 0
        if len(group) < k or any(one.failing(labels, 1)[0] for one in requirements):
            return False
    return True


def cheapest(price_of, groups, order, place, reach, most):
    """Return the groups near a place that cost least, the earlier one first where two are equal."""
    near = [b for b in order[max(place - reach, 0) : place + reach + 1] if b != order[place]]
    price = {b: price_of(groups[b]) for b in near}
    return sorted(near, key=lambda b: round(price[b], 9))[:most]


def exchange(table, requirements, groups, order, k, reach, most):
    """Let records look for better groups, in the order of the groups; changes ``groups`` (lists of records)."""
    for place, a in enumerate(order):
        if len(groups[a]) < 2:
            continue

        def add_as_one(other, a=a):
            before = cost(table, groups[a]) * len(groups[a]) + cost(table, other) * len(other)
            return cost(table, groups[a] + other) * (len(groups[a]) + len(other)) - before

        nearest = cheapest(add_as_one, groups, order, place, reach, most)
        while _exchange_one(table, requirements, groups, order, place, k, reach, most, nearest):
            pass


def _exchange_one(table, requirements, groups, order, place, k, reach, most, nearest):
    a = order[place]
    for record in groups[a]:
        rest = [one for one in groups[a] if one != record]
        if not rest or cost(table, rest) >= cost(table, groups[a]) - _TINY:
            continue

        def take_in(other, record=record):
            return cost(table, [*other, record]) * (len(other) + 1) - cost(table, other) * len(other)

        takers = cheapest(take_in, groups, order, place, reach, most)
        found = _best(table, requirements, groups, a, record, rest, [*takers, *nearest], k)
        if found is not None:
            b, groups[a], groups[b] = found
            return len(groups[a]) > 1
    return False


def _best(table, requirements, groups, a, record, rest, takers, k):
    best, found = -_TINY, None
    for b in takers:
        before = cost(table, groups[a]) * len(groups[a]) + cost(table, groups[b]) * len(groups[b])
        for back in [None, *groups[b]]:
            mine = rest if back is None else [*rest, back]
            theirs = [*(one for one in groups[b] if one != back), record]
            if len(mine) < k:
                continue
            total = cost(table, theirs) * len(theirs) + cost(table, mine) * len(mine) - before
            if total < best - _TINY and is_valid(requirements, [mine, theirs], k, table.records):
                best, found = total, (b, mine, theirs)
    return found
