"""How far a grouping is from the best possible: a lower bound on the sum of squares, with a proof.

Give each record a dual price. If no group of k to 2k - 1 records costs less than its prices add up to, then no grouping
costs less than all prices together (weak duality of the set-partitioning program; larger groups need not be
considered, because they can be split without loss). Good prices come from the linear program over the groups found so far; the
pricing kernel then lists every group, of all there are, that is overpaid, that is, of negative reduced cost. Those groups join the
program (column generation). At any time the prices can be lowered until no listed group is overpaid: their sum is the bound.

Two things decide how fast this goes. The program begins with the groups that records form with their nearest: without
them its first prices mean nothing, and the list of overpaid groups has no end. And prices are stabilized: they are drawn towards
those proven so far, as strongly as it takes for the list to be complete, and less and less.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from benchmarks.papers import overpaid
from shoal.arrays import Clock, FloatArray, IntArray, LongArray, Progress
from shoal.errors import MissingExtraError, ParameterError
from shoal.methods.base import say_nothing
from shoal.methods.microaggregation.partition import GroupPool, best_partition, has_solver
from shoal.methods.stopping import Stop, wall_clock

MOST_RECORDS = 5_000
"""All pairwise distances are kept."""
_MOST_GROUPS = 400_000
"""Overpaid groups listed in one round, at most."""
_MOST_CLIQUES = 4_000_000
"""Cliques visited in one round, at most: the budget of the pricing kernel."""
_ADDED_FOR_EACH_RECORD = 20
"""Groups of one record that join the program in one round, at most."""
_GROUPS_OF_NEAREST = 70
"""Groups that each record forms with its nearest, at most, in the program from the start."""
_FIRST_PULL, _LEAST_PULL = 0.95, 0.3
"""How far prices are drawn from the program's towards the best proven so far: its own swing wildly."""
_RELAX = 1.3
"""By how much the remaining way to the program's prices grows after a complete list; after one cut short it is halved."""
_CLOSE = 2e-5
"""Share of the bound for which no more rounds are done."""
_UNIT = 2.0**-46
"""The unit of weights, as a share of the largest: sums of a clique's edges stay far below 2^63."""
_LEAST = 64
"""Groups overpaid by fewer units are not listed; all prices are lowered by as much instead."""
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Certificate:
    """What is proven about a grouping."""

    bound: float
    """No grouping has a smaller sum of squares."""
    loss: float
    """The sum of squares of the best grouping known."""
    labels: IntArray
    """That grouping: the one given, or a better one met on the way."""
    optimal_relaxation: bool
    """The bound is the best that prices can prove; otherwise time ran out first."""

    @property
    def gap(self) -> float:
        """By which share of itself the loss could still fall, at most."""
        return 0.0 if self.loss <= 0 else max(1.0 - self.bound / self.loss, 0.0)


@dataclass
class _Prices:
    """The state of column generation."""

    squared: FloatArray
    sizes: LongArray
    pool: GroupPool
    safe: FloatArray
    """The best prices proven to overpay no group."""
    pull: float = _FIRST_PULL
    """How far the next prices are drawn towards the safe ones."""

    def value(self) -> float:
        """Return the bound."""
        return float(self.safe.sum())


def certify(
    matrix: FloatArray,
    k: int,
    labels: IntArray,
    *,
    seconds: float = 60.0,
    recombine: bool = True,
    progress: Progress = say_nothing,
    clock: Clock = wall_clock,
) -> Certificate:
    """Return a lower bound for groupings of ``matrix`` into groups of at least ``k``, beside the loss of ``labels``.

    Parameters
    ----------
    seconds
        When to stop; the bound reached by then is valid too.
    recombine
        Whether to search, for half as long again at most, for a better grouping among the groups of the program.
    """
    _check(matrix)
    points = np.ascontiguousarray(matrix, np.float64)
    state = _start(points, k, labels)
    stop, done = Stop.after(seconds, clock=clock), False
    # ends: by the clock, or when no price can be raised
    while not done and not stop.over():
        done = _improve(state)
        progress(stop.spent(), "proving a bound")
    found = best_partition(state.pool, labels, max(seconds / 2, 1.0)) if recombine else labels
    if _loss(points, found) > _loss(points, labels):
        found = labels
    loss = _loss(points, found)
    bound = max(state.value() * (1 - np.sign(state.value()) * _ROUNDING), 0.0)
    return Certificate(min(bound, loss), loss, found, done)


