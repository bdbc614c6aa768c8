"""What a released range of codes costs: the one form on which all grouping methods work.

A table is ``codes`` (int32, one row a column, one column a record). A *space* says what a range of codes
of each column costs when it is released; a *cover* holds, for each group, the smallest range (and, for
columns released as sets, the bits of the values present) that contains the group's records.

Costs are the normalized certainty penalty of Xu et al. (2006), section 3: 0 for a single value, 1 for a
suppressed one. A missing value mixed with others costs 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.sums import row_sums_of_products
from shoal.kernels.space.bits import count_union, count_values

INTERVAL = 0
NODE = 1
SET = 2


class Space(NamedTuple):
    """The cost of ranges in each of m columns, as flat arrays."""

    kind: IntArray
    """INTERVAL, NODE or SET, for each column."""
    weight: FloatArray
    """How much a column's loss counts."""
    cardinality: IntArray
    """Number of codes of each column, the missing one included."""
    missing: IntArray
    """The code (always the last) that stands for a missing value, or -1."""
    domain: FloatArray
    """What a cost is divided by: width of an INTERVAL column's domain (0: one point), number of values of a SET."""
    start: LongArray
    """Where a column's own entries begin in ``position`` (INTERVAL) or in the node arrays (NODE)."""
    position: FloatArray
    """INTERVAL columns: the number a code stands for."""
    node_parent: IntArray
    """NODE columns: parent of each node, nodes numbered from 0 within the column, leaf code c is node c."""
    node_high: IntArray
    """NODE columns: the largest leaf code below each node."""
    node_cost: FloatArray
    """NODE columns: leaves below the node ÷ leaves of the hierarchy, or their weights; 0 for a leaf, 1 for the root."""
    word_start: LongArray
    """SET columns: the first of the column's words among the bit words of a group; m + 1 entries."""


class Cover(NamedTuple):
    """The smallest box around each of g groups."""

    low: IntArray
    """Smallest code, (m, g)."""
    high: IntArray
    """Largest code, (m, g)."""
    words: WordArray
    """Bits of the values present in SET columns, (g, words)."""
    size: IntArray
    """Number of records, (g,)."""


@kernel(allocates=False)
def find_node(space: Space, column: int, low: int, high: int) -> int:
    """Return the closest common ancestor of the leaf codes ``low..high`` of a NODE column."""
    start = space.start[column]
    node = low
    while space.node_high[start + node] < high:
        node = space.node_parent[start + node]
    return node


@kernel(allocates=False)
def lowest_leaf(space: Space, column: int, node: int) -> int:
    """Return the smallest leaf code below a node of a NODE column, by halving: codes from it on up to the node's largest lie below the node."""
    start = space.start[column]
    last = space.node_high[start + node]
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        above = middle
        while above != node and space.node_high[start + above] <= last and space.node_parent[start + above] != above:
            above = space.node_parent[start + above]
        if above == node:
            high = middle
        else:
            low = middle + 1
    return low


@kernel(allocates=False)
def parent_of(space: Space, column: int, node: int) -> int:
    """Return the parent of a node, the root for the root."""
    parent = space.node_parent[space.start[column] + node]
    return node if parent < 0 else parent


@kernel(allocates=False)
def child_above(space: Space, column: int, node: int, code: int) -> int:
    """Return the child of ``node`` on the way down to a leaf code of a NODE column."""
    start, child = space.start[column], code
    while space.node_parent[start + child] != node:
        child = space.node_parent[start + child]
    return child


@kernel(allocates=False)
def range_cost(space: Space, column: int, low: int, high: int) -> float:
    """Return the cost of releasing ``low..high`` in an INTERVAL or NODE column."""
    if low == high:
        return 0.0
    if space.kind[column] == INTERVAL:
        if high == space.missing[column]:
            return 1.0
        start = space.start[column]
        return (space.position[start + high] - space.position[start + low]) / space.domain[column]
    return space.node_cost[space.start[column] + find_node(space, column, low, high)]


@kernel(allocates=False)
def set_cost(space: Space, column: int, count: int, holds_missing: bool) -> float:
    """Return the cost of releasing a set of ``count`` distinct values, the missing one among them or not."""
    if count <= 1:
        return 0.0
    if holds_missing:
        return 1.0
    return count / space.domain[column]


@kernel(allocates=False)
def released_cost(space: Space, column: int, low: int, high: int, count: int) -> float:
    """Return the unweighted cost of releasing ``low..high``, which are ``count`` distinct values; the count is read for a SET column only."""
    if space.kind[column] == SET:
        return set_cost(space, column, count, high == space.missing[column])
    return range_cost(space, column, low, high)


@kernel(allocates=False)
def pair_cost(space: Space, column: int, one: int, other: int) -> float:
    """Return the unweighted cost of releasing two codes of one column together."""
    if one == other:
        return 0.0
    return released_cost(space, column, min(one, other), max(one, other), 2)


