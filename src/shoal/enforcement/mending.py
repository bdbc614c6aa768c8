"""One way for all methods to honour privacy models beyond k: groups that fall short are mended.

The methods of Xu et al. (2006) and others know only k. So that not every method needs code for every model, the groups of a
method are taken as they are. Those that fail are joined, cut again or exchange records with a neighbour, whichever loses
least (see ``shoal.kernels.repair.mending``). A search that keeps every model then improves them (``polishing``, ``guarded``).
Global recodings cannot be mended group by group; there, groups that fail are withheld as far as that is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.enforcement.neighbours import merge_equal_boxes, neighbour_order, number_without_gaps
from shoal.errors import PrivacyError
from shoal.kernels.common.lists import label_chains
from shoal.kernels.repair import mending as kernels
from shoal.kernels.repair.linked_groups import joining_costs, link, members, set_members
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.methods.base import Task, most_withheld
from shoal.privacy.base import failing_groups
from shoal.privacy.compiled_models import CompiledModels, all_known, compile_models

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_REACHES: tuple[int, ...] = (512, 2048)
"""How many neighbours on either side a failing group looks at; the second number if none of the first helps."""
_NEAR_REACHES = (64, 512, 2048)
"""The same if failing groups are joined as a whole with a neighbour, without weighing plans."""
_JOINING_REACH = 512
"""The same if a model only reports which groups fail."""
_SHORTLIST = 16
"""Neighbours of a failing group with which all plans of mending are weighed, at most."""
_MOST_NEIGHBOURS_WEIGHED = 6_000
"""Neighbours with which they are weighed for all failing groups together, at most."""
_ROUNDS = 8
_TINY = 1e-9


def mend(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Return labels of which every group meets k and all requirements, changing as little as possible.

    If very many fail, or most, they are only joined: a search that goes on with them divides them again, and weighing all
    plans would take most of the time.
    """
    groups = int(labels.max(initial=-1)) + 1
    large = np.bincount(labels[labels >= 0], minlength=1).min() >= task.k
    if large and not failing_groups(task.requirements, labels, groups).any():
        return labels
    case = compile_models(table, task.k, task.requirements) if all_known(task.requirements) else None
    for _ in range(_ROUNDS):  # groups released alike are one group, and may then fail together
        labels = _mend_once(case, labels, task) if case else join_failing(table, labels, task)
        together = merge_equal_boxes(table, labels)
        groups = int(together.max(initial=-1)) + 1
        if not failing_groups(task.requirements, together, groups).any():
            return labels
        labels = together
    raise impossible(task)


