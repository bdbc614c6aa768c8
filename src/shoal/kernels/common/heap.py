"""A priority queue for best-first searches and branch and bound.

What waits is ordered by a bound on its cost and, among equal bounds, by a number. Once the first entry is not better
than the best candidate found, no other entry is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel


class Queue(NamedTuple):
    """A binary heap: the entry at i comes before those at 2i + 1 and 2i + 2."""

    bound: FloatArray
    """A cost that what waits is never under."""
    number: IntArray
    """The lowest number of a candidate, for equal bounds."""
    item: IntArray
    """What waits."""


@kernel()
def make_queue(room: int) -> Queue:
    """Return an empty queue for at most ``room`` entries."""
    return Queue(np.empty(room), np.empty(room, np.int32), np.empty(room, np.int32))


@kernel(allocates=False)
def comes_before(bound: float, number: int, other_bound: float, other_number: int) -> bool:
    """Return whether a cost is less than another, or equal with a lower number."""
    return bound < other_bound or (bound == other_bound and number < other_number)


@kernel(allocates=False)
def _copy_entry(queue: Queue, source: int, target: int) -> None:
    queue.bound[target] = queue.bound[source]
    queue.number[target] = queue.number[source]
    queue.item[target] = queue.item[source]


@kernel(allocates=False)
def push(queue: Queue, waiting: int, bound: float, number: int, item: int) -> int:
    """Put an item in a queue of ``waiting`` entries; return how many wait now."""
    place = waiting
    while place > 0:
        above = (place - 1) >> 1
        if not comes_before(bound, number, queue.bound[above], queue.number[above]):
            break
        _copy_entry(queue, above, place)
        place = above
    queue.bound[place], queue.number[place], queue.item[place] = bound, number, item
    return waiting + 1


@kernel(allocates=False)
def drop_first(queue: Queue, waiting: int) -> int:
    """Take the first entry out of a queue of ``waiting`` entries; return how many wait now."""
    last = waiting - 1
    bound, number, item = queue.bound[last], queue.number[last], queue.item[last]
    place = 0
    # ends: each round goes one level down the heap
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        if below + 1 < last and comes_before(
            queue.bound[below + 1], queue.number[below + 1], queue.bound[below], queue.number[below]
        ):
            below += 1
        if not comes_before(queue.bound[below], queue.number[below], bound, number):
            break
        _copy_entry(queue, below, place)
        place = below
    queue.bound[place], queue.number[place], queue.item[place] = bound, number, item
    return last
