"""Variants: the cell that a group fills, and the cells that differ from it in one column.

If columns have ranges of numbers or sets, cells cannot be enumerated. Good ones are near the groups of a good
grouping: one value less or more of a set, an end of a range moved in or out, a child or an ancestor of a node. With dual prices of
the records this is column generation: variants of small reduced cost are kept, and the prices are improved over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.sorting import sort_by_key
from shoal.kernels.optimize.cells.neighbourhood import (
    Neighbourhood,
    PricedTuples,
    Slices,
    find_neighbourhood,
    keep_if_profitable,
    lies_outside,
    make_neighbourhood,
)
from shoal.kernels.optimize.cells.reduced_cost import CellPool
from shoal.kernels.space.kinds import has_members, has_order
from shoal.kernels.space.space import Cover, Space, child_above, column_cost, find_node, range_cost, set_cost


class Column(NamedTuple):
    """One column of a cell. The tuples inside, and those near that are outside in this column, come by their codes in it."""

    number: int
    inside: int
    """How many tuples lie inside the cell."""
    begin: int
    end: int
    """The near tuples of this column are at the places ``begin`` to ``end - 1``."""
    cost: float
    """What all other columns of the cell cost each record."""


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
    """Return whether a number is 1, 2, 4, 8 and so on."""
    return number & (number - 1) == 0


@kernel()
def vary_set(space: Space, neighbourhood: Neighbourhood, column: Column, priced: PricedTuples, cells: CellPool) -> None:
    """Keep, if profitable, cells with one value of a set less, or one more."""
    rows, number, inside, cost = priced.rows, column.number, column.inside, column.cost
    weight, missing, highest = (
        space.weight[number],
        space.missing[number],
        rows[neighbourhood.inside[inside - 1], number],
    )
    values, place = 0, 0
    while place < inside:
        place, values = end_of_run(rows, number, neighbourhood.inside, place, inside), values + 1
    place = 0
    while place < inside and values > 1:
        after = end_of_run(rows, number, neighbourhood.inside, place, inside)
        part = weight * set_cost(space, number, values - 1, after < inside and highest == missing)
        keep_if_profitable(neighbourhood, Slices(0, inside, place, after, 0, 0), priced, cost + part, cells)
        place = after
    place = column.begin
    while place < column.end:
        after = end_of_run(rows, number, neighbourhood.near, place, column.end)
        mixed = max(highest, rows[neighbourhood.near[place], number]) == missing
        part = weight * set_cost(space, number, values + 1, mixed)
        keep_if_profitable(neighbourhood, Slices(0, inside, 0, 0, place, after), priced, cost + part, cells)
        place = after


@kernel()
def shrink_range(
    space: Space, neighbourhood: Neighbourhood, column: Column, priced: PricedTuples, cells: CellPool
) -> None:
    """Keep, if profitable, cells without the lowest, or the highest, value of a range, without two of them, four and so on."""
    rows, number, inside, weight = priced.rows, column.number, column.inside, space.weight[column.number]
    low, high = rows[neighbourhood.inside[0], number], rows[neighbourhood.inside[inside - 1], number]
    place, values = end_of_run(rows, number, neighbourhood.inside, 0, inside), 1
    while place < inside:
        if is_power_of_two(values):
            part = weight * range_cost(space, number, rows[neighbourhood.inside[place], number], high)
            keep_if_profitable(neighbourhood, Slices(place, inside, 0, 0, 0, 0), priced, column.cost + part, cells)
        place, values = end_of_run(rows, number, neighbourhood.inside, place, inside), values + 1
    place, values = start_of_run(rows, number, neighbourhood.inside, inside, 0), 1
    while place > 0:
        if is_power_of_two(values):
            part = weight * range_cost(space, number, low, rows[neighbourhood.inside[place - 1], number])
            keep_if_profitable(neighbourhood, Slices(0, place, 0, 0, 0, 0), priced, column.cost + part, cells)
        place, values = start_of_run(rows, number, neighbourhood.inside, place, 0), values + 1


@kernel()
def widen_range(
    space: Space, neighbourhood: Neighbourhood, column: Column, priced: PricedTuples, cells: CellPool
) -> None:
    """Keep, if profitable, cells with the next value below a range, or above it, with two of them, four and so on."""
    rows, number, inside, weight = priced.rows, column.number, column.inside, space.weight[column.number]
    low, high = rows[neighbourhood.inside[0], number], rows[neighbourhood.inside[inside - 1], number]
    above = column.begin
    while above < column.end and rows[neighbourhood.near[above], number] < low:
        above += 1
    place, values = above, 0
    while place > column.begin:
        place, values = start_of_run(rows, number, neighbourhood.near, place, column.begin), values + 1
        if is_power_of_two(values):
            part = weight * range_cost(space, number, rows[neighbourhood.near[place], number], high)
            keep_if_profitable(neighbourhood, Slices(0, inside, 0, 0, place, above), priced, column.cost + part, cells)
    place, values = above, 0
    while place < column.end:
        place, values = end_of_run(rows, number, neighbourhood.near, place, column.end), values + 1
        if is_power_of_two(values):
            part = weight * range_cost(space, number, low, rows[neighbourhood.near[place - 1], number])
            keep_if_profitable(neighbourhood, Slices(0, inside, 0, 0, above, place), priced, column.cost + part, cells)


@kernel()
def vary_node(
    space: Space, neighbourhood: Neighbourhood, column: Column, priced: PricedTuples, cells: CellPool
) -> None:
    """Keep, if profitable, cells of each child of a node, and of its closest ancestor that holds more."""
    rows, number, inside, weight = priced.rows, column.number, column.inside, space.weight[column.number]
    low, high = rows[neighbourhood.inside[0], number], rows[neighbourhood.inside[inside - 1], number]
    node, place = find_node(space, number, low, high), 0
    while place < inside and low < high:
        after, code = place, rows[neighbourhood.inside[place], number]
        child = child_above(space, number, node, code)
        while after < inside and child_above(space, number, node, rows[neighbourhood.inside[after], number]) == child:
            after += 1
        part = weight * range_cost(space, number, code, rows[neighbourhood.inside[after - 1], number])
        keep_if_profitable(neighbourhood, Slices(place, after, 0, 0, 0, 0), priced, column.cost + part, cells)
        place = after
    first, last, least = column.begin, column.begin, np.inf
    for place in range(column.begin, column.end):
        code = rows[neighbourhood.near[place], number]
        part = range_cost(space, number, min(low, code), max(high, code))
        if part < least:
            first, least = place, part
        if part == least:
            last = place + 1
    if last > first:
        keep_if_profitable(
            neighbourhood, Slices(0, inside, 0, 0, first, last), priced, column.cost + weight * least, cells
        )


@kernel()
def vary(
    space: Space, cover: Cover, group: int, neighbourhood: Neighbourhood, priced: PricedTuples, cells: CellPool
) -> None:
    """Keep, if profitable, the cell of a group and its variants."""
    inside, near = find_neighbourhood(space, priced.rows, cover, group, neighbourhood)
    sort_by_key(neighbourhood.near[:near], neighbourhood.away[:near])
    columns, total = priced.rows.shape[1], 0.0
    for number in range(columns):
        total += space.weight[number] * column_cost(space, cover, number, group)
    keep_if_profitable(neighbourhood, Slices(0, inside, 0, 0, 0, 0), priced, total, cells)
    key, begin = np.empty(inside, np.int64), 0
    for number in range(columns):
        end = begin
        while end < near and lies_outside(space, cover, group, number, priced.rows[neighbourhood.near[end], number]):
            end += 1
        for place in range(inside):
            key[place] = priced.rows[neighbourhood.inside[place], number]
        sort_by_key(neighbourhood.inside[:inside], key)
        cost = total - space.weight[number] * column_cost(space, cover, number, group)
        column = Column(number, inside, begin, end, cost)
        if has_members(space.kind[number]):  # a set, a range and a node have neighbours of their own
            vary_set(space, neighbourhood, column, priced, cells)
        elif has_order(space.kind[number]):
            shrink_range(space, neighbourhood, column, priced, cells)
            widen_range(space, neighbourhood, column, priced, cells)
        else:
            vary_node(space, neighbourhood, column, priced, cells)
        begin = end


@kernel()
def vary_all(space: Space, cover: Cover, first: int, budget: int, priced: PricedTuples, cells: CellPool) -> int:
    """Keep, if profitable, the cells of groups and their variants, from one group on, until ``budget`` visits of tuples are made or the pool is full.

    Returns the group that comes next, 0 after the last one.
    """
    neighbourhood, groups = make_neighbourhood(priced.rows.shape[0]), cover.size.shape[0]
    for turn in range(groups):
        group = int((first + turn) % groups)
        if cells.used[1] or neighbourhood.visits[0] >= budget:
            return group
        vary(space, cover, group, neighbourhood, priced, cells)
    return 0
