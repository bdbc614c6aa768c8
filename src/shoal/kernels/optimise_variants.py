"""Variants: the cell that a group fills, and the cells that differ from it in one column.

Where columns have ranges of numbers or sets, no walk can go through all cells. Good ones are near the groups of a good
grouping: one value less or more of a set, an end of a range moved in or out, a child or an ancestor of a node. With prices for
records this is column generation: variants that are worth something at the prices are kept, and better the prices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_around import (
    Around,
    Buyers,
    Slices,
    lies_outside,
    look_around,
    make_around,
    offer,
)
from shoal.kernels.optimise_worth import Cells
from shoal.kernels.sorting import sort_by_key
from shoal.kernels.space import (
    INTERVAL,
    SET,
    Cover,
    Space,
    child_above,
    column_cost,
    find_node,
    range_cost,
    set_cost,
)
from shoal.typing import IntArray


class Column(NamedTuple):
    """One column of a cell. The tuples inside, and those near that are outside in this column, come by their codes in it."""

    number: int
    inside: int
    """How many are inside."""
    begin: int
    end: int
    """Where those near stand."""
    cost: float
    """What the other columns cost."""


@kernel(allocates=False)
def end_of_run(rows: IntArray, column: int, tuples: IntArray, place: int, last: int) -> int:
    """Return the place after the last tuple, before ``last``, that has the same code as that at ``place``."""
    code = rows[tuples[place], column]
    while place < last and rows[tuples[place], column] == code:
        place += 1
    return place


@kernel(allocates=False)
def start_of_run(rows: IntArray, column: int, tuples: IntArray, place: int, first: int) -> int:
    """Return the place of the first tuple, from ``first`` on, that has the same code as the one before ``place``."""
    code = rows[tuples[place - 1], column]
    while place > first and rows[tuples[place - 1], column] == code:
        place -= 1
    return place


@kernel(allocates=False)
def is_power_of_two(number: int) -> bool:
    """Tell whether a number is 1, 2, 4, 8 and so on."""
    return number & (number - 1) == 0


@kernel()
def vary_set(space: Space, around: Around, column: Column, buyers: Buyers, cells: Cells) -> None:
    """Offer cells with one value of a set less, or one more."""
    rows, number, inside, cost = buyers.rows, column.number, column.inside, column.cost
    weight, missing, highest = space.weight[number], space.missing[number], rows[around.inside[inside - 1], number]
    values, place = 0, 0
    while place < inside:
        place, values = end_of_run(rows, number, around.inside, place, inside), values + 1
    place = 0
    while place < inside and values > 1:
        after = end_of_run(rows, number, around.inside, place, inside)
        part = weight * set_cost(space, number, values - 1, after < inside and highest == missing)
        offer(around, Slices(0, inside, place, after, 0, 0), buyers, cost + part, cells)
        place = after
    place = column.begin
    while place < column.end:
        after = end_of_run(rows, number, around.near, place, column.end)
        mixed = max(highest, rows[around.near[place], number]) == missing
        part = weight * set_cost(space, number, values + 1, mixed)
        offer(around, Slices(0, inside, 0, 0, place, after), buyers, cost + part, cells)
        place = after


@kernel()
def shrink_range(space: Space, around: Around, column: Column, buyers: Buyers, cells: Cells) -> None:
    """Offer cells without the lowest, or the highest, value of a range, without two of them, four and so on."""
    rows, number, inside, weight = buyers.rows, column.number, column.inside, space.weight[column.number]
    low, high = rows[around.inside[0], number], rows[around.inside[inside - 1], number]
    place, values = end_of_run(rows, number, around.inside, 0, inside), 1
    while place < inside:
        if is_power_of_two(values):
            part = weight * range_cost(space, number, rows[around.inside[place], number], high)
            offer(around, Slices(place, inside, 0, 0, 0, 0), buyers, column.cost + part, cells)
        place, values = end_of_run(rows, number, around.inside, place, inside), values + 1
    place, values = start_of_run(rows, number, around.inside, inside, 0), 1
    while place > 0:
        if is_power_of_two(values):
            part = weight * range_cost(space, number, low, rows[around.inside[place - 1], number])
            offer(around, Slices(0, place, 0, 0, 0, 0), buyers, column.cost + part, cells)
        place, values = start_of_run(rows, number, around.inside, place, 0), values + 1


@kernel()
def widen_range(space: Space, around: Around, column: Column, buyers: Buyers, cells: Cells) -> None:
    """Offer cells with the next value below a range, or above it, with two of them, four and so on."""
    rows, number, inside, weight = buyers.rows, column.number, column.inside, space.weight[column.number]
    low, high = rows[around.inside[0], number], rows[around.inside[inside - 1], number]
    above = column.begin
    while above < column.end and rows[around.near[above], number] < low:
        above += 1
    place, values = above, 0
    while place > column.begin:
        place, values = start_of_run(rows, number, around.near, place, column.begin), values + 1
        if is_power_of_two(values):
            part = weight * range_cost(space, number, rows[around.near[place], number], high)
            offer(around, Slices(0, inside, 0, 0, place, above), buyers, column.cost + part, cells)
    place, values = above, 0
    while place < column.end:
        place, values = end_of_run(rows, number, around.near, place, column.end), values + 1
        if is_power_of_two(values):
            part = weight * range_cost(space, number, low, rows[around.near[place - 1], number])
            offer(around, Slices(0, inside, 0, 0, above, place), buyers, column.cost + part, cells)


@kernel()
def vary_node(space: Space, around: Around, column: Column, buyers: Buyers, cells: Cells) -> None:
    """Offer cells of each child of a node, and of its closest ancestor that holds more."""
    rows, number, inside, weight = buyers.rows, column.number, column.inside, space.weight[column.number]
    low, high = rows[around.inside[0], number], rows[around.inside[inside - 1], number]
    node, place = find_node(space, number, low, high), 0
    while place < inside and low < high:
        after, code = place, rows[around.inside[place], number]
        child = child_above(space, number, node, code)
        while after < inside and child_above(space, number, node, rows[around.inside[after], number]) == child:
            after += 1
        part = weight * range_cost(space, number, code, rows[around.inside[after - 1], number])
        offer(around, Slices(place, after, 0, 0, 0, 0), buyers, column.cost + part, cells)
        place = after
    first, last, least = column.begin, column.begin, np.inf
    for place in range(column.begin, column.end):
        code = rows[around.near[place], number]
        part = range_cost(space, number, min(low, code), max(high, code))
        if part < least:
            first, least = place, part
        if part == least:
            last = place + 1
    if last > first:
        offer(around, Slices(0, inside, 0, 0, first, last), buyers, column.cost + weight * least, cells)


@kernel()
def vary(space: Space, cover: Cover, group: int, around: Around, buyers: Buyers, cells: Cells) -> None:
    """Offer the cell of a group and its variants."""
    inside, near = look_around(space, buyers.rows, cover, group, around)
    sort_by_key(around.near[:near], around.away[:near])
    columns, total = buyers.rows.shape[1], 0.0
    for number in range(columns):
        total += space.weight[number] * column_cost(space, cover, number, group)
    offer(around, Slices(0, inside, 0, 0, 0, 0), buyers, total, cells)
    key, begin = np.empty(inside, np.int64), 0
    for number in range(columns):
        end = begin
        while end < near and lies_outside(space, cover, group, number, buyers.rows[around.near[end], number]):
            end += 1
        for place in range(inside):
            key[place] = buyers.rows[around.inside[place], number]
        sort_by_key(around.inside[:inside], key)
        cost = total - space.weight[number] * column_cost(space, cover, number, group)
        column = Column(number, inside, begin, end, cost)
        if space.kind[number] == SET:
            vary_set(space, around, column, buyers, cells)
        elif space.kind[number] == INTERVAL:
            shrink_range(space, around, column, buyers, cells)
            widen_range(space, around, column, buyers, cells)
        else:
            vary_node(space, around, column, buyers, cells)
        begin = end


@kernel()
def vary_all(space: Space, cover: Cover, first: int, budget: int, buyers: Buyers, cells: Cells) -> int:
    """Offer the cells of groups and their variants, from one group on, until ``budget`` looks at tuples are made or the store is full.

    Returns the group that comes next, 0 after the last one.
    """
    around, groups = make_around(buyers.rows.shape[0]), cover.size.shape[0]
    for turn in range(groups):
        group = int((first + turn) % groups)
        if cells.used[1] or around.looks[0] >= budget:
            return group
        vary(space, cover, group, around, buyers, cells)
    return 0
