"""Around a cell: the tuples it holds and those outside in one column only, and the cells made of both.

One pass over all tuples finds what every cell that is wider in one column holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_worth import STEPS, Cells, cell_worth, keep_cell
from shoal.kernels.space import INTERVAL, SET, Cover, Space, find_node, holds_code
from shoal.typing import FloatArray, IntArray, LongArray

_SHIFT = 32
"""Codes are below 2 to this power."""


class Buyers(NamedTuple):
    """The distinct tuples of a table, and what their records are ready to pay."""

    rows: IntArray
    """(n, m): the codes of each tuple."""
    many: IntArray
    """Records of each tuple."""
    price: FloatArray
    """What a record of each tuple is ready to pay."""
    k: int
    """Records of a group, at least."""
    allowed: float
    """What a cell may lack that is kept."""


class Around(NamedTuple):
    """The tuples of one cell, those outside in one column only, and scratch space."""

    inside: IntArray
    near: IntArray
    away: LongArray
    """The column in which a near tuple is outside, and its code there: one number to sort by."""
    member: IntArray
    steps: LongArray
    taken: IntArray
    looks: LongArray
    """[0]: how often a tuple was looked at."""


class Slices(NamedTuple):
    """Which tuples a cell holds, as places in ``Around``."""

    first: int
    last: int
    """Of those inside, from here to there."""
    out: int
    back: int
    """But not these."""
    begin: int
    end: int
    """And of those near."""


@kernel()
def make_around(tuples: int) -> Around:
    """Return room for so many tuples."""
    return Around(
        np.zeros(tuples, np.int32),
        np.zeros(tuples, np.int32),
        np.zeros(tuples, np.int64),
        np.zeros(tuples, np.int32),
        np.zeros(STEPS, np.int64),
        np.zeros(tuples, np.int32),
        np.zeros(1, np.int64),
    )


@kernel(allocates=False)
def lies_outside(space: Space, cover: Cover, group: int, column: int, code: int) -> bool:
    """Tell whether a code lies outside the cell of a group in one column: a node holds all leaves below it."""
    low, high = cover.low[column, group], cover.high[column, group]
    if space.kind[column] == SET:
        return not holds_code(cover.words[group], space.word_start[column], code)
    if low <= code <= high:
        return False
    if space.kind[column] == INTERVAL or low == high:
        return True
    node = find_node(space, column, low, high)
    return find_node(space, column, min(low, code), max(high, code)) != node


@kernel(allocates=False)
def look_around(space: Space, rows: IntArray, cover: Cover, group: int, around: Around) -> tuple[int, int]:
    """Find the tuples in the cell of a group, and those outside in one column only; return how many of each."""
    inside, near = 0, 0
    around.looks[0] += rows.shape[0]
    for one in range(rows.shape[0]):
        away, column = -1, 0
        while column < rows.shape[1]:
            if lies_outside(space, cover, group, column, rows[one, column]):
                if away >= 0:
                    break
                away = column
            column += 1
        if column < rows.shape[1]:
            continue
        if away < 0:
            around.inside[inside] = one
            inside += 1
        else:
            around.near[near] = one
            around.away[near] = (np.int64(away) << _SHIFT) + rows[one, away]
            near += 1
    return inside, near


@kernel()
def offer(around: Around, slices: Slices, buyers: Buyers, cost: float, cells: Cells) -> None:
    """Keep a cell if it holds k records and lacks little."""
    size = 0
    for place in range(slices.first, slices.last):
        if place < slices.out or place >= slices.back:
            around.member[size] = around.inside[place]
            size += 1
    for place in range(slices.begin, slices.end):
        around.member[size] = around.near[place]
        size += 1
    around.looks[0] += size
    member = around.member[:size]
    worth = cell_worth(member, cost, buyers.price, buyers.many, buyers.k, buyers.allowed, around.steps, around.taken)
    if worth > 0.0:
        keep_cell(cells, member, cost)


@kernel()
def keep_filled(
    space: Space, rows: IntArray, cover: Cover, cost: FloatArray, chosen: LongArray, cells: Cells
) -> IntArray:
    """Keep the cell that each of some groups fills; return the places of these cells, -1 where there is no room."""
    around, place = make_around(rows.shape[0]), np.empty(chosen.shape[0], np.int32)
    for number in range(chosen.shape[0]):
        inside, _ = look_around(space, rows, cover, chosen[number], around)
        place[number] = keep_cell(cells, around.inside[:inside], cost[chosen[number]])
    return place
