"""Groups grown from random records over a whole table, the nearest record found through a grid of buckets.

In each step the record that makes the group cost least joins. The grid divides records by the few columns in which
they differ most; what a group would cost with the nearest corner of a bucket is a lower bound for all records
inside, so most buckets are passed over and the answer is still exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import make_state, shuffle
from shoal.kernels.optimize.state.groups import ENDLESS, Groups, cost_with, make_groups, put, refresh
from shoal.kernels.optimize.state.regions import spread_of
from shoal.kernels.optimize.state.regroup import join_cheapest
from shoal.kernels.space.kinds import may_cover
from shoal.kernels.space.space import Space, released_cost

MOST_BUCKETS = 1536
"""A column joins the grid only if there are no more buckets than this."""
MOST_RANGES = 48
"""Ranges into which one column is divided, at most."""


class Grid(NamedTuple):
    """Records in buckets of near ones."""

    inside: BoolArray
    """Whether a column divides the grid."""
    low: IntArray
    """(buckets, m): smallest code of a bucket."""
    high: IntArray
    """(buckets, m): largest code of a bucket."""
    start: LongArray
    """Where the records of a bucket begin in ``record``."""
    left: LongArray
    """How many of them are free; they come first."""
    record: IntArray
    bucket: LongArray
    """The bucket of each record."""


@kernel()
def divide_column(codes: IntArray, column: int, most: int, range_of: LongArray) -> int:
    """Cut a column's codes into up to ``most`` ranges of about as many records each; write the range of each record, return how many there are."""
    records, largest = codes.shape[0], 0
    for record in range(records):
        largest = max(largest, codes[record, column])
    number = np.zeros(largest + 1, np.int64)
    for record in range(records):
        number[codes[record, column]] += 1
    values = 0
    for code in range(largest + 1):
        values += number[code] > 0
    seen, used, before = 0, -1, -1
    for code in range(largest + 1):
        if number[code] == 0:
            continue
        share = used + 1 if values <= most else seen * most // records
        seen += number[code]
        used += share != before
        before = share
        number[code] = used
    for record in range(records):
        range_of[record] = number[codes[record, column]]
    return used + 1


@kernel()
def divide_records(space: Space, codes: IntArray, state: WordArray, inside: BoolArray, bucket: LongArray) -> int:
    """Write a bucket for each record, by the columns that differ most; return the number of buckets."""
    records, columns = codes.shape
    everyone = np.arange(records).astype(np.int32)
    spread = np.zeros(columns)
    for column in range(columns):
        spread[column] = spread_of(space, codes, everyone, column, state)
    range_of, buckets = np.zeros(records, np.int64), 1
    for _ in range(columns):
        widest = 0
        for column in range(columns):
            if spread[column] > spread[widest]:
                widest = column
        if spread[widest] <= 0.0:
            break
        spread[widest] = -1.0
        ranges = divide_column(codes, widest, MOST_RANGES, range_of)
        if ranges * buckets > MOST_BUCKETS:
            continue
        inside[widest] = True
        for record in range(records):
            bucket[record] = bucket[record] * ranges + range_of[record]
        buckets *= ranges
    return buckets


@kernel()
def make_grid(space: Space, codes: IntArray, order: LongArray, state: WordArray) -> Grid:
    """Return the grid of records; within a bucket they are in the given order."""
    records, columns = codes.shape
    inside, bucket = np.zeros(columns, np.bool_), np.zeros(records, np.int64)
    buckets = divide_records(space, codes, state, inside, bucket)
    start, left = np.zeros(buckets + 1, np.int64), np.zeros(buckets, np.int64)
    low, high = np.zeros((buckets, columns), np.int32), np.zeros((buckets, columns), np.int32)
    for record in range(records):
        start[bucket[record] + 1] += 1
    for one in range(buckets):
        start[one + 1] += start[one]
    place = np.zeros(records, np.int32)
    for number in range(records):
        record = order[number]
        one = bucket[record]
        for column in range(columns):
            code = codes[record, column]
            low[one, column] = code if left[one] == 0 else min(low[one, column], code)
            high[one, column] = code if left[one] == 0 else max(high[one, column], code)
        place[start[one] + left[one]] = record
        left[one] += 1
    return Grid(inside, low, high, start, left, place, bucket)


@kernel(allocates=False)
def least_cost(space: Space, groups: Groups, group: int, grid: Grid, bucket: int, limit: float) -> float:
    """Return what a group costs at least with any record of a bucket; any value above ``limit`` once it is above."""
    total = groups.cost[group]
    for column in range(space.kind.shape[0]):
        if not grid.inside[column]:
            continue
        low, high = groups.low[group, column], groups.high[group, column]
        first, last = grid.low[bucket, column], grid.high[bucket, column]
        if not may_cover(space, groups.words[group], column, low, high, first, last):
            count = groups.distinct[group, column] + 1
            cost = released_cost(space, column, min(low, last), max(high, first), count)
            total += space.weight[column] * cost - groups.column_cost[group, column]
        if total > limit:
            return total
    return total


@kernel(allocates=False)
def take_nearest(space: Space, groups: Groups, group: int, grid: Grid, home: int) -> int:
    """Take the free record that costs a group least out of the grid and return it; ``home`` is tried first."""
    best, chosen, buckets = ENDLESS, -1, grid.left.shape[0]
    for turn in range(-1, buckets):
        bucket = home if turn < 0 else turn
        if grid.left[bucket] == 0 or (turn == home) or least_cost(space, groups, group, grid, bucket, best) >= best:
            continue
        start = grid.start[bucket]
        for place in range(start, start + grid.left[bucket]):
            cost = cost_with(space, groups, group, grid.record[place], best)
            if cost < best:
                best, chosen = cost, place
        if best <= groups.cost[group]:
            break
    return leave_grid(grid, chosen)


@kernel(allocates=False)
def leave_grid(grid: Grid, place: int) -> int:
    """Take the record at a place out of the grid and return it."""
    record = grid.record[place]
    bucket = grid.bucket[record]
    grid.left[bucket] -= 1
    last = grid.start[bucket] + grid.left[bucket]
    grid.record[place], grid.record[last] = grid.record[last], record
    return int(record)


@kernel()
def grow_all(space: Space, codes: IntArray, k: int, seed: int) -> Groups:
    """Put all records (one row each) into groups of k, grown from random ones; the last few join where it is cheapest."""
    records = codes.shape[0]
    groups = make_groups(space, codes, records // k + 1, 2 * k)
    state, order = make_state(seed, 0), np.arange(records)
    shuffle(state, order)
    grid = make_grid(space, codes, order, state)
    used, left = 0, records
    for number in range(records):
        first = order[number]
        if groups.label[first] >= 0:
            continue
        if left < k:
            join_cheapest(space, groups, used, first)
            continue
        bucket = grid.bucket[first]
        place = grid.start[bucket]
        # ends: a record without a group is in its bucket
        while grid.record[place] != first:
            place += 1
        record = leave_grid(grid, place)
        put(groups, used, record)
        refresh(space, groups, used)
        # ends: at least k records were left when the group began, and each round takes one of them
        while groups.size[used] < k:
            record = take_nearest(space, groups, used, grid, grid.bucket[record])
            put(groups, used, record)
            refresh(space, groups, used)
        left -= k
        used += 1
    return groups
