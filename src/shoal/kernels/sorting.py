"""Sorting in kernels. numpy's sorts take seconds to compile; these take a moment."""

from __future__ import annotations

from shoal.kernels.compiling import kernel
from shoal.typing import FloatArray, IntArray


@kernel()
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


@kernel()
def sort_codes(values: IntArray) -> None:
    """Sort codes in place (heap sort)."""
    size = values.shape[0]
    for root in range(size // 2 - 1, -1, -1):
        sift_down(values, root, size)
    for last in range(size - 1, 0, -1):
        values[0], values[last] = values[last], values[0]
        sift_down(values, 0, last)


@kernel()
def order_falling(values: FloatArray, order: IntArray) -> None:
    """Write the places of a few values into ``order``, the largest value first, equal ones in their order."""
    for place in range(values.shape[0]):
        slot = place
        while slot > 0 and values[order[slot - 1]] < values[place]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = place
