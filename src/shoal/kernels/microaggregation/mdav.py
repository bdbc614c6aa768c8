"""MDAV: groups of k around the record farthest from the mean and around the one opposite (Domingo-Ferrer and Torra 2005).

Each round takes the record r farthest from the mean of the records left, groups it with its k - 1 nearest,
then does the same with the record farthest from r. With fewer than 3k left one such group is made, and what
stays is the last group. Ties go to the record with the smaller number.

Three things make a round cost less than a scan of the table, without changing its outcome: the sum of the
records left is kept up to date; the farthest from the mean is sought among records in the order of their
distance to an earlier mean, until that distance plus the way the mean has moved falls short; the nearest and
the opposite record come from a k-d tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.copying import copy_values
from shoal.kernels.search.kdtree import PointTree, build_tree, remove_record
from shoal.kernels.search.nearest import find_farthest, find_nearest, squared_distance

LEFT, GROUPS, CURSOR, SCANNED, RANKED = 0, 1, 2, 3, 4
_SCANS_BEFORE_RANKING = 8
_SAFETY = 1.0 + 1e-9


class Mdav(NamedTuple):
    """The state of MDAV between two rounds."""

    matrix: FloatArray
    tree: PointTree
    labels: IntArray
    """-1 while a record is left."""
    total: FloatArray
    """The sum of the records left."""
    anchor: FloatArray
    """The mean by which the records were last ranked."""
    ranked: LongArray
    """Records by falling distance to the anchor; RANKED of them."""
    radius: FloatArray
    """Those distances."""
    counter: LongArray
    """LEFT, GROUPS, CURSOR (the first ranked record perhaps still left), SCANNED since the last ranking, RANKED."""


@kernel()
def start_mdav(matrix: FloatArray, leaf_size: int) -> Mdav:
    """Return the state before the first round."""
    n, m = matrix.shape
    total = np.zeros(m)
    for record in range(n):
        for column in range(m):
            total[column] += matrix[record, column]
    state = Mdav(
        matrix,
        build_tree(matrix, leaf_size),
        np.full(n, -1, np.int32),
        total,
        np.zeros(m),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.array([n, 0, 0, 0, 0]),
    )
    rank_records(state, total / n)
    return state


@kernel()
def rank_records(state: Mdav, mean: FloatArray) -> None:
    """Sort the records left by falling distance to ``mean``."""
    n = state.labels.shape[0]
    radius = np.empty(n)
    records = np.empty(n, np.int64)
    left = 0
    for record in range(n):
        if state.labels[record] < 0:
            records[left] = record
            radius[left] = np.sqrt(squared_distance(state.matrix[record], mean))
            left += 1
    order = np.argsort(-radius[:left])
    for index in range(left):
        state.ranked[index] = records[order[index]]
        state.radius[index] = radius[order[index]]
    copy_values(mean, state.anchor)
    state.counter[CURSOR] = 0
    state.counter[SCANNED] = 0
    state.counter[RANKED] = left


@kernel()
def farthest_from_mean(state: Mdav) -> int:
    """Return the record left that is farthest from the mean of those left."""
    left = state.counter[LEFT]
    mean = state.total / left
    if state.counter[SCANNED] > _SCANS_BEFORE_RANKING * left:
        rank_records(state, mean)
    return farthest_from(state, mean)


@kernel()
def farthest_from(state: Mdav, mean: FloatArray) -> int:
    """Return the record left that is farthest from ``mean``, a point not far from the anchor."""
    drift = np.sqrt(squared_distance(mean, state.anchor))
    # ends: it is called while records without a label are left, all of them ranked
    while state.labels[state.ranked[state.counter[CURSOR]]] >= 0:
        state.counter[CURSOR] += 1
    best, found = -1.0, -1
    for index in range(state.counter[CURSOR], state.counter[RANKED]):
        reach = (state.radius[index] + drift) * _SAFETY
        if reach * reach < best:
            break
        state.counter[SCANNED] += 1
        record = state.ranked[index]
        if state.labels[record] >= 0:
            continue
        d = squared_distance(state.matrix[record], mean)
        if d > best or (d == best and record < found):
            best, found = d, record
    return found


@kernel()
def assign_record(state: Mdav, record: int, group: int) -> None:
    """Put a record into a group and take it out of those left."""
    state.labels[record] = group
    remove_record(state.tree, record)
    for column in range(state.total.shape[0]):
        state.total[column] -= state.matrix[record, column]
    state.counter[LEFT] -= 1


@kernel()
def group_around(state: Mdav, record: int, k: int, members: LongArray) -> int:
    """Make a group of ``record`` and its k - 1 nearest, listed in ``members``; return the group's number."""
    find_nearest(state.tree, state.matrix[record], record, members[1:k], np.empty(k - 1))
    members[0] = record
    group = state.counter[GROUPS]
    for index in range(k):
        assign_record(state, members[index], group)
    state.counter[GROUPS] += 1
    return group


@kernel()
def run_mdav(state: Mdav, k: int, rounds: int) -> bool:
    """Do up to ``rounds`` rounds; return whether all records have a group."""
    members = np.empty(k, np.int64)
    for _ in range(rounds):
        left = state.counter[LEFT]
        if left < 2 * k:
            close_mdav(state)
            return True
        record = farthest_from_mean(state)
        group_around(state, record, k, members)
        if left >= 3 * k:
            group_around(state, find_farthest(state.tree, state.matrix[record]), k, members)
    return False


@kernel()
def close_mdav(state: Mdav) -> None:
    """Make the last group of what is left."""
    if state.counter[LEFT] == 0:
        return
    for record in range(state.labels.shape[0]):
        if state.labels[record] < 0:
            state.labels[record] = state.counter[GROUPS]
    state.counter[GROUPS] += 1
    state.counter[LEFT] = 0
