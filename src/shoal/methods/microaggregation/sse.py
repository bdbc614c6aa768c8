"""The least sum of squares within groups of at least k that the time allows: microaggregation as optimization.

1. MDAV makes a first grouping (in blocks of a k-d tree for large tables).
2. Each record moves to, or swaps with, the groups of its neighbours as long as the loss falls.
3. Annealing over moves, swaps and groups made or dissolved starts from MDAV's groups again: one long run and, with much
   effort, a longer one and many short ones.
4. An integer program picks the best partition from the groups all these runs ended with (extra ``exact``, HiGHS).

A short run ends far from the best grouping. But if groups are small it finds many of the best ones, and each run
finds different ones. Their recombination is better than a long run. If a group comes up less than twice on average, as large ones do,
there is little to recombine, the program takes long, and the long run alone is better.

Amounts of work are counted in steps, not seconds, so the same seed gives the same groups; only an effort given in
seconds looks at the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.kernels.microaggregation.sse_anneal import Annealing, anneal
from shoal.kernels.microaggregation.sse_moves import collect_groups, descend, renew_means, total_loss
from shoal.kernels.search.kdtree import build_tree
from shoal.methods.base import Reporter, Task
from shoal.methods.microaggregation.partition import GroupPool, best_partition
from shoal.methods.microaggregation.sse_params import SSEParams, params_for
from shoal.methods.microaggregation.sse_start import find_neighbours, first_groups
from shoal.methods.stopping import INTERRUPTS, Stop

if TYPE_CHECKING:
    from shoal.kernels.microaggregation.sse_moves import Groups

_LEAF = 16
_FEW_NEIGHBOURS, _NEIGHBOURS = 6, 20
_CHUNK = 200_000
"""Records or proposals between two looks at the clock."""
_ROUNDS = 30
_SETTLED = 2_000
"""Improvement ends when fewer than one record in so many changes place."""


@dataclass
class Search:
    """A search under way: the points in kd order, their neighbours, what it may spend, the best grouping so far."""

    points: FloatArray
    order: LongArray
    """Which row of the input each point is."""
    k: int
    params: SSEParams
    stop: Stop
    reporter: Reporter
    near: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    best: IntArray | None = None
    least: float = np.inf
    """The loss of ``best``."""

    @property
    def room(self) -> int:
        """The most records a group may have: a larger one is better split."""
        return 2 * self.k - 1

    def collect(self, labels: IntArray) -> Groups:
        """Return groups that can be improved."""
        return collect_groups(self.points, labels, len(self.points) // self.k, self.room)

    def keep_if_best(self, state: Groups) -> None:
        """Keep a grouping if it is the best so far."""
        loss = total_loss(self.points, state)
        if loss < self.least:
            self.best, self.least = state.label.copy(), loss


def minimize_sse(matrix: FloatArray, task: Task, params: SSEParams | None = None) -> IntArray:
    """Return labels of groups of at least ``task.k`` rows of ``matrix`` with a small sum of squared distances to their means.

    Parameters
    ----------
    matrix
        Records as points, (n, m), already scaled.
    task
        Of its efforts, ``"fast"`` moves and swaps only; ``"balanced"`` adds a long annealing run; ``"best"`` short runs too, and an
        integer program over the groups they end with; a number is seconds, spent as with ``"best"``.
    params
        How much work to do, instead of what the effort stands for.
    """
    n, effort = len(matrix), task.effort
    if n < 2 * task.k:
        return np.zeros(n, np.int32)
    stop = Stop.after(np.inf if isinstance(effort, str) else float(effort), cancel=task.cancel, clock=task.clock)
    tree = build_tree(np.ascontiguousarray(matrix, np.float64), _LEAF)  # neighbours in space are neighbours in memory
    params, reporter = params or params_for(effort, n), Reporter(task.progress)
    search = Search(tree.points.copy(), tree.order, task.k, params, stop, reporter)
    try:
        _search(search, task.seed)
    except INTERRUPTS:
        if task.on_interrupt != "best" or search.best is None:
            raise
    assert search.best is not None  # noqa: S101
    labels = np.empty(n, np.int32)
    labels[tree.order] = search.best
    return renumber(labels)


def renumber(labels: IntArray) -> IntArray:
    """Number the groups by their first record."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return np.asarray(rank[inverse.reshape(-1)], np.int32)


