"""Persons with several records: groups found layer by layer, each layer with at most one record of a person.

The records of a person are alike, so a method that counts records would hide a person behind themselves. In a layer a group of k
records is a group of k persons, whatever the method. A person's records are dealt to the layers in their order by the columns in which they
differ most, so that a layer of a panel is about one wave of it. Equal records of a person go together as one. Layers of too few persons
are not grouped by themselves: their records join the person's own record of the layer before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Grouping, Method, Task

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_LEAST_PERSONS_PER_K = 4
"""A layer of fewer than this many times k persons is not grouped by itself."""
MENDABLE = 0.1
"""Share of groups with too few persons up to which mending them is quicker, and loses less, than grouping layer by layer."""


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
    """Return whom a layer has one record of: households where they are known, whose persons are then apart too."""
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
