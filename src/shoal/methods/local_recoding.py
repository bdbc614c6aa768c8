"""Utility-based local recoding (Xu et al. 2006, section 4): Bottom-Up and Top-Down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from shoal.arrays import IntArray, Progress
from shoal.kernels import bottom_up as kernels
from shoal.kernels.common.heap import make_queue
from shoal.kernels.common.lists import label_chains
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.search.group_shape import shape_by_cuts
from shoal.kernels.search.group_tree import build_tree
from shoal.kernels.space.range_costs import tabulate_costs
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.kernels.top_down import partition as top_down
from shoal.kernels.top_down import repair as top_down_repair
from shoal.kernels.top_down.repair import repair
from shoal.methods.base import Grouping, Method, MethodInfo, Reporter, Task, say_nothing
from shoal.methods.stopping import INTERRUPTS
from shoal.validation import check_choice, check_int

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.bottom_up import MemberLists
    from shoal.kernels.space.range_costs import RangeCosts
    from shoal.kernels.space.space import Cover, Space
    from shoal.kernels.top_down.repair import Repair

_PAPER = "Xu, Wang, Pei, Wang, Shi, Fu 2006, Utility-Based Anonymization"
_CHUNK = 2048  # searches between two progress reports: well under a second
_TOUCHED = 2_000_000  # visits of records between two progress reports
_WORN = 0.75  # the tree is built again when less than this share of its groups is left


@contextmanager
def _reporting(title: str, progress: Progress) -> Iterator[Reporter]:
    reporter = Reporter(progress)
    try:
        yield reporter
    except INTERRUPTS as error:
        error.add_note(f"{title} was interrupted at {reporter.reached:.0%}. Nothing was released.")
        raise


@dataclass(frozen=True)
class BottomUp(Method):
    """Merge each group below k with its nearest group, round after round, until none is below k.

    Parameters
    ----------
    merge
        Which group is the nearest: the one with which the NCP, counted over all records, rises least
        (``"increase"``: NCP(G ∪ G') - NCP(G) - NCP(G')), or the one with the least NCP of the union (``"union"``).
    split
        True: after each round a group of 2k or more is split into ⌊n/k⌋ groups, so that sizes end in k..2k - 1.
        False: the groups stay as they were merged.

    Notes
    -----
    Follows section 4.1 and Figure 4. Line 4 of the figure reads ``"union"``; section 4.2 calls the same step an "increase of penalty",
    and with that the paper's results come out. Among equals the group with the lowest number is taken. The paper leaves open how a group is split: here a piece
    begins with the record farthest from the group's first and takes the records that widen it least. The nearest group is found by a
    search that skips far groups and is exact, while the paper looks at every group.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"], method=shoal.BottomUp(merge="union")).groups.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    split: bool = True
    merge: Literal["increase", "union"] = "increase"

    info: ClassVar[MethodInfo] = MethodInfo(
        name="bottom-up",
        title="Bottom-Up",
        family="local",
        paper=_PAPER,
        complexity="O(n² log k) at worst; about n^1.2 from 10,000 to 300,000 made-up census records",
    )

    def __post_init__(self) -> None:
        check_choice("BottomUp", "merge", self.merge, ("increase", "union"))

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        increase = self.merge == "increase"
        return Grouping(
            group_bottom_up(
                table.space, table.codes, task.k, increase=increase, split=self.split, progress=task.progress
            )
        )


@dataclass(frozen=True)
class TopDown(Method):
    """Cut the table in two around records far apart, again and again; then bring small groups to k.

    Parameters
    ----------
    rounds
        How often the farthest record is sought when two seeds are chosen.
    tries
        How many random orders of the records are tried. The groups with the least loss are kept; ties go to the earlier order.

    Notes
    -----
    Follows section 4.2 and Figure 5. A side is cut again if it has more than k records. A cut is made only if at least
    one of its sides has k. Small groups are repaired in the order in which they were cut. Two departures: records are
    pulled from a group of at least 2k - n records, while the paper says more than that, because such a group still
    keeps k; and they are chosen one at a time, the one that widens the group least first, while the paper asks for the best set.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"], method=shoal.TopDown(rounds=6)).groups.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    rounds: int = 3
    tries: int = 1

    info: ClassVar[MethodInfo] = MethodInfo(
        name="top-down",
        title="Top-Down",
        family="local",
        paper=_PAPER,
        complexity="O(n²) at worst; about n^1.1 from 10,000 to 1,000,000 made-up census records",
    )

    def __post_init__(self) -> None:
        check_int("TopDown", "rounds", self.rounds, least=1, hint="3 rounds find seeds nearly as far apart as any two.")
        check_int("TopDown", "tries", self.tries, least=1)

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        random = np.random.default_rng(task.seed)
        best = self._group(table, task, random, 0)
        least = total_cost(table, best) if self.tries > 1 else 0.0
        for tried in range(1, self.tries):
            labels = self._group(table, task, random, tried)
            if (cost := total_cost(table, labels)) < least:
                best, least = labels, cost
        return Grouping(best)

    def _group(self, table: CodedTable, task: Task, random: np.random.Generator, tried: int) -> IntArray:
        """Return the groups from the next random order; progress is this try's share of all of them."""
        order = random.permutation(table.records).astype(np.int32)
        return group_top_down(
            table.space,
            table.codes,
            task.k,
            order,
            rounds=self.rounds,
            progress=lambda share, text: task.progress((tried + share) / self.tries, text),
        )


