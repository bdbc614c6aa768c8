"""Cuts: a large group is cut in two again and again, each time where that saves most, into groups of k to 2k - 1 records."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.sorting import order_by_key
from shoal.kernels.optimize.state.regions import load_groups
from shoal.kernels.optimize.state.regroup import join_cheapest
from shoal.kernels.space.kinds import add_value, covers_code, has_members
from shoal.kernels.space.space import Space, range_cost, released_cost

CAREFUL_SIZE = 4096
"""Groups of at most this many records are cut where the cost of both sides in all columns is least."""


@kernel()
def column_costs(space: Space, codes: IntArray, members: IntArray) -> FloatArray:
    """Return the weighted cost of all members in each column."""
    columns, size = codes.shape[1], members.shape[0]
    whole, words = np.empty(columns), np.zeros(space.word_start[columns], np.uint64)
    for column in range(columns):
        low = high = codes[members[0], column]
        count = 0
        for step in range(size):
            code = codes[members[step], column]
            low, high = min(low, code), max(high, code)
            count += add_value(space, words, column, code)
        whole[column] = space.weight[column] * released_cost(space, column, low, high, count)
    return whole


@kernel()
def running_costs(
    space: Space, codes: IntArray, members: IntArray, backwards: bool, whole: FloatArray, cost: FloatArray
) -> None:
    """Write into ``cost[i]`` the weighted cost of the first i + 1 members (the last ones, if ``backwards``).

    A column that costs as much as with all members, ``whole``, costs no more with further ones: they are not visited.
    """
    columns, size = codes.shape[1], members.shape[0]
    words = np.zeros(space.word_start[columns], np.uint64)
    for step in range(size):
        cost[step] = 0.0
    for column in range(columns):
        low = high = codes[members[size - 1 if backwards else 0], column]
        count, part, step = 0, 0.0, 0
        # ends: each round goes on by a step
        while step < size and part < whole[column]:
            code = codes[members[size - 1 - step if backwards else step], column]
            if not covers_code(space, words, column, low, high, code):
                low, high = min(low, code), max(high, code)
                count += add_value(space, words, column, code)
                part = space.weight[column] * released_cost(space, column, low, high, count)
            cost[step] += part
            step += 1
        for later in range(step, size):
            cost[later] += whole[column]


@kernel()
def sort_by_column(codes: IntArray, members: IntArray, column: int, ordered: IntArray) -> None:
    """Write members into ``ordered`` by their code in a column; equal ones keep their order."""
    size = members.shape[0]
    key = np.empty(size, np.int64)
    for place in range(size):
        key[place] = codes[members[place], column]
    order = order_by_key(key)
    for place in range(size):
        ordered[place] = members[order[place]]


@kernel()
def find_cut(space: Space, codes: IntArray, members: IntArray, k: int) -> tuple[int, int]:
    """Return the column and the size of the left side of the cheapest cut, trying each column's order."""
    size = members.shape[0]
    left, right = np.empty(size), np.empty(size)
    trial, whole = np.empty(size, np.int32), column_costs(space, codes, members)
    best, best_column, best_size = np.inf, 0, size // 2
    for column in range(codes.shape[1]):
        sort_by_column(codes, members, column, trial)
        if codes[trial[0], column] == codes[trial[-1], column]:
            continue
        running_costs(space, codes, trial, False, whole, left)
        running_costs(space, codes, trial, True, whole, right)
        for cut in range(k, size - k + 1):
            cost = cut * left[cut - 1] + (size - cut) * right[size - cut - 1]
            if cost < best:
                best, best_column, best_size = cost, column, cut
    return best_column, best_size


@kernel()
def find_rough_cut(space: Space, codes: IntArray, members: IntArray) -> tuple[int, int]:
    """Return the column that saves most when cut at its median, its own cost alone considered, and the size of the left side."""
    size = members.shape[0]
    best, best_column = -1.0, 0
    trial = np.empty(size, np.int32)
    for column in range(codes.shape[1]):
        sort_by_column(codes, members, column, trial)
        low, high = codes[trial[0], column], codes[trial[-1], column]
        whole, sides = 1.0, 0.0
        if not has_members(space.kind[column]):  # the ends do not reveal what a set costs
            whole = range_cost(space, column, low, high)
            sides = range_cost(space, column, low, codes[trial[size // 2 - 1], column])
            sides += range_cost(space, column, codes[trial[size // 2], column], high)
        saving = space.weight[column] * (whole - sides / 2.0) if low != high else -1.0
        if saving > best:
            best, best_column = saving, column
    return best_column, size // 2


@kernel()
def cut_members(space: Space, codes: IntArray, members: IntArray, k: int, label: IntArray, groups: int) -> int:
    """Cut members (at least k) into groups numbered from ``groups`` on; return the number after the last."""
    size = members.shape[0]
    begins, ends = np.zeros(size // k + 2, np.int64), np.zeros(size // k + 2, np.int64)
    ends[0] = size
    depth = 1
    # ends: a part is cut into two smaller ones or becomes a group
    while depth > 0:
        depth -= 1
        begin, end = begins[depth], ends[depth]
        part = members[begin:end]
        if end - begin < 2 * k:
            for record in part:
                label[record] = groups
            groups += 1
            continue
        if end - begin > CAREFUL_SIZE:
            column, left = find_rough_cut(space, codes, part)
        else:
            column, left = find_cut(space, codes, part, k)
        ordered = np.empty(end - begin, np.int32)
        sort_by_column(codes, part, column, ordered)
        for place in range(end - begin):
            part[place] = ordered[place]
        begins[depth], ends[depth] = begin + left, end
        begins[depth + 1], ends[depth + 1] = begin, begin + left
        depth += 2
    return groups


@kernel()
def cut_large(space: Space, codes: IntArray, label: IntArray, groups: int, k: int) -> int:
    """Cut every group of 2k or more records; return the number of groups. Labels are 0..groups-1, or -1 for none."""
    start = np.zeros(groups + 1, np.int64)
    for record in range(label.shape[0]):
        if label[record] >= 0:
            start[label[record] + 1] += 1
    for group in range(groups):
        start[group + 1] += start[group]
    order = np.empty(start[groups], np.int32)
    for record in range(label.shape[0]):
        if label[record] >= 0:
            order[start[label[record]]] = record
            start[label[record]] += 1  # ends as the start of the next group
    used, begin = 0, 0
    for group in range(groups):
        members = order[begin : start[group]]
        begin = start[group]
        if members.shape[0] > 0:
            used = cut_members(space, codes, members, k, label, used)
    return used


@kernel()
def complete(space: Space, codes: IntArray, label: IntArray, groups: int, k: int) -> int:
    """Put every record of label -1 into a group and cut groups of 2k or more; return the number of groups."""
    rest = 0
    for record in range(label.shape[0]):
        rest += label[record] < 0
    if rest >= k or groups == 0:
        for record in range(label.shape[0]):
            if label[record] < 0:
                label[record] = groups
        return cut_large(space, codes, label, groups + 1, k)
    if rest == 0:
        return cut_large(space, codes, label, groups, k)
    groups = cut_large(space, codes, label, groups, k)
    made = load_groups(space, codes, label, groups, 3 * k)
    for record in range(label.shape[0]):
        if label[record] < 0:
            join_cheapest(space, made, groups, record)
    for record in range(label.shape[0]):
        label[record] = made.label[record]
    return cut_large(space, codes, label, groups, k)
