"""Groups as linked lists of records, so that two of them can be joined or divided again without touching the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.space import Cover, Space, add_record, group_cost, union_cost


class LinkedGroups(NamedTuple):
    """The records of each group as a linked list."""

    first: IntArray
    """The first record of each group, -1 for a group without records."""
    follow: IntArray
    """The next record of the same group, -1 after the last."""
    cost: FloatArray
    """What each record of a group costs."""
    short: FloatArray
    """The shortfall of a group (``rules.shortfall``): 0 if it meets all models."""


@kernel()
def link(labels: IntArray, groups: int) -> LinkedGroups:
    """Return the groups of ``labels`` as linked lists, in the order of their records."""
    linked = LinkedGroups(
        np.full(groups, -1, np.int32), np.full(labels.shape[0], -1, np.int32), np.zeros(groups), np.zeros(groups)
    )
    for record in range(labels.shape[0] - 1, -1, -1):
        if labels[record] >= 0:
            linked.follow[record] = linked.first[labels[record]]
            linked.first[labels[record]] = record
    return linked


@kernel()
def reset(cover: Cover, slot: int) -> None:
    """Make a slot of a cover empty."""
    cover.size[slot] = 0
    cover.words[slot] = 0


@kernel()
def set_members(
    space: Space, codes: IntArray, cover: Cover, linked: LinkedGroups, group: int, records: IntArray
) -> None:
    """Let ``group`` have just these records, and work its cover and cost out again."""
    linked.first[group] = -1
    reset(cover, group)
    for place in range(records.shape[0] - 1, -1, -1):
        linked.follow[records[place]] = linked.first[group]
        linked.first[group] = records[place]
        add_record(space, cover, group, codes, records[place])
    linked.cost[group] = group_cost(space, cover, group) if records.shape[0] > 0 else 0.0


@kernel()
def members(cover: Cover, linked: LinkedGroups, a: int, b: int) -> IntArray:
    """Return the records of group ``a``, then those of group ``b`` (-1: no other group)."""
    size = cover.size[a] + (cover.size[b] if b >= 0 else 0)
    records = np.empty(size, np.int32)
    place = 0
    for turn in range(2 if b >= 0 else 1):
        record = linked.first[a if turn == 0 else b]
        while record >= 0:
            records[place] = record
            place += 1
            record = linked.follow[record]
    return records


@kernel()
def joining_costs(space: Space, cover: Cover, linked: LinkedGroups, a: int, near: IntArray) -> FloatArray:
    """Return what it would add to join group ``a`` with each of ``near``; infinite for itself and those without records."""
    added = np.full(near.shape[0], np.inf)
    for place in range(near.shape[0]):
        b = near[place]
        if b != a and cover.size[b] > 0:
            before = linked.cost[a] * cover.size[a] + linked.cost[b] * cover.size[b]
            added[place] = union_cost(space, cover, a, b) * (cover.size[a] + cover.size[b]) - before
    return added
