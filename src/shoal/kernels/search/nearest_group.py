"""Find the nearest group without looking at every group, and still find the same one.

The nearest group of G is the G' with the least NCP(G ∪ G') = |G ∪ G'| · (weighted cost of the union for each record), or with the
least increase NCP(G ∪ G') - NCP(G) - NCP(G'); among equals the one with the lowest number. A branch of the tree is skipped when even the
least its groups can cost is too much. That bound is never above the cost, not even by rounding (:mod:`shoal.kernels.search.slot_lower_bounds`), so the
search returns exactly what a plain loop over all groups returns.
"""

from __future__ import annotations

import numpy as np

from shoal.compiling.decorator import kernel
from shoal.kernels.common.heap import Queue, comes_before
from shoal.kernels.search.group_shape import PLACES
from shoal.kernels.search.group_tree import GONE, GroupTree
from shoal.kernels.search.slot_lower_bounds import cost_unions, union_penalty
from shoal.kernels.space.range_costs import RangeCosts
from shoal.kernels.space.space import Cover, Space


@kernel(inline=True, allocates=False)
def _search_node(
    space: Space,
    costs: RangeCosts,
    cover: Cover,
    tree: GroupTree,
    queue: Queue,
    node: int,
    but: int,
    group: int,
    increase: bool,
    best: int,
    least: float,
    waiting: int,
) -> tuple[int, float, int]:
    """Search all places of a node but one: return the nearest group so far, its penalty and how many nodes wait to be searched."""
    cost_unions(space, costs, cover, tree, node, group, increase, least)
    for place in range(PLACES):
        number = tree.least_number[node, place]
        penalty = union_penalty(tree, node, place, cover.size[group], increase)
        if number != GONE and place != but and comes_before(penalty, number, least, best):
            below = tree.shape.below[node, place]
            if below < 0:
                best, least = int(number), penalty
            else:
                queue.bound[waiting], queue.item[waiting] = penalty, below
                waiting += 1
    return best, least, waiting


@kernel(allocates=False)
def find_nearest_group(
    space: Space, costs: RangeCosts, cover: Cover, tree: GroupTree, queue: Queue, group: int, increase: bool
) -> tuple[int, float]:
    """Return the group G' with the least penalty (:func:`union_penalty`), lowest number among equals, and that penalty.

    -1 when the tree holds no other group. The search goes up from the group's own node: near groups come first, and the penalty of the
    nearest bounds what must still be searched. Nodes that wait are on a stack.
    """
    best, least, waiting = -1, np.inf, 0
    above, but = tree.node_of[group], tree.place_of[group]
    node = above
    while node >= 0:
        best, least, waiting = _search_node(
            space, costs, cover, tree, queue, node, but, group, increase, best, least, waiting
        )
        while waiting > 0 and queue.bound[waiting - 1] > least:
            waiting -= 1
        if waiting > 0:
            waiting -= 1
            node, but = queue.item[waiting], -1
        else:
            node, but = tree.shape.parent[above], tree.shape.place[above]
            above = node
    return best, least