def total_cost(table: CodedTable, labels: IntArray) -> float:
    """Return the total NCP of a grouping without withheld records."""
    cover = cover_groups(table.space, table.codes, labels, int(labels.max()) + 1)
    return sum_of_products(group_costs(table.space, cover), cover.size)


def group_bottom_up(
    space: Space,
    codes: IntArray,
    k: int,
    *,
    increase: bool = True,
    split: bool = True,
    progress: Progress = say_nothing,
) -> IntArray:
    """Return the group of each record by Bottom-Up."""
    costs = tabulate_costs(space)
    codes = np.ascontiguousarray(codes.T).T  # a record's codes side by side in memory
    cover, lists = kernels.start_single(space, codes)
    needed = codes.shape[1] - codes.shape[1] // k
    with _reporting("Bottom-Up", progress) as reporter:
        merges = 0
        # ends: a round takes in at least the first small group, and splitting makes no small ones, so there are ever fewer
        while cover.size.shape[0] > 1 and (cover.size < k).any():
            for merged in _merge_round(space, costs, cover, lists, k, increase):
                merges += merged
                reporter.report(merges / needed, "merging")
            cover, lists = kernels.renumber(space, costs, codes, cover, lists, k, split)
    return label_chains(lists.head, lists.next)


def _merge_round(
    space: Space, costs: RangeCosts, cover: Cover, lists: MemberLists, k: int, increase: bool
) -> Iterator[int]:
    """Let each small group merge once; yield the number of merges now and then."""
    queue = make_queue(2 * cover.size.shape[0] + 2)
    turns = np.flatnonzero(cover.size < k).astype(np.int32)
    built = left = cover.size.shape[0]
    shape = shape_by_cuts(space, costs, cover, np.arange(built, dtype=np.int32))
    tree = build_tree(space, cover, shape, for_records=False)
    for begin in range(0, turns.size, _CHUNK):
        if left < _WORN * built:
            there = np.flatnonzero(cover.size).astype(np.int32)
            del tree, shape  # the new one takes as much room
            shape = shape_by_cuts(space, costs, cover, there)
            tree = build_tree(space, cover, shape, for_records=False)
            built = left = there.size
        part = turns[begin : begin + _CHUNK]
        merged = kernels.merge_small_groups(space, costs, cover, lists, tree, queue, part, k, increase)
        left -= merged
        yield merged


def group_top_down(
    space: Space, codes: IntArray, k: int, order: IntArray, *, rounds: int = 3, progress: Progress = say_nothing
) -> IntArray:
    """Return the group of each record by Top-Down; records are assigned in the given random order."""
    costs = tabulate_costs(space)
    shuffled = np.ascontiguousarray(codes[:, order])  # one layout for all callers: kernels are compiled once
    parts = top_down.start(space, shuffled, order.copy())
    with _reporting("Top-Down", progress) as reporter:
        # ends: each call cuts parts into two smaller ones, and a part of at most k records is not cut
        while not top_down.partition(space, costs, parts, k, rounds, _TOUCHED):
            groups = parts.depth[1]
            reporter.report(0.5 * (parts.group_end[groups - 1] if groups else 0) / order.size, "cutting")
        reporter.report(0.5, "repairing")
        rows = np.ascontiguousarray(parts.rows.T).T  # a record goes by its row here, its codes side by side in memory
        ends = parts.group_end[: parts.depth[1]]
        state = top_down_repair.start_repair(space, costs, rows, k, ends, parts.rank)
        for share in _repair(state):
            reporter.report(0.5 + 0.5 * share, "repairing")
    labels = np.empty(order.size, np.int32)
    labels[parts.record] = label_chains(state.lists.head, state.lists.next)
    return labels


def _repair(state: Repair) -> Iterator[float]:
    """Bring all small groups to k records; yield the share done now and then."""
    turns = np.flatnonzero(state.cover.size < state.k).astype(np.int32)
    for begin in range(0, turns.size, _CHUNK):
        repair(state, turns[begin : begin + _CHUNK])
        yield min(1.0, (begin + _CHUNK) / turns.size)