def repair_equal_boxes(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Mend groups that fail once those with equal boxes are one group, as they are in the release."""
    together = merge_equal_boxes(table, labels)
    fails = failing_groups(task.requirements, together, int(together.max(initial=-1)) + 1).any()
    return mend(table, together, task) if fails else labels


def _mend_once(case: CompiledModels, labels: IntArray, task: Task) -> IntArray:
    """Mend all groups of ``labels`` once."""
    room = most_withheld(task.max_suppression, len(labels)) - int((labels < 0).sum())
    mending = _Mending(case, labels, room)
    failing = np.flatnonzero(mending.linked.short)
    # if most of many fail, the next join undoes what is weighed now
    mostly = 2 * len(failing) > len(mending.linked.first) and len(failing) > _SHORTLIST
    mending.weigh_at_most(0 if mostly else _MOST_NEIGHBOURS_WEIGHED // max(len(failing), 1))
    for done, group in enumerate(failing.tolist()):
        # ends: each step makes the group valid, withholds it, or joins it with another, of which one less is left
        while mending.linked.short[group] > 0:
            if not mending.mend(group):
                raise impossible(task)
        task.progress(done / len(failing), "mending")
    return label_chains(mending.linked.first, mending.linked.follow)


class _Mending:
    """The groups of a table while those that fail a model are mended one after the other.

    ``cover`` and ``linked`` hold the cover, the records, the cost and the shortfall of each group, ``order`` lists near groups after each other,
    and ``room`` is the number of records that may still be withheld.
    """

    def __init__(self, case: CompiledModels, labels: IntArray, room: int) -> None:
        self.case, self.room = case, room
        self.shortlist, self.reaches, self.only_join = _SHORTLIST, _REACHES, False
        self.space, self.codes = case.table.space, case.table.codes
        groups = int(labels.max(initial=-1)) + 1
        self.cover = cover_groups(self.space, self.codes, labels, groups)
        self.linked = link(labels, groups)
        self.linked.cost[:] = group_costs(self.space, self.cover)
        self.linked.short[:] = case.shortfalls(labels, self.cover)
        self.order = neighbour_order(case.table, self.cover)
        self.place = np.argsort(self.order)
        self.limits = (case.rules, case.crowds, case.points)

    def weigh_at_most(self, partners: int) -> None:
        """Weigh all plans with fewer neighbours; with none, groups are joined with the cheapest one that makes them valid."""
        self.shortlist, self.only_join = max(min(partners, _SHORTLIST), 1), partners == 0
        self.reaches = _NEAR_REACHES if self.only_join else _REACHES

    def mend(self, group: int) -> bool:
        """Take one step towards a valid group; False if it has no neighbour left."""
        withheld = (self.space.weight.sum() - self.linked.cost[group]) * self.cover.size[group]
        best = float(withheld) if self.cover.size[group] <= self.room else np.inf
        near, added, short = self._neighbours(group)
        partners = near[short == 0]
        partner, records, left = self._best_plan(group, partners, added[short == 0], best)
        if partner >= 0:
            self._settle(group, int(partners[partner]), records, left, 0.0)
        elif np.isfinite(best) and (not len(near) or best <= added.min()):
            self.room -= int(self.cover.size[group])
            self._settle(group, group, records[:0], 0, 0.0)
        elif len(near):
            gain = self.linked.short[group] * self.cover.size[group] + self.linked.short[near] * self.cover.size[near]
            gain -= short * (self.cover.size[group] + self.cover.size[near])
            most = int(np.argmax(gain / (added + _TINY)))
            joined = members(self.cover, self.linked, group, near[most])
            self._settle(group, int(near[most]), joined, len(joined), float(short[most]))
        return bool(partner >= 0 or len(near) or np.isfinite(best))

    def _best_plan(self, group: int, partners: IntArray, added: FloatArray, best: float) -> tuple[int, IntArray, int]:
        """Return the partner of the cheapest plan below ``best`` (-1: none), its records, and how many stay with the group."""
        if not self.only_join:
            partner, _, records, left = kernels.find_cheapest_plan(
                self.space, self.codes, *self.limits, self.case.k, self.cover, self.linked, group, partners, best
            )
            return partner, records, left
        if not len(partners) or added[0] >= best:
            return -1, np.zeros(0, np.int32), 0
        records = members(self.cover, self.linked, group, partners[0])
        return 0, records, len(records)

    def _neighbours(self, group: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return neighbours from near to far with what joining them adds and lacks, until enough are valid."""
        own = int(self.place[group])
        for reach in self.reaches:
            near = self.order[max(own - reach, 0) : own + reach + 1]
            added = joining_costs(self.space, self.cover, self.linked, group, near)
            near, added = near[np.argsort(added, kind="stable")], np.sort(added, kind="stable")
            near, added = near[np.isfinite(added)], added[np.isfinite(added)]
            short = kernels.union_shortfalls(
                self.space, self.codes, *self.limits, self.linked, group, near, self.shortlist
            )
            if (short == 0).any() or 2 * reach >= len(self.order):
                break
        known = np.isfinite(short)
        return near[known], added[known], short[known]

    def _settle(self, group: int, other: int, records: IntArray, left: int, short: float) -> None:
        """Make the first ``left`` of the records the group, which then falls short by ``short``, and the others the other one."""
        for number, part in ((other, records[left:]), (group, records[:left])):
            set_members(self.space, self.codes, self.cover, self.linked, number, part)
            self.linked.short[number] = 0.0
        self.linked.short[group] = short


def join_failing(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Join groups that fail with their cheapest neighbour until none does: the general way, for models of a user's own.

    Such a model only reports which groups fail, so it is asked about all groups again after each round of joins.
    """
    while True:  # ends: each round leaves fewer groups
        groups = int(labels.max(initial=-1)) + 1
        failing = failing_groups(task.requirements, labels, groups)
        failing |= np.bincount(labels[labels >= 0], minlength=groups) < task.k
        if not failing.any():
            return labels
        if groups == 1:
            raise impossible(task)
        task.progress(1.0 / groups, "joining groups that fail a model of your own, the slow way")
        labels = number_without_gaps(np.append(_cheapest_joins(table, labels, failing), np.int32(-1))[labels])


def _cheapest_joins(table: CodedTable, labels: IntArray, failing: BoolArray) -> IntArray:
    """Return for each group the one whose number it takes: failing ones join a neighbour that joins no other yet."""
    groups = len(failing)
    cover, linked = cover_groups(table.space, table.codes, labels, groups), link(labels, groups)
    linked.cost[:] = group_costs(table.space, cover)
    order = neighbour_order(table, cover)
    place, target = np.argsort(order), np.arange(groups, dtype=np.int32)
    free = np.ones(groups, np.bool_)
    for group in np.flatnonzero(failing).tolist():
        near = order[max(place[group] - _JOINING_REACH, 0) : place[group] + _JOINING_REACH + 1]
        near = near[free[near] & (near != group)]
        if not free[group] or not len(near):
            continue
        added = joining_costs(table.space, cover, linked, group, near)
        chosen = int(near[np.argmin(added)])
        target[group] = chosen
        free[[group, chosen]] = False
    return target


def impossible(task: Task) -> PrivacyError:
    """Return the error that says that no grouping was found."""
    names = sorted({type(one).__name__ for one in task.requirements})
    return PrivacyError(
        f"No grouping was found that meets all models with k = {task.k} ({len(names)} kinds of requirement). "
        "Nothing was released.",
        hint="relax a model, or allow suppression with 'max_suppression'.",
    )
