"""Lowering the loss of mended groups by exchanges that keep every rule.

Mending joins what lies far apart. Afterwards each record whose group would shrink without it looks for a group it fits
better, and goes there, alone or for a record in return, where the total falls and both groups stay valid. An exchange
that lowers the total shrinks one of the two boxes, so nothing is missed by looking at such records only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.compiling import kernel
from shoal.kernels.enforcement.crowds import Crowds
from shoal.kernels.enforcement.mending import Chains, members, settle, sides_shortfall
from shoal.kernels.enforcement.rules import Rules, new_tally
from shoal.kernels.measuring.matching import Points
from shoal.kernels.space.range_costs import RangeCosts, cost_with_record, union_cost_within, weighted_cost
from shoal.kernels.space.space import SET, Cover, Space, empty_cover, set_cost

_TINY = 1e-9
"""Costs that differ by less are equal: sums of the same numbers in another order do."""
_ROUNDING = 4.0 * np.finfo(np.float64).eps
"""What a cost can be wrong by for each column, as a share of it."""


class Edges(NamedTuple):
    """The two smallest and the two largest codes of a group in each column: its box without any one record."""

    low: IntArray
    """(2, m), the smallest first."""
    high: IntArray
    """(2, m), the largest first."""


class Shortlist(NamedTuple):
    """The groups that take a record in for the least, cheapest first."""

    group: IntArray
    price: FloatArray


@kernel()
def find_edges(codes: IntArray, records: IntArray) -> Edges:
    """Return the edges of some records; of a single one both are the same."""
    columns = codes.shape[0]
    edges = Edges(np.empty((2, columns), np.int32), np.empty((2, columns), np.int32))
    for column in range(columns):
        first = codes[column, records[0]]
        low, next_low, high, next_high = first, np.int32(np.iinfo(np.int32).max), first, np.int32(-1)
        for place in range(1, records.shape[0]):
            code = codes[column, records[place]]
            if code < low:
                low, next_low = code, low
            else:
                next_low = min(next_low, code)
            if code > high:
                high, next_high = code, high
            else:
                next_high = max(next_high, code)
        edges.low[0, column], edges.low[1, column] = low, next_low
        edges.high[0, column], edges.high[1, column] = high, next_high
    return edges


@kernel()
def count_without(row: IntArray, records: IntArray, leaving: int, joining: int) -> int:
    """Return how many different codes records have after one leaves (-1: none) and another joins (-1: none)."""
    count = 0
    for place in range(records.shape[0] + 1):
        if place < records.shape[0]:
            one = records[place]
        elif joining >= 0:
            one = np.int32(joining)
        else:
            continue
        if one == leaving:
            continue
        fresh = True
        for before in range(place):
            if records[before] != leaving and row[records[before]] == row[one]:
                fresh = False
                break
        count += fresh
    return count


@kernel()
def cost_after(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    records: IntArray,
    edges: Edges,
    leaving: int,
    joining: int,
    limit: float,
) -> float:
    """Return what each record costs after one leaves (-1: none) and another joins (-1: none); infinite above ``limit``."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        low, high = edges.low[0, column], edges.high[0, column]
        if leaving >= 0:
            low = edges.low[1, column] if codes[column, leaving] == low else low
            high = edges.high[1, column] if codes[column, leaving] == high else high
        if joining >= 0:
            low, high = min(low, codes[column, joining]), max(high, codes[column, joining])
        if low == high:
            continue
        if space.kind[column] != SET:
            total += weighted_cost(space, costs, column, low, high)
        else:
            count = count_without(codes[column], records, leaving, joining)
            total += space.weight[column] * set_cost(space, column, count, high == space.missing[column])
        if total > limit:
            return np.inf  # a part of the cost could pass for all of it once rounded
    return total


@kernel()
def note(shortlist: Shortlist, used: int, group: int, price: float) -> int:
    """Keep a group in its place of a shortlist if it is cheap enough; returns how many places are used."""
    room = shortlist.group.shape[0]
    if used == room and price >= shortlist.price[room - 1] - _TINY:
        return used
    place = min(used, room - 1)
    while place > 0 and shortlist.price[place - 1] > price + _TINY:
        shortlist.group[place], shortlist.price[place] = shortlist.group[place - 1], shortlist.price[place - 1]
        place -= 1
    shortlist.group[place], shortlist.price[place] = group, price
    return min(used + 1, room)


@kernel()
def list_takers(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    near: IntArray,
    a: int,
    record: int,
    shortlist: Shortlist,
) -> int:
    """Fill a shortlist with the groups that take a record in for the least; the earlier one where two are equal."""
    used, room = 0, shortlist.group.shape[0]
    for place in range(near.shape[0]):
        b = near[place]
        if b == a or cover.size[b] == 0:
            continue
        before, size = chains.cost[b] * cover.size[b], cover.size[b] + 1
        most = (shortlist.price[room - 1] + before) / size if used == room else np.inf
        cost = cost_with_record(space, costs, cover, b, codes, record, most)
        if cost <= most:
            used = note(shortlist, used, b, cost * size - before)
    return used


