"""One way for all methods to honour privacy models beyond k: groups that fall short are mended.

Xu et al. (2006) and their kin know only k. Rather than teach each method each model, the groups a method found are
taken as they are, and those that fail are joined, cut anew or exchange records with a neighbour, whichever loses
least (see ``shoal.kernels.enforcement.mending``). Records of mended groups then go where they fit better, as far as
the models allow (``shoal.kernels.enforcement.exchange``). Global recodings cannot be mended group by group; there, groups that fail
are withheld as far as that is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.errors import PrivacyError
from shoal.kernels.enforcement import mending as kernels
from shoal.kernels.enforcement.crowds import crowd_shortfalls
from shoal.kernels.enforcement.exchange import exchange_records
from shoal.kernels.enforcement.mending import label_records, link, settle
from shoal.kernels.space.range_costs import tabulate_costs
from shoal.kernels.space.space import cost_table, cover_groups
from shoal.methods.base import Task, most_withheld
from shoal.privacy.base import Requirement, failing_groups
from shoal.privacy.histograms import HistogramRequirement, build_rules
from shoal.privacy.k_anonymity import AtLeast
from shoal.privacy.measures import lacking
from shoal.privacy.population import CrowdRequirement, build_crowds, build_points

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.enforcement.crowds import Crowds
    from shoal.kernels.enforcement.rules import Rules
    from shoal.kernels.measuring.matching import Points
    from shoal.kernels.space.space import Cover

_REACHES: tuple[int, ...] = (512, 2048)
"""Neighbours looked at on either side; the second where none of the first helps."""
_NEAR_REACHES = (64, 512, 2048)
"""The same where groups are only joined."""
_SHORTLIST = 16
"""Neighbours with which all plans are weighed."""
_WEIGHED = 6_000
"""The same for all failing groups together, where a search goes on with them."""
_ROUNDS = 8
_SWEEPS = 4
_LEAST_GAIN = 0.002
"""A sweep of exchanges that gains a smaller share of the loss is the last."""
_TINY = 1e-9
_LEAF = 8


def number_without_gaps(labels: IntArray) -> IntArray:
    """Return labels numbered from 0 in their order; -1 stays."""
    kept = labels >= 0
    numbered = np.full(len(labels), -1, np.int32)
    numbered[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return numbered


def mend(table: CodedTable, labels: IntArray, task: Task, *, polish: bool = True) -> IntArray:
    """Return labels of which every group meets k and all requirements, changing as little as possible.

    Without ``polish`` mended groups are left as they are, for a search that goes on with them. Where many fail, or most, they are then
    only joined: the search divides them again, and weighing all plans would take most of the time.
    """
    groups = int(labels.max(initial=-1)) + 1
    large = np.bincount(labels[labels >= 0], minlength=1).min() >= task.k
    if large and not failing_groups(task.requirements, labels, groups).any():
        return labels
    case = build_case(table, task) if all_known(task.requirements) else None
    for _ in range(_ROUNDS):  # groups released alike are one group, and may then fail together
        labels = _mend_once(case, labels, task, polish=polish) if case else join_failing(table, labels, task)
        together = join_alike(table, labels)
        groups = int(together.max(initial=-1)) + 1
        if not failing_groups(task.requirements, together, groups).any():
            return labels
        labels = together
    raise _impossible(task)


@dataclass(frozen=True)
class Case:
    """Table and requirements as the kernels read them."""

    table: CodedTable
    k: int
    histograms: Sequence[HistogramRequirement]
    rules: Rules
    crowds: Crowds
    points: Points

    def shortfalls(self, labels: IntArray, cover: Cover) -> FloatArray:
        """Return how far each group falls short."""
        short = lacking("size", float(self.k), cover.size.astype(np.float64))
        for one in self.histograms:
            short += one.lacking(labels, cover.size.shape[0])
        if len(self.crowds.kind):
            short += crowd_shortfalls(self.crowds, self.points, self.table.space, cover)
        return short


def parts_of(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Return what requirements consist of."""
    return [part for requirement in requirements for part in requirement.parts]


def all_known(requirements: Sequence[Requirement]) -> bool:
    """Tell whether all requirements are shoal's own, so that groups which fail can be mended."""
    return all(isinstance(part, HistogramRequirement | CrowdRequirement | AtLeast) for part in parts_of(requirements))


def build_case(table: CodedTable, task: Task) -> Case:
    """Lay the requirements of a task out as the kernels read them."""
    parts = parts_of(task.requirements)
    histograms = [part for part in parts if isinstance(part, HistogramRequirement)]
    crowds = [part for part in parts if isinstance(part, CrowdRequirement)]
    sizes = [part for part in parts if isinstance(part, AtLeast)]
    k = max([task.k, *(part.k for part in sizes)])
    columns = len(table.columns)
    rules = build_rules(histograms, table.records, k=k)
    return Case(table, k, histograms, rules, build_crowds(crowds), build_points(crowds, columns))


