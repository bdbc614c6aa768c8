"""Merge & Split (Zhong 2012): a group grows while its quality IPG rises, then gives back what lowers it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.search.record_tree import RecordTree, cost_with_record, count_free, nearest_record, new_frontier
from shoal.kernels.space.kinds import has_value, note_value, ordered_columns
from shoal.kernels.space.space import Cover, Space, add_record, empty_cover, group_cost, released_cost


class MergeSet(NamedTuple):
    """The records still to be grouped, as a ring of links, and the groups that are final.

    The ring's entry n is before its first record and after its last.
    """

    after: IntArray
    before: IntArray
    free: BoolArray
    splits: IntArray
    """How often a record has been split off."""
    label: IntArray
    cover: Cover
    """The boxes of the groups."""
    counts: LongArray
    """How many records are still free, and how many groups there are."""
    powers: LongArray
    """How often 1 - IL and PG enter the quality of a group; 1 and 1 make it IPG."""


def corner_first(space: Space, codes: IntArray) -> IntArray:
    """Return the records as a sweep from one corner of the table meets them: small numbers and rare categories first.

    A number counts the records that are not below it, a category those that do not have it; counts add up exactly.
    A sweep leaves no hole behind, so that the last groups do not have to span it.
    """
    records = codes.shape[1]
    outside, ordered = np.zeros(records), ordered_columns(space)
    for column, row in enumerate(codes):
        count = np.bincount(row, minlength=int(space.cardinality[column]))
        below = np.cumsum(count) - count
        outside += space.weight[column] * (records - (below if ordered[column] else count))[row]
    return np.argsort(-outside, kind="stable").astype(np.int32)


def start(space: Space, codes: IntArray, k: int, utility: int, privacy: int) -> MergeSet:
    """Return every record in the merge set."""
    records = codes.shape[1]
    ring = np.append(corner_first(space, codes), np.int32(records))
    after, before = np.empty_like(ring), np.empty_like(ring)
    after[ring], before[ring] = np.roll(ring, -1), np.roll(ring, 1)
    return MergeSet(
        after,
        before,
        np.ones(records, np.bool_),
        np.zeros(records, np.int32),
        np.full(records, -1, np.int32),
        empty_cover(space, records // k),
        np.array([records, 0], np.int64),
        np.array([utility, privacy], np.int64),
    )


@kernel()
def quality(powers: LongArray, total_weight: float, cost: float, size: int) -> float:
    """Return (1 - IL)^a·PG^b of a group: IL is its cost over the cost of a suppressed record, PG = 1 - 1/size.

    The powers are whole numbers and are multiplied out, because ``pow`` may round differently on another processor.
    """
    value = (total_weight - cost) * (size - 1) / (total_weight * size)
    for _ in range(powers[0] - 1):
        value *= (total_weight - cost) / total_weight
    for _ in range(powers[1] - 1):
        value *= (size - 1) / size
    return value


@kernel()
def leave(merge: MergeSet, tree: RecordTree, record: int) -> None:
    """Take a record out of the merge set."""
    after, before = merge.after[record], merge.before[record]
    merge.after[before] = after
    merge.before[after] = before
    merge.free[record] = False
    merge.counts[0] -= 1
    count_free(tree, record, -1)


@kernel()
def come_back(merge: MergeSet, tree: RecordTree, record: int) -> None:
    """Put a record at the end of the merge set."""
    end = merge.free.shape[0]
    last = merge.before[end]
    merge.after[last] = record
    merge.before[record] = last
    merge.after[record] = end
    merge.before[end] = record
    merge.free[record] = True
    merge.counts[0] += 1
    count_free(tree, record, 1)


@kernel()
def grow(
    space: Space, codes: IntArray, merge: MergeSet, tree: RecordTree, group: int, k: int, most: int, members: IntArray
) -> int:
    """Merge records into a new group until it has k, and on to ``most`` as long as IPG rises; return its size."""
    total_weight = space.weight.sum()
    members[0] = merge.after[merge.free.shape[0]]
    leave(merge, tree, members[0])
    add_record(space, merge.cover, group, codes, members[0])
    size, cost = 1, 0.0
    frontier = new_frontier()
    # ends: each round adds a record or breaks
    while size < most:
        record, wider = nearest_record(space, tree, merge.cover, group, codes, merge.free, frontier)
        if record < 0 or (
            size >= k
            and quality(merge.powers, total_weight, wider, size + 1) <= quality(merge.powers, total_weight, cost, size)
        ):
            break
        leave(merge, tree, record)
        add_record(space, merge.cover, group, codes, record)
        members[size] = record
        size, cost = size + 1, wider
    return size


@kernel()
def two_ends(codes: IntArray, column: int, members: IntArray) -> tuple[int, int, int, int]:
    """Return the smallest and second smallest, the second largest and largest code of the members."""
    low = low_2 = np.iinfo(np.int32).max
    high = high_2 = -1
    for record in members:
        code = codes[column, record]
        if code < low:
            low, low_2 = code, low
        elif code < low_2:
            low_2 = code
        if code > high:
            high, high_2 = code, high
        elif code > high_2:
            high_2 = code
    return low, low_2, high_2, high


@kernel()
def costs_without(space: Space, codes: IntArray, members: IntArray) -> FloatArray:
    """Return what the group would cost without each one of its members."""
    costs = np.zeros(members.shape[0])
    words, alone = np.zeros(space.word_start[-1], np.uint64), np.zeros(space.word_start[-1], np.uint64)
    for column in range(space.kind.shape[0]):
        low, low_2, high_2, high = two_ends(codes, column, members)
        distinct = 0
        for record in members:
            distinct += note_value(space, words, alone, column, codes[column, record])
        for i in range(members.shape[0]):
            code = codes[column, members[i]]
            new_low = low_2 if code == low else low
            new_high = high_2 if code == high else high
            count = distinct - has_value(space, alone, column, code)
            costs[i] += space.weight[column] * released_cost(space, column, new_low, new_high, count)
    return costs


@kernel()
def split(
    space: Space, codes: IntArray, merge: MergeSet, tree: RecordTree, group: int, k: int, members: IntArray
) -> IntArray:
    """Give back, one at a time, the member without which IPG is highest, while it rises and k stay; return the rest.

    Of equal members the smallest record goes. The record the group began with stays, and so does one that was
    split off k times before.
    """
    total_weight = space.weight.sum()
    cost = group_cost(space, merge.cover, group)
    # ends: each round splits one member off or ends the loop
    while members.shape[0] > k:
        costs = costs_without(space, codes, members)
        best = -1
        for i in range(1, members.shape[0]):
            if merge.splits[members[i]] < k and (
                best < 0 or costs[i] < costs[best] or (costs[i] == costs[best] and members[i] < members[best])
            ):
                best = i
        size = members.shape[0]
        if best < 0 or quality(merge.powers, total_weight, costs[best], size - 1) <= quality(
            merge.powers, total_weight, cost, size
        ):
            break
        merge.splits[members[best]] += 1
        come_back(merge, tree, members[best])
        cost = costs[best]
        members[best] = members[size - 1]
        members = members[: size - 1]
    return members


@kernel()
def run(space: Space, codes: IntArray, merge: MergeSet, tree: RecordTree, k: int, most: int, groups: int) -> bool:
    """Form at most ``groups`` more groups of up to ``most`` records; return whether fewer than k records are left.

    Every group keeps at least k of the records it took, so there are at most n / k rounds.
    """
    grown = np.empty(most, np.int32)
    stop = merge.counts[1] + groups
    while merge.counts[0] >= k and merge.counts[1] < stop:
        group = merge.counts[1]
        size = grow(space, codes, merge, tree, group, k, most, grown)
        members = split(space, codes, merge, tree, group, k, grown[:size])
        merge.cover.size[group] = 0
        merge.cover.words[group] = 0
        for record in members:
            merge.label[record] = group
            add_record(space, merge.cover, group, codes, record)
        merge.counts[1] += 1
    return merge.counts[0] < k


@kernel()
def place_rest(space: Space, codes: IntArray, merge: MergeSet) -> None:
    """Let each record that is left join the group whose IPG falls least (ties: the earliest)."""
    total_weight = space.weight.sum()
    record = int(merge.after[merge.free.shape[0]])
    while record < merge.free.shape[0]:
        chosen, best = -1, 0.0
        for group in range(merge.counts[1]):
            size = merge.cover.size[group]
            now = quality(merge.powers, total_weight, group_cost(space, merge.cover, group), size)
            change = (
                quality(
                    merge.powers, total_weight, cost_with_record(space, merge.cover, group, codes, record), size + 1
                )
                - now
            )
            if chosen < 0 or change > best:
                chosen, best = group, change
        merge.label[record] = chosen
        add_record(space, merge.cover, chosen, codes, record)
        record = int(merge.after[record])
