"""Equal records: if a tuple has very many copies, most of them need no search.

In a large table a few tuples hold most of the records. k copies of one are a group that loses nothing, whatever is done with the others; so groups of copies are set
aside before a fragment is searched. At least 2k copies of each tuple stay, because rarer records hide among them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.enforcement.dispatch import group_records
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Grouping, Method, Task, most_withheld

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_STAY = 2
"""Copies of a tuple that are searched with the others, at least and in multiples of k."""


def copies_aside(size: LongArray, k: int) -> LongArray:
    """Return how many copies of each tuple are set aside, whole groups of ``k``, given how many records have it."""
    return np.maximum(size - _STAY * k, 0) // k * k


class _Aside(NamedTuple):
    label: IntArray
    """The group of each record that is set aside, -1 for the others."""
    groups: int


def _set_aside(table: CodedTable, k: int) -> _Aside:
    """Make groups of k copies: of each tuple the first ones, in the order of the records."""
    tuples = distinct_tuples(table.codes)
    aside = copies_aside(tuples.size, k)
    by_tuple = np.argsort(tuples.label, kind="stable")
    place = np.empty(table.records, np.int64)  # the place of each record among the copies of its tuple
    place[by_tuple] = np.arange(table.records) - np.repeat(np.cumsum(tuples.size) - tuples.size, tuples.size)
    first_group = np.cumsum(aside // k) - aside // k
    label = np.where(place < aside[tuples.label], first_group[tuples.label] + place // k, -1)
    return _Aside(label.astype(np.int32), int(aside.sum()) // k)


def group_with_copies(method: Method, table: CodedTable, task: Task) -> Grouping:
    """Group the records of a fragment by a method, after groups of copies were set aside.

    With requirements beyond k nothing is set aside, for k copies need not meet them.
    """
    aside = None if task.requirements else _set_aside(table, task.k)
    if aside is None or not aside.groups:
        return group_records(method, table, task)
    others = np.flatnonzero(aside.label < 0)
    withheld = most_withheld(task.max_suppression, table.records) / len(others)
    found = group_records(method, table.take(others), replace(task, max_suppression=min(1.0, withheld)))
    labels = aside.label
    labels[others] = np.where(found.labels < 0, -1, found.labels + aside.groups)
    return replace(found, labels=labels)
