"""Groups that change record by record, with their covers and costs kept up to date.

The costs of a step are worked out from the members before it is taken; ``refresh`` counts a group again after
it, and ``join`` leaves what a recount would, so that the total is always that of a recount.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.bits import holds_code, note_code
from shoal.kernels.space.kinds import covers_code, has_members, note_value
from shoal.kernels.space.space import Space, range_cost, released_cost, set_cost

ENDLESS = np.inf
"""A limit that no cost reaches."""
NOBODY = -1
"""Stands for no record if a step brings none in."""
LARGEST_CODE = 2147483647
"""No code is larger."""


class Groups(NamedTuple):
    """Up to g groups of up to r records each."""

    codes: IntArray
    """(n, m): one row a record."""
    label: IntArray
    """The group of each record."""
    place: IntArray
    """The place of a record among its group's members."""
    member: IntArray
    """(g, r): the records of each group, in its first ``size`` places."""
    size: IntArray
    """Number of records; 0 for a group that is not in use."""
    low: IntArray
    """(g, m): smallest code."""
    high: IntArray
    """(g, m): largest code."""
    distinct: IntArray
    """(g, m): number of values, in SET columns."""
    column_cost: FloatArray
    """(g, m): weighted cost of a column."""
    cost: FloatArray
    """Weighted cost for each record."""
    words: WordArray
    """(g, words): bits of the values present in SET columns."""
    alone: WordArray
    """(g, words): bits of the values that exactly one member has."""
    next_low: IntArray
    """(g, m): smallest code once a member that has ``low`` is gone."""
    next_high: IntArray
    """(g, m): largest code once a member that has ``high`` is gone."""


@kernel()
def make_groups(space: Space, codes: IntArray, groups: int, room: int) -> Groups:
    """Return ``groups`` empty groups with room for ``room`` records each."""
    records, columns = codes.shape
    words = space.word_start[columns]
    return Groups(
        codes,
        np.full(records, -1, np.int32),
        np.zeros(records, np.int32),
        np.zeros((groups, room), np.int32),
        np.zeros(groups, np.int32),
        np.zeros((groups, columns), np.int32),
        np.zeros((groups, columns), np.int32),
        np.zeros((groups, columns), np.int32),
        np.zeros((groups, columns)),
        np.zeros(groups),
        np.zeros((groups, words), np.uint64),
        np.zeros((groups, words), np.uint64),
        np.zeros((groups, columns), np.int32),
        np.zeros((groups, columns), np.int32),
    )


@kernel(allocates=False)
def put(groups: Groups, group: int, record: int) -> None:
    """Add a record to the members of a group; ``refresh`` must follow."""
    size = groups.size[group]
    groups.member[group, size] = record
    groups.place[record] = size
    groups.label[record] = group
    groups.size[group] = size + 1


@kernel(allocates=False)
def take(groups: Groups, record: int) -> None:
    """Remove a record from the members of its group; ``refresh`` must follow."""
    group = groups.label[record]
    size = groups.size[group] - 1
    last = groups.member[group, size]
    groups.member[group, groups.place[record]] = last
    groups.place[last] = groups.place[record]
    groups.size[group] = size
    groups.label[record] = -1


@kernel(allocates=False)
def refresh_set(space: Space, groups: Groups, group: int, column: int) -> float:
    """Count the values of a SET column again; return its unweighted cost."""
    first, last = space.word_start[column], space.word_start[column + 1]
    for word in range(first, last):
        groups.words[group, word] = np.uint64(0)
        groups.alone[group, word] = np.uint64(0)
    words, alone, count = groups.words[group], groups.alone[group], 0
    for place in range(groups.size[group]):
        count += note_code(words, alone, first, groups.codes[groups.member[group, place], column])
    groups.distinct[group, column] = count
    return set_cost(space, column, count, groups.high[group, column] == space.missing[column])


@kernel(allocates=False)
def refresh(space: Space, groups: Groups, group: int) -> None:
    """Count cover and cost of a group again from its members."""
    total = 0.0
    for column in range(space.kind.shape[0]):
        low, next_low, high, next_high = LARGEST_CODE, LARGEST_CODE, -1, -1
        for place in range(groups.size[group]):
            code = groups.codes[groups.member[group, place], column]
            if code < next_low:
                low, next_low = min(low, code), max(low, code)
            if code > next_high:
                high, next_high = max(high, code), min(high, code)
        groups.low[group, column], groups.high[group, column] = low, high
        groups.next_low[group, column], groups.next_high[group, column] = next_low, next_high
        if has_members(space.kind[column]):  # only a set needs another pass over the members
            cost = refresh_set(space, groups, group, column)
        else:
            cost = range_cost(space, column, low, high)
        groups.column_cost[group, column] = space.weight[column] * cost
        total += groups.column_cost[group, column]
    groups.cost[group] = total