def _mend_once(case: Case, labels: IntArray, task: Task, *, polish: bool) -> IntArray:
    """Mend all groups of ``labels`` once."""
    room = most_withheld(task.max_suppression, len(labels)) - int((labels < 0).sum())
    ward = _Ward(case, labels, room)
    failing = np.flatnonzero(ward.chains.short)
    if not polish:
        mostly = 2 * len(failing) > len(ward.chains.first)  # what is weighed now, the next join undoes
        ward.weigh_at_most(0 if mostly else _WEIGHED // max(len(failing), 1))
    for done, group in enumerate(failing.tolist()):
        # ends: each step makes the group valid, withholds it, or joins it with another, of which one less is left
        while ward.chains.short[group] > 0:
            if not ward.mend(group):
                raise _impossible(task)
        task.progress(done / len(failing), "mending")
    if polish:
        for group in sorted(ward.changed):
            ward.divide(group)
        ward.exchange()
    return label_records(ward.chains)


def join_failing(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Join groups that fail with their cheapest neighbour until none does: the general way, for models of a user's own.

    Such a model only tells which groups fail, so it is asked about all groups again after each round of joins.
    """
    while True:  # ends: each round leaves fewer groups
        groups = int(labels.max(initial=-1)) + 1
        failing = failing_groups(task.requirements, labels, groups)
        failing |= np.bincount(labels[labels >= 0], minlength=groups) < task.k
        if not failing.any():
            return labels
        if groups == 1:
            raise _impossible(task)
        task.progress(1.0 / groups, "joining groups that fail a model of your own, the slow way")
        labels = number_without_gaps(np.append(_cheapest_joins(table, labels, failing), np.int32(-1))[labels])


def _cheapest_joins(table: CodedTable, labels: IntArray, failing: BoolArray) -> IntArray:
    """Return for each group the one whose number it takes: failing ones join a neighbour that joins no other yet."""
    groups = len(failing)
    cover, chains = cover_groups(table.space, table.codes, labels, groups), link(labels, groups)
    chains.cost[:] = table.space.weight @ cost_table(table.space, cover)
    order = neighbour_order(table, cover)
    place, target = np.argsort(order), np.arange(groups, dtype=np.int32)
    free = np.ones(groups, np.bool_)
    for group in np.flatnonzero(failing).tolist():
        near = order[max(place[group] - _REACHES[0], 0) : place[group] + _REACHES[0] + 1]
        near = near[free[near] & (near != group)]
        if not free[group] or not len(near):
            continue
        added = kernels.price_neighbours(table.space, cover, chains, group, near)
        chosen = int(near[np.argmin(added)])
        target[group] = chosen
        free[[group, chosen]] = False
    return target


class _Ward:
    """The groups while they are mended."""

    def __init__(self, case: Case, labels: IntArray, room: int) -> None:

        self.case, self.room = case, room
        self.shortlist, self.reaches, self.only_join = _SHORTLIST, _REACHES, False
        self.space, self.codes = case.table.space, case.table.codes
        groups = int(labels.max(initial=-1)) + 1
        self.cover = cover_groups(self.space, self.codes, labels, groups)
        self.chains = link(labels, groups)
        self.chains.cost[:] = self.space.weight @ cost_table(self.space, self.cover)
        self.chains.short[:] = case.shortfalls(labels, self.cover)
        self.order = neighbour_order(case.table, self.cover)
        self.place = np.argsort(self.order)
        self.changed: set[int] = set()
        self.limits = (case.rules, case.crowds, case.points)

    def weigh_at_most(self, partners: int) -> None:
        """Weigh all plans with fewer neighbours; with none, groups are joined with the cheapest one that makes them valid."""
        self.shortlist, self.only_join = max(min(partners, _SHORTLIST), 1), partners == 0
        self.reaches = _NEAR_REACHES if self.only_join else _REACHES

    def mend(self, group: int) -> bool:
        """Take one step towards a valid group; False where it has no neighbour left."""
        withheld = (self.space.weight.sum() - self.chains.cost[group]) * self.cover.size[group]
        best = float(withheld) if self.cover.size[group] <= self.room else np.inf
        near, added, short = self._neighbours(group)
        partners = near[short == 0]
        partner, laid, left = self._best_plan(group, partners, added[short == 0], best)
        if partner >= 0:
            self._settle(group, int(partners[partner]), laid, left, 0.0)
        elif np.isfinite(best) and (not len(near) or best <= added.min()):
            self.room -= int(self.cover.size[group])
            self._settle(group, group, laid[:0], 0, 0.0)
        elif len(near):
            gain = self.chains.short[group] * self.cover.size[group] + self.chains.short[near] * self.cover.size[near]
            gain -= short * (self.cover.size[group] + self.cover.size[near])
            most = int(np.argmax(gain / (added + _TINY)))
            joined = kernels.members(self.cover, self.chains, group, near[most])
            self._settle(group, int(near[most]), joined, len(joined), float(short[most]))
        return bool(partner >= 0 or len(near) or np.isfinite(best))

    def _best_plan(self, group: int, partners: IntArray, added: FloatArray, best: float) -> tuple[int, IntArray, int]:
        """Return the partner of the cheapest plan below ``best`` (-1: none), its records, and how many stay with the group."""
        if not self.only_join:
            partner, _, laid, left = kernels.weigh(
                self.space, self.codes, *self.limits, self.case.k, self.cover, self.chains, group, partners, best
            )
            return partner, laid, left
        if not len(partners) or added[0] >= best:
            return -1, np.zeros(0, np.int32), 0
        laid = kernels.members(self.cover, self.chains, group, partners[0])
        return 0, laid, len(laid)

    def _neighbours(self, group: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return neighbours from near to far with what joining them adds and lacks, until enough are valid."""
        own = int(self.place[group])
        for reach in self.reaches:
            near = self.order[max(own - reach, 0) : own + reach + 1]
            added = kernels.price_neighbours(self.space, self.cover, self.chains, group, near)
            near, added = near[np.argsort(added, kind="stable")], np.sort(added, kind="stable")
            near, added = near[np.isfinite(added)], added[np.isfinite(added)]
            short = kernels.union_shortfalls(
                self.space, self.codes, *self.limits, self.chains, group, near, self.shortlist
            )
            if (short == 0).any() or 2 * reach >= len(self.order):
                break
        known = np.isfinite(short)
        return near[known], added[known], short[known]

    def divide(self, group: int) -> None:
        """Cut a mended group of 2k and more again, where both parts are valid and numbers are free."""
        waiting, alone = [group], np.array([-1], np.int32)
        # ends: each cut uses up a free number, of which none is made here
        while waiting:
            one = waiting.pop()
            free = np.flatnonzero(self.cover.size == 0)
            if self.cover.size[one] < 2 * self.case.k or not len(free):
                continue
            found, _, laid, left = kernels.weigh(
                self.space, self.codes, *self.limits, self.case.k, self.cover, self.chains, one, alone, 0.0
            )
            if found >= 0:
                self._settle(one, int(free[0]), laid, left, 0.0)
                waiting += [one, int(free[0])]

    def exchange(self) -> None:
        """Let records of mended groups go where they fit better, as long as that gains enough."""
        costs = tabulate_costs(self.space)
        places = np.sort(self.place[sorted(self.changed)]).tolist()
        loss = float(self.chains.cost @ self.cover.size)
        for _ in range(_SWEEPS):
            before = loss
            for place in places:  # one at a time, so that Ctrl-C works
                exchange_records(
                    self.space,
                    costs,
                    self.codes,
                    *self.limits,
                    self.case.k,
                    self.cover,
                    self.chains,
                    self.order,
                    place,
                    place + 1,
                    _REACHES[0] * 2,
                    self.shortlist,
                )
            loss = float(self.chains.cost @ self.cover.size)
            if before - loss <= _LEAST_GAIN * before:
                break

    def _settle(self, group: int, other: int, laid: IntArray, left: int, short: float) -> None:

        for number, records in ((other, laid[left:]), (group, laid[:left])):
            settle(self.space, self.codes, self.cover, self.chains, number, records)
            self.chains.short[number] = 0.0
            self.changed.add(number)
        self.chains.short[group] = short


def join_alike(table: CodedTable, labels: IntArray) -> IntArray:
    """Return labels in which groups with equal boxes are one."""
    groups = int(labels.max(initial=-1)) + 1
    number = number_boxes(cover_groups(table.space, table.codes, labels, groups))
    return np.asarray(np.append(number, np.int32(-1))[labels], np.int32)


def number_boxes(cover: Cover) -> IntArray:
    """Return for each group the number of its box, equal boxes equal."""
    box = np.hstack([cover.low.T.astype(np.int64), cover.high.T.astype(np.int64), cover.words.view(np.int64)])
    return np.unique(box, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


@dataclass(frozen=True)
class _Part:
    begin: int
    end: int


def neighbour_order(table: CodedTable, cover: Cover) -> IntArray:
    """Return the groups in an order in which neighbours in the table are near: cut at medians, again and again."""
    groups = cover.low.shape[1]
    middle = (cover.low + cover.high) / (2.0 * np.maximum(table.space.cardinality - 1, 1))[:, None]
    middle *= np.where(table.space.weight > 0, 1.0, 0.0)[:, None]
    order = np.arange(groups)
    waiting = [_Part(0, groups)]
    # ends: a part is cut into two that are smaller, and one of a single group is not cut
    while waiting:
        part = waiting.pop()
        if part.end - part.begin <= _LEAF:
            continue
        here = order[part.begin : part.end]
        column = int(np.argmax(_spread(middle[:, here])))
        order[part.begin : part.end] = here[np.argsort(middle[column, here], kind="stable")]
        half = (part.begin + part.end) // 2
        waiting += [_Part(part.begin, half), _Part(half, part.end)]
    return order.astype(np.int32)


def _spread(middle: FloatArray) -> FloatArray:
    return np.asarray(middle.max(axis=1) - middle.min(axis=1), np.float64)


def _impossible(task: Task) -> PrivacyError:
    names = sorted({type(one).__name__ for one in task.requirements})
    return PrivacyError(
        f"No grouping was found that meets all models with k = {task.k} ({len(names)} kinds of requirement). "
        "Nothing was released.",
        hint="relax a model, or allow suppression with 'max_suppression'.",
    )
