"""The general way to keep a model that only tells which groups fail: groups that do are joined with their cheapest neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, IntArray
from shoal.enforcement.neighbours import neighbour_order, number_without_gaps
from shoal.errors import PrivacyError
from shoal.kernels.enforcement.linked_groups import joining_costs, link
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.methods.base import Task
from shoal.privacy.base import failing_groups

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_REACH = 512
"""Neighbours looked at on either side."""


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
        near = order[max(place[group] - _REACH, 0) : place[group] + _REACH + 1]
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
