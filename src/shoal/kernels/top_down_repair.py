"""Top-Down local recoding, the repair of small groups (Xu et al. 2006, section 4.2, last part).

A group below k either takes the records it lacks from one group that can spare them, or merges with its nearest
group, whichever raises the total penalty less; and again, until it has k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bottom_up import Chains, append_records, copy_members, merge_groups, take_cheapest, write_group
from shoal.kernels.compiling import kernel
from shoal.kernels.group_tree import Tree, remove_group, update_group
from shoal.kernels.nearest_group import find_nearest_group
from shoal.kernels.range_costs import RangeCosts, cover_by_group
from shoal.kernels.search_queue import Queue, comes_before
from shoal.kernels.space import Cover, Space, add_record, group_cost
from shoal.kernels.within_reach import next_within_reach, start_search
from shoal.typing import IntArray


@kernel()
def start_groups(space: Space, codes: IntArray, ends: IntArray) -> tuple[Cover, Chains]:
    """Return the groups whose records stand one after the other, each up to its end."""
    groups, records = ends.shape[0], codes.shape[1]
    cover = cover_by_group(space, groups)
    chains = Chains(np.empty(groups, np.int32), np.empty(groups, np.int32), np.empty(records, np.int32))
    numbers = np.arange(records, dtype=np.int32)
    begin = 0
    for group in range(groups):
        write_group(space, codes, numbers[begin : ends[group]], cover, chains, group)
        begin = ends[group]
    return cover, chains


class Scratch(NamedTuple):
    """Room for trying what a group would be with records of another."""

    piece: Cover
    """A group and what it takes."""
    rest: Cover
    """What is left of the other one."""
    members: IntArray
    """The records of the other one; those that are taken come first."""


@kernel()
def make_scratch(space: Space, records: int) -> Scratch:
    """Return room for groups of at most so many records."""
    return Scratch(cover_by_group(space, 1), cover_by_group(space, 1), np.empty(records, np.int32))


@kernel(allocates=False)
def _try_pull(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    scratch: Scratch,
    group: int,
    donor: int,
    lacking: int,
    limit: float,
) -> float:
    """Write the donor's records down, those that widen the group least in front; return its cost with those it lacks.

    Gives up once the cost is above ``limit``.
    """
    piece, members = scratch.piece, scratch.members[: cover.size[donor]]
    for column in range(space.kind.shape[0]):
        piece.low[column, 0], piece.high[column, 0] = cover.low[column, group], cover.high[column, group]
    for word in range(cover.words.shape[1]):
        piece.words[0, word] = cover.words[group, word]
    piece.size[0] = cover.size[group]
    copy_members(chains, donor, members)
    cost = group_cost(space, cover, group)
    for taken in range(lacking):
        cost = take_cheapest(space, costs, codes, piece, members, taken, cost)
        if cost > limit:
            break
    return cost


@kernel(allocates=False)
def _penalty(space: Space, cover: Cover, group: int) -> float:
    """Return NCP of a group, counted over all its records."""
    return cover.size[group] * group_cost(space, cover, group)


@kernel(allocates=False)
def find_donor(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    tree: Tree,
    queue: Queue,
    scratch: Scratch,
    group: int,
    k: int,
) -> int:
    """Return the group that gives the k - n lacking records at the least NCP, lowest number among equals.

    Only a group of at least 2k - n records can spare them; -1 when there is none.
    """
    lacking = k - cover.size[group]
    best, least = -1, np.inf
    waiting = start_search(tree, queue, k + lacking)
    while waiting > 0:
        donor, waiting = next_within_reach(space, costs, cover, tree, queue, waiting, group, k + lacking, least, best)
        if donor < 0:
            break
        cost = _try_pull(space, costs, codes, cover, chains, scratch, group, donor, lacking, least)
        if comes_before(cost, donor, least, best):
            best, least = donor, cost
    return best


@kernel(allocates=False)
def _pull_if_cheaper(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    scratch: Scratch,
    group: int,
    donor: int,
    k: int,
    merge_growth: float,
) -> bool:
    """Move the lacking records from the donor to the group, unless that raises the total by more than ``merge_growth``."""
    lacking = k - cover.size[group]
    cost = _try_pull(space, costs, codes, cover, chains, scratch, group, donor, lacking, np.inf)
    members = scratch.members[: cover.size[donor]]
    scratch.rest.size[0] = 0
    scratch.rest.words[0] = 0
    for member in members[lacking:]:
        add_record(space, scratch.rest, 0, codes, member)
    growth = k * cost + _penalty(space, scratch.rest, 0) - _penalty(space, cover, donor)
    if growth > merge_growth:
        return False
    append_records(space, codes, members[:lacking], cover, chains, group)
    write_group(space, codes, members[lacking:], cover, chains, donor)
    return True


@kernel(allocates=False)
def repair_group(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    tree: Tree,
    queue: Queue,
    scratch: Scratch,
    group: int,
    k: int,
) -> bool:
    """Give a small group more records in the cheaper of two ways, of equals the pull; False if it is the only group."""
    other, union_penalty = find_nearest_group(space, costs, cover, tree, queue, group)
    if other < 0:
        return False
    merge_growth = union_penalty - _penalty(space, cover, other)
    donor = find_donor(space, costs, codes, cover, chains, tree, queue, scratch, group, k)
    if donor >= 0 and _pull_if_cheaper(space, costs, codes, cover, chains, scratch, group, donor, k, merge_growth):
        update_group(space, cover, tree, donor)
    else:
        merge_groups(space, cover, chains, group, other)
        remove_group(tree, other)
    update_group(space, cover, tree, group)
    return True


@kernel()
def repair(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    tree: Tree,
    queue: Queue,
    asking: IntArray,
    k: int,
) -> None:
    """Bring each group of ``asking`` that is still there to k records."""
    scratch = make_scratch(space, codes.shape[1])
    for group in asking:
        while 0 < cover.size[group] < k:
            if not repair_group(space, costs, codes, cover, chains, tree, queue, scratch, group, k):
                break
