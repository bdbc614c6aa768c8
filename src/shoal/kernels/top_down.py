"""Top-Down local recoding, the partitioning (Xu et al. 2006, section 4.2, Figure 5).

A part of the table is cut in two: two records far apart are its seeds, every other record goes to the side whose
penalty it raises least. Records are kept as in Mondrian, as rows of a working copy in which a part is a contiguous
block; they come in random order and keep it, so the order of assignment in each part is random and its first row
a random start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.mondrian import Parts, sort_rows
from shoal.kernels.range_costs import RangeCosts, cost_with_record, cover_by_group
from shoal.kernels.space import SET, Cover, Space, add_record, holds_code, range_cost, set_cost
from shoal.typing import FloatArray, IntArray, LongArray


class Sides(NamedTuple):
    """Room for the two sides of a cut."""

    cover: Cover
    """The box of each side."""
    cost: FloatArray
    """What a side costs, for each of its records."""
    of_row: IntArray
    """The side of each row, counted from the first row of the part."""


@kernel()
def make_sides(space: Space, records: int) -> Sides:
    """Return room for cutting parts of at most so many records."""
    return Sides(cover_by_group(space, 2), np.zeros(2), np.empty(records, np.int32))


@kernel()
def find_seeds(
    space: Space, costs: RangeCosts, rows: IntArray, begin: int, end: int, rounds: int
) -> tuple[int, int, float]:
    """Return two rows far apart and their cost.

    From the first row on, each round takes the row farthest from the last one found (the earliest among
    equals); it ends early when a round finds no dearer pair.
    """
    start = np.empty(space.kind.shape[0], np.int64)
    one, other, most = begin, begin, 0.0
    for _ in range(rounds):
        found, most = _find_farthest(space, costs, rows, begin, end, other, most, start)
        if found < 0:
            break
        one, other = other, found
    return one, other, most


@kernel(allocates=False)
def _find_farthest(
    space: Space,
    costs: RangeCosts,
    rows: IntArray,
    begin: int,
    end: int,
    one: int,
    most: float,
    start: LongArray,
) -> tuple[int, float]:
    """Return the row that makes the dearest pair with row ``one`` and the pair's cost; -1 when none is above ``most``."""
    for column in range(space.kind.shape[0]):  # where the costs of pairs with this code stand
        start[column] = costs.start[column]
        if start[column] >= 0:
            start[column] += rows[one, column] * space.cardinality[column]
    found = -1
    for row in range(begin, end):
        total = 0.0
        for column in range(space.kind.shape[0]):
            if start[column] >= 0:
                total += costs.table[np.uint64(start[column] + rows[row, column])]
            else:
                total += _pair_cost_in(space, column, rows[one, column], rows[row, column])
        if total > most:
            found, most = row, total
    return found, most


@kernel(allocates=False)
def _pair_cost_in(space: Space, column: int, one: int, other: int) -> float:
    """Return the weighted cost of releasing two codes together."""
    if one == other:
        return 0.0
    low, high = min(one, other), max(one, other)
    if space.kind[column] == SET:
        return space.weight[column] * set_cost(space, column, 2, high == space.missing[column])
    return space.weight[column] * range_cost(space, column, low, high)


@kernel(allocates=False)
def _lies_inside(space: Space, cover: Cover, group: int, rows: IntArray, row: int) -> bool:
    """Tell whether a group's cover holds a row already."""
    inside = True
    for column in range(space.kind.shape[0]):
        code = rows[row, column]
        inside &= (cover.low[column, group] <= code) & (code <= cover.high[column, group])
    if inside and cover.words.shape[1] > 0:
        for column in range(space.kind.shape[0]):
            if space.kind[column] == SET:
                inside &= holds_code(cover.words[group], space.word_start[column], rows[row, column])
    return inside


@kernel(allocates=False)
def assign_to_seeds(
    space: Space, costs: RangeCosts, rows: IntArray, begin: int, end: int, one: int, other: int, sides: Sides
) -> int:
    """Set the side of each row: the one whose penalty it raises least, of equals the smaller, then the first.

    Most rows lie inside the boxes and cost nothing new, which is quick to see. Returns the number of rows of the second side.
    """
    cover, size, cost = sides.cover, sides.cover.size, sides.cost
    cover.words[:] = 0
    for chosen, seed in enumerate((one, other)):
        size[chosen], cost[chosen] = 0, 0.0
        add_record(space, cover, chosen, rows.T, seed)
        sides.of_row[seed - begin] = chosen
    for row in range(begin, end):
        if row == one or row == other:
            continue
        first, second = cost[0], cost[1]
        in_first = _lies_inside(space, cover, 0, rows, row)
        in_second = _lies_inside(space, cover, 1, rows, row)
        if not in_first:
            first = cost_with_record(space, costs, cover, 0, rows.T, row, np.inf)
        if not in_second:
            second = cost_with_record(space, costs, cover, 1, rows.T, row, np.inf)
        first_growth = (size[0] + 1) * first - size[0] * cost[0]
        second_growth = (size[1] + 1) * second - size[1] * cost[1]
        chosen = 0
        if second_growth < first_growth or (second_growth == first_growth and size[1] < size[0]):
            chosen = 1
        cost[chosen] = second if chosen else first
        sides.of_row[row - begin] = chosen
        if in_second if chosen else in_first:
            size[chosen] += 1
        else:
            add_record(space, cover, chosen, rows.T, row)
    return size[1]


@kernel()
def cut_part(
    space: Space,
    costs: RangeCosts,
    parts: Parts,
    begin: int,
    end: int,
    k: int,
    rounds: int,
    sides: Sides,
    bounds: LongArray,
) -> bool:
    """Cut a part in two; False, and nothing is done, when neither side would keep k records."""
    one, other, most = find_seeds(space, costs, parts.rows, begin, end, rounds)
    if most == 0.0:
        other = end - 1  # all alike: any two rows serve
    second = assign_to_seeds(space, costs, parts.rows, begin, end, one, other, sides)
    if second < k and end - begin - second < k:
        return False
    sort_rows(parts, begin, end, sides.of_row, 2, bounds)
    return True


@kernel()
def partition(space: Space, costs: RangeCosts, parts: Parts, k: int, rounds: int, budget: int) -> bool:
    """Cut parts from the stack until ``budget`` records were touched; True when nothing is left to cut."""
    touched = 0
    bounds = np.empty(3, np.int64)
    sides = make_sides(space, parts.record.shape[0])
    while parts.depth[0] > 0 and touched < budget:
        parts.depth[0] -= 1
        begin, end = parts.begin[parts.depth[0]], parts.end[parts.depth[0]]
        touched += end - begin
        if end - begin > k and cut_part(space, costs, parts, begin, end, k, rounds, sides, bounds):
            for one in range(1, -1, -1):  # the first side is cut first
                parts.begin[parts.depth[0]], parts.end[parts.depth[0]] = bounds[one], bounds[one + 1]
                parts.depth[0] += 1
        else:
            for row in range(begin, end):
                parts.label[parts.record[row]] = parts.depth[1]
            parts.depth[1] += 1
            parts.depth[2] += end - begin
    return parts.depth[0] == 0