@kernel(allocates=False)
def join(space: Space, groups: Groups, group: int, record: int) -> None:
    """Add a record to a group that has some; cover and cost become what ``refresh`` would make them, without visiting the other members."""
    put(groups, group, record)
    total = 0.0
    for column in range(space.kind.shape[0]):
        code = groups.codes[record, column]
        low, high = groups.low[group, column], groups.high[group, column]
        if code < groups.next_low[group, column]:
            groups.low[group, column], groups.next_low[group, column] = min(low, code), max(low, code)
        if code > groups.next_high[group, column]:
            groups.high[group, column], groups.next_high[group, column] = max(high, code), min(high, code)
        covered = covers_code(space, groups.words[group], column, low, high, code)
        count = note_value(space, groups.words[group], groups.alone[group], column, code)
        if not covered:
            groups.distinct[group, column] += count
            cost = released_cost(space, column, min(low, code), max(high, code), groups.distinct[group, column])
            groups.column_cost[group, column] = space.weight[column] * cost
        total += groups.column_cost[group, column]
    groups.cost[group] = total


@kernel(allocates=False)
def move_record(space: Space, groups: Groups, record: int, target: int, partner: int) -> None:
    """Move a record into group ``target``, in exchange for ``partner``, a member of it, unless that is NOBODY."""
    own = groups.label[record]
    take(groups, record)
    if partner != NOBODY:
        take(groups, partner)
        put(groups, own, partner)
        put(groups, target, record)
        refresh(space, groups, target)
    else:
        join(space, groups, target, record)
    refresh(space, groups, own)


@kernel(allocates=False)
def cost_with(space: Space, groups: Groups, group: int, record: int, limit: float) -> float:
    """Return a group's cost for each record if ``record`` joined; any value above ``limit`` once it is above."""
    total = groups.cost[group]
    for column in range(space.kind.shape[0]):
        code = groups.codes[record, column]
        low, high = groups.low[group, column], groups.high[group, column]
        if covers_code(space, groups.words[group], column, low, high, code):
            continue
        cost = released_cost(space, column, min(low, code), max(high, code), groups.distinct[group, column] + 1)
        total += space.weight[column] * cost - groups.column_cost[group, column]
        if total > limit:
            return total
    return total


@kernel(allocates=False)
def set_cost_after(space: Space, groups: Groups, group: int, column: int, leaver: int, joiner: int) -> float:
    """Return the unweighted cost of a SET column after one record left and another (or NOBODY) came."""
    old = groups.codes[leaver, column]
    count, missing = groups.distinct[group, column], space.missing[column]
    holds_missing = groups.high[group, column] == missing
    shared = not holds_code(groups.alone[group], space.word_start[column], old)
    if not shared:
        count -= 1
        holds_missing &= old != missing
    if joiner != NOBODY:
        new = groups.codes[joiner, column]
        if (new == old and not shared) or not holds_code(groups.words[group], space.word_start[column], new):
            count += 1
            holds_missing |= new == missing
    return set_cost(space, column, count, holds_missing)


@kernel(allocates=False)
def cost_after(space: Space, groups: Groups, group: int, leaver: int, joiner: int, limit: float) -> float:
    """Return a group's cost for each record after ``leaver`` left and ``joiner`` (or NOBODY) came.

    Any value above ``limit`` is returned once the cost is above it.
    """
    total = 0.0
    for column in range(space.kind.shape[0]):
        old = groups.codes[leaver, column]
        new = old if joiner == NOBODY else groups.codes[joiner, column]
        low, high = groups.low[group, column], groups.high[group, column]
        if joiner != NOBODY and new == old:
            total += groups.column_cost[group, column]
        elif has_members(space.kind[column]):  # who leaves may take a value along that lies between the ends
            total += space.weight[column] * set_cost_after(space, groups, group, column, leaver, joiner)
        else:
            bottom = groups.next_low[group, column] if old == low else low
            top = groups.next_high[group, column] if old == high else high
            if joiner != NOBODY:
                bottom, top = min(bottom, new), max(top, new)
            if bottom == low and top == high:
                total += groups.column_cost[group, column]
            else:
                total += space.weight[column] * range_cost(space, column, bottom, top)
        if total > limit:
            return total
    return total


@kernel(allocates=False)
def total_cost(groups: Groups) -> float:
    """Return the cost of all groups together."""
    total = 0.0
    for group in range(groups.size.shape[0]):
        total += groups.size[group] * groups.cost[group]
    return total
