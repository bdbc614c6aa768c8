"""A balanced tree of boxes over records: finds the record that widens a group least without looking at all of them.

Node i has the children 2i + 1 and 2i + 2 and holds its half of its parent's records; its cover is the smallest box
around them. What a group would cost with the nearest corner of that box is a lower bound for all records inside,
so whole branches are left unopened. The answer is exact: the tree's shape changes the work, never the result.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.copying import copy_values
from shoal.kernels.space.bits import count_common, count_values
from shoal.kernels.space.kinds import lacks_value
from shoal.kernels.space.space import Cover, Space, add_record, column_cost, empty_cover, released_cost

_LEAF = 16
"""Records in a leaf, at most."""


class RecordTree(NamedTuple):
    """Records in boxes within boxes."""

    record: LongArray
    """The records, node by node."""
    begin: LongArray
    """Where a node's records begin in ``record``."""
    end: LongArray
    """Where they end."""
    first: LongArray
    """The smallest record of each node."""
    leaf: IntArray
    """The leaf of each record of the table, -1 if the tree was built without it."""
    box: Cover
    """The box of each node; its size counts the records that are still free."""


@kernel()
def widest_column(space: Space, box: Cover, node: int) -> int:
    """Return the column whose box costs most."""
    widest, most = 0, -1.0
    for column in range(space.kind.shape[0]):
        cost = space.weight[column] * column_cost(space, box, column, node)
        if cost > most:
            widest, most = column, cost
    return widest


@kernel()
def build_tree(space: Space, codes: IntArray, records: IntArray) -> RecordTree:
    """Build the tree over ``records``, all of them free."""
    leaves = 1
    while leaves * _LEAF < records.shape[0]:
        leaves *= 2
    nodes = 2 * leaves - 1
    box = empty_cover(space, nodes)
    tree = RecordTree(
        records.astype(np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.full(codes.shape[1], -1, np.int32),
        box,
    )
    tree.end[0] = records.shape[0]
    for node in range(nodes):
        begin, end = tree.begin[node], tree.end[node]
        part = tree.record[begin:end]
        for record in part:
            add_record(space, box, node, codes, record)
        tree.first[node] = part.min() if end > begin else 0
        if node >= leaves - 1:
            for record in part:
                tree.leaf[record] = node
            continue
        row = codes[widest_column(space, box, node)]
        copy_values(part[np.argsort(row[part], kind="mergesort")], part)
        middle = (begin + end) // 2
        tree.begin[2 * node + 1], tree.end[2 * node + 1] = begin, middle
        tree.begin[2 * node + 2], tree.end[2 * node + 2] = middle, end
    return tree


@kernel()
def count_free(tree: RecordTree, record: int, change: int) -> None:
    """Note in the boxes around ``record`` that it has been taken (-1) or given back (+1)."""
    node = tree.leaf[record]
    while node > 0:
        tree.box.size[node] += change
        node = (node - 1) // 2
    tree.box.size[0] += change


@kernel()
def widened_cost(space: Space, cover: Cover, group: int, column: int, low: int, high: int, gain: int) -> float:
    """Return the weighted cost of a group's column after it takes in the nearest code of ``low..high``.

    In a SET column ``gain`` indicates whether that code is a new value of the set (1) or one it has (0).
    """
    new_low = min(cover.low[column, group], high)
    new_high = max(cover.high[column, group], low)
    count = gain + count_values(cover.words[group], space.word_start[column], space.word_start[column + 1])
    return space.weight[column] * released_cost(space, column, new_low, new_high, count)


@kernel()
def cost_with_record(space: Space, cover: Cover, group: int, codes: IntArray, record: int) -> float:
    """Return the weighted cost of a group after it takes in ``record``."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        code = codes[column, record]
        gain = lacks_value(space, cover.words[group], column, code)
        total += widened_cost(space, cover, group, column, code, code, int(gain))
    return total


@kernel()
def cost_with_box(space: Space, cover: Cover, group: int, box: Cover, node: int) -> float:
    """Return what the group costs at least after it takes in any record of ``node``."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        begin, end = space.word_start[column], space.word_start[column + 1]
        gain = count_common(cover.words[group], box.words[node], begin, end) == 0
        total += widened_cost(space, cover, group, column, box.low[column, node], box.high[column, node], int(gain))
    return total


@kernel()
def new_frontier() -> list[tuple[float, int, int]]:
    """Return a heap of (least cost, smallest record, record or ~node) that holds the whole tree unopened."""
    return [(-1.0, -1, ~0)]


@kernel()
def nearest_record(
    space: Space,
    tree: RecordTree,
    cover: Cover,
    group: int,
    codes: IntArray,
    free: BoolArray,
    frontier: list[tuple[float, int, int]],
) -> tuple[int, float]:
    """Take from the frontier the free record that costs the group least, and that cost; -1 if there is none.

    Costs only rise while a group grows, so what is in the frontier is a lower bound: an entry is computed again when
    it comes first. Of equal costs the smallest record wins.

    It ends: the group does not change here and costs are finite (:mod:`shoal.encoding.spaces`), so a record that was put back
    has its own cost as bound when it comes first again, and is returned.
    """
    inner = tree.begin.shape[0] // 2
    while len(frontier) > 0:
        bound, _, item = heappop(frontier)
        if item >= 0:
            cost = cost_with_record(space, cover, group, codes, item)
            if cost <= bound:
                return item, cost
            heappush(frontier, (cost, item, item))
        elif ~item < inner:
            for node in range(2 * (~item) + 1, 2 * (~item) + 3):
                if tree.box.size[node] > 0:
                    least = cost_with_box(space, cover, group, tree.box, node)
                    heappush(frontier, (least, int(tree.first[node]), ~node))
        else:
            for place in range(tree.begin[~item], tree.end[~item]):
                record = int(tree.record[place])
                if free[record]:
                    heappush(frontier, (cost_with_record(space, cover, group, codes, record), record, record))
    return -1, 0.0
