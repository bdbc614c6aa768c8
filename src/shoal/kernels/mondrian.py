"""Mondrian: cut the box of records again and again (LeFevre, DeWitt, Ramakrishnan 2006).

Records are kept as rows of a working copy that is reordered in place, so that a part of the table is a
contiguous block. A stack holds the parts still to be cut; ``run`` works on it for a bounded number of
touched records and returns, so that the caller can show progress and be interrupted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.sorting import order_by_key, order_falling, sort_codes
from shoal.kernels.space.bits import count_values, set_code
from shoal.kernels.space.kinds import has_members, has_order, has_tree
from shoal.kernels.space.space import Space, child_above, find_node, set_cost

NEAREST = 0
"""Strict, at the possible cut nearest to the median."""
MEDIAN = 1
"""Strict, at the median or not at all; sets by the order of their codes, as the papers' baseline treats categories."""
RELAXED = 2
"""Records at the median go to either side."""
VALUES = 3
"""As ``NEAREST``, but sets are cut where their values are halved, not their records."""


class Parts(NamedTuple):
    """The state of a run."""

    rows: IntArray
    """Codes, one row a record, reordered in place."""
    record: IntArray
    """The record each row belongs to."""
    label: IntArray
    """The group of each record; written when a part is final."""
    begin: LongArray
    """Stack of parts still to be cut: first row."""
    end: LongArray
    """Stack of parts still to be cut: row after the last."""
    depth: LongArray
    """[0]: size of the stack; [1]: number of final groups; [2]: records in final groups."""
    scratch_rows: IntArray
    scratch_record: IntArray


@kernel()
def start(codes: IntArray) -> Parts:
    """Return the state before the first cut: one part with all records."""
    columns, records = codes.shape
    rows = np.empty((records, columns), np.int32)
    for column in range(columns):
        for record in range(records):
            rows[record, column] = codes[column, record]
    parts = Parts(
        rows,
        np.arange(records).astype(np.int32),
        np.full(records, -1, np.int32),
        np.zeros(records + 1, np.int64),
        np.zeros(records + 1, np.int64),
        np.zeros(3, np.int64),
        np.empty((records, columns), np.int32),
        np.empty(records, np.int32),
    )
    parts.end[0] = records
    parts.depth[0] = 1
    return parts


@kernel()
def spread(space: Space, column: int, low: int, high: int) -> float:
    """Return how wide a part is in a column, as the paper has it: numbers by their share of the domain, categories by the order of their codes."""
    if low == high:
        return 0.0
    if high == space.missing[column]:
        return space.weight[column]
    if has_order(space.kind[column]):
        begin = space.start[column]
        return (
            space.weight[column] * (space.position[begin + high] - space.position[begin + low]) / space.domain[column]
        )
    return space.weight[column] * (high - low) / (space.cardinality[column] - 1)


