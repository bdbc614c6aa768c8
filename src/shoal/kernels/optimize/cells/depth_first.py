"""Enumeration of all cells of a table, depth first, to keep those that dual prices can make profitable.

The profit of a cell only rises with the prices. So a cell without profit when every price is at its ceiling has none as long as prices
stay below the ceilings, and need not be kept; of very many cells few are. The enumeration goes from column to column: a part of the
records that has no profit even if the columns to come cost nothing holds no profitable cell, and is pruned (branch and bound).

Tuples are numbered by falling ceiling, so those of a part come in that order too. Its profit is known after the tuples that pay more
than it costs and the few needed to fill it up to k. Tuples whose ceiling is so low that no profitable cell within the part takes
them are at its end, and are cut off before it is divided.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.optimize.cells.reduced_cost import CellPool, keep_cell, profit_in_order


class Enumeration(NamedTuple):
    """An enumeration of all cells, column by column, that can be halted and taken up again.

    At depth d it is in one part of what the first d columns divide the tuples into, each at some level.
    """

    inside: IntArray
    """(m + 1, n): the tuples of the parts of each depth."""
    begin: LongArray
    """(m + 1, n + 1): where each part begins."""
    end: LongArray
    """(m + 1): in the part of each depth, the place after the last tuple that a profitable cell may take."""
    part: LongArray
    """(m + 1): the part of each depth that is being divided."""
    parts: LongArray
    """(m + 1): how many parts there are at each depth."""
    level: LongArray
    """(m + 1): the level at which the column before divides the tuples."""
    cost: FloatArray
    """(m + 1): what the part costs by the columns so far."""
    depth: LongArray
    """[0]: the current depth of the enumeration, -1 once it is over."""


@kernel()
def start_enumeration(columns: int, tuples: int) -> Enumeration:
    """Return an enumeration before its first step, with all tuples in one part."""
    inside, begin = np.zeros((columns + 1, tuples), np.int32), np.zeros((columns + 1, tuples + 1), np.int64)
    for place in range(tuples):
        inside[0, place] = place
    begin[0, 1] = tuples
    end, level = np.zeros(columns + 1, np.int64), np.zeros(columns + 1, np.int64)
    part, parts = np.full(columns + 1, -1, np.int64), np.ones(columns + 1, np.int64)
    return Enumeration(inside, begin, end, part, parts, level, np.zeros(columns + 1), np.zeros(1, np.int64))


@kernel(allocates=False)
def split(enumeration: Enumeration, cell: IntArray, depth: int, count: LongArray) -> None:
    """Divide the part one depth above by the cells of a level, in order; all of ``count`` is 0 before and after the call."""
    above, begin, inside = enumeration.part[depth - 1], enumeration.begin[depth], enumeration.inside[depth]
    member = enumeration.inside[depth - 1, enumeration.begin[depth - 1, above] : enumeration.end[depth - 1]]
    for place in range(member.shape[0]):
        count[cell[member[place]]] += 1
    parts, total = 0, 0
    for place in range(member.shape[0]):
        at = cell[member[place]]
        if count[at] > 0:  # its first tuple: from now on where its tuples begin, below 0
            begin[parts] = total
            parts, total, count[at] = parts + 1, total + count[at], -1 - total
    begin[parts] = total
    for place in range(member.shape[0]):
        at = cell[member[place]]
        inside[-1 - count[at]] = member[place]
        count[at] -= 1
    for place in range(parts):
        count[cell[inside[begin[place]]]] = 0
    enumeration.parts[depth], enumeration.part[depth] = parts, -1


@kernel(allocates=False)
def is_one_cell(member: IntArray, cell: IntArray) -> bool:
    """Return whether all tuples lie in one cell."""
    for place in range(1, member.shape[0]):
        if cell[member[place]] != cell[member[0]]:
            return False
    return True


@kernel(allocates=False)
def next_level(enumeration: Enumeration, first: LongArray, cell: IntArray, count: LongArray) -> None:
    """Divide the part above by the next level of the column, or go up if there is none or nothing is divided any more."""
    depth = enumeration.depth[0]
    enumeration.level[depth] += 1
    if depth == 0 or enumeration.level[depth] == first[depth] or enumeration.parts[depth] == 1:
        enumeration.depth[0] -= 1
    else:
        split(enumeration, cell[enumeration.level[depth]], depth, count)


@kernel(allocates=False)
def count_useful(member: IntArray, cost: float, ceiling: FloatArray, multiplicity: IntArray) -> int:
    """Return how many of the tuples, by falling ceiling, a profitable cell within them may take.

    The surplus of some tuples over the cost must cover the deficit of the others, so no tuple is taken that falls short by more
    than all the others pay above it together.
    """
    total, first = 0.0, 0
    while first < member.shape[0] and ceiling[member[first]] > cost:
        total += (ceiling[member[first]] - cost) * multiplicity[member[first]]
        first += 1
    last = member.shape[0]
    while first < last:
        middle = (first + last) // 2
        if cost - ceiling[member[middle]] < total:
            first = middle + 1
        else:
            last = middle
    return first


@kernel()
def collect(
    first: LongArray,
    cell: IntArray,
    cost: FloatArray,
    enumeration: Enumeration,
    multiplicity: IntArray,
    k: int,
    ceiling: FloatArray,
    tuple_of: LongArray,
    cells: CellPool,
    budget: int,
) -> None:
    """Go on for ``budget`` visits of tuples and keep the cells that have a profit at the ceiling, with the tuples they may take.

    ``cell`` and ``cost`` hold, for each level and tuple, its cell and what that cell costs. Tuples come by falling ceiling; ``tuple_of`` is
    the number of each in the pool. A part that has no profit even if all other columns cost nothing holds no cell that has one.
    """
    kept, count = np.zeros(multiplicity.shape[0], np.int32), np.zeros(multiplicity.shape[0], np.int64)
    columns, spent = first.shape[0] - 1, 0
    # ends: each node of the tree is entered once, and every entry costs at least one of the budget
    while enumeration.depth[0] >= 0 and spent < budget and cells.used[1] == 0:
        depth = enumeration.depth[0]
        enumeration.part[depth] += 1
        if enumeration.part[depth] == enumeration.parts[depth]:
            next_level(enumeration, first, cell, count)
            continue
        at = enumeration.part[depth]
        begin, end = enumeration.begin[depth, at], enumeration.begin[depth, at + 1]
        member = enumeration.inside[depth, begin:end]
        spent += member.shape[0] + 1
        if depth > 0:
            level = enumeration.level[depth]
            if level > first[depth - 1] and is_one_cell(member, cell[level - 1]):
                continue
            enumeration.cost[depth] = enumeration.cost[depth - 1] + cost[level, member[0]]
        profit, _ = profit_in_order(member, enumeration.cost[depth], ceiling, multiplicity, k)
        if profit <= 0.0:
            continue
        useful = count_useful(member, enumeration.cost[depth], ceiling, multiplicity)
        if depth == columns:
            for place in range(useful):
                kept[place] = tuple_of[member[place]]
            keep_cell(cells, kept[:useful], enumeration.cost[depth])
        else:
            enumeration.end[depth] = begin + useful
            enumeration.depth[0] = depth + 1
            enumeration.level[depth + 1] = first[depth] - 1
            enumeration.part[depth + 1], enumeration.parts[depth + 1] = -1, 0
