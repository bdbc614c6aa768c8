"""Nearest and farthest records of those left in a k-d tree.

The answers are those of a scan over all records, ties included: distances are summed column by column in
the same order, a box bounds each term of that sum from below (above), and rounding is monotone, so a box is
passed over only when no record in it can win. Ties go to the record with the smaller number.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.search.kdtree import PointTree


@kernel()
def squared_distance(a: FloatArray, b: FloatArray) -> float:
    """Return the squared distance of two points, summed column by column."""
    total = 0.0
    for column in range(a.shape[0]):
        step = a[column] - b[column]
        total += step * step
    return total


@kernel()
def least_distance(low: FloatArray, high: FloatArray, point: FloatArray) -> float:
    """Return a bound below the squared distance of ``point`` to all records in a box."""
    total = 0.0
    for column in range(point.shape[0]):
        step = 0.0
        if point[column] < low[column]:
            step = low[column] - point[column]
        elif point[column] > high[column]:
            step = point[column] - high[column]
        total += step * step
    return total


@kernel()
def most_distance(low: FloatArray, high: FloatArray, point: FloatArray) -> float:
    """Return a bound above the squared distance of ``point`` to all records in a box."""
    total = 0.0
    for column in range(point.shape[0]):
        step = max(abs(point[column] - low[column]), abs(high[column] - point[column]))
        total += step * step
    return total


@kernel()
def insert_nearest(nearest: LongArray, distance: FloatArray, found: int, record: int, d: float) -> int:
    """Keep ``nearest`` sorted by distance, then number; return how many it holds now."""
    count = nearest.shape[0]
    if found == count:
        if d > distance[count - 1] or (d == distance[count - 1] and record > nearest[count - 1]):
            return found
        found -= 1
    index = found
    while index > 0 and (distance[index - 1] > d or (distance[index - 1] == d and nearest[index - 1] > record)):
        distance[index] = distance[index - 1]
        nearest[index] = nearest[index - 1]
        index -= 1
    distance[index] = d
    nearest[index] = record
    return found + 1


@kernel()
def comes_first(a: float, a_lowest: int, b: float, b_lowest: int) -> bool:
    """Order by distance, then number."""
    return a < b or (a == b and a_lowest < b_lowest)


@kernel()
def find_nearest(tree: PointTree, point: FloatArray, skip: int, nearest: LongArray, distance: FloatArray) -> int:
    """Fill ``nearest`` with the records closest to ``point``, ``skip`` left out; return how many there are."""
    stack, bound = np.empty(64, np.int64), np.empty(64)
    stack[0], bound[0] = 0, 0.0
    depth, found = 1, 0
    last = nearest.shape[0] - 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if found > last and not comes_first(bound[depth], tree.lowest[node], distance[last], nearest[last]):
            continue
        left = tree.left[node]
        if left < 0:
            for place in range(tree.first[node], tree.first[node] + tree.alive[node]):
                if tree.order[place] == skip:
                    continue
                d = squared_distance(tree.points[place], point)
                if found <= last or d <= distance[last]:
                    found = insert_nearest(nearest, distance, found, tree.order[place], d)
            continue
        near, far = left, left + 1
        near_bound = least_distance(tree.low[near], tree.high[near], point) if tree.alive[near] > 0 else np.inf
        far_bound = least_distance(tree.low[far], tree.high[far], point) if tree.alive[far] > 0 else np.inf
        if comes_first(far_bound, tree.lowest[far], near_bound, tree.lowest[near]):
            near, far = far, near
            near_bound, far_bound = far_bound, near_bound
        if far_bound < np.inf:
            stack[depth], bound[depth] = far, far_bound
            depth += 1
        if near_bound < np.inf:
            stack[depth], bound[depth] = near, near_bound
            depth += 1
    return found


@kernel()
def find_farthest(tree: PointTree, point: FloatArray) -> int:
    """Return the record left that is farthest from ``point``, the first of several; -1 if none is left."""
    stack, bound = np.empty(64, np.int64), np.empty(64)
    stack[0], bound[0] = 0, np.inf
    depth, found, best = 1, -1, -1.0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if tree.alive[node] == 0 or not comes_first(-bound[depth], tree.lowest[node], -best, found):
            continue
        left = tree.left[node]
        if left < 0:
            for place in range(tree.first[node], tree.first[node] + tree.alive[node]):
                d = squared_distance(tree.points[place], point)
                if comes_first(-d, tree.order[place], -best, found):
                    best, found = d, tree.order[place]
            continue
        near, far = left, left + 1
        near_bound = most_distance(tree.low[near], tree.high[near], point)
        far_bound = most_distance(tree.low[far], tree.high[far], point)
        if comes_first(-far_bound, tree.lowest[far], -near_bound, tree.lowest[near]):
            near, far = far, near
            near_bound, far_bound = far_bound, near_bound
        stack[depth], bound[depth] = far, far_bound
        stack[depth + 1], bound[depth + 1] = near, near_bound
        depth += 2
    return found


@kernel()
def nearest_table(tree: PointTree, matrix: FloatArray, first: int, last: int, count: int) -> LongArray:
    """Return the ``count`` nearest other records of the records ``first..last - 1``, nearest first; -1 if there are fewer."""
    table = np.full((last - first, count), -1, np.int64)
    distance = np.empty(count)
    for record in range(first, last):
        find_nearest(tree, matrix[record], record, table[record - first], distance)
    return table


@kernel()
def weight_within(tree: PointTree, point: FloatArray, limit: float, weight: LongArray) -> int:
    """Return the weight of the records whose squared distance to ``point`` is at most ``limit``."""
    stack = np.empty(64, np.int64)
    stack[0] = 0
    depth, total = 1, 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if tree.alive[node] == 0 or least_distance(tree.low[node], tree.high[node], point) > limit:
            continue
        left = tree.left[node]
        if left < 0:
            for place in range(tree.first[node], tree.first[node] + tree.alive[node]):
                if squared_distance(tree.points[place], point) <= limit:
                    total += weight[tree.order[place]]
            continue
        stack[depth], stack[depth + 1] = left, left + 1
        depth += 2
    return total


@kernel()
def nearest_of(
    tree: PointTree, points: FloatArray, weight: LongArray, slack: float, first: int, last: int
) -> tuple[FloatArray, LongArray]:
    """Return how far the nearest record is from each of the points ``first..last - 1``, and the weight of all that are as near.

    That is the largest squared distance that counts as nearest, which rounding may have made larger by the share ``slack``.
    """
    limit, tied = np.empty(last - first), np.empty(last - first, np.int64)
    nearest, distance = np.empty(1, np.int64), np.empty(1)
    for index in range(first, last):
        find_nearest(tree, points[index], -1, nearest, distance)
        limit[index - first] = distance[0] * (1.0 + slack)
        tied[index - first] = weight_within(tree, points[index], limit[index - first], weight)
    return limit, tied
