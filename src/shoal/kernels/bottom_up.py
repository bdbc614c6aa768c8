"""Bottom-Up local recoding (Xu et al. 2006, section 4.1, Figure 4).

Groups are numbered; a round goes through the numbers and merges each group that is still below k with its
nearest group (:mod:`shoal.kernels.search.nearest_group`). The union keeps the number of the group whose turn it was and has no
other turn in this round; the other number is gone. Members are linked lists, so that a merge costs the same
whatever the sizes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.heap import Queue
from shoal.kernels.search.group_tree import GroupTree, remove_group, update_group
from shoal.kernels.search.nearest_group import find_nearest_group
from shoal.kernels.space.range_costs import RangeCosts, cost_with_record, cover_by_group
from shoal.kernels.space.space import Cover, Space, add_record, group_cost, join


class MemberLists(NamedTuple):
    """The members of each group, as linked lists of records."""

    head: IntArray
    """First record of each group, -1 when the group is gone."""
    tail: IntArray
    """Last record of each group."""
    next: IntArray
    """The record after each record in its group, -1 after the last."""


@kernel()
def start_single(space: Space, codes: IntArray) -> tuple[Cover, MemberLists]:
    """Return one group for each record."""
    records = codes.shape[1]
    cover = cover_by_group(space, records)
    for record in range(records):
        add_record(space, cover, record, codes, record)
    numbers = np.arange(records, dtype=np.int32)
    return cover, MemberLists(numbers.copy(), numbers.copy(), np.full(records, -1, np.int32))


@kernel(allocates=False)
def merge_groups(space: Space, cover: Cover, lists: MemberLists, group: int, other: int) -> None:
    """Let ``group`` take in the records of ``other``, after its own."""
    join(space, cover, group, other)
    lists.next[lists.tail[group]] = lists.head[other]
    lists.tail[group] = lists.tail[other]
    lists.head[other] = -1
    cover.size[other] = 0


@kernel(allocates=False)
def merge_small_groups(
    space: Space,
    costs: RangeCosts,
    cover: Cover,
    lists: MemberLists,
    tree: GroupTree,
    queue: Queue,
    turns: IntArray,
    k: int,
    increase: bool,
) -> int:
    """Merge each group of ``turns``, in their order, that is still there and below k with its nearest group; return the merges.

    A group always has a nearest one while another is there: costs are finite (:mod:`shoal.encoding.spaces`).
    """
    merges = 0
    for group in turns:
        if lists.head[group] < 0 or cover.size[group] >= k:
            continue
        other, _ = find_nearest_group(space, costs, cover, tree, queue, group, increase)
        if other < 0:
            break
        merge_groups(space, cover, lists, group, other)
        remove_group(tree, other)
        update_group(space, cover, tree, group)
        merges += 1
    return merges


@kernel(allocates=False)
def copy_members(lists: MemberLists, group: int, members: IntArray) -> None:
    """Write the first records of a group into ``members``, in the order in which they came, as many as it has room for."""
    record = lists.head[group]
    for place in range(members.shape[0]):
        members[place] = record
        record = lists.next[record]


@kernel(allocates=False)
def _farthest(space: Space, costs: RangeCosts, cover: Cover, codes: IntArray, members: IntArray) -> int:
    """Return the place of the member that makes the most expensive pair with the first, the earliest among equals."""
    cover.size[0] = 0
    add_record(space, cover, 0, codes, members[0])
    best, most = 0, -1.0
    for place in range(members.shape[0]):
        cost = cost_with_record(space, costs, cover, 0, codes, members[place], np.inf)
        if cost > most:
            best, most = place, cost
    return best


@kernel(allocates=False)
def _move_to_front(line: AnyArray, place: int, front: int) -> None:
    """Put one entry at ``front`` and those from there on one place back, in their order."""
    entry = line[place]
    for later in range(place, front, -1):
        line[later] = line[later - 1]
    line[front] = entry


@kernel(inline=True, allocates=False)
def take_cheapest(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    piece: Cover,
    members: IntArray,
    bound: FloatArray,
    taken: int,
    now: float,
) -> float:
    """Add to a piece that costs ``now`` the member from ``taken`` on that widens it least; ties go to the earliest.

    The member moves to the place ``taken``; the piece's new cost is returned. ``bound`` holds a cost that the piece with each member is
    never under: what was found for a smaller piece holds for a larger one, so that few members are costed again.
    """
    best, least = taken, np.inf
    for place in range(taken, members.shape[0]):
        if bound[place] < least:
            cost = cost_with_record(space, costs, piece, 0, codes, members[place], least)
            bound[place] = cost
            if cost < least:
                best, least = place, cost
                if cost == now:  # none can cost less
                    break
    _move_to_front(members, best, taken)
    _move_to_front(bound, best, taken)
    add_record(space, piece, 0, codes, members[taken])
    return least


@kernel()
def order_for_split(space: Space, costs: RangeCosts, codes: IntArray, members: IntArray, k: int) -> None:
    """Order the members of a large group so that each k in a row make a close piece.

    A piece begins with the member that is farthest from the first one left. Then the member that widens the piece
    least is added, k - 1 times. What stays after ⌊n/k⌋ - 1 pieces is the last piece.
    """
    piece, bound = cover_by_group(space, 1), np.empty(members.shape[0])
    for begin in range(0, (members.shape[0] // k - 1) * k, k):
        front = begin + _farthest(space, costs, piece, codes, members[begin:])
        _move_to_front(members, front, begin)
        piece.size[0] = 0
        piece.words[:] = 0
        add_record(space, piece, 0, codes, members[begin])
        bound[begin:] = 0.0
        cost = 0.0
        for taken in range(begin + 1, begin + k):
            cost = take_cheapest(space, costs, codes, piece, members, bound, taken, cost)


@kernel(allocates=False)
def append_records(
    space: Space, codes: IntArray, records: IntArray, cover: Cover, lists: MemberLists, group: int
) -> None:
    """Let a group take in records that are in no other group, after its own."""
    for record in records:
        if cover.size[group] == 0:
            lists.head[group] = record
        else:
            lists.next[lists.tail[group]] = record
        lists.tail[group] = record
        lists.next[record] = -1
        add_record(space, cover, group, codes, record)


@kernel(allocates=False)
def write_group(
    space: Space, codes: IntArray, members: IntArray, cover: Cover, lists: MemberLists, number: int
) -> None:
    """Write the records ``members`` down as group ``number``."""
    cover.size[number] = 0
    cover.words[number] = 0
    append_records(space, codes, members, cover, lists, number)


@kernel()
def renumber(
    space: Space, costs: RangeCosts, codes: IntArray, cover: Cover, lists: MemberLists, k: int, split: bool
) -> tuple[Cover, MemberLists]:
    """Number the groups that are left from 0 in their order; with ``split``, each of 2k or more becomes ⌊n/k⌋ in its place."""
    pieces = 0
    for size in cover.size:
        pieces += max(1, size // k) if split and size > 0 else size > 0
    new_cover = cover_by_group(space, pieces)
    new = MemberLists(np.empty(pieces, np.int32), np.empty(pieces, np.int32), lists.next.copy())
    number = 0
    for group in range(cover.size.shape[0]):
        size = cover.size[group]
        if size == 0:
            continue
        members = np.empty(size, np.int32)
        copy_members(lists, group, members)
        count = max(1, size // k) if split else 1
        if count > 1 and group_cost(space, cover, group) > 0.0:
            order_for_split(space, costs, codes, members, k)
        for piece in range(count):
            end = size if piece == count - 1 else (piece + 1) * k
            write_group(space, codes, members[piece * k : end], new_cover, new, number)
            number += 1
    return new_cover, new
