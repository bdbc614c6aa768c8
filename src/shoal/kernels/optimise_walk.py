"""A walk over all cells of a table, to keep those that prices can make worth opening.

What a cell is worth only rises with the prices. So cells worth nothing at some ceiling need no look as long as prices
stay below it, and a few of very many stay. The walk goes from column to column: a part of the records that is worth
nothing even if the columns to come cost nothing holds no cell that is worth something, and is left at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_worth import STEPS, Cells, cell_worth, keep_cell
from shoal.typing import FloatArray, IntArray, LongArray


class Walk(NamedTuple):
    """A walk over all cells, column by column, that can be halted and taken up again.

    At depth d the walk stands in one part of what the first d columns divide the tuples into, each at some level.
    """

    inside: IntArray
    """(m + 1, n): the tuples of the parts of each depth."""
    begin: LongArray
    """(m + 1, n + 1): where each part begins."""
    part: LongArray
    """(m + 1): the part in which the walk stands."""
    parts: LongArray
    level: LongArray
    """(m + 1): the level of the column before."""
    cost: FloatArray
    """(m + 1): what the part costs by the columns so far."""
    depth: LongArray
    """[0]: where the walk stands, -1 after its end."""


@kernel()
def start_walk(columns: int, tuples: int) -> Walk:
    """Return a walk before its first step, with all tuples in one part."""
    inside, begin = np.zeros((columns + 1, tuples), np.int32), np.zeros((columns + 1, tuples + 1), np.int64)
    for place in range(tuples):
        inside[0, place] = place
    begin[0, 1] = tuples
    part, parts = np.full(columns + 1, -1, np.int64), np.ones(columns + 1, np.int64)
    return Walk(
        inside, begin, part, parts, np.zeros(columns + 1, np.int64), np.zeros(columns + 1), np.zeros(1, np.int64)
    )


@kernel(allocates=False)
def split(walk: Walk, cell: IntArray, depth: int, count: LongArray) -> None:
    """Divide the part one depth above by the cells of a level; ``count`` is zero before and after."""
    above, begin, inside = walk.part[depth - 1], walk.begin[depth], walk.inside[depth]
    member = walk.inside[depth - 1, walk.begin[depth - 1, above] : walk.begin[depth - 1, above + 1]]
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
    for place in range(member.shape[0]):
        count[cell[member[place]]] = 0
    walk.parts[depth], walk.part[depth] = parts, -1


@kernel(allocates=False)
def is_one_cell(member: IntArray, cell: IntArray) -> bool:
    """Tell whether all tuples lie in one cell."""
    for place in range(1, member.shape[0]):
        if cell[member[place]] != cell[member[0]]:
            return False
    return True


@kernel(allocates=False)
def next_level(walk: Walk, first: LongArray, cell: IntArray, count: LongArray) -> None:
    """Divide the part above by the next level of the column, or go up where there is none or nothing is divided any more."""
    depth = walk.depth[0]
    walk.level[depth] += 1
    if depth == 0 or walk.level[depth] == first[depth] or walk.parts[depth] == 1:
        walk.depth[0] -= 1
    else:
        split(walk, cell[walk.level[depth]], depth, count)


@kernel()
def collect(
    first: LongArray,
    cell: IntArray,
    cost: FloatArray,
    walk: Walk,
    many: IntArray,
    k: int,
    ceiling: FloatArray,
    cells: Cells,
    budget: int,
) -> None:
    """Go on for ``budget`` looks at tuples and keep the cells worth something at the ceiling.

    ``cell`` and ``cost`` tell for each level and tuple which cell it lies in and what that costs. A part that
    is worth nothing even if all other columns cost nothing holds no cell that is.
    """
    rough, taken, count = (
        np.zeros(STEPS, np.int64),
        np.zeros(many.shape[0], np.int32),
        np.zeros(many.shape[0], np.int64),
    )
    columns, spent = first.shape[0] - 1, 0
    while walk.depth[0] >= 0 and spent < budget and cells.used[1] == 0:
        depth = walk.depth[0]
        walk.part[depth] += 1
        if walk.part[depth] == walk.parts[depth]:
            next_level(walk, first, cell, count)
            continue
        at = walk.part[depth]
        member = walk.inside[depth, walk.begin[depth, at] : walk.begin[depth, at + 1]]
        spent += member.shape[0] + 1
        if depth > 0:
            level = walk.level[depth]
            if level > first[depth - 1] and is_one_cell(member, cell[level - 1]):
                continue
            walk.cost[depth] = walk.cost[depth - 1] + cost[level, member[0]]
        if cell_worth(member, walk.cost[depth], ceiling, many, k, 0.0, rough, taken) <= 0.0:
            continue
        if depth == columns:
            keep_cell(cells, member, walk.cost[depth])
        else:
            walk.depth[0] = depth + 1
            walk.level[depth + 1] = first[depth] - 1
            walk.part[depth + 1], walk.parts[depth + 1] = -1, 0
