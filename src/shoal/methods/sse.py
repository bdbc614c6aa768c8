"""The least sum of squares within groups of at least k that the time allows: microaggregation as optimisation.

1. MDAV makes a first grouping (in blocks of a kd-tree for large tables).
2. Each record moves to, or swaps with, the groups of its neighbours as long as the loss falls.
3. Annealing over moves, swaps and groups made or dissolved goes on from there, several times with ``effort="best"``.
4. With ``"best"``, an integer program picks the best partition from all groups seen (extra ``exact``, HiGHS).

Amounts of work are counted in steps, not seconds, so the same seed gives the same groups; only an effort given in
seconds looks at the clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.methods.base import say_nothing
from shoal.methods.partition import GroupPool, best_partition
from shoal.typing import Effort, FloatArray, IntArray, LongArray, Progress

if TYPE_CHECKING:
    from shoal.kernels.sse_moves import Groups

_LEAF = 16
_BLOCK = 50_000
"""Records MDAV groups at a time in large tables: its cost grows faster than their number."""
_FEW_NEIGHBOURS, _NEIGHBOURS = 6, 20
_CHUNK = 200_000
"""Records or proposals between two looks at the clock."""
_ROUNDS = 30
_SETTLED = 2_000
"""Improvement ends when fewer than one record in so many changes place."""
_SNAPSHOTS = 6


class Plan(NamedTuple):
    """How much work an effort stands for."""

    runs: int
    """Annealing runs."""
    steps: int
    """Proposals in each run."""
    recombine: bool
    """Whether an integer program picks from all groups seen."""
    deadline: float
    """When to stop, by ``time.monotonic``."""
    patience: float = np.inf
    """Seconds for the integer program."""


def make_plan(effort: Effort, records: int) -> Plan:
    """Return the work for an effort: ``"balanced"`` takes a few seconds, ``"best"`` about a minute."""
    if effort == "fast":
        return Plan(0, 0, False, np.inf)
    if effort == "balanced":
        return Plan(1, max(10_000_000, 150 * records), False, np.inf)
    if effort == "best":
        return Plan(5, max(40_000_000, 400 * records), True, np.inf)
    seconds = float(effort)
    steps = int(max(seconds, 1.0) * 1_000_000)  # a run takes about a fifth of the time
    return Plan(1_000, max(steps, 1_000_000), seconds > 5, time.monotonic() + 0.85 * seconds, 0.15 * seconds)


@dataclass
class Search:
    """A search under way: the points in kd order, their neighbours, the plan."""

    points: FloatArray
    order: LongArray
    """Which row of the input each point is."""
    k: int
    near: IntArray
    plan: Plan
    progress: Progress

    @property
    def room(self) -> int:
        """The most records a group may have: a larger one is better split."""
        return 2 * self.k - 1

    def out_of_time(self) -> bool:
        """Tell whether the deadline has passed."""
        return time.monotonic() > self.plan.deadline


def minimise_sse(
    matrix: FloatArray, k: int, effort: Effort = "balanced", seed: int = 0, progress: Progress = say_nothing
) -> IntArray:
    """Return labels of groups of at least ``k`` rows of ``matrix`` with a small sum of squared distances to their means.

    Parameters
    ----------
    matrix
        Records as points, (n, m), already scaled.
    effort
        ``"fast"`` moves and swaps only; ``"balanced"`` adds one annealing run; ``"best"`` several runs and an integer
        program over the groups seen; a number is seconds.
    """
    from shoal.kernels.kdtree import build_tree  # noqa: PLC0415  (numba is imported when first needed)

    n = len(matrix)
    if n < 2 * k:
        return np.zeros(n, np.int32)
    plan = make_plan(effort, n)
    tree = build_tree(np.ascontiguousarray(matrix, np.float64), _LEAF)  # neighbours in space are neighbours in memory
    points = tree.points.copy()
    search = Search(points, tree.order, k, _find_neighbours(points, plan, progress), plan, progress)
    found = _search(search, seed)
    labels = np.empty(n, np.int32)
    labels[tree.order] = found
    return renumber(labels)


def renumber(labels: IntArray) -> IntArray:
    """Number the groups by their first record."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return np.asarray(rank[inverse.reshape(-1)], np.int32)


