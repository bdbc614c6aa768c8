"""Sorting in kernels. numpy's sorts take seconds to compile; these take a moment."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel

_RUN = 16
"""Places sorted by insertion before runs are merged."""


@kernel(allocates=False)
def sift_down(values: IntArray, root: int, size: int) -> None:
    """Move the value at ``root`` down until both its children in the heap are no larger."""
    while 2 * root + 1 < size:
        child = 2 * root + 1
        if child + 1 < size and values[child] < values[child + 1]:
            child += 1
        if values[root] >= values[child]:
            return
        values[root], values[child] = values[child], values[root]
        root = child


@kernel(allocates=False)
def sort_codes(values: IntArray) -> None:
    """Sort codes in place (heap sort)."""
    size = values.shape[0]
    for root in range(size // 2 - 1, -1, -1):
        sift_down(values, root, size)
    for last in range(size - 1, 0, -1):
        values[0], values[last] = values[last], values[0]
        sift_down(values, 0, last)


@kernel(allocates=False)
def sort_runs(key: LongArray, order: LongArray) -> None:
    """Sort each run of a few places by key; equal keys keep their order."""
    for begin in range(0, key.shape[0], _RUN):
        for place in range(begin, min(begin + _RUN, key.shape[0])):
            slot = place
            while slot > begin and key[order[slot - 1]] > key[place]:
                order[slot] = order[slot - 1]
                slot -= 1
            order[slot] = place


@kernel()
def order_by_key(key: LongArray) -> LongArray:
    """Return the places of keys, the smallest key first, equal ones in their order (merge sort)."""
    size = key.shape[0]
    order, merged = np.empty(size, np.int64), np.empty(size, np.int64)
    sort_runs(key, order)
    width = _RUN
    while width < size:
        for begin in range(0, size, 2 * width):
            middle, end = min(begin + width, size), min(begin + 2 * width, size)
            left, right = begin, middle
            for place in range(begin, end):
                if left < middle and (right == end or key[order[left]] <= key[order[right]]):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@kernel(allocates=False)
def order_falling(values: FloatArray, order: IntArray) -> None:
    """Write the places of a few values into ``order``, the largest value first, equal ones in their order."""
    for place in range(values.shape[0]):
        slot = place
        while slot > 0 and values[order[slot - 1]] < values[place]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = place


@kernel()
def sort_by_key(part: IntArray, key: LongArray) -> None:
    """Sort numbers by their keys, which are overwritten; equal keys keep their order."""
    order = order_by_key(key)
    for place in range(part.shape[0]):
        key[place] = part[order[place]]
    for place in range(part.shape[0]):
        part[place] = key[place]
