"""Boxes opened on a table: each takes the ungrouped tuples inside it, if they are at least k records."""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.kinds import has_members, shown_range, shows_code
from shoal.kernels.space.space import Cover, Space


@kernel()
def shown_columns(space: Space, cover: Cover, box: int, low: IntArray, high: IntArray, column: LongArray) -> int:
    """Write the shown ends of a box, and the columns in which it does not show every code, narrow ones first; return their number.

    Narrow columns leave most tuples out, so that few others need be looked at.
    """
    columns, used = space.kind.shape[0], 0
    share = np.empty(columns)
    for one in range(columns):
        low[one], high[one] = shown_range(space, one, cover.low[one, box], cover.high[one, box])
        wide = (high[one] - low[one] + 1) / space.cardinality[one]
        if wide >= 1.0 and not has_members(space.kind[one]):
            continue
        place = used
        while place > 0 and share[place - 1] > wide:
            share[place], column[place] = share[place - 1], column[place - 1]
            place -= 1
        share[place], column[place] = wide, one
        used += 1
    return used


@kernel()
def open_boxes(
    space: Space, rows: IntArray, multiplicity: IntArray, cover: Cover, order: LongArray, k: int, label: IntArray
) -> int:
    """Open the boxes of a cover in an order; write the group of each tuple and return the number of groups.

    ``label`` is -1 for the tuples that no box takes. A box whose ungrouped tuples have fewer than k records stays closed.
    """
    tuples, columns = rows.shape
    low, high, column = np.empty(columns, np.int32), np.empty(columns, np.int32), np.empty(columns, np.int64)
    alive, inside = np.arange(tuples).astype(np.int32), np.empty(tuples, np.bool_)
    left, groups = tuples, 0
    for box in order:
        used, records = shown_columns(space, cover, box, low, high, column), 0
        for place in range(left):
            one, within = alive[place], True
            for number in range(used):
                at = column[number]
                code = rows[one, at]
                within = low[at] <= code <= high[at]
                if within and has_members(space.kind[at]):
                    within = shows_code(space, cover.words[box], at, low[at], high[at], code)
                if not within:
                    break
            inside[place] = within
            records += within * multiplicity[one]
        if records < k:
            continue
        stay = 0
        for place in range(left):
            if inside[place]:
                label[alive[place]] = groups
            else:
                alive[stay] = alive[place]
                stay += 1
        left = stay
        groups += 1
    return groups
