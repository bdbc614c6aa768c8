"""Large groups in the order in which a small group can reach them, for those that may spare it some records.

Whatever record a group G takes from another one, its box must reach the other's box. What that costs is never above the
cost of G with the record, not even by rounding (:mod:`shoal.kernels.search.slot_lower_bounds`); so a search that takes the
groups in this order may stop at the first one that costs more to reach than the best records found.
"""

from __future__ import annotations

from shoal.compiling.decorator import kernel
from shoal.kernels.common.heap import Queue, comes_before, drop_first, push
from shoal.kernels.search.group_shape import PLACES
from shoal.kernels.search.group_tree import GroupTree
from shoal.kernels.search.slot_lower_bounds import cost_records
from shoal.kernels.space.range_costs import RangeCosts
from shoal.kernels.space.space import Cover, Space


@kernel(allocates=False)
def start_search(queue: Queue) -> int:
    """Begin a search; return how many entries wait in the queue."""
    return push(queue, 0, 0.0, 0, 0)


@kernel(inline=True, allocates=False)
def next_within_reach(
    space: Space,
    costs: RangeCosts,
    cover: Cover,
    tree: GroupTree,
    queue: Queue,
    waiting: int,
    group: int,
    least_size: int,
    limit: float,
    limit_number: int,
) -> tuple[int, int]:
    """Return the next group of at least ``least_size`` records, the cheapest to reach first, and how many entries wait.

    -1 when no other can be below the limit. A group is below the limit when it costs less to reach, or as much and has a
    lower number than ``limit_number``.
    """
    found = -1
    while found < 0 and waiting > 0 and comes_before(queue.bound[0], queue.number[0], limit, limit_number):
        item = queue.item[0]
        waiting = drop_first(queue, waiting)
        if item < 0:
            found = ~item
        else:
            cost_records(space, costs, cover, tree, item, group, limit)
            for place in range(PLACES):
                number = tree.least_number[item, place]
                if tree.most_size[item, place] >= least_size and comes_before(
                    tree.cost[place], number, limit, limit_number
                ):
                    waiting = push(queue, waiting, tree.cost[place], number, tree.shape.below[item, place])
    return found, waiting