def _search(search: Search, seed: int) -> None:
    params, pool = search.params, GroupPool(search.points)
    start = first_groups(search.points, search.order, search.k)
    search.keep_if_best(search.collect(start))
    search.near = find_neighbours(
        search.points, _NEIGHBOURS if params.long else _FEW_NEIGHBOURS, search.reporter.report
    )
    _finish(search, search.collect(start))
    for run in range(params.runs):
        if search.stop.part(params.short_share).over():
            break
        state = search.collect(start)
        _anneal(search, state, seed * 1_000_003 + run + 1, params.short, params.long_share)
        pool.add(_finish(search, state))
        search.reporter.report(0.3 + 0.2 * (run + 1) / params.runs, "annealing, short runs")
    recur = 0 < 2 * len(pool.loss) <= pool.added  # the short runs found each group at least twice on average
    for run, steps in enumerate(params.long):
        more = params.spare if run and not recur else 0
        state = search.collect(start)
        _anneal(search, state, seed * 1_000_003 - run, steps + more, params.long_share if recur else 1.0)
        pool.add(_finish(search, state))
    if recur:
        _recombine(search, pool)


def _finish(search: Search, state: Groups) -> IntArray:
    """Descend from where annealing ended; return the labels and keep them if they are the best so far."""
    _descend(search, state)
    search.keep_if_best(state)
    return state.label


def _recombine(search: Search, pool: GroupPool) -> None:
    """Look for the best partition into groups of the pool."""
    assert search.best is not None  # noqa: S101
    search.reporter.report(0.9, "recombining groups")
    if not search.stop.over():
        _finish(search, search.collect(renumber(best_partition(pool, search.best, search.stop.left()))))


def _descend(search: Search, state: Groups) -> None:
    """Move and swap records until hardly any gains from it."""
    n = len(search.points)
    changed_in = np.ones(len(state.size), np.int32)
    for number in range(1, _ROUNDS + 1):
        changed = 0
        for start in range(0, n, _CHUNK):
            stop = min(start + _CHUNK, n)
            changed += descend(
                search.points, state, search.near, search.k, search.room, changed_in, number, start, stop
            )
        search.reporter.report(0.2 + 0.1 * number / _ROUNDS, "moving and swapping")
        if changed <= n // _SETTLED:
            break
    renew_means(search.points, state)


def _temperatures(points: FloatArray, state: Groups) -> tuple[float, float]:
    """Return where annealing starts and ends: from the largest deviations to a fraction of the small ones."""
    deviation = ((points - state.mean[state.label]) ** 2).sum(axis=1)
    cold, hot = np.quantile(deviation, [0.25, 0.99])
    hot = float(max(hot, 1e-12))
    return hot, float(max(0.05 * cold, 1e-7 * hot))


def _anneal(search: Search, state: Groups, seed: int, steps: int, until: float) -> None:
    """Let the temperature fall over so many proposals or, if that is sooner, until a share of the seconds has passed."""
    empty = np.flatnonzero(state.size == 0)
    vacant = np.zeros(len(state.size) + 1, np.int32)
    vacant[: len(empty)], vacant[-1] = empty, len(empty)
    chain = np.zeros((2, search.room), np.int32)
    work = Annealing(search.points, search.near, vacant, chain, np.array([seed % (1 << 64)], np.uint64))
    hot, cold = _temperatures(search.points, state)
    chunk, share, stop = min(max(steps // 50, 1), _CHUNK), 0.0, search.stop.part(until).rest()
    # ends: each round adds the same part of the steps to the share
    while share < 1.0:
        ahead = min(share + chunk / steps, 1.0)
        high, low = (hot * (cold / hot) ** part for part in (share, ahead))
        anneal(work, state, search.k, search.room, high, low, 0, chunk, chunk)
        renew_means(search.points, state)
        share = 1.0 if stop.over() else max(ahead, stop.spent())
        if steps >= search.params.long[0]:
            search.reporter.report(0.5 + 0.4 * min(share, 1.0), "annealing")
