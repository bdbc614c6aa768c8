"""The neighbourhood of a cell: the tuples it holds, those outside in one column only, and the cells made of both.

One pass over all tuples finds what every cell that is wider in one column holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.optimize.cells.reduced_cost import BINS, CellPool, cell_profit, keep_cell
from shoal.kernels.space.kinds import shows_code
from shoal.kernels.space.space import Cover, Space

_SHIFT = 32
"""Bits of a code in a packed key: codes are below 2 to this power."""


class PricedTuples(NamedTuple):
    """The distinct tuples of a table, with multiplicity and dual price."""

    rows: IntArray
    """(n, m): the codes of each tuple."""
    multiplicity: IntArray
    """How many records each tuple has."""
    price: FloatArray
    """The dual price of a record of each tuple."""
    k: int
    """Records of a group, at least."""
    allowed: float
    """The largest reduced cost of a cell that is kept."""


class Neighbourhood(NamedTuple):
    """The tuples of one cell, those outside in one column only, and scratch space."""

    inside: IntArray
    """The tuples that the cell holds."""
    near: IntArray
    """The tuples that lie outside it in one column only."""
    away: LongArray
    """For each near tuple that column and its code there, packed into one number to sort by."""
    member: IntArray
    """Scratch: the tuples of a varied cell."""
    bins: LongArray
    taken: IntArray
    """Scratch of ``cell_profit``."""
    visits: LongArray
    """[0]: visits of tuples so far."""


class Slices(NamedTuple):
    """Which tuples a varied cell holds, as stretches of the lists of a ``Neighbourhood``: some of those inside, and some of those near."""

    first: int
    last: int
    """Inside: the places ``first`` to ``last - 1``."""
    skip_from: int
    skip_to: int
    """Of these, the places ``skip_from`` to ``skip_to - 1`` are left out again."""
    begin: int
    end: int
    """Near: the places ``begin`` to ``end - 1``."""


@kernel()
def make_neighbourhood(tuples: int) -> Neighbourhood:
    """Return an empty neighbourhood with room for ``tuples`` tuples."""
    return Neighbourhood(
        np.zeros(tuples, np.int32),
        np.zeros(tuples, np.int32),
        np.zeros(tuples, np.int64),
        np.zeros(tuples, np.int32),
        np.zeros(BINS, np.int64),
        np.zeros(tuples, np.int32),
        np.zeros(1, np.int64),
    )


@kernel(allocates=False)
def lies_outside(space: Space, cover: Cover, group: int, column: int, code: int) -> bool:
    """Return whether a code lies outside the cell of a group in one column."""
    low, high = cover.low[column, group], cover.high[column, group]
    return not shows_code(space, cover.words[group], column, low, high, code)


@kernel(allocates=False)
def find_neighbourhood(
    space: Space, rows: IntArray, cover: Cover, group: int, neighbourhood: Neighbourhood
) -> tuple[int, int]:
    """Find the tuples in the cell of a group, and those outside in one column only; return how many of each."""
    inside, near = 0, 0
    neighbourhood.visits[0] += rows.shape[0]
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
            neighbourhood.inside[inside] = one
            inside += 1
        else:
            neighbourhood.near[near] = one
            neighbourhood.away[near] = (np.int64(away) << _SHIFT) + rows[one, away]
            near += 1
    return inside, near


@kernel()
def keep_if_profitable(
    neighbourhood: Neighbourhood, slices: Slices, priced: PricedTuples, cost: float, cells: CellPool
) -> None:
    """Keep a cell if it holds k records and its reduced cost is small."""
    size = 0
    for place in range(slices.first, slices.last):
        if place < slices.skip_from or place >= slices.skip_to:
            neighbourhood.member[size] = neighbourhood.inside[place]
            size += 1
    for place in range(slices.begin, slices.end):
        neighbourhood.member[size] = neighbourhood.near[place]
        size += 1
    neighbourhood.visits[0] += size
    member = neighbourhood.member[:size]
    profit = cell_profit(
        member,
        cost,
        priced.price,
        priced.multiplicity,
        priced.k,
        priced.allowed,
        neighbourhood.bins,
        neighbourhood.taken,
    )
    if profit > 0.0:
        keep_cell(cells, member, cost)


@kernel()
def keep_filled(
    space: Space, rows: IntArray, cover: Cover, cost: FloatArray, chosen: LongArray, cells: CellPool
) -> IntArray:
    """Keep the cell that each of some groups fills; return the places of these cells, -1 if there is no room."""
    neighbourhood, place = make_neighbourhood(rows.shape[0]), np.empty(chosen.shape[0], np.int32)
    for number in range(chosen.shape[0]):
        inside, _ = find_neighbourhood(space, rows, cover, chosen[number], neighbourhood)
        place[number] = keep_cell(cells, neighbourhood.inside[:inside], cost[chosen[number]])
    return place
