"""A loss no grouping can be below: what each record costs together with the farthest of its k - 1 nearest records.

A group of a record has k - 1 others at least, so one of them is not a nearer than the (k - 1)-th nearest of all; and the group costs each of its
records at least what these two cost together. No cells are enumerated, so the bound holds its worth with many columns and at a large k.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.kinds import has_members
from shoal.kernels.space.range_costs import RangeCosts, weighted_cost
from shoal.kernels.space.space import Space, pair_cost

BINS = 1 << 14
"""Costs are cut to so many steps, downwards, so that the k - 1 nearest are found by counting."""
LOWERING = 1.0 - 1e-9
"""A bound is multiplied by this, which lowers it by more than rounding can have raised it."""


@kernel(allocates=False)
def cost_of_two(
    space: Space, costs: RangeCosts, one: IntArray, other: IntArray, column: LongArray, limit: float
) -> float:
    """Return what two tuples cost together, columns added up in an order; any value above ``limit`` once it is above."""
    total = 0.0
    for at in column:
        low, high = min(one[at], other[at]), max(one[at], other[at])
        if low == high:
            continue
        if has_members(space.kind[at]):
            total += space.weight[at] * pair_cost(space, at, low, high)
        else:
            total += weighted_cost(space, costs, at, low, high)
        if total > limit:
            break
    return total


@kernel()
def bound_by_pairs(
    space: Space,
    costs: RangeCosts,
    rows: IntArray,
    multiplicity: IntArray,
    column: LongArray,
    chosen: LongArray,
    k: int,
    bound: FloatArray,
) -> None:
    """Raise the bounds of the ``chosen`` tuples to what their nearest k - 1 others make certain; ``column`` is the order of columns."""
    step = 0.0
    for at in column:
        step += space.weight[at]
    step /= BINS
    count = np.zeros(BINS + 1, np.int64)
    for tuple_ in chosen:
        count[:] = 0
        last, inside = (
            BINS,
            multiplicity[tuple_],
        )  # at least k records are in the steps up to ``last``, once so many are known
        count[0] = inside
        for other in range(rows.shape[0]):
            if other == tuple_:
                continue
            cost = cost_of_two(space, costs, rows[tuple_], rows[other], column, (last + 1) * step)
            place = int(cost / step)
            if place > last:
                continue
            count[place] += multiplicity[other]
            inside += multiplicity[other]
            # ends: the steps are finite, and step 0 alone is never passed
            while last > 0 and inside - count[last] >= k:
                inside -= count[last]
                last -= 1
        bound[tuple_] = max(bound[tuple_], last * step * LOWERING)
