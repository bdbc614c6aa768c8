"""Top-Down local recoding: which side of a cut each record goes to (Xu et al. 2006, section 4.2, Figure 5).

Nearly every record lies inside the box of one side and would raise the cost of the other by so much that no costs need to be
added up: a lower bound on that rise is kept for each column. In a hierarchy a box reaches as far as it can at the same cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.bits import holds_code, set_code
from shoal.kernels.space.kinds import first_leaves, has_members, has_tree
from shoal.kernels.space.packing import Packing, find_outside, unpack_code
from shoal.kernels.space.range_costs import RangeCosts, cost_with_code, cover_by_group
from shoal.kernels.space.space import Cover, Space, find_node
from shoal.kernels.top_down.columns import Columns, code_at, cost_at

_ROUNDING = 1e-15  # a few times what one addition can be wrong by


class Sides(NamedTuple):
    """Room for the two sides of a cut."""

    is_second: BoolArray
    """Whether a row goes to the second side."""
    cover: Cover
    """The box of each side, in the columns that differ."""
    low: WordArray
    """The low ends of the boxes, packed."""
    high: WordArray
    """The high ends of the boxes, packed."""
    rise: FloatArray
    """By how much a side's cost rises at least when it takes in a row that lies outside its box, by the number of a guard."""
    doubt: float
    """By how much a penalty can be wrong through rounding, at most, for each row of the part."""
    node_low: IntArray
    """NODE columns: the smallest leaf code below each node, as ``node_high`` of a space is the largest."""


@kernel()
def make_sides(space: Space, packing: Packing, records: int) -> Sides:
    """Return room for cutting parts of at most so many records."""
    words = packing.guard.shape[0]
    return Sides(
        np.empty(records, np.bool_),
        cover_by_group(space, 2),
        np.zeros((words, 2), np.uint64),
        np.zeros((words, 2), np.uint64),
        np.zeros((2, 64 * words)),
        _ROUNDING * (space.kind.shape[0] + 10) * space.weight.sum(),
        first_leaves(space),
    )


@kernel(allocates=False)
def _add_to_sets(space: Space, packing: Packing, cover: Cover, side: int, rows: WordArray, row: int) -> None:
    """Add the values of a row in SET columns to those of a side."""
    for column in range(space.kind.shape[0]):
        if has_members(space.kind[column]):
            code = unpack_code(packing, rows, row, column)
            set_code(cover.words[side], space.word_start[column], code)


@kernel(allocates=False)
def _lies_in_sets(space: Space, packing: Packing, cover: Cover, side: int, rows: WordArray, row: int) -> bool:
    """Return whether a side has the values of a row in SET columns already."""
    inside = True
    for column in range(space.kind.shape[0]):
        if has_members(space.kind[column]):
            code = unpack_code(packing, rows, row, column)
            inside &= holds_code(cover.words[side], space.word_start[column], code)
    return inside


@kernel(inline=True, allocates=False)
def _set_range(
    space: Space, costs: RangeCosts, columns: Columns, sides: Sides, side: int, place: int, low: int, high: int
) -> None:
    """Let the box of a side reach from ``low`` to ``high`` in a column, in a hierarchy also as far as that costs nothing."""
    rise = 0.0
    if not has_members(columns.kind[place]):
        cost = cost_at(space, costs, columns, place, low, high)
        if space.weight[columns.number[place]] == 0.0:
            low, high = 0, columns.codes[place] - 1
        elif has_tree(columns.kind[place]):
            start = space.start[columns.number[place]]
            node = start + find_node(space, columns.number[place], low, high)
            low, high = sides.node_low[node], space.node_high[node]
        rise = np.inf
        if low > 0:
            rise = cost_at(space, costs, columns, place, low - 1, high) - cost
        if high < columns.codes[place] - 1:
            rise = min(rise, cost_at(space, costs, columns, place, low, high + 1) - cost)
    sides.cover.low[columns.number[place], side], sides.cover.high[columns.number[place], side] = low, high
    sides.rise[side, columns.guard[place]] = rise
    word, shift = columns.word[place], columns.shift[place]
    field = columns.mask[place] << shift
    sides.low[word, side] = (sides.low[word, side] & ~field) | (np.uint64(low) << shift)
    sides.high[word, side] = (sides.high[word, side] & ~field) | (np.uint64(high) << shift)


