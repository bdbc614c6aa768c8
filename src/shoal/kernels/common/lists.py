"""A list of lists as two flat arrays (compressed sparse rows)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel


class Lists(NamedTuple):
    """List i has the items ``item[start[i]:start[i + 1]]``."""

    start: LongArray
    """Where each list begins, and the end of the last one."""
    item: IntArray


@kernel()
def transpose(lists: Lists, items: int) -> Lists:
    """Return for each of ``items`` the numbers of the lists it is in, in rising order."""
    start = np.zeros(items + 1, np.int64)
    for place in range(lists.item.shape[0]):
        start[lists.item[place] + 1] += 1
    for one in range(items):
        start[one + 1] += start[one]
    at, numbers = start[:items].copy(), np.empty(lists.item.shape[0], np.int32)
    for number in range(lists.start.shape[0] - 1):
        for place in range(lists.start[number], lists.start[number + 1]):
            one = lists.item[place]
            numbers[at[one]] = number
            at[one] += 1
    return Lists(start, numbers)


@kernel()
def label_chains(first: IntArray, follow: IntArray) -> IntArray:
    """Return the chain each item is in, numbered without gaps; -1 for an item of none.

    ``first`` is the first item of each chain (-1: empty), ``follow`` the item after each one (-1: last).
    """
    labels, number = np.full(follow.shape[0], -1, np.int32), 0
    for chain in range(first.shape[0]):
        item = first[chain]
        number += item >= 0
        while item >= 0:
            labels[item] = number - 1
            item = follow[item]
    return labels
