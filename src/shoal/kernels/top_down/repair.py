"""Top-Down local recoding, the repair of small groups (Xu et al. 2006, section 4.2, last part).

A group below k either takes the records it lacks from one group that can spare them, or merges with its nearest
group, whichever raises the total penalty less. This is repeated until it has k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.bottom_up import MemberLists, append_records, copy_members, merge_groups, take_cheapest, write_group
from shoal.kernels.common.heap import Queue, comes_before, make_queue
from shoal.kernels.search.donor_search import next_within_reach, start_search
from shoal.kernels.search.group_shape import shape_by_rank
from shoal.kernels.search.group_tree import GroupTree, build_tree, remove_group, update_group
from shoal.kernels.search.nearest_group import find_nearest_group
from shoal.kernels.space.range_costs import RangeCosts, cover_by_group
from shoal.kernels.space.space import Cover, Space, add_record, group_cost


class Scratch(NamedTuple):
    """Room for trying what a group would be with records of another, the donor."""

    piece: Cover
    """A group and what it takes."""
    rest: Cover
    """What is left of the donor."""
    members: IntArray
    """The records of the donor; those that are taken come first."""
    bound: FloatArray
    """A cost that the piece with each of them is never under."""
    donor: IntArray
    """[0]: the donor last tried to the end, -1 when that was given up."""
    cost: FloatArray
    """[0]: what the piece costs then."""


class Repair(NamedTuple):
    """The state of a run."""

    space: Space
    costs: RangeCosts
    codes: IntArray
    k: int
    cover: Cover
    lists: MemberLists
    tree: GroupTree
    queue: Queue
    scratch: Scratch


@kernel()
def start_groups(space: Space, codes: IntArray, ends: IntArray) -> tuple[Cover, MemberLists]:
    """Return the groups whose records come one after the other, each up to its end."""
    groups, records = ends.shape[0], codes.shape[1]
    cover = cover_by_group(space, groups)
    lists = MemberLists(np.empty(groups, np.int32), np.empty(groups, np.int32), np.empty(records, np.int32))
    numbers = np.arange(records, dtype=np.int32)
    begin = 0
    for group in range(groups):
        write_group(space, codes, numbers[begin : ends[group]], cover, lists, group)
        begin = ends[group]
    return cover, lists


@kernel()
def start_repair(space: Space, costs: RangeCosts, codes: IntArray, k: int, ends: IntArray, rank: IntArray) -> Repair:
    """Return the state before the first repair; the cut in front of a record has a rank, the higher the earlier it was made."""
    cover, lists = start_groups(space, codes, ends)
    groups, records = ends.shape[0], codes.shape[1]
    group_rank = np.zeros(groups, np.int32)
    for group in range(1, groups):
        group_rank[group] = rank[ends[group - 1]]
    shape = shape_by_rank(np.arange(groups).astype(np.int32), group_rank)
    tree = build_tree(space, cover, shape, for_records=True)
    scratch = Scratch(
        cover_by_group(space, 1),
        cover_by_group(space, 1),
        np.empty(records, np.int32),
        np.empty(records),
        np.full(1, -1, np.int32),
        np.zeros(1),
    )
    return Repair(space, costs, codes, k, cover, lists, tree, make_queue(2 * groups + 2), scratch)


@kernel(allocates=False)
def _try_pull(state: Repair, group: int, donor: int, limit: float) -> float:
    """Write the donor's records down, those that widen the group least in front; return its cost with those it lacks.

    Gives up once the cost is above ``limit``.
    """
    space, cover, scratch = state.space, state.cover, state.scratch
    piece, size = scratch.piece, cover.size[donor]
    for column in range(space.kind.shape[0]):
        piece.low[column, 0], piece.high[column, 0] = cover.low[column, group], cover.high[column, group]
    for word in range(cover.words.shape[1]):
        piece.words[0, word] = cover.words[group, word]
    piece.size[0] = cover.size[group]
    copy_members(state.lists, donor, scratch.members[:size])
    scratch.bound[:size] = 0.0
    scratch.donor[0] = donor
    cost = group_cost(space, cover, group)
    for taken in range(state.k - cover.size[group]):
        cost = take_cheapest(
            space, state.costs, state.codes, piece, scratch.members[:size], scratch.bound[:size], taken, cost
        )
        if cost > limit:
            scratch.donor[0] = -1
            break
    scratch.cost[0] = cost
    return cost


@kernel(allocates=False)
def _penalty(space: Space, cover: Cover, group: int) -> float:
    """Return NCP of a group, counted over all its records."""
    return cover.size[group] * group_cost(space, cover, group)


@kernel(inline=True, allocates=False)
def find_donor(state: Repair, group: int) -> int:
    """Return the group that gives the k - n lacking records at the least NCP, lowest number among equals.

    Only a group of at least 2k - n records can spare them; -1 when there is none.
    """
    least_size = 2 * state.k - state.cover.size[group]
    best, least, donor = -1, np.inf, 0
    waiting = start_search(state.queue)
    # ends: the search hands out each group at most once, then -1
    while donor >= 0:
        donor, waiting = next_within_reach(
            state.space, state.costs, state.cover, state.tree, state.queue, waiting, group, least_size, least, best
        )
        if donor >= 0:
            cost = _try_pull(state, group, donor, least)
            if comes_before(cost, donor, least, best):
                best, least = donor, cost
    return best


@kernel(inline=True, allocates=False)
def _pull_if_cheaper(state: Repair, group: int, donor: int, merge_growth: float) -> bool:
    """Move the lacking records from the donor to the group, unless that raises the total by more than ``merge_growth``."""
    space, codes, cover, rest = state.space, state.codes, state.cover, state.scratch.rest
    if state.scratch.donor[0] != donor:
        _try_pull(state, group, donor, np.inf)
    lacking = state.k - cover.size[group]
    members = state.scratch.members[: cover.size[donor]]
    rest.size[0] = 0
    rest.words[0] = 0
    for member in members[lacking:]:
        add_record(space, rest, 0, codes, member)
    growth = state.k * state.scratch.cost[0] + _penalty(space, rest, 0) - _penalty(space, cover, donor)
    if growth > merge_growth:
        return False
    append_records(space, codes, members[:lacking], cover, state.lists, group)
    write_group(space, codes, members[lacking:], cover, state.lists, donor)
    return True


@kernel(inline=True, allocates=False)
def repair_group(state: Repair, group: int) -> bool:
    """Add records to a small group in the cheaper of two ways (ties: the pull); False if it is the only group."""
    space, cover, tree = state.space, state.cover, state.tree
    other, union_penalty = find_nearest_group(space, state.costs, cover, tree, state.queue, group, increase=False)
    if other < 0:
        return False
    merge_growth = union_penalty - _penalty(space, cover, other)
    donor = find_donor(state, group)
    if donor >= 0 and _pull_if_cheaper(state, group, donor, merge_growth):
        update_group(space, cover, tree, donor)
    else:
        merge_groups(space, cover, state.lists, group, other)
        remove_group(tree, other)
    update_group(space, cover, tree, group)
    return True


@kernel(allocates=False)
def repair(state: Repair, turns: IntArray) -> None:
    """Bring each group of ``turns``, in their order, that is still there to k records."""
    for group in turns:
        # ends: a repair adds records to the group, or the loop breaks
        while 0 < state.cover.size[group] < state.k:
            if not repair_group(state, group):
                break
