"""What a group would cost at least with what is in each place of a node, for all places of the node at once.

Sets are counted by their bits, one place after the other; the costs of ranges and nodes are looked up for all places at once.
The columns are added up in the same order as in the cost itself, so that what is said here is never above it, not even by
rounding; if a group is alone in a place, it is the cost itself.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.search.group_shape import PLACES
from shoal.kernels.search.group_tree import GroupTree
from shoal.kernels.space.bits import count_common, count_union, count_values
from shoal.kernels.space.kinds import has_members
from shoal.kernels.space.range_costs import RangeCosts
from shoal.kernels.space.space import Cover, Space, range_cost, set_cost


@kernel(inline=True, allocates=False)
def union_penalty(tree: GroupTree, node: int, place: int, size: int, increase: bool) -> float:
    """Return what a group of ``size`` records pays at least for a union with what is in a place, by the costs written down so far.

    That is the union's NCP; with ``increase``, what it has more than the other group had by itself:
    |G|·c + |G'|·(c - c'), where c and c' are the costs of the union and of the other group for each record.
    """
    cost, others = tree.cost[place], tree.least_size[node, place]
    if increase:
        return size * cost + others * max(0.0, cost - tree.most_cost[node, place])
    return (size + others) * cost


@kernel(inline=True, allocates=False)
def _add_range_costs(
    space: Space,
    costs: RangeCosts,
    column: int,
    low: int,
    high: int,
    lows: IntArray,
    highs: IntArray,
    total: FloatArray,
) -> None:
    """Add, for each place, what a column costs from ``low`` or its own low end to ``high`` or its own high end."""
    start, codes = costs.start[column], space.cardinality[column]
    if start >= 0:
        for place in range(PLACES):  # without a branch, the compiler can vectorize the loop over places
            total[place] += costs.table[np.uint64(start + min(low, lows[place]) * codes + max(high, highs[place]))]
    else:
        for place in range(PLACES):
            cost = range_cost(space, column, min(low, lows[place]), max(high, highs[place]))
            total[place] += space.weight[column] * cost


@kernel(allocates=False)
def _add_union_of_sets(
    space: Space, cover: Cover, tree: GroupTree, node: int, column: int, group: int, increase: bool, limit: float
) -> None:
    """Add, for each place, what a SET column costs at least in a union with a group that is there.

    Nothing is added if the penalty is above ``limit`` already.
    """
    begin, end = space.word_start[column], space.word_start[column + 1]
    own_words = cover.words[group]
    own = count_values(own_words, begin, end)
    for place in range(PLACES):
        if union_penalty(tree, node, place, cover.size[group], increase) > limit:
            continue
        shared = count_common(own_words, tree.any_words[node, place], begin, end)
        apart = own + tree.least_count[node, place, column] - shared
        count = max(apart, count_union(own_words, tree.all_words[node, place], begin, end))
        high = max(cover.high[column, group], tree.least_high[node, column, place])
        tree.cost[place] += space.weight[column] * set_cost(space, column, count, high == space.missing[column])


@kernel(allocates=False)
def _add_record_to_set(
    space: Space, cover: Cover, tree: GroupTree, node: int, column: int, group: int, limit: float
) -> None:
    """Add, for each place, what a SET column costs at least with a record of a group that is there.

    Nothing is added if the cost is above ``limit`` already.
    """
    begin, end = space.word_start[column], space.word_start[column + 1]
    own_words = cover.words[group]
    own, missing = count_values(own_words, begin, end), cover.high[column, group] == space.missing[column]
    for place in range(PLACES):
        if tree.cost[place] > limit:
            continue
        count = own + (count_common(own_words, tree.any_words[node, place], begin, end) == 0)
        mixed = missing or count > space.domain[column]  # only the missing value can be one more than all
        tree.cost[place] += space.weight[column] * set_cost(space, column, count, mixed)


@kernel(inline=True, allocates=False)
def cost_unions(
    space: Space, costs: RangeCosts, cover: Cover, tree: GroupTree, node: int, group: int, increase: bool, limit: float
) -> None:
    """Write down, for each place, a cost that no union of the group with a group that is there is under.

    If the penalty is above ``limit``, that may be a part of it.
    """
    for place in range(PLACES):
        tree.cost[place] = 0.0
    for column in range(space.kind.shape[0]):
        low, high = cover.low[column, group], cover.high[column, group]
        if has_members(space.kind[column]):
            _add_union_of_sets(space, cover, tree, node, column, group, increase, limit)
        else:
            lows, highs = tree.most_low[node, column], tree.least_high[node, column]
            _add_range_costs(space, costs, column, low, high, lows, highs, tree.cost)


@kernel(inline=True, allocates=False)
def cost_records(
    space: Space, costs: RangeCosts, cover: Cover, tree: GroupTree, node: int, group: int, limit: float
) -> None:
    """Write down, for each place, a cost that the group with a record of a group that is there is never under.

    If that is above ``limit``, it may be a part of it.
    """
    for place in range(PLACES):
        tree.cost[place] = 0.0
    for column in range(space.kind.shape[0]):
        low, high = cover.low[column, group], cover.high[column, group]
        if has_members(space.kind[column]):
            _add_record_to_set(space, cover, tree, node, column, group, limit)
        else:  # the group reaches at least to the near end
            lows, highs = tree.most_high[node, column], tree.least_low[node, column]
            _add_range_costs(space, costs, column, low, high, lows, highs, tree.cost)