@kernel(inline=True, allocates=False)
def _widen(
    space: Space, costs: RangeCosts, columns: Columns, sides: Sides, side: int, rows: WordArray, row: int
) -> None:
    """Widen the box of a side by a row."""
    for place in range(columns.found[0]):
        column, code = columns.number[place], code_at(columns, rows, row, place)
        low, high = sides.cover.low[column, side], sides.cover.high[column, side]
        if code < low or high < code:
            _set_range(space, costs, columns, sides, side, place, min(low, code), max(high, code))


@kernel(allocates=False)
def _start_sides(
    space: Space,
    costs: RangeCosts,
    packing: Packing,
    columns: Columns,
    sides: Sides,
    rows: WordArray,
    one: int,
    other: int,
) -> None:
    """Make two sides of one row each."""
    for side, seed in enumerate((one, other)):
        for word in range(rows.shape[0]):
            sides.low[word, side] = sides.high[word, side] = rows[word, seed]
        for place in range(columns.found[0]):
            code = code_at(columns, rows, seed, place)
            _set_range(space, costs, columns, sides, side, place, code, code)
        for word in range(sides.cover.words.shape[1]):
            sides.cover.words[side, word] = 0
        if sides.cover.words.shape[1] > 0:
            _add_to_sets(space, packing, sides.cover, side, rows, seed)


@kernel(inline=True, allocates=False)
def _cost_with_row(
    space: Space, costs: RangeCosts, columns: Columns, cover: Cover, side: int, rows: WordArray, row: int
) -> float:
    """Return the weighted cost of a side once it takes in a row."""
    total = 0.0
    for place in range(columns.found[0]):
        column, code = columns.number[place], code_at(columns, rows, row, place)
        if has_members(columns.kind[place]):
            total += cost_with_code(space, costs, cover, side, column, code)
        else:
            low, high = min(cover.low[column, side], code), max(cover.high[column, side], code)
            total += cost_at(space, costs, columns, place, low, high)
    return total


@kernel(allocates=False)
def assign_to_seeds(
    space: Space,
    costs: RangeCosts,
    packing: Packing,
    rows: WordArray,
    one: int,
    other: int,
    columns: Columns,
    sides: Sides,
) -> int:
    """Return which rows go to the second side: a row goes where it raises the penalty least; ties go to the smaller side, then to the first.

    Returns the number of rows of the second side.
    """
    _start_sides(space, costs, packing, columns, sides, rows, one, other)
    cover, is_second, rise = sides.cover, sides.is_second, sides.rise
    has_sets = cover.words.shape[1] > 0
    doubt = sides.doubt * rows.shape[1]
    size, cost, second_size, second_cost = 1.0, 0.0, 1.0, 0.0
    for row in range(rows.shape[1]):
        out, guard = find_outside(packing, sides.low, sides.high, 0, rows, row)
        second_out, second_guard = find_outside(packing, sides.low, sides.high, 1, rows, row)
        if has_sets:
            out = out or not _lies_in_sets(space, packing, cover, 0, rows, row)
            second_out = second_out or not _lies_in_sets(space, packing, cover, 1, rows, row)
        least = cost + (size + 1) * rise[0, guard]
        second_least = second_cost + (second_size + 1) * rise[1, second_guard]
        to_first = (not out) & (second_least > cost + doubt)
        to_second = (not second_out) & (least > second_cost + doubt)
        if row == one or row == other:
            is_second[row] = row == other
        elif to_first | to_second:
            is_second[row] = to_second
            size += to_first
            second_size += to_second
        else:
            first, second = cost, second_cost
            if out:
                first = _cost_with_row(space, costs, columns, cover, 0, rows, row)
            if second_out:
                second = _cost_with_row(space, costs, columns, cover, 1, rows, row)
            growth = (size + 1) * first - size * cost
            second_growth = (second_size + 1) * second - second_size * second_cost
            goes_second = second_growth < growth or (second_growth == growth and second_size < size)
            is_second[row] = goes_second
            if goes_second:
                second_size, second_cost = second_size + 1, second
            else:
                size, cost = size + 1, first
            if second_out if goes_second else out:
                _widen(space, costs, columns, sides, int(goes_second), rows, row)
                if has_sets:
                    _add_to_sets(space, packing, cover, int(goes_second), rows, row)
    return int(second_size)
