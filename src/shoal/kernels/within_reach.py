"""Large groups in the order in which a small group can reach them, for those that may spare it some records.

Whatever record a group G takes from another one, its box must reach the other's box. What that costs is never above the
cost of G with the record, not even by rounding, because both are added up in the same order; so a search that takes the
groups in this order may stop at the first one that costs more to reach than the best records found.
"""

from __future__ import annotations

from shoal.kernels.compiling import kernel
from shoal.kernels.group_tree import GONE, Tree
from shoal.kernels.range_costs import RangeCosts, count_common, count_values, weighted_cost
from shoal.kernels.search_queue import Queue, comes_before, drop_first, push
from shoal.kernels.space import SET, Cover, Space, set_cost
from shoal.typing import IntArray, WordArray


@kernel(allocates=False)
def _cost_to_reach(
    space: Space,
    costs: RangeCosts,
    cover: Cover,
    group: int,
    low: IntArray,
    high: IntArray,
    words: WordArray,
    limit: float,
) -> float:
    """Return a cost that ``group`` with any record of the box ``low..high`` is never under, or any part above ``limit``."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        if space.kind[column] != SET:
            first, last = min(cover.low[column, group], high[column]), max(cover.high[column, group], low[column])
            total += weighted_cost(space, costs, column, first, last)
        else:
            begin, end = space.word_start[column], space.word_start[column + 1]
            count = count_values(cover.words[group], begin, end)
            if count_common(cover.words[group], words, begin, end) == 0:
                count += 1
            missing = cover.high[column, group] == space.missing[column]
            total += space.weight[column] * set_cost(space, column, count, missing)
        if total > limit:
            break
    return total


@kernel(allocates=False)
def start_search(tree: Tree, queue: Queue, least_size: int) -> int:
    """Begin a search among the groups of at least ``least_size`` records; return how many entries wait in the queue."""
    if tree.least_number[0] == GONE or tree.most_size[0] < least_size:
        return 0
    return push(queue, 0, 0.0, tree.least_number[0], 0)


@kernel(allocates=False)
def next_within_reach(
    space: Space,
    costs: RangeCosts,
    cover: Cover,
    tree: Tree,
    queue: Queue,
    waiting: int,
    group: int,
    least_size: int,
    limit: float,
    limit_number: int,
) -> tuple[int, int]:
    """Return the next group, the cheapest to reach first, and how many entries wait; -1 when no other can be below the limit.

    A group is below the limit when it costs less to reach, or as much and has a lower number than ``limit_number``.
    """
    while waiting > 0 and comes_before(queue.bound[0], queue.number[0], limit, limit_number):
        item = queue.item[0]
        waiting = drop_first(queue, waiting)
        if item < 0:
            return ~item, waiting
        if not tree.shape.is_leaf[item]:
            for child in range(tree.shape.begin[item], tree.shape.end[item]):
                number = tree.least_number[child]
                if number == GONE or tree.most_size[child] < least_size:
                    continue
                low, high, words = tree.least_low[child], tree.most_high[child], tree.any_words[child]
                bound = _cost_to_reach(space, costs, cover, group, low, high, words, limit)
                if comes_before(bound, number, limit, limit_number):
                    waiting = push(queue, waiting, bound, number, child)
            continue
        for place in range(tree.shape.begin[item], tree.shape.end[item]):
            other = tree.shape.order[place]
            if tree.leaf_of[other] < 0 or cover.size[other] < least_size:
                continue
            low, high, words = cover.low[:, other], cover.high[:, other], cover.words[other]
            bound = _cost_to_reach(space, costs, cover, group, low, high, words, limit)
            if comes_before(bound, other, limit, limit_number):
                waiting = push(queue, waiting, bound, other, ~other)
    return -1, waiting