def _find_neighbours(points: FloatArray, plan: Plan, progress: Progress) -> IntArray:
    from shoal.kernels.kdtree import build_tree  # noqa: PLC0415
    from shoal.kernels.nearest import nearest_table  # noqa: PLC0415

    n = len(points)
    width = min(_NEIGHBOURS if plan.runs else _FEW_NEIGHBOURS, n - 1)
    tree = build_tree(points, _LEAF // 2)
    near = np.empty((n, width), np.int32)
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        near[start:stop] = nearest_table(tree, points, start, stop, width)
        progress(0.2 * stop / n, "finding neighbours")
    return near


def _first_groups(points: FloatArray, order: LongArray, k: int) -> IntArray:
    """Return MDAV's labels, block by block in large tables; points near in space are near in order.

    In a block the records stand as in the input, so that ties fall as in plain MDAV.
    """
    from shoal.kernels.mdav import run_mdav, start_mdav  # noqa: PLC0415

    n = len(points)
    blocks = max(-(-n // _BLOCK), 1)
    labels = np.empty(n, np.int32)
    groups = 0
    for block in range(blocks):
        first = block * n // blocks
        part = first + np.argsort(order[first : (block + 1) * n // blocks])
        state = start_mdav(points[part], _LEAF)
        while not run_mdav(state, k, _CHUNK // 100):
            pass
        labels[part] = state.labels + groups
        groups += int(state.labels.max()) + 1
    return labels


def _search(search: Search, seed: int) -> IntArray:
    from shoal.kernels.sse_moves import collect_groups, total_loss  # noqa: PLC0415

    n, k = len(search.points), search.k
    start = _first_groups(search.points, search.order, k)
    state = collect_groups(search.points, start, n // k, search.room)
    _descend(search, state)
    best, least = state.label.copy(), total_loss(search.points, state)
    pool = GroupPool(search.points)
    for run in range(search.plan.runs):
        if search.out_of_time():
            break
        state = collect_groups(search.points, best if run % 2 else start, n // k, search.room)
        _anneal(search, state, pool, seed * 1_000_003 + run, run)
        _descend(search, state)
        loss = total_loss(search.points, state)
        if loss < least:
            best, least = state.label.copy(), loss
        pool.add(state.label)
    if search.plan.recombine and search.plan.runs:
        pool.add(best)
        found = best_partition(pool, best, search.plan.patience)
        if total_loss(search.points, collect_groups(search.points, found, n // k, search.room)) < least:
            best = found
    return best


def _descend(search: Search, state: Groups) -> None:
    """Move and swap records until hardly any gains from it."""
    from shoal.kernels.sse_moves import descend, renew_means  # noqa: PLC0415

    n = len(search.points)
    fresh = np.ones(len(state.size), np.int32)
    for clock in range(1, _ROUNDS + 1):
        changed = 0
        for start in range(0, n, _CHUNK):
            stop = min(start + _CHUNK, n)
            changed += descend(search.points, state, search.near, search.k, search.room, fresh, clock, start, stop)
        search.progress(0.2 + 0.1 * clock / _ROUNDS, "moving and swapping")
        if changed <= n // _SETTLED:
            break
    renew_means(search.points, state)


def _temperatures(points: FloatArray, state: Groups) -> tuple[float, float]:
    """Return where annealing starts and ends: from the largest deviations to a fraction of the small ones."""
    deviation = ((points - state.mean[state.label]) ** 2).sum(axis=1)
    cold, hot = np.quantile(deviation, [0.25, 0.99])
    hot = float(max(hot, 1e-12))
    return hot, float(max(0.05 * cold, 1e-7 * hot))


def _anneal(search: Search, state: Groups, pool: GroupPool, seed: int, run: int) -> None:
    from shoal.kernels.sse_anneal import Annealing, anneal  # noqa: PLC0415
    from shoal.kernels.sse_moves import renew_means  # noqa: PLC0415

    plan = search.plan
    empty = np.flatnonzero(state.size == 0)
    vacant = np.zeros(len(state.size) + 1, np.int32)
    vacant[: len(empty)], vacant[-1] = empty, len(empty)
    chain = np.zeros((2, search.room), np.int32)
    work = Annealing(search.points, search.near, vacant, chain, np.array([seed], np.uint64))
    hot, cold = _temperatures(search.points, state)
    chunk = max(plan.steps // 50, 1)
    for first in range(0, plan.steps, chunk):
        last = min(first + chunk, plan.steps)
        anneal(work, state, search.k, search.room, hot, cold, first, last, plan.steps)
        renew_means(search.points, state)
        share = (run + last / plan.steps) / plan.runs
        search.progress(min(0.3 + 0.6 * share, 0.9), "annealing")
        if plan.recombine and last >= plan.steps - _SNAPSHOTS * chunk:
            pool.add(state.label)
        if search.out_of_time():
            return
