"""V-MDAV: MDAV with groups that may grow (Solanas and Martínez-Ballesté 2006).

Seeds are taken by falling distance to the mean of the whole table. A group of k is extended, up to 2k - 1,
by the record closest to it as long as that record is closer to the group than gamma times its distance to
the nearest other record still left.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.microaggregation.mdav import GROUPS, LEFT, Mdav, assign_record, farthest_from, group_around
from shoal.kernels.search.nearest import find_nearest, squared_distance


@kernel()
def nearest_left(state: Mdav, record: int, skip: int) -> tuple[int, float]:
    """Return the record left that is nearest to ``record``, ``skip`` left out, and its squared distance."""
    nearest, distance = np.full(1, -1, np.int64), np.full(1, np.inf)
    find_nearest(state.tree, state.matrix[record], skip, nearest, distance)
    return nearest[0], distance[0]


@kernel()
def closest_to_group(state: Mdav, members: LongArray, size: int) -> tuple[int, float]:
    """Return the record left that is closest to a member of the group, the smaller number on ties."""
    found, best = -1, np.inf
    for index in range(size):
        record, d = nearest_left(state, members[index], -1)
        if record >= 0 and (d < best or (d == best and record < found)):
            found, best = record, d
    return found, best


@kernel()
def extend_group(state: Mdav, group: int, members: LongArray, k: int, gamma: float) -> None:
    """Add records to a group of k as long as they belong to it rather than to what is left."""
    size = k
    while size < 2 * k - 1 and state.counter[LEFT] > 0:
        record, inside = closest_to_group(state, members, size)
        _, outside = nearest_left(state, record, record)
        if not inside < gamma * gamma * outside:
            return
        members[size] = record
        size += 1
        assign_record(state, record, group)


@kernel()
def run_vmdav(state: Mdav, k: int, gamma: float, rounds: int) -> bool:
    """Make up to ``rounds`` groups; return whether fewer than k records are left."""
    mean = state.anchor.copy()
    members = np.empty(2 * k, np.int64)
    for _ in range(rounds):
        if state.counter[LEFT] < k:
            return True
        group = group_around(state, farthest_from(state, mean), k, members)
        extend_group(state, group, members, k, gamma)
    return state.counter[LEFT] < k


@kernel()
def join_rest(state: Mdav, to_last: bool) -> IntArray:
    """Return the labels with each record left put into the group whose mean is nearest, or into the last group."""
    n, m = state.matrix.shape
    groups = state.counter[GROUPS]
    means, size = np.zeros((groups, m)), np.zeros(groups, np.int64)
    labels = state.labels.copy()
    for record in range(n):
        if labels[record] >= 0:
            for column in range(m):
                means[labels[record], column] += state.matrix[record, column]
            size[labels[record]] += 1
    for group in range(groups):
        for column in range(m):
            means[group, column] /= size[group]
    for record in range(n):
        if labels[record] >= 0:
            continue
        labels[record] = groups - 1
        best = np.inf
        for group in range(0 if not to_last else groups, groups):
            d = squared_distance(state.matrix[record], means[group])
            if d < best:
                best, labels[record] = d, group
    return labels