@kernel(allocates=False)
def column_cost(space: Space, cover: Cover, column: int, group: int) -> float:
    """Return the unweighted cost of one column of one group, for each of its records."""
    low, high = cover.low[column, group], cover.high[column, group]
    if low == high:
        return 0.0
    count = count_values(cover.words[group], space.word_start[column], space.word_start[column + 1])
    return released_cost(space, column, low, high, count)


@kernel(allocates=False)
def union_cost(space: Space, cover: Cover, a: int, b: int) -> float:
    """Return the weighted cost, for each record, of the union of groups ``a`` and ``b``, neither of them empty."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        low = min(cover.low[column, a], cover.low[column, b])
        high = max(cover.high[column, a], cover.high[column, b])
        if low == high:
            continue
        begin, end = space.word_start[column], space.word_start[column + 1]
        count = count_union(cover.words[a], cover.words[b], begin, end)
        total += space.weight[column] * released_cost(space, column, low, high, count)
    return total


@kernel(allocates=False)
def group_cost(space: Space, cover: Cover, group: int) -> float:
    """Return the weighted cost of a group for each of its records."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        total += space.weight[column] * column_cost(space, cover, column, group)
    return total


@kernel(allocates=False)
def join(space: Space, cover: Cover, a: int, b: int) -> None:
    """Widen the cover of group ``a`` by that of group ``b``; a group of size 0 covers nothing."""
    if cover.size[b] == 0:
        return
    for column in range(space.kind.shape[0]):
        if cover.size[a] == 0:
            cover.low[column, a] = cover.low[column, b]
            cover.high[column, a] = cover.high[column, b]
        else:
            cover.low[column, a] = min(cover.low[column, a], cover.low[column, b])
            cover.high[column, a] = max(cover.high[column, a], cover.high[column, b])
    for word in range(cover.words.shape[1]):
        cover.words[a, word] |= cover.words[b, word]
    cover.size[a] += cover.size[b]


@kernel(inline=True, allocates=False)
def add_record(space: Space, cover: Cover, group: int, codes: IntArray, record: int) -> None:
    """Widen the cover of ``group`` by one record (a group of size 0 takes the record's own box)."""
    for column in range(space.kind.shape[0]):
        code = codes[column, record]
        if cover.size[group] == 0:
            cover.low[column, group] = code
            cover.high[column, group] = code
        else:
            cover.low[column, group] = min(cover.low[column, group], code)
            cover.high[column, group] = max(cover.high[column, group], code)
        if space.kind[column] == SET:
            cover.words[group, space.word_start[column] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
    cover.size[group] += 1


@kernel()
def empty_cover(space: Space, groups: int) -> Cover:
    """Return a cover of ``groups`` groups without records."""
    columns = space.kind.shape[0]
    return Cover(
        np.zeros((columns, groups), np.int32),
        np.zeros((columns, groups), np.int32),
        np.zeros((groups, space.word_start[columns]), np.uint64),
        np.zeros(groups, np.int32),
    )


@kernel()
def cover_groups(space: Space, codes: IntArray, labels: IntArray, groups: int) -> Cover:
    """Return the cover of each group; records labelled -1 are in none."""
    cover = empty_cover(space, groups)
    for record in range(labels.shape[0]):
        if labels[record] >= 0:
            cover.size[labels[record]] += 1
    for column in range(
        codes.shape[0]
    ):  # one after the other: the ends of all groups in one column stay near available
        cover_column(space, cover, column, codes[column], labels)
    return cover


@kernel(inline=True, allocates=False)
def cover_column(space: Space, cover: Cover, column: int, codes: IntArray, labels: IntArray) -> None:
    """Fill in what the groups cover in one column; a group without records covers code 0."""
    low, high = cover.low[column], cover.high[column]
    for group in range(low.shape[0]):
        if cover.size[group] > 0:
            low[group] = space.cardinality[column] - 1
    for record in range(labels.shape[0]):
        group, code = labels[record], codes[record]
        if group >= 0:
            low[group] = min(low[group], code)
            high[group] = max(high[group], code)
            if space.kind[column] == SET:
                cover.words[group, space.word_start[column] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)


@kernel()
def cost_table(space: Space, cover: Cover) -> FloatArray:
    """Return the unweighted cost of each column in each group, (m, g)."""
    columns, groups = cover.low.shape
    table = np.empty((columns, groups))
    for column in range(columns):
        for group in range(groups):
            table[column, group] = column_cost(space, cover, column, group)
    return table


def group_costs(space: Space, cover: Cover) -> FloatArray:
    """Return what each group costs each of its records: the weighted costs of its columns."""
    return row_sums_of_products(cost_table(space, cover).T, space.weight)
