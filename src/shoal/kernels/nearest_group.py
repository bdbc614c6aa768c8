"""Find the nearest group without looking at every group, and still find the same one.

The nearest group of G is the G' with the least NCP(G ∪ G') = |G ∪ G'| · (weighted cost of the union for each record);
among equals the one with the lowest number. A branch of the tree is skipped when even the least its groups can
cost is too much. That bound is added up in the same order as the cost itself, so it is never above it, not even
by rounding, and the search returns exactly what a plain loop over all groups returns.
"""

from __future__ import annotations

from typing import NamedTuple

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
from shoal.kernels.space import SET, Cover, Space, set_cost
from shoal.typing import FloatArray, IntArray

_SLACK = 1.0 + 1e-9  # a sum is given up only when it is above the limit beyond doubt of rounding


class Stack(NamedTuple):
    """Room for the nodes still to be looked at."""

    node: IntArray
    bound: FloatArray


@kernel()
def make_stack(groups: int) -> Stack:
    """Return room for a search among ``groups`` groups."""
    return Stack(np.empty(2 * groups + 2, np.int32), np.empty(2 * groups + 2))


@kernel()
def _least_union_cost(
    space: Space, costs: RangeCosts, cover: Cover, tree: Tree, node: int, group: int, limit: float
) -> float:
    """Return a cost no union of ``group`` with a group below ``node`` is under, or any part of it above ``limit``."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        low = min(cover.low[column, group], tree.most_low[node, column])
        high = max(cover.high[column, group], tree.least_high[node, column])
        if space.kind[column] != SET:
            if low != high:
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


@kernel()
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


@kernel()
def find_nearest_group(
    space: Space, costs: RangeCosts, cover: Cover, tree: Tree, stack: Stack, group: int
) -> tuple[int, float]:
    """Return the group G' with the least |G ∪ G'| · cost, lowest number among equals, and that penalty.

    -1 when the tree holds no other group.
    """
    best, least = -1, np.inf
    own = tree.leaf_of[group]
    if own >= 0:  # groups of the same leaf are near: they tell how much can be skipped
        best, least = _scan_leaf(space, costs, cover, tree, own, group, best, least)
    stack.node[0], stack.bound[0] = 0, 0.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, bound = stack.node[waiting], stack.bound[waiting]
        if node == own or bound > least or (bound == least and tree.least_number[node] >= best):
            continue
        if tree.shape.right[node] < 0:
            best, least = _scan_leaf(space, costs, cover, tree, node, group, best, least)
            continue
        waiting = _push_children(space, costs, cover, tree, stack, waiting, node, group, least)
    return best, least


@kernel()
def _push_children(
    space: Space,
    costs: RangeCosts,
    cover: Cover,
    tree: Tree,
    stack: Stack,
    waiting: int,
    node: int,
    group: int,
    least: float,
) -> int:
    """Put the children that may hold a nearer group on the stack, the nearer child on top; return its new height."""
    left, right = node + 1, tree.shape.right[node]
    near_left = _penalty_bound(space, costs, cover, tree, left, group, least)
    near_right = _penalty_bound(space, costs, cover, tree, right, group, least)
    if near_right < near_left:
        left, right, near_left, near_right = right, left, near_right, near_left
    if near_right <= least:
        stack.node[waiting], stack.bound[waiting] = right, near_right
        waiting += 1
    if near_left <= least:
        stack.node[waiting], stack.bound[waiting] = left, near_left
        waiting += 1
    return waiting


@kernel()
def _penalty_bound(
    space: Space, costs: RangeCosts, cover: Cover, tree: Tree, node: int, group: int, least: float
) -> float:
    if tree.least_number[node] == GONE:
        return np.inf  # all groups below are gone
    size = cover.size[group] + tree.least_size[node]
    return size * _least_union_cost(space, costs, cover, tree, node, group, least / size * _SLACK)
