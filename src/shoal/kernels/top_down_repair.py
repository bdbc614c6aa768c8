"""Top-Down local recoding, the repair of small groups (Xu et al. 2006, section 4.2, last part).

A group below k either takes the records it lacks from one group that can spare them, or merges with its nearest
group, whichever raises the total penalty less; and again, until it has k.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.bottom_up import Chains, members_of, merge_groups, take_cheapest, write_group
from shoal.kernels.compiling import kernel
from shoal.kernels.group_tree import Tree, remove_group, update_group
from shoal.kernels.nearest_group import find_nearest_group
from shoal.kernels.range_costs import RangeCosts, cover_by_group
from shoal.kernels.search_queue import Queue, comes_before
from shoal.kernels.space import Cover, Space, add_record, group_cost
from shoal.kernels.within_reach import next_within_reach, start_search
from shoal.typing import IntArray


@kernel()
def start_groups(space: Space, codes: IntArray, order: IntArray, ends: IntArray) -> tuple[Cover, Chains]:
    """Return the groups whose records stand one after the other in ``order``, each up to its end."""
    groups = ends.shape[0]
    cover = cover_by_group(space, groups)
    chains = Chains(np.empty(groups, np.int32), np.empty(groups, np.int32), np.empty(order.shape[0], np.int32))
    begin = 0
    for group in range(groups):
        write_group(space, codes, order[begin : ends[group]], cover, chains, group)
        begin = ends[group]
    return cover, chains


@kernel(allocates=False)
def _pull_cost(
    space: Space, costs: RangeCosts, codes: IntArray, piece: Cover, members: IntArray, lacking: int, limit: float
) -> float:
    """Move the ``lacking`` members that widen the piece least to the front; return its cost with them.

    Gives up once the cost is above ``limit``.
    """
    cost = 0.0
    for taken in range(lacking):
        cost = take_cheapest(space, costs, codes, piece, members, taken)
        if cost > limit:
            break
    return cost


@kernel()
def _cover_of_group(space: Space, cover: Cover, group: int) -> Cover:
    """Return a cover that holds only a copy of one group."""
    piece = cover_by_group(space, 1)
    piece.low[:, 0] = cover.low[:, group]
    piece.high[:, 0] = cover.high[:, group]
    piece.words[0] = cover.words[group]
    piece.size[0] = cover.size[group]
    return piece


@kernel()
def _cover_of(space: Space, codes: IntArray, members: IntArray) -> Cover:
    """Return the cover of one group of records."""
    cover = cover_by_group(space, 1)
    for member in members:
        add_record(space, cover, 0, codes, member)
    return cover


@kernel(allocates=False)
def _penalty(space: Space, cover: Cover, group: int) -> float:
    """Return NCP of a group, counted over all its records."""
    return cover.size[group] * group_cost(space, cover, group)


@kernel()
def find_donor(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    tree: Tree,
    queue: Queue,
    group: int,
    k: int,
) -> tuple[int, float]:
    """Return the group that gives the k - n lacking records at the least NCP, lowest number among equals, and the cost.

    Only a group of at least 2k - n records can spare them; -1 when there is none.
    """
    lacking = k - cover.size[group]
    best, least = -1, np.inf
    waiting = start_search(tree, queue, k + lacking)
    while waiting > 0:
        donor, waiting = next_within_reach(space, costs, cover, tree, queue, waiting, group, k + lacking, least, best)
        if donor < 0:
            break
        piece = _cover_of_group(space, cover, group)
        members = members_of(chains, donor, cover.size[donor])
        cost = _pull_cost(space, costs, codes, piece, members, lacking, least)
        if comes_before(cost, donor, least, best):
            best, least = donor, cost
    return best, least


@kernel()
def repair_group(
    space: Space,
    costs: RangeCosts,
    codes: IntArray,
    cover: Cover,
    chains: Chains,
    tree: Tree,
    queue: Queue,
    group: int,
    k: int,
) -> bool:
    """Give a small group more records in the cheaper of two ways, of equals the pull; False if it is the only group."""
    other, union_penalty = find_nearest_group(space, costs, cover, tree, queue, group)
    if other < 0:
        return False
    donor, cost = find_donor(space, costs, codes, cover, chains, tree, queue, group, k)
    if donor >= 0:
        lacking = k - cover.size[group]
        members = members_of(chains, donor, cover.size[donor])
        _pull_cost(space, costs, codes, _cover_of_group(space, cover, group), members, lacking, np.inf)
        rest = _cover_of(space, codes, members[lacking:])
        pull_growth = k * cost + _penalty(space, rest, 0) - _penalty(space, cover, donor)
        if pull_growth <= union_penalty - _penalty(space, cover, other):
            own = members_of(chains, group, cover.size[group])
            write_group(space, codes, np.concatenate((own, members[:lacking])), cover, chains, group)
            write_group(space, codes, members[lacking:], cover, chains, donor)
            update_group(space, cover, tree, group)
            update_group(space, cover, tree, donor)
            return True
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
    for group in asking:
        while 0 < cover.size[group] < k:
            if not repair_group(space, costs, codes, cover, chains, tree, queue, group, k):
                break
