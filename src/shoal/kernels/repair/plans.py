"""Plans for two groups: which of them each record goes to, and what both would cost then."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.copying import copy_values
from shoal.kernels.common.sorting import order_by_key
from shoal.kernels.repair.linked_groups import reset
from shoal.kernels.space.space import Cover, Space, add_record, empty_cover, group_cost

_EXCHANGE = 96
"""Records of a group up to which exchanges of single records are planned: each pair of records is costed."""
_CUTS = 64
"""Cuts along a column that are costed, about."""


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
    copy_values(trial.low[:, source], trial.low[:, spare])
    copy_values(trial.high[:, source], trial.high[:, spare])
    copy_values(trial.words[source], trial.words[spare])
    trial.size[spare] = trial.size[source]
    add_record(space, trial, spare, codes, record)
    return group_cost(space, trial, spare) * trial.size[spare]


@kernel()
def exchange_costs(space: Space, codes: IntArray, k: int, records: IntArray, middle: int, most: float) -> FloatArray:
    """Return the total cost after each exchange between two groups; infinite if it is no less than ``most``.

    Entry ``x·(right + 1) + y`` sends the x-th record of the left group to the right and the y-th of the right group to
    the left; 0 stands for no record.
    """
    left, right = middle, records.shape[0] - middle
    costs = np.full((left + 1) * (right + 1), np.inf)
    if left > _EXCHANGE or right > _EXCHANGE or right == 0:
        return costs
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
                costs[x * (right + 1) + y] = cost
    return costs


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
    key = np.empty(records.shape[0], np.int64)
    for place in range(records.shape[0]):
        key[place] = codes[records[place]]
    return records[order_by_key(key)]


@kernel()
def cut_costs(space: Space, codes: IntArray, k: int, orders: IntArray, most: float) -> FloatArray:
    """Return the total cost after each cut of records ordered by each column; infinite if no less than ``most``.

    Entry ``column·count + cut`` sends the records from ``cut`` on to the right.
    """
    columns, count = orders.shape
    costs = np.full(columns * count, np.inf)
    if count < 2 * k:
        return costs
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
                    costs[column * count + cut] = cost
    return costs


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