@kernel()
def list_nearest(
    space: Space, costs: RangeCosts, cover: Cover, chains: Chains, near: IntArray, a: int, shortlist: Shortlist
) -> int:
    """Fill a shortlist with the groups with which group ``a`` would add least as one."""
    used, room = 0, shortlist.group.shape[0]
    for place in range(near.shape[0]):
        b = near[place]
        if b == a or cover.size[b] == 0:
            continue
        size = cover.size[a] + cover.size[b]
        before = chains.cost[a] * cover.size[a] + chains.cost[b] * cover.size[b]
        most = (shortlist.price[room - 1] + before) / size if used == room else np.inf
        cost = union_cost_within(space, costs, cover, a, b, most)
        if cost <= most:
            used = note(shortlist, used, b, cost * size - before)
    return used


@kernel()
def exchanged(records: IntArray, others: IntArray, leaving: int, joining: int) -> IntArray:
    """Return two groups' records, those of the first before those of the second, after an exchange."""
    size = records.shape[0] + (joining >= 0) - 1
    laid = np.empty(records.shape[0] + others.shape[0], np.int32)
    left, right = 0, size
    for place in range(records.shape[0]):
        if records[place] != leaving:
            laid[left] = records[place]
            left += 1
    if joining >= 0:
        laid[left] = joining
    for place in range(others.shape[0]):
        if others[place] != joining:
            laid[right] = others[place]
            right += 1
    laid[right] = leaving
    return laid


@kernel()
def exchange_record(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    rules: Rules,
    crowds: Crowds,
    points: Points,
    k: int,
    cover: Cover,
    chains: Chains,
    a: int,
    record: int,
    takers: IntArray,
) -> bool:
    """Send a record of group ``a`` to one of ``takers``, for one in return or none, where that lowers the total most.

    Of equal exchanges the first is taken, in the order of the takers and of their records.
    """
    tally, trial = new_tally(rules), empty_cover(space, 1)
    own = members(cover, chains, a, -1)
    edges = find_edges(codes, own)
    best, chosen, laid, left = -_TINY, -1, own, 0
    for place in range(takers.shape[0]):
        b = takers[place]
        before = chains.cost[a] * own.shape[0] + chains.cost[b] * cover.size[b]
        least = _TINY + _ROUNDING * space.kind.shape[0] * before
        others = members(cover, chains, b, -1)
        other_edges = find_edges(codes, others)
        for number in range(-1, others.shape[0]):
            back = others[number] if number >= 0 else -1
            size, other_size = own.shape[0] - (number < 0), others.shape[0] + (number < 0)
            if size < k or size == 0:
                continue
            most = (best + before) / other_size
            added = cost_after(space, costs, codes, others, other_edges, back, record, most) * other_size
            if added - before >= best:
                continue
            most = (best + before - added) / size
            total = added + cost_after(space, costs, codes, own, edges, record, back, most) * size - before
            if total >= best - least:
                continue
            plan = exchanged(own, others, record, back)
            if sides_shortfall(space, codes, rules, crowds, points, tally, trial, plan, size) == 0.0:
                best, chosen, laid, left = total, b, plan, size
    if chosen < 0:
        return False
    settle(space, codes, cover, chains, a, laid[:left])
    settle(space, codes, cover, chains, chosen, laid[left:])
    return True


@kernel()
def exchange_records(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    rules: Rules,
    crowds: Crowds,
    points: Points,
    k: int,
    cover: Cover,
    chains: Chains,
    order: IntArray,
    begin: int,
    end: int,
    reach: int,
    most_takers: int,
) -> int:
    """Let the records of the groups at places ``begin..end - 1`` of an order look for better groups; returns how many went."""
    takers = Shortlist(np.empty(most_takers, np.int32), np.empty(most_takers))
    nearest = Shortlist(np.empty(most_takers, np.int32), np.empty(most_takers))
    went = 0
    for place in range(begin, end):
        a = order[place]
        near = order[max(place - reach, 0) : place + reach + 1]
        if cover.size[a] < 2:
            continue
        used_nearest = list_nearest(space, costs, cover, chains, near, a, nearest)
        again = True
        while again:  # ends: each time the total falls by more than it can be wrong by, so no grouping comes twice
            again = False
            own = members(cover, chains, a, -1)
            edges = find_edges(codes, own)
            for number in range(own.shape[0]):
                record = own[number]
                if cost_after(space, costs, codes, own, edges, record, -1, np.inf) >= chains.cost[a] - _TINY:
                    continue
                used = list_takers(space, costs, codes, cover, chains, near, a, record, takers)
                both = np.concatenate((takers.group[:used], nearest.group[:used_nearest]))
                if exchange_record(space, costs, codes, rules, crowds, points, k, cover, chains, a, record, both):
                    went += 1
                    again = cover.size[a] > 1
                    break
    return went
