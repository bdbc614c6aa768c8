"""Variants: the cell that a group fills, and the cells that differ from it in one column.

Where columns have windows of numbers or sets, no walk can go through all cells. Good ones are near the groups of a good
grouping: one value less or more of a set, an end of a range moved in or out, a child or the parent of a node. One pass over
the tuples finds all that a wider cell holds besides, for they are outside in one column only. With prices for records
this is column generation: variants that are worth something at the prices are kept, and better the prices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_worth import STEPS, Cells, cell_worth, keep_cell
from shoal.kernels.sorting import order_by_key
from shoal.kernels.space import (
    INTERVAL,
    SET,
    Cover,
    Space,
    child_above,
    column_cost,
    find_node,
    holds_code,
    range_cost,
    set_cost,
)
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
    k: int
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


class Slices(NamedTuple):
    """Which tuples a variant holds, as places: of those inside from ``first`` to ``last``, without ``out`` to ``back``; of those near from ``begin`` to ``end``."""

    first: int
    last: int
    out: int
    back: int
    begin: int
    end: int


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
def sort_places(values: IntArray, key: LongArray) -> None:
    """Sort tuples by their keys."""
    order, old = order_by_key(key), values.copy()
    for place in range(values.shape[0]):
        values[place] = old[order[place]]


@kernel()
def offer(around: Around, slices: Slices, buyers: Buyers, cost: float, cells: Cells) -> None:
    """Keep a variant that holds k records and lacks little."""
    size = 0
    for place in range(slices.first, slices.last):
        if place < slices.out or place >= slices.back:
            around.member[size] = around.inside[place]
            size += 1
    for place in range(slices.begin, slices.end):
        around.member[size] = around.near[place]
        size += 1
    records, member = 0, around.member[:size]
    for place in range(size):
        records += buyers.many[member[place]]
    if records < buyers.k:
        return
    worth = cell_worth(member, cost, buyers.price, buyers.many, buyers.k, buyers.allowed, around.steps, around.taken)
    if worth > 0.0:
        keep_cell(cells, member, cost)


@kernel(allocates=False)
def end_of_run(rows: IntArray, column: int, tuples: IntArray, place: int, last: int) -> int:
    """Return the place after the last tuple that has the same code as that at ``place``."""
    code = rows[tuples[place], column]
    while place < last and rows[tuples[place], column] == code:
        place += 1
    return place


@kernel()
def vary_set(
    space: Space,
    around: Around,
    inside: int,
    begin: int,
    end: int,
    column: int,
    buyers: Buyers,
    cost: float,
    cells: Cells,
) -> None:
    """Offer cells with one value of a set less, or one more; ``cost`` is that of the other columns."""
    rows, weight, missing = buyers.rows, space.weight[column], space.missing[column]
    values, place = 0, 0
    while place < inside:
        place, values = end_of_run(rows, column, around.inside, place, inside), values + 1
    highest, place = rows[around.inside[inside - 1], column], 0
    while place < inside and values > 1:
        after = end_of_run(rows, column, around.inside, place, inside)
        mixed = after < inside and highest == missing
        part = weight * set_cost(space, column, values - 1, mixed)
        offer(around, Slices(0, inside, place, after, 0, 0), buyers, cost + part, cells)
        place = after
    place = begin
    while place < end:
        after = end_of_run(rows, column, around.near, place, end)
        mixed = max(highest, rows[around.near[place], column]) == missing
        part = weight * set_cost(space, column, values + 1, mixed)
        offer(around, Slices(0, inside, 0, 0, place, after), buyers, cost + part, cells)
        place = after


@kernel(allocates=False)
def start_of_run(rows: IntArray, column: int, tuples: IntArray, place: int, first: int) -> int:
    """Return the place of the first tuple that has the same code as the one before ``place``."""
    code = rows[tuples[place - 1], column]
    while place > first and rows[tuples[place - 1], column] == code:
        place -= 1
    return place


@kernel()
def vary_range(
    space: Space,
    around: Around,
    inside: int,
    begin: int,
    end: int,
    column: int,
    buyers: Buyers,
    cost: float,
    cells: Cells,
) -> None:
    """Offer cells with ends of a range moved in or out by one value, by two, by four and so on; ``cost`` is that of the other columns."""
    rows, weight = buyers.rows, space.weight[column]
    low, high = rows[around.inside[0], column], rows[around.inside[inside - 1], column]
    place, values = end_of_run(rows, column, around.inside, 0, inside), 1
    while place < inside:
        if values & (values - 1) == 0:
            part = weight * range_cost(space, column, rows[around.inside[place], column], high)
            offer(around, Slices(place, inside, 0, 0, 0, 0), buyers, cost + part, cells)
        place, values = end_of_run(rows, column, around.inside, place, inside), values + 1
    place, values = start_of_run(rows, column, around.inside, inside, 0), 1
    while place > 0:
        if values & (values - 1) == 0:
            part = weight * range_cost(space, column, low, rows[around.inside[place - 1], column])
            offer(around, Slices(0, place, 0, 0, 0, 0), buyers, cost + part, cells)
        place, values = start_of_run(rows, column, around.inside, place, 0), values + 1
    above = begin
    while above < end and rows[around.near[above], column] < low:
        above += 1
    place, values = above, 0
    while place > begin:
        place, values = start_of_run(rows, column, around.near, place, begin), values + 1
        if values & (values - 1) == 0:
            part = weight * range_cost(space, column, rows[around.near[place], column], high)
            offer(around, Slices(0, inside, 0, 0, place, above), buyers, cost + part, cells)
    place, values = above, 0
    while place < end:
        place, values = end_of_run(rows, column, around.near, place, end), values + 1
        if values & (values - 1) == 0:
            part = weight * range_cost(space, column, low, rows[around.near[place - 1], column])
            offer(around, Slices(0, inside, 0, 0, above, place), buyers, cost + part, cells)


@kernel()
def vary_node(
    space: Space,
    around: Around,
    inside: int,
    begin: int,
    end: int,
    column: int,
    buyers: Buyers,
    cost: float,
    cells: Cells,
) -> None:
    """Offer cells of each child of a node, and of its closest ancestor that holds more; ``cost`` is that of the other columns."""
    rows, weight, start = buyers.rows, space.weight[column], space.start[column]
    low, high = rows[around.inside[0], column], rows[around.inside[inside - 1], column]
    node, place = find_node(space, column, low, high), 0
    while place < inside and low < high:
        after, code = place, rows[around.inside[place], column]
        child = child_above(space, column, node, code)
        while after < inside and child_above(space, column, node, rows[around.inside[after], column]) == child:
            after += 1
        part = weight * range_cost(space, column, code, rows[around.inside[after - 1], column])
        offer(around, Slices(place, after, 0, 0, 0, 0), buyers, cost + part, cells)
        place = after
    first, last, least = begin, begin, np.inf
    for place in range(begin, end):
        code = rows[around.near[place], column]
        price = space.node_cost[start + find_node(space, column, min(low, code), max(high, code))]
        if price < least:
            first, least = place, price
        if price == least:
            last = place + 1
    if last > first:
        offer(around, Slices(0, inside, 0, 0, first, last), buyers, cost + weight * least, cells)


@kernel()
def vary(space: Space, cover: Cover, group: int, around: Around, buyers: Buyers, cells: Cells) -> None:
    """Offer the cell of a group and its variants."""
    inside, near = look_around(space, buyers.rows, cover, group, around)
    sort_places(around.near[:near], around.away[:near])
    columns, total = buyers.rows.shape[1], 0.0
    for column in range(columns):
        total += space.weight[column] * column_cost(space, cover, column, group)
    offer(around, Slices(0, inside, 0, 0, 0, 0), buyers, total, cells)
    key, begin = np.empty(inside, np.int64), 0
    for column in range(columns):
        end = begin
        while end < near and lies_outside(space, cover, group, column, buyers.rows[around.near[end], column]):
            end += 1
        for place in range(inside):
            key[place] = buyers.rows[around.inside[place], column]
        sort_places(around.inside[:inside], key)
        cost = total - space.weight[column] * column_cost(space, cover, column, group)
        if space.kind[column] == SET:
            vary_set(space, around, inside, begin, end, column, buyers, cost, cells)
        elif space.kind[column] == INTERVAL:
            vary_range(space, around, inside, begin, end, column, buyers, cost, cells)
        else:
            vary_node(space, around, inside, begin, end, column, buyers, cost, cells)
        begin = end


@kernel()
def vary_all(space: Space, cover: Cover, buyers: Buyers, cells: Cells) -> None:
    """Offer the cells of all groups and their variants."""
    around = make_around(buyers.rows.shape[0])
    for group in range(cover.size.shape[0]):
        if cells.used[1] == 0:
            vary(space, cover, group, around, buyers, cells)
