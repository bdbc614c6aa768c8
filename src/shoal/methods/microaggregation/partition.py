"""The best partition of the records into groups out of a pool: a set-partitioning program (HiGHS through scipy)."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from shoal.arrays import AnyArray, FloatArray, IntArray

_MOST_NODES = 20
"""Branch-and-bound nodes: a count, not seconds, so that the outcome does not depend on the machine."""


class GroupPool:
    """Distinct groups of records with their sums of squares."""

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self.loss: dict[tuple[int, ...], float] = {}
        self.added = 0
        """Groups added, those that were there already included."""

    def add(self, labels: IntArray) -> None:
        """Add all groups of a grouping."""
        order = np.argsort(labels, kind="stable")
        borders = np.flatnonzero(np.diff(labels[order])) + 1
        for members in np.split(order, borders):
            self.add_group(members)

    def add_group(self, members: AnyArray) -> None:
        """Add one group, its records in rising order."""
        self.added += 1
        key = tuple(members.tolist())
        if key not in self.loss:
            group = self.points[members]
            self.loss[key] = float(((group - group.mean(axis=0)) ** 2).sum())

    def membership(self) -> Any:
        """Return the sparse matrix (records, groups) of which record is in which group."""
        from scipy.sparse import csc_array  # noqa: PLC0415

        sizes = [len(members) for members in self.loss]
        # the solver of scipy 1.11 refuses integers of 64 bits
        rows = np.concatenate([np.array(members, np.int32) for members in self.loss])
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
        return csc_array((np.ones(len(rows)), rows, starts), shape=(len(self.points), len(sizes)))


def has_solver() -> bool:
    """Return whether the extra ``exact`` is installed."""
    return importlib.util.find_spec("scipy") is not None


def best_partition(pool: GroupPool, labels: IntArray, seconds: float = np.inf) -> IntArray:
    """Return the best grouping made of groups of the pool; ``labels`` if no better one is found in time."""
    if not has_solver():
        return labels
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415

    cost = np.array(list(pool.loss.values()))
    once = np.ones(len(pool.points))
    answer = milp(
        cost,
        constraints=LinearConstraint(pool.membership(), once, once),
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
        options={"node_limit": _MOST_NODES, "mip_rel_gap": 1e-9}
        | ({"time_limit": seconds} if seconds < np.inf else {}),
    )
    if answer.x is None:
        return labels
    chosen = [members for members, share in zip(pool.loss, answer.x, strict=True) if share > 0.5]
    found = np.full(len(labels), -1, np.int32)
    for group, members in enumerate(chosen):
        found[list(members)] = group
    return found if (found >= 0).all() else labels
