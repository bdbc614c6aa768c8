"""Top-Down local recoding, the partitioning (Xu et al. 2006, section 4.2, Figure 5).

A part of the table is cut in two: two records far apart are its seeds, every other record goes to the side whose
penalty it raises least. Records are kept as in Mondrian, as rows of a working copy in which a part is a contiguous
block; they come in random order and keep it, so the order of assignment in each part is random and its first row
a random start.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.mondrian import Parts, sort_rows
from shoal.kernels.range_costs import RangeCosts, cost_with_record, cover_by_group
from shoal.kernels.space import SET, Space, add_record, range_cost, set_cost
from shoal.typing import IntArray, LongArray


@kernel()
def pair_cost(space: Space, costs: RangeCosts, rows: IntArray, one: int, other: int) -> float:
    """Return the weighted cost of releasing two rows together."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        a, b = rows[one, column], rows[other, column]
        if a == b:
            continue
        if costs.start[column] >= 0:
            total += costs.table[costs.start[column] + a * space.cardinality[column] + b]
        elif space.kind[column] == SET:
            total += space.weight[column] * set_cost(space, column, 2, max(a, b) == space.missing[column])
        else:
            total += space.weight[column] * range_cost(space, column, min(a, b), max(a, b))
    return total


@kernel()
def find_seeds(
    space: Space, costs: RangeCosts, rows: IntArray, begin: int, end: int, rounds: int
) -> tuple[int, int, float]:
    """Return two rows far apart and their cost.

    From the first row on, each round takes the row farthest from the last one found (the earliest among
    equals); it ends early when a round finds no dearer pair.
    """
    one, other, most = begin, begin, 0.0
    for _ in range(rounds):
        found = -1
        for row in range(begin, end):
            cost = pair_cost(space, costs, rows, other, row)
            if cost > most:
                found, most = row, cost
        if found < 0:
            break
        one, other = other, found
    return one, other, most


@kernel()
def assign_to_seeds(
    space: Space, costs: RangeCosts, rows: IntArray, begin: int, end: int, seeds: IntArray, side: IntArray
) -> None:
    """Set the side of each row: the one whose penalty it raises least, of equals the smaller, then the first."""
    codes = rows.T
    sides = cover_by_group(space, 2)
    cost = np.zeros(2)
    for one in range(2):
        add_record(space, sides, one, codes, seeds[one])
        side[seeds[one] - begin] = one
    for row in range(begin, end):
        if row == seeds[0] or row == seeds[1]:
            continue
        first = cost_with_record(space, costs, sides, 0, codes, row, np.inf)
        second = cost_with_record(space, costs, sides, 1, codes, row, np.inf)
        first_growth = (sides.size[0] + 1) * first - sides.size[0] * cost[0]
        second_growth = (sides.size[1] + 1) * second - sides.size[1] * cost[1]
        chosen = 0
        if second_growth < first_growth or (second_growth == first_growth and sides.size[1] < sides.size[0]):
            chosen = 1
        cost[chosen] = second if chosen else first
        add_record(space, sides, chosen, codes, row)
        side[row - begin] = chosen


@kernel()
def cut_part(
    space: Space, costs: RangeCosts, parts: Parts, begin: int, end: int, k: int, rounds: int, bounds: LongArray
) -> bool:
    """Cut a part in two; False, and nothing is done, when neither side would keep k records."""
    one, other, most = find_seeds(space, costs, parts.rows, begin, end, rounds)
    if most == 0.0:
        other = end - 1  # all alike: any two rows serve
    side = np.empty(end - begin, np.int32)
    seeds = np.array([one, other], np.int32)
    assign_to_seeds(space, costs, parts.rows, begin, end, seeds, side)
    second = side.sum()
    if second < k and end - begin - second < k:
        return False
    sort_rows(parts, begin, end, side, 2, bounds)
    return True


@kernel()
def partition(space: Space, costs: RangeCosts, parts: Parts, k: int, rounds: int, budget: int) -> bool:
    """Cut parts from the stack until ``budget`` records were touched; True when nothing is left to cut."""
    touched = 0
    bounds = np.empty(3, np.int64)
    while parts.depth[0] > 0 and touched < budget:
        parts.depth[0] -= 1
        begin, end = parts.begin[parts.depth[0]], parts.end[parts.depth[0]]
        touched += end - begin
        if end - begin > k and cut_part(space, costs, parts, begin, end, k, rounds, bounds):
            for one in range(1, -1, -1):  # the first side is cut first
                parts.begin[parts.depth[0]], parts.end[parts.depth[0]] = bounds[one], bounds[one + 1]
                parts.depth[0] += 1
        else:
            for row in range(begin, end):
                parts.label[parts.record[row]] = parts.depth[1]
            parts.depth[1] += 1
            parts.depth[2] += end - begin
    return parts.depth[0] == 0
