"""MDAV for mixed columns (Domingo-Ferrer and Torra 2005): numbers by distance, categories by equality or hierarchy.

The average record has the means of the numeric columns and the most frequent value of each category (ties: the
smallest code). Rounds, leftovers and ties are those of MDAV.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.kernels.compiling import kernel
from shoal.kernels.microaggregation.mdav import GROUPS, LEFT
from shoal.kernels.search.nearest import insert_nearest
from shoal.kernels.space.kinds import has_tree
from shoal.kernels.space.space import Space, range_cost


class Mixed(NamedTuple):
    """Where MDAV for mixed columns stands between two rounds."""

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
    left: LongArray
    """The records left, in their order; LEFT of them."""
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
    labels = np.full(n, -1, np.int32)
    return Mixed(space, numbers, codes, source, factor, labels, np.arange(n), total, frequency, np.array([n, 0]))


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
def farthest_left(state: Mixed, numbers: FloatArray, codes: IntArray) -> int:
    """Return the record left that is farthest from a point, the first of several."""
    best, found = -1.0, -1
    for index in range(state.counter[LEFT]):
        d = mixed_distance(state, state.left[index], numbers, codes)
        if d > best:
            best, found = d, state.left[index]
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
    numbers, codes = state.numbers[record], state.codes[:, record].copy()
    found = 0
    for index in range(state.counter[LEFT]):
        other = state.left[index]
        if other != record:
            found = insert_nearest(nearest, distance, found, other, mixed_distance(state, other, numbers, codes))
    group = state.counter[GROUPS]
    assign_mixed(state, record, group)
    for index in range(k - 1):
        assign_mixed(state, nearest[index], group)
    kept = 0
    for index in range(state.counter[LEFT]):
        if state.labels[state.left[index]] < 0:
            state.left[kept] = state.left[index]
            kept += 1
    state.counter[LEFT] = kept
    state.counter[GROUPS] += 1


@kernel()
def assign_mixed(state: Mixed, record: int, group: int) -> None:
    """Put a record into a group and take it out of the average."""
    state.labels[record] = group
    for column in range(state.numbers.shape[1]):
        state.total[column] -= state.numbers[record, column]
    for column in range(state.codes.shape[0]):
        state.frequency[column, state.codes[column, record]] -= 1


@kernel()
def run_mixed(state: Mixed, k: int, rounds: int) -> bool:
    """Do up to ``rounds`` rounds; tell whether all records have a group."""
    for _ in range(rounds):
        left = state.counter[LEFT]
        if left < 2 * k:
            for index in range(left):
                state.labels[state.left[index]] = state.counter[GROUPS]
            state.counter[GROUPS] += 1
            state.counter[LEFT] = 0
            return True
        record = farthest_left(state, state.total / left, average_codes(state))
        group_around_mixed(state, record, k)
        if left >= 3 * k:
            second = farthest_left(state, state.numbers[record], state.codes[:, record].copy())
            group_around_mixed(state, second, k)
    return False
