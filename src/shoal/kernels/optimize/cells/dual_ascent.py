"""Dual prices of records: together they bound the loss from below, and they show which cells to open.

Whatever the prices, no grouping costs less than their sum minus the profits of all profitable cells: each group
lies in a cell, and groups of one cell may be joined (Lagrangian duality; Geoffrion 1974). Good prices are found by
subgradient ascent (Held, Wolfe and Crowder 1974). At the best prices hardly any cell is profitable, and the cells of good
groupings have a reduced cost of about 0: opening cells by profit gives groups that no local search finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.heap import drop_first, make_queue, push
from shoal.kernels.common.sorting import order_by_key
from shoal.kernels.optimize.cells.reduced_cost import BINS, CellPool, cell_profit

MOMENTUM = 0.3
"""How much of the last direction stays in the next one."""
FIRST_STEP = 0.2
"""Length of the first steps, as a share of the gap between the bound and the cost of a known grouping."""
CEILING_GROWTH = 1.2
"""Prices that are at their ceiling get this much room: those of records that fit nowhere end far above their first ones."""
PATIENCE = 10
"""Steps without gain after which they become shorter, and the ascent goes on from the best prices."""
SHORTENING = 0.7
"""By which factor they become shorter."""


class DualAscent(NamedTuple):
    """The prices of distinct tuples and the state of their subgradient ascent."""

    price: FloatArray
    """The present prices."""
    best: FloatArray
    """The prices of the highest bound so far."""
    ceiling: FloatArray
    """Prices stay at or below it."""
    direction: FloatArray
    """The direction of the last step: a mean of subgradients, the older ones counting less."""
    multiplicity: IntArray
    """Records of each tuple."""
    status: FloatArray
    """[0]: highest bound; [1]: length of steps; [2]: steps since the last gain."""


@kernel()
def make_dual_ascent(price: FloatArray, multiplicity: IntArray) -> DualAscent:
    """Return the state before the first step."""
    tuples, status = price.shape[0], np.zeros(3)
    status[1] = FIRST_STEP
    return DualAscent(price.copy(), price.copy(), np.full(tuples, np.inf), np.zeros(tuples), multiplicity, status)


@kernel()
def raise_ceilings(dual: DualAscent, margin: float) -> None:
    """Go on from the best prices, with ceilings a ``margin`` above them, and more if they are at their ceiling.

    The bound starts again from nothing: it has to be proven over the cells that the new ceilings keep.
    """
    for place in range(dual.price.shape[0]):
        best = dual.best[place]
        dual.price[place] = best
        dual.ceiling[place] = best + margin if best < dual.ceiling[place] else CEILING_GROWTH * best + margin
        dual.direction[place] = 0.0
    dual.status[0], dual.status[2] = -np.inf, 0.0


@kernel()
def bound_at(
    cells: CellPool, dual: DualAscent, k: int, unserved: LongArray, count: LongArray, taken: IntArray
) -> float:
    """Return the bound that the prices prove; ``unserved`` receives how many records of each tuple no cell takes."""
    price, multiplicity = dual.price, dual.multiplicity
    bound = 0.0
    for place in range(price.shape[0]):
        bound += price[place] * multiplicity[place]
        unserved[place] = multiplicity[place]
    for cell in range(cells.used[0]):
        member = cells.member[cells.start[cell] : cells.start[cell + 1]]
        profit = cell_profit(member, cells.cost[cell], price, multiplicity, k, 0.0, count, taken)
        if profit > 0.0:
            bound -= profit
            for place in range(member.shape[0]):
                unserved[member[place]] -= taken[member[place]]
    return bound


@kernel(allocates=False)
def subgradient_step(dual: DualAscent, unserved: LongArray, gap: float) -> None:
    """Raise the prices of records that no cell takes, and lower those of records that several take.

    The length of the step is Polyak's: in proportion to the ``gap`` between the bound and a known cost, over the square of the direction.
    """
    price, ceiling, direction = dual.price, dual.ceiling, dual.direction
    square = 0.0
    for place in range(price.shape[0]):
        subgradient = unserved[place] / dual.multiplicity[place]
        direction[place] = (1.0 - MOMENTUM) * subgradient + MOMENTUM * direction[place]
        if price[place] < ceiling[place] or direction[place] < 0.0:
            square += direction[place] * direction[place] * dual.multiplicity[place]
    if square == 0.0:
        return
    length = dual.status[1] * gap / square
    for place in range(price.shape[0]):
        price[place] = min(ceiling[place], max(0.0, price[place] + length * direction[place]))


@kernel()
def ascend(cells: CellPool, dual: DualAscent, k: int, known_cost: float, steps: int) -> float:
    """Improve the prices by some subgradient steps towards the cost of a known grouping; return the highest bound so far.

    If the pool lacks cells, it is not a bound, and may exceed ``known_cost``: then no step is made.
    """
    tuples, status = dual.price.shape[0], dual.status
    unserved, count, taken = np.zeros(tuples, np.int64), np.zeros(BINS, np.int64), np.zeros(tuples, np.int32)
    for _ in range(steps):
        bound = bound_at(cells, dual, k, unserved, count, taken)
        status[2] += 1.0
        if bound > status[0]:
            status[0], status[2] = bound, 0.0
            for place in range(tuples):
                dual.best[place] = dual.price[place]
        elif status[2] >= PATIENCE:
            status[1], status[2] = status[1] * SHORTENING, 0.0
            for place in range(tuples):
                dual.price[place] = dual.best[place]
            continue
        subgradient_step(dual, unserved, max(known_cost - bound, 0.0))
    return status[0]


@kernel(allocates=False)
def assign(
    member: IntArray, taken: IntArray, left: IntArray, start: LongArray, order: LongArray, group: int, label: IntArray
) -> None:
    """Give a group as many records of each tuple as a cell takes, the last ones of those left."""
    for place in range(member.shape[0]):
        one = member[place]
        for _ in range(taken[one]):
            left[one] -= 1
            label[order[start[one] + left[one]]] = group
        taken[one] = 0


@kernel()
def open_cells(
    cells: CellPool, dual: DualAscent, k: int, allowed: float, start: LongArray, order: LongArray, label: IntArray
) -> int:
    """Open cells by falling profit, down to a reduced cost of ``allowed``; return how many groups they make.

    Records left over join the cheapest open cell that holds them; those in none keep their label. Tuple ``t`` has the
    records ``order[start[t]:start[t + 1]]``. A cell's profit only falls while others take records, so it is
    worked out again only when the cell comes first.
    """
    used, tuples = cells.used[0], dual.price.shape[0]
    left, taken, count = dual.multiplicity.copy(), np.zeros(tuples, np.int32), np.zeros(BINS, np.int64)
    queue, waiting = make_queue(used), 0
    opened, costs, groups = np.zeros(used, np.int64), np.zeros(used), 0
    for cell in range(used):
        waiting = push(queue, waiting, -np.inf, cell, cell)
    # ends: a profit only falls when records are taken, and between two takings each cell is put back at most once
    while waiting > 0:
        cell = queue.item[0]
        waiting = drop_first(queue, waiting)
        member = cells.member[cells.start[cell] : cells.start[cell + 1]]
        profit = cell_profit(member, cells.cost[cell], dual.best, left, k, allowed, count, taken)
        if profit <= 0.0:
            continue
        if waiting > 0 and -profit > queue.bound[0]:
            waiting = push(queue, waiting, -profit, cell, cell)
            continue
        assign(member, taken, left, start, order, groups, label)
        opened[groups], costs[groups] = cell, cells.cost[cell]
        groups += 1
    by_cost = order_by_key(costs[:groups].view(np.int64))
    for place in range(groups):
        cell = opened[by_cost[place]]
        member = cells.member[cells.start[cell] : cells.start[cell + 1]]
        for other in range(member.shape[0]):
            taken[member[other]] = left[member[other]]
        assign(member, taken, left, start, order, by_cost[place], label)
    return groups


@kernel()
def cell_profits(cells: CellPool, dual: DualAscent, k: int, allowed: float) -> FloatArray:
    """Return profit + ``allowed`` of each cell at the best prices, 0 if that is below 0, that is, if its reduced cost is above ``allowed``."""
    count, taken, profit = np.zeros(BINS, np.int64), np.zeros(dual.best.shape[0], np.int32), np.zeros(cells.used[0])
    for cell in range(cells.used[0]):
        member = cells.member[cells.start[cell] : cells.start[cell + 1]]
        profit[cell] = cell_profit(member, cells.cost[cell], dual.best, dual.multiplicity, k, allowed, count, taken)
    return profit
