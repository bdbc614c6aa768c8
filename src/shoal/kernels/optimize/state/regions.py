"""Regions: neighbouring groups are improved together, apart from all other regions and on any core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_below, draw_share, make_state
from shoal.kernels.common.sorting import sort_by_key
from shoal.kernels.optimize.state.groups import Groups, make_groups, put, refresh
from shoal.kernels.space.space import Space, pair_cost

BLOCK = 64
"""A block has the groups of so many regions; neighbours are searched within a block."""
KEYS = 1 << 40
"""Costs are multiplied by this and cut to integers, as keys to sort by."""


@kernel()
def load_groups(space: Space, codes: IntArray, label: IntArray, groups: int, room: int) -> Groups:
    """Return the groups of labelled records; records labelled -1 are in none."""
    made = make_groups(space, codes, groups, room)
    for record in range(label.shape[0]):
        if label[record] >= 0:
            put(made, label[record], record)
    for group in range(groups):
        if made.size[group] > 0:
            refresh(space, made, group)
    return made


class Regions(NamedTuple):
    """The records of a table, region by region and group by group."""

    start: LongArray
    """Where each region begins among ``record``; one more than there are regions."""
    record: IntArray
    """The records in order."""


@kernel(allocates=False)
def spread_of(space: Space, codes: IntArray, members: IntArray, column: int, state: WordArray) -> float:
    """Return what a few random pairs of records cost in one column."""
    total = 0.0
    for _ in range(16):
        one = codes[members[draw_below(state, members.shape[0])], column]
        other = codes[members[draw_below(state, members.shape[0])], column]
        total += pair_cost(space, column, one, other)
    return space.weight[column] * total


@kernel(allocates=False)
def widest_column(space: Space, codes: IntArray, members: IntArray, state: WordArray) -> int:
    """Return the column of the largest spread, each times a random factor, so that another cut is made each time."""
    best, chosen = -1.0, 0
    for column in range(codes.shape[1]):
        spread = spread_of(space, codes, members, column, state) * (0.25 + draw_share(state))
        if spread > best:
            best, chosen = spread, column
    return chosen


@kernel()
def cut_into_blocks(
    space: Space, codes: IntArray, size: IntArray, most: int, state: WordArray
) -> tuple[IntArray, LongArray]:
    """Order groups, each given by one record's codes, so that neighbours are alike, by cutting them in two again and again.

    Returns the order and where each block of at most ``most`` records (or one group) begins.
    """
    groups = size.shape[0]
    order = np.empty(groups, np.int32)
    for group in range(groups):
        order[group] = group
    begins, ends = np.zeros(groups + 1, np.int64), np.zeros(groups + 1, np.int64)
    starts = np.zeros(groups + 1, np.int64)
    ends[0] = groups
    depth, blocks = 1, 0
    # ends: a part is cut into two smaller ones or becomes a block
    while depth > 0:
        depth -= 1
        begin, end = begins[depth], ends[depth]
        records = 0
        for group in order[begin:end]:
            records += size[group]
        if records <= most or end - begin == 1:
            starts[blocks] = begin
            blocks += 1
            continue
        part = order[begin:end]
        column = widest_column(space, codes, part, state)
        key = np.empty(end - begin, np.int64)
        for place in range(end - begin):
            key[place] = (np.int64(codes[part[place], column]) << 20) + draw_below(state, 1 << 20)
        sort_by_key(part, key)
        middle = (begin + end) // 2
        begins[depth], ends[depth] = middle, end
        begins[depth + 1], ends[depth + 1] = begin, middle
        depth += 2
    starts[blocks] = groups
    return order, starts[: blocks + 1]


@kernel()
def sort_by_distance(space: Space, codes: IntArray, part: IntArray, centre: int) -> None:
    """Sort groups, each given by one record's codes, by what a pair with that of ``centre`` costs."""
    key = np.empty(part.shape[0], np.int64)
    for place in range(part.shape[0]):
        cost = 0.0
        for column in range(codes.shape[1]):
            one, other = codes[part[place], column], codes[centre, column]
            cost += space.weight[column] * pair_cost(space, column, one, other)
        key[place] = np.int64(cost * KEYS)
    sort_by_key(part, key)


