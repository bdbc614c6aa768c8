"""MDAV for mixed columns (Domingo-Ferrer and Torra 2005): numbers by distance, categories by equality or hierarchy.

The average record has the means of the numeric columns and the most frequent value of each category (ties: the
smallest code). Rounds, leftovers and ties are those of MDAV.

The nearest and the farthest record come from a k-d tree over numbers and codes. Codes below a node of a hierarchy are contiguous, so the
nearest and the farthest code of a stretch are at one of its ends, and a box bounds each term of a distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.microaggregation.mdav import GROUPS, LEFT
from shoal.kernels.search.kdtree import PointTree, build_tree, remove_record
from shoal.kernels.search.nearest import comes_first, insert_nearest
from shoal.kernels.space.kinds import has_tree
from shoal.kernels.space.space import Space, range_cost

LEAF = 16
"""Records in a leaf of the tree, at most."""


class Mixed(NamedTuple):
    """The state of MDAV for mixed columns between two rounds."""

    space: Space
    """The costs of the whole table; NODE columns use those of the closest common ancestor."""
    numbers: FloatArray
    """The numeric columns, scaled, (n, p)."""
    codes: IntArray
    """The categories, (q, n)."""
    source: LongArray
    """The number in the space of each category column, (q,)."""
    factor: FloatArray
    """What a squared distance of 1 counts in each category column, (q,)."""
    labels: IntArray
    tree: PointTree
    """The records left; a category is a coordinate of its own, its code times ``unit``."""
    unit: FloatArray
    """What a code is multiplied by in the tree, (q,): a power of two, so that nothing is rounded."""
    total: FloatArray
    """The sum of the numbers of the records left."""
    frequency: LongArray
    """How often each code occurs among the records left, (q, most codes)."""
    counter: LongArray
    """LEFT and GROUPS."""


@kernel()
def start_mixed(
    space: Space, numbers: FloatArray, codes: IntArray, source: LongArray, factor: FloatArray, most_codes: int
) -> Mixed:
    """Return the state before the first round."""
    n = codes.shape[1]
    total = np.zeros(numbers.shape[1])
    frequency = np.zeros((codes.shape[0], most_codes), np.int64)
    for record in range(n):
        for column in range(numbers.shape[1]):
            total[column] += numbers[record, column]
        for column in range(codes.shape[0]):
            frequency[column, codes[column, record]] += 1
    unit = np.empty(codes.shape[0])
    for column in range(codes.shape[0]):
        width = np.sqrt(factor[column]) / max(codes[column].max(), 1)
        unit[column] = 2.0 ** np.floor(np.log2(width)) if width > 0.0 else 1.0
    tree = build_tree(tree_points(numbers, codes, unit), LEAF)
    labels = np.full(n, -1, np.int32)
    return Mixed(space, numbers, codes, source, factor, labels, tree, unit, total, frequency, np.array([n, 0]))


@kernel()
def tree_points(numbers: FloatArray, codes: IntArray, unit: FloatArray) -> FloatArray:
    """Return the coordinates of the tree: the numbers, then the codes in their units."""
    records, columns = numbers.shape
    points = np.empty((records, columns + codes.shape[0]))
    for record in range(records):
        for column in range(columns):
            points[record, column] = numbers[record, column]
        for column in range(codes.shape[0]):
            points[record, columns + column] = codes[column, record] * unit[column]
    return points


@kernel()
def code_distance(state: Mixed, column: int, a: int, b: int) -> float:
    """Return the squared distance of two codes: 0 if equal, else the cost of their closest common ancestor, or 1 without a hierarchy."""
    if a == b:
        return 0.0
    source = state.source[column]
    if has_tree(state.space.kind[source]):
        return range_cost(state.space, source, min(a, b), max(a, b))
    return 1.0


@kernel()
def mixed_distance(state: Mixed, record: int, numbers: FloatArray, codes: IntArray) -> float:
    """Return the squared distance of a record to a point."""
    total = 0.0
    for column in range(numbers.shape[0]):
        step = state.numbers[record, column] - numbers[column]
        total += step * step
    for column in range(codes.shape[0]):
        step = code_distance(state, column, state.codes[column, record], codes[column])
        total += state.factor[column] * step
    return total


@kernel()
def bound_distance(state: Mixed, node: int, numbers: FloatArray, codes: IntArray, most: bool) -> float:
    """Return a bound below the squared distance of a point to all records in a box; above it, if ``most``."""
    low, high, columns = state.tree.low[node], state.tree.high[node], numbers.shape[0]
    total = 0.0
    for column in range(columns):
        below, above = low[column] - numbers[column], numbers[column] - high[column]
        step = max(abs(below), abs(above)) if most else max(below, above, 0.0)
        total += step * step
    for column in range(codes.shape[0]):
        code = codes[column]
        first, last = int(low[columns + column] / state.unit[column]), int(high[columns + column] / state.unit[column])
        if most and first < last:  # of two different codes, one at least is not the point's
            step = max(code_distance(state, column, first, code), code_distance(state, column, last, code))
        elif first <= code <= last and not most:
            step = 0.0
        else:
            step = min(code_distance(state, column, first, code), code_distance(state, column, last, code))
        total += state.factor[column] * step
    return total


@kernel()
def farthest_left(state: Mixed, numbers: FloatArray, codes: IntArray) -> int:
    """Return the record left that is farthest from a point, the first of several."""
    tree, stack, bound = state.tree, np.empty(64, np.int64), np.empty(64)
    stack[0], bound[0] = 0, np.inf
    depth, found, best = 1, -1, -1.0
    # ends: a node gives way to its two children, or is searched
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if tree.alive[node] == 0 or not comes_first(-bound[depth], tree.lowest[node], -best, found):
            continue
        left = tree.left[node]
        if left < 0:
            for record in tree.order[tree.first[node] : tree.first[node] + tree.alive[node]]:
                d = mixed_distance(state, record, numbers, codes)
                if comes_first(-d, record, -best, found):
                    best, found = d, record
            continue
        one = bound_distance(state, left, numbers, codes, True) if tree.alive[left] > 0 else -1.0
        other = bound_distance(state, left + 1, numbers, codes, True) if tree.alive[left + 1] > 0 else -1.0
        first = comes_first(-one, tree.lowest[left], -other, tree.lowest[left + 1])
        stack[depth], bound[depth] = (left + 1, other) if first else (left, one)
        stack[depth + 1], bound[depth + 1] = (left, one) if first else (left + 1, other)
        depth += 2
    return found


@kernel()
def nearest_left(
    state: Mixed, record: int, numbers: FloatArray, codes: IntArray, nearest: LongArray, distance: FloatArray
) -> int:
    """Fill ``nearest`` with the records left that are nearest to a record; return how many there are."""
    tree, stack, bound = state.tree, np.empty(64, np.int64), np.empty(64)
    stack[0], bound[0] = 0, 0.0
    depth, found, last = 1, 0, nearest.shape[0] - 1
    # ends: a node gives way to its two children, or is searched
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if tree.alive[node] == 0 or (
            found > last and not comes_first(bound[depth], tree.lowest[node], distance[last], nearest[last])
        ):
            continue
        left = tree.left[node]
        if left < 0:
            for other in tree.order[tree.first[node] : tree.first[node] + tree.alive[node]]:
                if other != record:
                    d = mixed_distance(state, other, numbers, codes)
                    if found <= last or d <= distance[last]:
                        found = insert_nearest(nearest, distance, found, other, d)
            continue
        one = bound_distance(state, left, numbers, codes, False) if tree.alive[left] > 0 else np.inf
        other_bound = bound_distance(state, left + 1, numbers, codes, False) if tree.alive[left + 1] > 0 else np.inf
        first = comes_first(one, tree.lowest[left], other_bound, tree.lowest[left + 1])
        stack[depth], bound[depth] = (left + 1, other_bound) if first else (left, one)
        stack[depth + 1], bound[depth + 1] = (left, one) if first else (left + 1, other_bound)
        depth += 2
    return found


@kernel()
def average_codes(state: Mixed) -> IntArray:
    """Return the most frequent code of each category column among the records left."""
    codes = np.empty(state.codes.shape[0], np.int32)
    for column in range(codes.shape[0]):
        codes[column] = np.argmax(state.frequency[column])
    return codes


@kernel()
def group_around_mixed(state: Mixed, record: int, k: int) -> None:
    """Make a group of ``record`` and its k - 1 nearest."""
    nearest, distance = np.empty(k - 1, np.int64), np.empty(k - 1)
    numbers, codes = state.numbers[record].copy(), state.codes[:, record].copy()
    nearest_left(state, record, numbers, codes, nearest, distance)
    group = state.counter[GROUPS]
    assign_mixed(state, record, group)
    for index in range(k - 1):
        assign_mixed(state, nearest[index], group)
    state.counter[GROUPS] += 1


@kernel()
def assign_mixed(state: Mixed, record: int, group: int) -> None:
    """Put a record into a group and take it out of the tree and of the average."""
    state.labels[record] = group
    remove_record(state.tree, record)
    state.counter[LEFT] -= 1
    for column in range(state.numbers.shape[1]):
        state.total[column] -= state.numbers[record, column]
    for column in range(state.codes.shape[0]):
        state.frequency[column, state.codes[column, record]] -= 1


@kernel()
def run_mixed(state: Mixed, k: int, rounds: int) -> bool:
    """Do up to ``rounds`` rounds; return whether all records have a group."""
    for _ in range(rounds):
        left = state.counter[LEFT]
        if left < 2 * k:
            for record in range(state.labels.shape[0]):
                if state.labels[record] < 0:
                    state.labels[record] = state.counter[GROUPS]
            state.counter[GROUPS] += 1
            state.counter[LEFT] = 0
            return True
        record = farthest_left(state, state.total / left, average_codes(state))
        group_around_mixed(state, record, k)
        if left >= 3 * k:
            second = farthest_left(state, state.numbers[record].copy(), state.codes[:, record].copy())
            group_around_mixed(state, second, k)
    return False
