"""Weighted costs of ranges, from a table: what the searches for near groups spend their time on.

The numbers are those of :mod:`shoal.kernels.space.space`, added up in the same order of columns, so that a search may
stop early or skip candidates and still agree with a plain loop to the last bit: a column's cost never falls when its
range widens, and rounding keeps that order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.bits import count_bits
from shoal.kernels.space.space import SET, Cover, Space, range_cost, set_cost

_MOST_CODES = 128  # a table of 128 × 128 costs still stays in a core's own cache


class RangeCosts(NamedTuple):
    """The weighted cost of each range of codes, for columns of few codes."""

    start: LongArray
    """Where a column's table begins, or -1 when its costs are computed each time."""
    table: FloatArray
    """At start + one · cardinality + other: weight · cost of the range between two codes, in either order."""


@kernel()
def tabulate_costs(space: Space) -> RangeCosts:
    """Write down the costs of all ranges of the INTERVAL and NODE columns that have few codes."""
    columns = space.kind.shape[0]
    start = np.full(columns, -1, np.int64)
    room = 0
    for column in range(columns):
        if space.kind[column] != SET and space.cardinality[column] <= _MOST_CODES:
            start[column] = room
            room += space.cardinality[column] * space.cardinality[column]
    table = np.zeros(room)
    for column in range(columns):
        if start[column] >= 0:
            codes = space.cardinality[column]
            for low in range(codes):
                for high in range(low, codes):
                    cost = space.weight[column] * range_cost(space, column, low, high)
                    table[start[column] + low * codes + high] = cost
                    table[start[column] + high * codes + low] = cost
    return RangeCosts(start, table)


@kernel(allocates=False)
def weighted_cost(space: Space, costs: RangeCosts, column: int, low: int, high: int) -> float:
    """Return weight · cost of releasing ``low..high`` in an INTERVAL or NODE column."""
    start = costs.start[column]
    if start >= 0:
        return costs.table[np.uint64(start + low * space.cardinality[column] + high)]  # unsigned: no test for below 0
    return space.weight[column] * range_cost(space, column, low, high)


@kernel(inline=True, allocates=False)
def cost_with_code(space: Space, costs: RangeCosts, cover: Cover, group: int, column: int, code: int) -> float:
    """Return the weighted cost of one column of a group once it takes in a code."""
    low = min(cover.low[column, group], code)
    high = max(cover.high[column, group], code)
    if space.kind[column] != SET:
        return weighted_cost(space, costs, column, low, high)
    count = 0
    begin, end = space.word_start[column], space.word_start[column + 1]
    for word in range(begin, end):
        bits = cover.words[group, word]
        if word == begin + (code >> 6):
            bits |= np.uint64(1) << np.uint64(code & 63)
        count += count_bits(bits)
    return space.weight[column] * set_cost(space, column, count, high == space.missing[column])


@kernel(inline=True, allocates=False)
def cost_with_record(
    space: Space, costs: RangeCosts, cover: Cover, group: int, codes: IntArray, record: int, limit: float
) -> float:
    """Return the weighted cost of a group once it takes in a record, or any part of it above ``limit``."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        total += cost_with_code(space, costs, cover, group, column, codes[column, record])
        if total > limit:
            return total
    return total


@kernel()
def cover_by_group(space: Space, groups: int) -> Cover:
    """Return an empty cover whose boxes are side by side in memory, for searches that go from group to group."""
    columns = space.kind.shape[0]
    return Cover(
        np.zeros((groups, columns), np.int32).T,
        np.zeros((groups, columns), np.int32).T,
        np.zeros((groups, space.word_start[columns]), np.uint64),
        np.zeros(groups, np.int32),
    )
