"""Persons with several records: kept together in companies, or grouped layer by layer.

***Companies**: an intruder who knows several records of a person still finds k persons. Persons are grouped into companies of at least k, by any
method, as if each were one record that spans from their lowest to their highest code in each column. The records of a company are then laid
side by side: each person's in order, dealt to as many groups as the person with the fewest records can fill. So every group of a company holds
every person of it, and intersecting the groups of several records leaves the whole company. Of all orders (by one column first) each company
takes the one that loses least. If a model fails, the company becomes one group, and after that joins its neighbour. Households are kept
together the same way.

**Layers**: the records of a person are alike, so a method that counts records would hide a person behind themselves. A layer has at most one
record of a person, so a group of k records in it is a group of k persons, whatever the method. A person's records are dealt to the layers in
their order by the columns in which they differ most, so that a layer of a panel is about one wave of it. Equal records of a person go
together as one. Layers of too few persons are not grouped by themselves: their records join the person's own record of the layer before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.enforcement.neighbours import merge_equal_boxes, neighbour_order, number_without_gaps
from shoal.errors import PrivacyError
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Grouping, Method, Task
from shoal.privacy.base import failing_groups

if TYPE_CHECKING:
    from shoal.encoding import CodedColumn, CodedTable

_LEAST_PERSONS_PER_K = 4
"""A layer of fewer than this many times k persons is not grouped by itself."""
MENDABLE = 0.1
"""Share of groups with too few persons up to which mending them is quicker, and loses less, than grouping layer by layer."""


def group_together(method: Method, table: CodedTable, task: Task) -> Grouping:
    """Group records so that k, all models, and the companions of each person (or household) of ``task.together`` hold."""
    owner = table.units["household" if "household" in task.together else "person"]
    people = people_table(table, owner)
    grouping = method.run(people, replace(task, requirements=(), together=()))
    companies = _Companies(table, people, owner, grouping.labels)
    return replace(grouping, labels=_mended(companies, task), details={})


def people_table(table: CodedTable, owner: IntArray) -> CodedTable:
    """Return a table of one record a person: the lowest and the highest code of each column, one of them if all persons have one value."""
    persons = int(owner.max()) + 1
    codes: list[IntArray] = []
    columns: list[CodedColumn] = []
    weights: list[float] = []
    for row, column in enumerate(table.columns):
        low, high = np.full(persons, column.cardinality, np.int32), np.zeros(persons, np.int32)
        np.minimum.at(low, owner, table.codes[row])
        np.maximum.at(high, owner, table.codes[row])
        ends = [low] if np.array_equal(low, high) else [low, high]
        for place, end in enumerate(ends):
            codes.append(end)
            columns.append(replace(column, name=f"{column.name} {place}" if place else column.name))
            weights.append(float(table.weights[row]))
    first = np.unique(owner, return_index=True)[1].astype(np.int32)
    return replace(
        table.take(first), codes=np.stack(codes), columns=tuple(columns), weights=np.array(weights), units={}
    )


@dataclass
class _Companies:
    """Persons in companies, and how the records of each company are laid out."""

    table: CodedTable
    people: CodedTable
    owner: IntArray
    company: IntArray
    """The company of each person; -1: withheld."""
    whole: set[int] = field(default_factory=set)
    """Companies of which all records are one group."""

    def labels(self) -> IntArray:
        """Return the group of each record, each company in the order that loses least."""
        company = self.company[self.owner]
        count = int(self.company.max(initial=-1)) + 1
        rows = np.bincount(self.owner).astype(np.int64)
        fewest = np.full(count, len(company), np.int64)
        kept = self.company >= 0
        np.minimum.at(fewest, self.company[kept], rows[kept])
        fewest[sorted(self.whole)] = 1
        best, least = np.full(len(company), -1, np.int64), np.full(count, np.inf)
        for column in range(len(self.table.columns)):
            labels = self._laid_out(company, fewest, rows, column)
            cost = self._cost(labels, company, count)
            better = np.append(cost < least, False)[company]
            best[better], least = labels[better], np.minimum(cost, least)
        return number_without_gaps(best.astype(np.int32))

    def _laid_out(self, company: IntArray, fewest: LongArray, rows: LongArray, column: int) -> IntArray:
        """Return the group of each record if records of a person are ordered by one column first."""
        codes = self.table.codes
        others = [codes[row] for row in range(len(codes) - 1, -1, -1) if row != column]
        order = np.lexsort((*others, codes[column], self.owner))
        begin = np.searchsorted(self.owner[order], self.owner[order])
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - begin
        slots = np.append(fewest, 1)[company]
        start = np.concatenate(([0], np.cumsum(fewest)))
        return np.where(company < 0, -1, start[company] + place * slots // rows[self.owner]).astype(np.int32)

    def _cost(self, labels: IntArray, company: IntArray, count: int) -> FloatArray:
        """Return what each company loses."""
        groups = int(labels.max(initial=-1)) + 1
        cover = cover_groups(self.table.space, self.table.codes, labels, groups)
        by_group = group_costs(self.table.space, cover) * cover.size
        home = np.zeros(groups, np.int64)
        home[labels[labels >= 0]] = company[labels >= 0]
        return np.asarray(np.bincount(home, by_group, count), np.float64)

    def join_neighbours(self, failing: Sequence[int]) -> None:
        """Join each failing company with the next one near it."""
        count = int(self.company.max(initial=-1)) + 1
        cover = cover_groups(self.people.space, self.people.codes, self.company, count)
        order = neighbour_order(self.people, cover)
        place = np.argsort(order)
        into = np.arange(count, dtype=np.int32)
        for one in failing:
            near = order[place[one] + 1] if place[one] + 1 < count else order[place[one] - 1]
            into[into == into[one]] = into[near]
        joined = np.append(into, np.int32(-1))[self.company]
        numbers = np.unique(into, return_inverse=True)[1]
        self.whole = {int(numbers[one]) for one in failing}
        self.company = number_without_gaps(joined.astype(np.int32))


def _mended(companies: _Companies, task: Task) -> IntArray:
    """Return labels that meet all requirements: a company that fails is first made one group, and joined with a near company if that is not enough."""
    while True:  # each turn makes a company whole or joins two
        labels = companies.labels()
        bad = _failing_records(companies.table, labels, task)
        if not bad.any():
            return labels
        failing = np.unique(companies.company[companies.owner[bad]]).tolist()
        if not companies.whole.issuperset(failing):
            companies.whole.update(failing)
        elif companies.company.max() == 0:
            raise PrivacyError(
                f"Not even all records as one group meet all models with k = {task.k}. Nothing was released.",
                hint="relax a model, or lower k.",
            )
        else:
            companies.join_neighbours(failing)


def _failing_records(table: CodedTable, labels: IntArray, task: Task) -> BoolArray:
    """Return which records are in a group that fails a requirement, or belong to somebody with too few companions."""
    alike = merge_equal_boxes(table, labels)
    failing = failing_groups(task.requirements, alike, int(alike.max(initial=-1)) + 1)
    bad: BoolArray = np.append(failing, False)[alike]
    for unit in task.together:
        bad |= lonely_owners(alike, table.units[unit], task.k)[table.units[unit]]
    return bad


def lonely_owners(labels: IntArray, owner: IntArray, k: int) -> BoolArray:
    """Return which persons share all their groups with fewer than k persons, themselves included."""
    owners = int(owner.max(initial=-1)) + 1
    groups = int(labels.max(initial=-1)) + 1
    kept = labels >= 0
    pairs = np.unique(owner[kept].astype(np.int64) * groups + labels[kept])
    begin = np.searchsorted(pairs // max(groups, 1), np.arange(owners + 1))
    place = pairs % max(groups, 1)
    alike: dict[bytes, list[int]] = {}
    for one in range(owners):
        alike.setdefault(place[begin[one] : begin[one + 1]].tobytes(), []).append(one)
    lonely = np.zeros(owners, np.bool_)
    few = [(key, members) for key, members in alike.items() if key and len(members) < k]
    if not few:
        return lonely
    members_of: list[set[int]] = [set() for _ in range(groups)]
    for one, group in zip((pairs // groups).tolist(), place.tolist(), strict=True):
        members_of[group].add(one)
    for key, members in few:
        shared = set.intersection(*(members_of[group] for group in np.frombuffer(key, np.int64).tolist()))
        lonely[members] = len(shared) < k
    return lonely


@dataclass(frozen=True)
class Layers:
    """The distinct records of each person, dealt to layers."""

    distinct: IntArray
    """For each record of the table the number of the distinct record that stands for it."""
    record: LongArray
    """For each distinct record one record of the table."""
    layer: LongArray
    """For each distinct record its layer."""
    before: LongArray
    """For each distinct record the one of the same person in the layer before, or itself in the first."""


def layered_unit(table: CodedTable) -> IntArray:
    """Return whom a layer has one record of: households if they are known, whose persons are then apart too."""
    return table.units["household"] if "household" in table.units else table.units["person"]


def deal_layers(table: CodedTable, unit: IntArray) -> Layers:
    """Deal the records of each person (or household) to layers."""
    distinct = distinct_tuples(np.vstack([unit[None, :], table.codes]))
    codes, owner = table.codes[:, distinct.first], unit[distinct.first]
    variety = [len(distinct_tuples(np.stack([owner, row])).size) for row in codes]
    keys = [codes[column] for column in np.argsort(variety, kind="stable")]  # lexsort sorts by the last key first
    order = np.lexsort((*keys, owner))
    begin = np.searchsorted(owner[order], owner[order])
    layer, before = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    layer[order] = np.arange(len(order)) - begin
    before[order] = np.where(layer[order] > 0, np.roll(order, 1), order)
    return Layers(distinct.label, distinct.first, layer, before)


def group_in_layers(method: Method, table: CodedTable, task: Task, unit: IntArray) -> Grouping:
    """Group the records of each layer by themselves, so that every group has k persons; other models are not looked at."""
    layers = deal_layers(table, unit)
    sizes = np.bincount(layers.layer)
    labels = np.full(len(layers.record), -1, np.int32)
    groups, grouping = 0, Grouping(labels)
    for number, size in enumerate(sizes.tolist()):
        here = np.flatnonzero(layers.layer == number)
        if number and size < _LEAST_PERSONS_PER_K * task.k:
            labels[here] = labels[layers.before[here]]
            continue
        part = table.take(layers.record[here].astype(np.int32))
        grouping = method.run(part, replace(task, requirements=()))
        labels[here] = np.where(grouping.labels < 0, -1, grouping.labels + groups)
        groups += int(grouping.labels.max(initial=-1)) + 1
    return replace(grouping, labels=labels[layers.distinct], details={})