@kernel()
def gather(space: Space, codes: IntArray, size: IntArray, part: IntArray, most: int, state: WordArray) -> LongArray:
    """Order the groups of a block so that each region is a random group and those nearest to it; return how many groups each has."""
    taken, begin = np.zeros(part.shape[0], np.int64), 0
    regions = 0
    while begin < part.shape[0]:
        rest = part[begin:]
        sort_by_distance(space, codes, rest, rest[draw_below(state, rest.shape[0])])
        count, records = 1, size[rest[0]]
        while count < rest.shape[0] and records + size[rest[count]] <= most:
            records += size[rest[count]]
            count += 1
        taken[regions] = count
        regions += 1
        begin += count
    return taken[:regions]


@kernel()
def make_regions(space: Space, codes: IntArray, label: IntArray, groups: int, most: int, seed: int) -> Regions:
    """Divide the records into regions of near groups with at most ``most`` records, different ones for each seed.

    A region is a random group and those nearest to one of its records, so that wide groups meet the narrow ones nearby. Searching among
    all groups would take n² steps, so the table is cut into blocks of ``BLOCK`` regions before.
    """
    state = make_state(seed, 0)
    size, sample = np.zeros(groups, np.int32), np.zeros(groups, np.int64)
    for record in range(label.shape[0]):  # one random record stands for each group (reservoir sampling)
        group = label[record]
        size[group] += 1
        if draw_below(state, size[group]) == 0:
            sample[group] = record
    sampled = codes[sample]
    order, blocks = cut_into_blocks(space, sampled, size, BLOCK * most, state)
    place, begin = np.zeros(groups, np.int64), np.zeros(groups + 1, np.int64)
    at, region, number = 0, 0, 0
    for block in range(blocks.shape[0] - 1):
        for count in gather(space, sampled, size, order[blocks[block] : blocks[block + 1]], most, state):
            for group in order[number : number + count]:
                place[group] = at
                at += size[group]
            number += count
            region += 1
            begin[region] = at
    record_of = np.empty(label.shape[0], np.int32)
    for record in range(label.shape[0]):
        record_of[place[label[record]]] = record
        place[label[record]] += 1
    return Regions(begin[: region + 1], record_of)


@kernel()
def renumber(label: IntArray) -> int:
    """Number labels from 0 without gaps, in order of appearance; return how many there are."""
    most = 0
    for record in range(label.shape[0]):
        most = max(most, label[record])
    number = np.full(most + 1, -1, np.int32)
    used = 0
    for record in range(label.shape[0]):
        if number[label[record]] < 0:
            number[label[record]] = used
            used += 1
        label[record] = number[label[record]]
    return used


@kernel()
def local_labels(label: IntArray, regions: Regions, region: int) -> tuple[IntArray, IntArray, LongArray]:
    """Return the records of a region, their labels numbered from 0 without gaps, and the size of each of these groups."""
    records = regions.record[regions.start[region] : regions.start[region + 1]]
    local = label[records]
    size = np.zeros(renumber(local), np.int64)
    for place in range(local.shape[0]):
        size[local[place]] += 1
    return records, local, size


@kernel()
def load_region(space: Space, codes: IntArray, label: IntArray, regions: Regions, region: int, k: int) -> Groups:
    """Return the groups of a region, its records numbered from 0, with room for as many groups of k as it can have."""
    records, local, size = local_labels(label, regions, region)
    return load_groups(space, codes[records], local, max(size.shape[0], local.shape[0] // k), 2 * k)


@kernel()
def store_region(groups: Groups, label: IntArray, regions: Regions, region: int) -> None:
    """Write the groups of a region into the labels, as numbers that no other region uses."""
    first = regions.start[region]
    for place in range(groups.label.shape[0]):
        label[regions.record[first + place]] = first + groups.label[place]
