"""Find the nearest group without looking at every group, and still find the same one.

The nearest group of G is the G' with the least NCP(G ∪ G') = |G ∪ G'| · (weighted cost of the union for each record);
among equals the one with the lowest number. A branch of the tree is skipped when even the least its groups can
cost is too much. That bound is added up in the same order as the cost itself, so it is never above it, not even
by rounding, and the search returns exactly what a plain loop over all groups returns.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.group_tree import GONE, Tree
from shoal.kernels.range_costs import (
    RangeCosts,
    count_common,
    count_union,
    count_values,
    union_cost_within,
    weighted_cost,
)
from shoal.kernels.search_queue import Queue, comes_before, drop_first, push
from shoal.kernels.space import SET, Cover, Space, set_cost

_SLACK = 1.0 + 1e-9  # a sum is given up only when it is above the limit beyond doubt of rounding


@kernel(allocates=False)
def _least_union_cost(
    space: Space, costs: RangeCosts, cover: Cover, tree: Tree, node: int, group: int, limit: float
) -> float:
    """Return a cost no union of ``group`` with a group below ``node`` is under, or any part of it above ``limit``."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        low = min(cover.low[column, group], tree.most_low[node, column])
        high = max(cover.high[column, group], tree.least_high[node, column])
        if space.kind[column] != SET:
            total += weighted_cost(space, costs, column, low, high)
        else:
            begin, end = space.word_start[column], space.word_start[column + 1]
            mine = cover.words[group]
            shared = count_common(mine, tree.any_words[node], begin, end)
            apart = count_values(mine, begin, end) + tree.least_count[node, column] - shared
            count = max(apart, count_union(mine, tree.all_words[node], begin, end))
            total += space.weight[column] * set_cost(space, column, count, high == space.missing[column])
        if total > limit:
            return total
    return total


@kernel(allocates=False)
def _scan_leaf(
    space: Space, costs: RangeCosts, cover: Cover, tree: Tree, node: int, group: int, best: int, least: float
) -> tuple[int, float]:
    """Return the nearest group and its penalty, the best so far or one of this leaf."""
    for place in range(tree.shape.begin[node], tree.shape.end[node]):
        other = tree.shape.order[place]
        if other == group or tree.leaf_of[other] < 0:
            continue
        size = cover.size[group] + cover.size[other]
        penalty = size * union_cost_within(space, costs, cover, group, other, least / size * _SLACK)
        if penalty < least or (penalty == least and other < best):
            best, least = other, penalty
    return best, least


@kernel(allocates=False)
def _penalty_bound(
    space: Space, costs: RangeCosts, cover: Cover, tree: Tree, node: int, group: int, least: float
) -> float:
    if tree.least_number[node] == GONE:
        return np.inf  # all groups below are gone
    size = cover.size[group] + tree.least_size[node]
    return size * _least_union_cost(space, costs, cover, tree, node, group, least / size * _SLACK)


@kernel(allocates=False)
def find_nearest_group(
    space: Space, costs: RangeCosts, cover: Cover, tree: Tree, queue: Queue, group: int
) -> tuple[int, float]:
    """Return the group G' with the least |G ∪ G'| · cost, lowest number among equals, and that penalty.

    -1 when the tree holds no other group.
    """
    best, least = -1, np.inf
    own = tree.leaf_of[group]
    if own >= 0:  # groups of the same leaf are near: they tell how much can be skipped
        best, least = _scan_leaf(space, costs, cover, tree, own, group, best, least)
    waiting = push(queue, 0, 0.0, tree.least_number[0], 0)
    while waiting > 0 and comes_before(queue.bound[0], queue.number[0], least, best):
        node = queue.item[0]
        waiting = drop_first(queue, waiting)
        if not tree.shape.is_leaf[node]:
            for child in range(tree.shape.begin[node], tree.shape.end[node]):
                bound = _penalty_bound(space, costs, cover, tree, child, group, least)
                if comes_before(bound, tree.least_number[child], least, best):
                    waiting = push(queue, waiting, bound, tree.least_number[child], child)
        elif node != own:
            best, least = _scan_leaf(space, costs, cover, tree, node, group, best, least)
    return best, least