@kernel()
def set_spread(space: Space, rows: IntArray, begin: int, end: int, column: int, low: int, high: int) -> float:
    """Return how wide a part is in a SET column, as it is released: by how many values it holds, wherever they lie."""
    words = np.zeros((high - low) // 64 + 1, np.uint64)
    for row in range(begin, end):
        set_code(words, 0, rows[row, column] - low)
    count = count_values(words, 0, words.shape[0])
    return space.weight[column] * set_cost(space, column, count, high == space.missing[column])


@kernel()
def copy_codes(rows: IntArray, begin: int, end: int, column: int) -> IntArray:
    """Return the codes of a part in one column."""
    codes = np.empty(end - begin, np.int32)
    for row in range(begin, end):
        codes[row - begin] = rows[row, column]
    return codes


@kernel(allocates=False)
def find_code(values: IntArray, count: int, code: int) -> int:
    """Return the place of a code among the first ``count`` values, which rise."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low


@kernel()
def rank_by_frequency(codes: IntArray) -> None:
    """Replace each code by its rank among those that occur: 0 for the most frequent; ties go to the lowest code.

    A set has no order of its own; in this one a cut leaves frequent values, which are few, apart from rare ones, which are many.
    """
    values = codes.copy()
    sort_codes(values)
    count = np.zeros(values.shape[0], np.int64)
    distinct = 0
    for place in range(values.shape[0]):
        if place == 0 or values[place] != values[distinct - 1]:
            values[distinct] = values[place]
            distinct += 1
        count[distinct - 1] -= 1  # the most frequent first
    order = order_by_key(count[:distinct])
    rank = np.empty(distinct, np.int32)
    for place in range(distinct):
        rank[order[place]] = place
    for row in range(codes.shape[0]):
        codes[row] = rank[find_code(values, distinct, codes[row])]


@kernel()
def median_cut(codes: IntArray, k: int) -> int:
    """Return the median code if a strict cut after it leaves k on both sides, else -1."""
    size = codes.shape[0]
    values = codes.copy()
    sort_codes(values)
    median, left = values[(size - 1) // 2], (size + 1) // 2
    while left < size and values[left] == median:
        left += 1
    return median if k <= left <= size - k else -1


@kernel()
def nearest_cut(codes: IntArray, k: int) -> int:
    """Return the code after which a strict cut leaves the halves most even, both at least k; -1 if none does.

    Of two cuts equally even the lower is taken.
    """
    size = codes.shape[0]
    low = high = codes[0]
    for code in codes:
        low, high = min(low, code), max(high, code)
    if high - low + 1 <= 4 * size:
        counts = np.zeros(high - low + 1, np.int64)
        for code in codes:
            counts[code - low] += 1
        best, best_gap, left = -1, size + 1, 0
        for code in range(low, high):
            left += counts[code - low]
            gap = abs(2 * left - size)
            if counts[code - low] > 0 and left >= k and size - left >= k and gap < best_gap:
                best, best_gap = code, gap
        return best
    values = codes.copy()
    sort_codes(values)
    best, best_gap = -1, size + 1
    for left in range(k, size - k + 1):
        gap = abs(2 * left - size)
        if values[left - 1] != values[left] and gap < best_gap:
            best, best_gap = values[left - 1], gap
    return best


@kernel()
def halve_values(ranks: IntArray, k: int) -> int:
    """Return the rank after which a strict cut halves the values most evenly with k records on both sides; -1 if there is none.

    ``ranks`` are the values of records, 0 for the most frequent. Of two cuts equally even the lower is taken.
    """
    size, values = ranks.shape[0], ranks.max() + 1
    counts = np.zeros(values, np.int64)
    for rank in ranks:
        counts[rank] += 1
    best, best_gap, left = -1, values + 1, 0
    for rank in range(values - 1):
        left += counts[rank]
        gap = abs(2 * (rank + 1) - values)
        if left >= k and size - left >= k and gap < best_gap:
            best, best_gap = rank, gap
    return best


@kernel()
def sort_rows(parts: Parts, begin: int, end: int, side: IntArray, sides: int, bounds: LongArray) -> None:
    """Reorder a part stably by the side (0..sides-1) of each row; ``bounds`` receives where each side begins."""
    for one in range(sides + 1):
        bounds[one] = 0
    for row in range(begin, end):
        bounds[side[row - begin] + 1] += 1
    bounds[0] = begin
    for one in range(sides):
        bounds[one + 1] += bounds[one]
    place = bounds.copy()
    for row in range(begin, end):
        target = place[side[row - begin]]
        place[side[row - begin]] += 1
        parts.scratch_record[target] = parts.record[row]
        for column in range(parts.rows.shape[1]):
            parts.scratch_rows[target, column] = parts.rows[row, column]
    for row in range(begin, end):
        parts.record[row] = parts.scratch_record[row]
        for column in range(parts.rows.shape[1]):
            parts.rows[row, column] = parts.scratch_rows[row, column]


@kernel()
def assign_sides(codes: IntArray, k: int, mode: int, side: IntArray) -> bool:
    """Set the side of each row of a part cut in two by its ``codes``; False if no cut is allowed."""
    size = codes.shape[0]
    if mode != RELAXED:
        if mode == MEDIAN:
            cut = median_cut(codes, k)
        elif mode == VALUES:
            cut = halve_values(codes, k)
        else:
            cut = nearest_cut(codes, k)
        if cut < 0:
            return False
        for row in range(size):
            side[row] = 0 if codes[row] <= cut else 1
        return True
    if size < 2 * k:
        return False
    values = codes.copy()
    sort_codes(values)
    middle, room = values[size // 2 - 1], size // 2
    for code in codes:
        room -= code < middle
    for row in range(size):  # equal records fill the left half, then the right one
        side[row] = 0 if codes[row] < middle else 1
        if codes[row] == middle and room > 0:
            side[row] = 0
            room -= 1
    return True


@kernel()
def assign_children(
    space: Space, parts: Parts, begin: int, end: int, column: int, low: int, high: int, k: int, side: IntArray
) -> int:
    """Cut a part along the children of its node in a hierarchy; return the number of sides, 0 if not allowed."""
    first = space.start[column]
    top = find_node(space, column, low, high)
    ends = np.empty(high - low + 1, np.int64)
    sides, code = 0, low
    while code <= high:  # the children of ``top``, from left to right
        ends[sides] = space.node_high[first + child_above(space, column, top, code)]
        code = ends[sides] + 1
        sides += 1
    size = np.zeros(sides, np.int64)
    for row in range(begin, end):
        one = 0
        while ends[one] < parts.rows[row, column]:
            one += 1
        side[row - begin] = one
        size[one] += 1
    number = np.empty(sides, np.int32)
    used = 0
    for one in range(sides):
        if 0 < size[one] < k:
            return 0
        number[one] = used
        used += size[one] > 0
    for row in range(end - begin):
        side[row] = number[side[row]]
    return used


@kernel()
def cut_part(space: Space, parts: Parts, begin: int, end: int, k: int, mode: int, by_tree: bool) -> LongArray:
    """Cut one part in the widest column that allows it; return where the sides begin, empty if no column does."""
    columns = parts.rows.shape[1]
    low, high, width = np.empty(columns, np.int32), np.empty(columns, np.int32), np.empty(columns)
    for column in range(columns):
        low[column] = high[column] = parts.rows[begin, column]
    for row in range(begin, end):
        for column in range(columns):
            low[column] = min(low[column], parts.rows[row, column])
            high[column] = max(high[column], parts.rows[row, column])
    for column in range(columns):
        if has_members(space.kind[column]) and mode != MEDIAN and low[column] < high[column]:
            width[column] = set_spread(space, parts.rows, begin, end, column, low[column], high[column])
        else:
            width[column] = spread(space, column, low[column], high[column])
    side = np.empty(end - begin, np.int32)
    order = np.empty(columns, np.int32)
    order_falling(width, order)
    for place in range(columns):  # ties: the earlier column
        column = order[place]
        if low[column] == high[column]:
            continue
        sides = 0
        if by_tree and has_tree(space.kind[column]):
            sides = assign_children(space, parts, begin, end, column, low[column], high[column], k, side)
        else:
            codes = copy_codes(parts.rows, begin, end, column)
            by_members = has_members(space.kind[column])
            if by_members and mode != MEDIAN:
                rank_by_frequency(codes)
            way = NEAREST if mode == VALUES and not by_members else mode
            sides = 2 if assign_sides(codes, k, way, side) else 0
        if sides > 1:
            bounds = np.empty(sides + 1, np.int64)
            sort_rows(parts, begin, end, side, sides, bounds)
            return bounds
    return np.empty(0, np.int64)


@kernel()
def run(space: Space, parts: Parts, k: int, mode: int, by_tree: bool, budget: int) -> bool:
    """Cut parts from the stack until ``budget`` records were touched; True when nothing is left to cut."""
    touched = 0
    # ends: a part is cut into smaller ones or becomes a group
    while parts.depth[0] > 0 and touched < budget:
        parts.depth[0] -= 1
        begin, end = parts.begin[parts.depth[0]], parts.end[parts.depth[0]]
        touched += end - begin
        bounds = np.empty(0, np.int64)
        if end - begin >= 2 * k:
            bounds = cut_part(space, parts, begin, end, k, mode, by_tree)
        if bounds.size == 0:
            for row in range(begin, end):
                parts.label[parts.record[row]] = parts.depth[1]
            parts.depth[1] += 1
            parts.depth[2] += end - begin
        for one in range(bounds.size - 2, -1, -1):  # the leftmost side is cut first
            parts.begin[parts.depth[0]] = bounds[one]
            parts.end[parts.depth[0]] = bounds[one + 1]
            parts.depth[0] += 1
    return parts.depth[0] == 0