def _check(matrix: FloatArray) -> None:
    if not has_solver():
        raise MissingExtraError("scipy", "exact", "A proven lower bound")
    if len(matrix) > MOST_RECORDS:
        raise ParameterError(
            f"A lower bound can be proven for at most {MOST_RECORDS:,} records. Got {len(matrix):,}.",
            hint="prove it for a sample, or for the blocks of a column.",
        )


def _loss(points: FloatArray, labels: IntArray) -> float:
    pool = GroupPool(points)
    pool.add(labels)
    return sum(pool.loss.values())


def _start(points: FloatArray, k: int, labels: IntArray) -> _Prices:
    """Return prices anyone can check: what a record costs even in a group with its k - 1 nearest."""
    n = len(points)
    squared = np.zeros((n, n))
    for column in points.T:
        squared += (column[:, None] - column[None, :]) ** 2
    nearest = np.sort(squared, axis=1)[:, 1:k]
    pool = GroupPool(points)
    pool.add(labels)
    _add_nearest(pool, squared, k)
    sizes = np.arange(k, min(2 * k - 1, n) + 1)
    return _Prices(squared, sizes, pool, nearest.sum(axis=1) / (2 * k))


def _add_nearest(pool: GroupPool, squared: FloatArray, k: int) -> None:
    """Add the groups of k and k + 1 that each record forms with some of its nearest."""
    near = k
    while comb(near + 1, k - 1) + comb(near + 1, k) <= _GROUPS_OF_NEAREST:  # ends: the number of groups grows with near
        near += 1
    for record, row in enumerate(squared):
        others = np.argsort(row, kind="stable")[: near + 1]
        others = others[others != record][:near]
        for size in (k - 1, k):
            for chosen in combinations(others.tolist(), size):
                pool.add_group(np.sort((record, *chosen)))


def _program_prices(pool: GroupPool) -> tuple[float, FloatArray]:
    """Return the value and the prices of the linear program over the groups of the pool."""
    from scipy.optimize import linprog

    cost = np.array(list(pool.loss.values()))
    answer = linprog(cost, A_eq=pool.membership(), b_eq=np.ones(len(pool.points)), method="highs")
    return float(answer.fun), np.asarray(answer.eqlin.marginals, np.float64)


def _improve(state: _Prices) -> bool:
    """Do one round of column generation; tell whether the bound cannot be raised any more."""
    value, prices = _program_prices(state.pool)
    if state.value() >= value * (1 - _CLOSE) - _ROUNDING:
        return True
    added, complete = _price(state, state.pull * state.safe + (1 - state.pull) * prices)
    if not complete:
        state.pull = 1 - (1 - state.pull) / 2
    elif added:
        state.pull = max(1 - (1 - state.pull) * _RELAX, _LEAST_PULL)
    else:  # the program knows all groups that these prices overpay, so nothing is gained near them
        state.pull = max(1 - (1 - state.pull) * 2, 0.0)
    return False


def _price(state: _Prices, prices: FloatArray) -> tuple[int, bool]:
    """List overpaid groups, add the most overpaid to the pool, and raise the bound if the list is complete."""
    n = len(prices)
    out = overpaid.Overpaid(
        np.full((_MOST_GROUPS, int(state.sizes[-1])), -1, np.int32), np.zeros(_MOST_GROUPS), np.zeros(2, np.int64)
    )
    unit = (state.squared.max() + np.abs(prices).max()) * _UNIT
    complete = unit > 0 and all(
        overpaid.list_overpaid(state.squared, prices, int(size), unit, _LEAST, _MOST_CLIQUES, out)
        for size in state.sizes
    )
    if complete:
        lowered = overpaid.lower_prices(prices, out) - _LEAST * unit
        if lowered.sum() > state.value():
            state.safe = lowered
    return _add_groups(state, out, n), complete


def _add_groups(state: _Prices, out: Any, n: int) -> int:
    """Add overpaid groups, the most overpaid first, but only a few for each record."""
    used = np.zeros(n, np.int64)
    before = len(state.pool.loss)
    found = int(out.tally[0])
    for place in np.argsort(-out.amount[:found], kind="stable"):
        members = out.members[place][out.members[place] >= 0]
        if (used[members] < _ADDED_FOR_EACH_RECORD).all():
            used[members] += 1
            state.pool.add_group(np.sort(members))
    return len(state.pool.loss) - before
