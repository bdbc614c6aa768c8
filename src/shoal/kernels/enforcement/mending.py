"""Mending groups that fall short of a privacy model.

A failing group looks at its neighbours from near to far. Of all ways to meet the rules together with one of
them (become one group; be cut anew along a column; give or take a record; swap two records) the cheapest is carried
out. All plans for a pair are priced first and then checked from the cheapest on, so few are ever checked.

Two valid groups are valid as one under all models but δ-disclosure and the lower bound of δ-presence; so only
neighbours with which the group is valid as one are weighed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.compiling import kernel
from shoal.kernels.enforcement.crowds import Crowds, crowd_shortfall
from shoal.kernels.enforcement.rules import Rules, Tally, add, clear, new_tally, shortfall
from shoal.kernels.measuring.matching import Points
from shoal.kernels.space.space import Cover, Space, add_record, empty_cover, group_cost, union_cost

_EXCHANGE = 96
"""Largest group of which single records are exchanged: all pairs are priced."""
_CUTS = 64
"""Cuts priced along a column."""
_CHECKS = 1000
"""Plans checked for a pair."""
_TINY = 1e-9


class Chains(NamedTuple):
    """Groups as chains of records."""

    first: IntArray
    """The first record of each group, -1 for a group without records."""
    follow: IntArray
    """The next record of the same group, -1 after the last."""
    cost: FloatArray
    """What each record of a group costs."""
    short: FloatArray
    """How far a group falls short."""


@kernel()
def link(labels: IntArray, groups: int) -> Chains:
    """Return the groups of ``labels`` as chains in the order of their records."""
    chains = Chains(
        np.full(groups, -1, np.int32), np.full(labels.shape[0], -1, np.int32), np.zeros(groups), np.zeros(groups)
    )
    for record in range(labels.shape[0] - 1, -1, -1):
        if labels[record] >= 0:
            chains.follow[record] = chains.first[labels[record]]
            chains.first[labels[record]] = record
    return chains


@kernel()
def label_records(chains: Chains) -> IntArray:
    """Return the group of each record, numbered without gaps; -1 for one in no chain."""
    labels = np.full(chains.follow.shape[0], -1, np.int32)
    number = 0
    for group in range(chains.first.shape[0]):
        record = chains.first[group]
        number += record >= 0
        while record >= 0:
            labels[record] = number - 1
            record = chains.follow[record]
    return labels


@kernel()
def reset(cover: Cover, slot: int) -> None:
    """Make a slot of a cover empty."""
    cover.size[slot] = 0
    cover.words[slot] = 0


@kernel()
def settle(space: Space, codes: IntArray, cover: Cover, chains: Chains, group: int, records: IntArray) -> None:
    """Make ``records`` the group ``group``."""
    chains.first[group] = -1
    reset(cover, group)
    for place in range(records.shape[0] - 1, -1, -1):
        chains.follow[records[place]] = chains.first[group]
        chains.first[group] = records[place]
        add_record(space, cover, group, codes, records[place])
    chains.cost[group] = group_cost(space, cover, group) if records.shape[0] > 0 else 0.0


@kernel()
def members(cover: Cover, chains: Chains, a: int, b: int) -> IntArray:
    """Return the records of group ``a``, then those of group ``b`` (-1: no other group)."""
    size = cover.size[a] + (cover.size[b] if b >= 0 else 0)
    records = np.empty(size, np.int32)
    place = 0
    for turn in range(2 if b >= 0 else 1):
        record = chains.first[a if turn == 0 else b]
        while record >= 0:
            records[place] = record
            place += 1
            record = chains.follow[record]
    return records


@kernel()
def price_neighbours(space: Space, cover: Cover, chains: Chains, a: int, near: IntArray) -> FloatArray:
    """Return what it would add to join group ``a`` with each of ``near``; infinite for itself and those without records."""
    added = np.full(near.shape[0], np.inf)
    for place in range(near.shape[0]):
        b = near[place]
        if b != a and cover.size[b] > 0:
            before = chains.cost[a] * cover.size[a] + chains.cost[b] * cover.size[b]
            added[place] = union_cost(space, cover, a, b) * (cover.size[a] + cover.size[b]) - before
    return added


@kernel()
def union_shortfalls(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: Crowds,
    points: Points,
    chains: Chains,
    a: int,
    near: IntArray,
    enough: int,
) -> FloatArray:
    """Return how far group ``a`` and each of ``near`` as one fall short; ends after ``enough`` that do not."""
    tally, trial = new_tally(rules), empty_cover(space, 1)
    short = np.full(near.shape[0], np.inf)
    for place in range(near.shape[0]):
        clear(rules, tally)
        reset(trial, 0)
        for turn in range(2):
            record = chains.first[a if turn == 0 else near[place]]
            while record >= 0:
                add(rules, tally, record)
                if crowds.kind.shape[0] > 0:
                    add_record(space, trial, 0, codes, record)
                record = chains.follow[record]
        short[place] = shortfall(rules, tally)
        if crowds.kind.shape[0] > 0:
            short[place] += crowd_shortfall(crowds, points, space, trial, 0)
        enough -= short[place] == 0.0
        if enough == 0:
            break
    return short


# --- plans: which of two groups each record goes to ---------------------------------------------------------------


@kernel()
def leave_out(space: Space, codes: IntArray, records: IntArray, trial: Cover, cost: FloatArray) -> None:
    """Cover ``records`` in slot 0, and without each of them in the next slots; note what a slot costs in all."""
    for left_out in range(-1, records.shape[0]):
        slot = left_out + 1
        for place in range(records.shape[0]):
            if place != left_out:
                add_record(space, trial, slot, codes, records[place])
        cost[slot] = group_cost(space, trial, slot) * trial.size[slot] if trial.size[slot] > 0 else 0.0


@kernel()
def cost_with(space: Space, codes: IntArray, trial: Cover, source: int, spare: int, record: int) -> float:
    """Return the total cost of slot ``source`` together with a record."""
    trial.low[:, spare] = trial.low[:, source]
    trial.high[:, spare] = trial.high[:, source]
    trial.words[spare] = trial.words[source]
    trial.size[spare] = trial.size[source]
    add_record(space, trial, spare, codes, record)
    return group_cost(space, trial, spare) * trial.size[spare]


@kernel()
def price_exchanges(space: Space, codes: IntArray, k: int, records: IntArray, middle: int, most: float) -> FloatArray:
    """Return the total cost after each exchange between two groups; infinite where it is no less than ``most``.

    Entry ``x·(right + 1) + y`` sends the x-th record of the left group to the right and the y-th of the right group to
    the left; 0 stands for no record.
    """
    left, right = middle, records.shape[0] - middle
    price = np.full((left + 1) * (right + 1), np.inf)
    if left > _EXCHANGE or right > _EXCHANGE or right == 0:
        return price
    one, other = empty_cover(space, left + 2), empty_cover(space, right + 2)
    one_cost, other_cost = np.empty(left + 1), np.empty(right + 1)
    leave_out(space, codes, records[:middle], one, one_cost)
    leave_out(space, codes, records[middle:], other, other_cost)
    for x in range(left + 1):
        for y in range(right + 1):
            if (x == 0 and right <= k) or (y == 0 and left <= k) or x + y == 0 or one_cost[x] + other_cost[y] >= most:
                continue
            cost = cost_with(space, codes, one, x, left + 1, records[middle + y - 1]) if y > 0 else one_cost[x]
            if cost + other_cost[y] >= most:
                continue
            cost += cost_with(space, codes, other, y, right + 1, records[x - 1]) if x > 0 else other_cost[y]
            if cost < most:
                price[x * (right + 1) + y] = cost
    return price


@kernel()
def interleave(sensitive: IntArray, records: IntArray) -> IntArray:
    """Return records ordered so that their first half has about the sensitive values of the second.

    A cut through equal values then leaves both sides mixed.
    """
    count = records.shape[0]
    order = sort_stably(sensitive, records)
    mixed = np.empty(count, np.int32)
    for place in range(count):
        half = 0 if place % 2 == 0 else (count + 1) // 2
        mixed[half + place // 2] = order[place]
    return mixed


@kernel()
def sort_stably(codes: IntArray, records: IntArray) -> IntArray:
    """Return records by rising code, equal ones as they were."""
    count = records.shape[0]
    key = np.empty(count, np.int64)
    for place in range(count):
        key[place] = np.int64(codes[records[place]]) * count + place
    return records[np.argsort(key)]


@kernel()
def price_cuts(space: Space, codes: IntArray, k: int, orders: IntArray, most: float) -> FloatArray:
    """Return the total cost after each cut of records ordered by each column; infinite where no less than ``most``.

    Entry ``column·count + cut`` sends the records from ``cut`` on to the right.
    """
    columns, count = orders.shape
    price = np.full(columns * count, np.inf)
    if count < 2 * k:
        return price
    left_cost = np.empty(count + 1)
    step = max(1, count // _CUTS)
    trial = empty_cover(space, 2)
    for column in range(columns):
        reset(trial, 0)
        reset(trial, 1)
        for place in range(count - k):
            add_record(space, trial, 0, codes, orders[column, place])
            left_cost[place + 1] = group_cost(space, trial, 0) * (place + 1)
        for cut in range(count - 1, k - 1, -1):
            add_record(space, trial, 1, codes, orders[column, cut])
            if count - cut >= k and (count - cut) % step == 0:
                cost = left_cost[cut] + group_cost(space, trial, 1) * (count - cut)
                if cost < most:
                    price[column * count + cut] = cost
    return price


@kernel()
def lay_out(plan: int, cuts: int, middle: int, records: IntArray, orders: IntArray) -> tuple[IntArray, int]:
    """Return the records in the order of a plan, and how many of them go to the left."""
    count = records.shape[0]
    if plan < cuts:
        return orders[plan // count].copy(), plan % count
    laid = records.copy()
    if plan == cuts:
        return laid, count  # all become one group
    x, y = (plan - cuts - 1) // (count - middle + 1), (plan - cuts - 1) % (count - middle + 1)
    if x > 0 and y > 0:
        laid[x - 1], laid[middle + y - 1] = records[middle + y - 1], records[x - 1]
        return laid, middle
    if x > 0:
        laid[x - 1], laid[middle - 1] = records[middle - 1], records[x - 1]
        return laid, middle - 1
    laid[middle + y - 1], laid[middle] = records[middle], records[middle + y - 1]
    return laid, middle + 1


@kernel()
def sides_shortfall(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: Crowds,
    points: Points,
    tally: Tally,
    trial: Cover,
    laid: IntArray,
    left: int,
) -> float:
    """Return how far the first ``left`` of the records and the others, as two groups, fall short."""
    short = 0.0
    for side in range(2):
        begin, end = (0, left) if side == 0 else (left, laid.shape[0])
        if begin == end:
            continue
        clear(rules, tally)
        reset(trial, 0)
        for place in range(begin, end):
            add(rules, tally, laid[place])
            if crowds.kind.shape[0] > 0:
                add_record(space, trial, 0, codes, laid[place])
        short += shortfall(rules, tally)
        if crowds.kind.shape[0] > 0:
            short += crowd_shortfall(crowds, points, space, trial, 0)
    return short


@kernel()
def weigh(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: Crowds,
    points: Points,
    k: int,
    cover: Cover,
    chains: Chains,
    a: int,
    partners: IntArray,
    best: float,
) -> tuple[int, float, IntArray, int]:
    """Find the cheapest valid plan for group ``a`` with one of ``partners`` that adds less than ``best``.

    A partner of -1 stands for none: ``a`` is cut by itself. What a plan adds is divided among the failing groups it
    mends. Returns the place of the partner (-1: no plan), what the plan adds, its records, and how many go to ``a``.
    """
    tally, trial = new_tally(rules), empty_cover(space, 1)
    chosen, chosen_laid, chosen_left = -1, np.empty(0, np.int32), 0
    for place in range(partners.shape[0]):
        b = partners[place]
        before = chains.cost[a] * cover.size[a]
        mended = 1.0
        if b >= 0:
            before += chains.cost[b] * cover.size[b]
            mended += chains.short[b] > 0.0
        records = members(cover, chains, a, b)
        most = before + best * mended - _TINY
        mixed = interleave(rules.codes[0], records) if rules.codes.shape[0] > 0 else records
        orders = np.empty((codes.shape[0], records.shape[0]), np.int32)
        for column in range(codes.shape[0]):
            orders[column] = sort_stably(codes[column], mixed)
        whole = union_cost(space, cover, a, b if b >= 0 else a) * records.shape[0]
        cuts = price_cuts(space, codes, k, orders, most)
        exchanges = price_exchanges(space, codes, k, records, cover.size[a], most)
        price = np.concatenate((cuts, np.array([whole]), exchanges))
        checks = 0
        for plan in np.argsort(price, kind="mergesort"):
            if price[plan] >= most or checks == _CHECKS:
                break
            checks += 1
            laid, left = lay_out(plan, cuts.shape[0], cover.size[a], records, orders)
            if sides_shortfall(space, codes, rules, crowds, points, tally, trial, laid, left) == 0.0:
                chosen, chosen_laid, chosen_left = place, laid, left
                best = (price[plan] - before) / mended
                break
    return chosen, best, chosen_laid, chosen_left
