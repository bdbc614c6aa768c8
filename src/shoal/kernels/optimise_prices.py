"""Prices for records: together they bound the loss from below, and they tell which cells to open.

Whatever the prices, no grouping costs less than their sum minus the worth of all cells worth something: each group
lies in a cell, and groups of one cell may be joined (Lagrangian duality; Geoffrion 1974). Good prices are climbed to
along subgradients (Held, Wolfe and Crowder 1974). At the best prices hardly any cell is worth anything, and the cells of good
groupings are worth next to nothing: opening cells by worth gives groups that no local search finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_worth import STEPS, Cells, cell_worth
from shoal.kernels.search_queue import drop_first, make_queue, push
from shoal.kernels.sorting import order_by_key
from shoal.typing import FloatArray, IntArray, LongArray

FADING = 0.3
"""How much of the last direction stays in the next one."""
FIRST_STRIDE = 0.2
"""Length of the first strides, as a share of what is missing to the loss of a known grouping."""
MORE = 1.2
"""Prices that stand at their ceiling get this much room: those of records that fit nowhere end far above their first ones."""
PATIENCE = 10
"""Strides without gain after which they become shorter, and the climb goes on from the best prices."""
SHORTER = 0.7
"""By which factor they become shorter."""


class Climb(NamedTuple):
    """The prices of distinct tuples and what is needed to better them."""

    price: FloatArray
    best: FloatArray
    """The prices of the highest bound so far."""
    ceiling: FloatArray
    """Prices stay at or below it."""
    direction: FloatArray
    many: IntArray
    """Records of each tuple."""
    level: FloatArray
    """[0]: highest bound; [1]: length of strides; [2]: strides since the last gain."""


@kernel()
def make_climb(price: FloatArray, many: IntArray) -> Climb:
    """Return the state before the first stride."""
    tuples, level = price.shape[0], np.zeros(3)
    level[1] = FIRST_STRIDE
    return Climb(price.copy(), price.copy(), np.full(tuples, np.inf), np.zeros(tuples), many, level)


@kernel()
def raise_ceilings(climb: Climb, margin: float) -> None:
    """Go on from the best prices, with room above them, more where they stand at their ceiling.

    What was proven has to be proven again, over the cells of the new ceilings.
    """
    for place in range(climb.price.shape[0]):
        best = climb.best[place]
        climb.price[place] = best
        climb.ceiling[place] = best + margin if best < climb.ceiling[place] else MORE * best + margin
        climb.direction[place] = 0.0
    climb.level[0], climb.level[2] = -np.inf, 0.0


@kernel()
def bound_at(cells: Cells, climb: Climb, k: int, lacking: LongArray, count: LongArray, taken: IntArray) -> float:
    """Return the bound that the prices prove; ``lacking`` receives how many records of each tuple no cell takes."""
    price, many = climb.price, climb.many
    bound = 0.0
    for place in range(price.shape[0]):
        bound += price[place] * many[place]
        lacking[place] = many[place]
    for cell in range(cells.used[0]):
        member = cells.member[cells.start[cell] : cells.start[cell + 1]]
        worth = cell_worth(member, cells.cost[cell], price, many, k, 0.0, count, taken)
        if worth > 0.0:
            bound -= worth
            for place in range(member.shape[0]):
                lacking[member[place]] -= taken[member[place]]
    return bound


@kernel(allocates=False)
def stride(climb: Climb, lacking: LongArray, missing: float) -> None:
    """Raise the prices of records that no cell takes, and lower those of records that several take."""
    price, ceiling, direction = climb.price, climb.ceiling, climb.direction
    square = 0.0
    for place in range(price.shape[0]):
        fresh = lacking[place] / climb.many[place]
        direction[place] = (1.0 - FADING) * fresh + FADING * direction[place]
        if price[place] < ceiling[place] or direction[place] < 0.0:
            square += direction[place] * direction[place] * climb.many[place]
    if square == 0.0:
        return
    length = climb.level[1] * missing / square
    for place in range(price.shape[0]):
        price[place] = min(ceiling[place], max(0.0, price[place] + length * direction[place]))


@kernel()
def climb_prices(cells: Cells, climb: Climb, k: int, known: float, strides: int) -> float:
    """Better the prices by some strides towards what a ``known`` grouping costs; return the highest bound so far.

    Where the cells are not all there are, it is no bound, and may be above what is known: then there is nothing to stride for.
    """
    tuples, level = climb.price.shape[0], climb.level
    lacking, count, taken = np.zeros(tuples, np.int64), np.zeros(STEPS, np.int64), np.zeros(tuples, np.int32)
    for _ in range(strides):
        bound = bound_at(cells, climb, k, lacking, count, taken)
        level[2] += 1.0
        if bound > level[0]:
            level[0], level[2] = bound, 0.0
            for place in range(tuples):
                climb.best[place] = climb.price[place]
        elif level[2] >= PATIENCE:
            level[1], level[2] = level[1] * SHORTER, 0.0
            for place in range(tuples):
                climb.price[place] = climb.best[place]
            continue
        stride(climb, lacking, max(known - bound, 0.0))
    return level[0]


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
    cells: Cells, climb: Climb, k: int, allowed: float, start: LongArray, order: LongArray, label: IntArray
) -> int:
    """Open cells from the worthiest on, as long as none lacks more than ``allowed``; return how many groups they make.

    Records left over join the cheapest open cell that holds them; those in none keep their label. Tuple ``t`` has the
    records ``order[start[t]:start[t + 1]]``. A cell's worth only falls while others take records, so it is
    worked out anew only when the cell comes first.
    """
    used, tuples = cells.used[0], climb.price.shape[0]
    left, taken, count = climb.many.copy(), np.zeros(tuples, np.int32), np.zeros(STEPS, np.int64)
    queue, waiting = make_queue(used), 0
    opened, costs, groups = np.zeros(used, np.int64), np.zeros(used), 0
    for cell in range(used):
        waiting = push(queue, waiting, -np.inf, cell, cell)
    while waiting > 0:
        cell = queue.item[0]
        waiting = drop_first(queue, waiting)
        member = cells.member[cells.start[cell] : cells.start[cell + 1]]
        worth = cell_worth(member, cells.cost[cell], climb.best, left, k, allowed, count, taken)
        if worth <= 0.0:
            continue
        if waiting > 0 and -worth > queue.bound[0]:
            waiting = push(queue, waiting, -worth, cell, cell)
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
def weigh_cells(cells: Cells, climb: Climb, k: int, allowed: float) -> FloatArray:
    """Return what each cell is worth at the best prices and ``allowed`` on top of it, 0 if that is nothing."""
    count, taken, worth = np.zeros(STEPS, np.int64), np.zeros(climb.best.shape[0], np.int32), np.zeros(cells.used[0])
    for cell in range(cells.used[0]):
        member = cells.member[cells.start[cell] : cells.start[cell + 1]]
        worth[cell] = cell_worth(member, cells.cost[cell], climb.best, climb.many, k, allowed, count, taken)
    return worth
