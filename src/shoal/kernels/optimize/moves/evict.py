"""Evictions: a group becomes narrower in a column when all its members beyond some value leave together.

A column's cost is a step function, and often several members together keep it on a higher step: those with a rare value of a set, in
another branch of the hierarchy, at the end of a range. Then no single one of them gains by leaving; all together may.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.journal import Journal, make_journal, note
from shoal.kernels.common.random_state import draw_below
from shoal.kernels.optimize.moves.relocate_swap import LEAST_GAIN, cheapest_hosts
from shoal.kernels.optimize.state.groups import ENDLESS, NOBODY, Groups, cost_after, cost_with, join, put, refresh, take
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.space.bits import holds_code
from shoal.kernels.space.kinds import has_members, has_order
from shoal.kernels.space.space import Space, child_above, find_node

LEAST_MEMBERS_PER_LEAVER = 3
"""At most one in so many members is evicted: more of them seldom find a place that pays."""

MOST_COLUMNS = 12
"""Columns of a group from which records are evicted in one round, at most; others get their turn in other rounds."""


class Evictions(NamedTuple):
    """What was moved, and scratch space for the cheapest host of a record."""

    journal: Journal
    host: LongArray
    rises: FloatArray


@kernel()
def make_evictions(room: int) -> Evictions:
    """Return an empty journal with room for ``room`` moves."""
    return Evictions(make_journal(room), np.zeros(1, np.int64), np.zeros(1))


@kernel(allocates=False)
def take_noted(groups: Groups, record: int, journal: Journal) -> None:
    """Take a record from its group and note where it was."""
    note(journal, record, groups.label[record])
    take(groups, record)


@kernel(allocates=False)
def undo(space: Space, groups: Groups, journal: Journal) -> None:
    """Put all records of the journal back."""
    for place in range(journal.used[0] - 1, -1, -1):
        record, home = journal.record[place], journal.origin[place]
        visited = home
        if groups.label[record] >= 0:
            visited = groups.label[record]
            take(groups, record)
        put(groups, home, record)
        journal.record[place] = visited  # from here on the entry names the group to count again
    for place in range(journal.used[0]):
        refresh(space, groups, journal.record[place])
        if place == 0 or journal.origin[place] != journal.origin[place - 1]:
            refresh(space, groups, journal.origin[place])
    journal.used[0] = 0


@kernel(allocates=False)
def must_leave(space: Space, groups: Groups, record: int, column: int, low: int, high: int) -> bool:
    """Return whether a record is evicted: from a set if its value is ``low``, else if it lies outside ``low..high``."""
    code = groups.codes[record, column]
    if has_members(space.kind[column]):
        return code == low
    return code < low or code > high


@kernel(allocates=False)
def count_leaving(space: Space, groups: Groups, group: int, column: int, low: int, high: int) -> int:
    """Return how many members of a group would be evicted."""
    leaving = 0
    for place in range(groups.size[group]):
        leaving += must_leave(space, groups, groups.member[group, place], column, low, high)
    return leaving


@kernel(allocates=False)
def best_lender(space: Space, groups: Groups, group: int, k: int, most: float) -> tuple[float, int]:
    """Return the least rise of the total, below ``most``, if a record of a group of more than k moves to ``group``, and that record."""
    size = groups.size[group]
    before = size * groups.cost[group]
    best, chosen = most, NOBODY
    for donor in range(groups.size.shape[0]):
        if donor == group or groups.size[donor] <= k:
            continue
        donor_cost = groups.size[donor] * groups.cost[donor]
        for place in range(groups.size[donor]):
            record = groups.member[donor, place]
            limit = (best + donor_cost + before) / (size + 1)
            cost = cost_with(space, groups, group, record, limit)
            if cost > limit:
                continue
            rest = (groups.size[donor] - 1) * cost_after(space, groups, donor, record, NOBODY, ENDLESS)
            rise = (size + 1) * cost - before + rest - donor_cost
            if rise < best:
                best, chosen = rise, record
    return best, chosen


@kernel(allocates=False)
def refill(space: Space, groups: Groups, group: int, k: int, gain: float, journal: Journal) -> float:
    """Bring records from groups of more than k until a group has k; return what stays of ``gain``, nothing above 0 if that is too expensive."""
    # ends: each round adds a record or returns
    while groups.size[group] < k and gain > 0.0:
        rise, record = best_lender(space, groups, group, k, gain)
        if record == NOBODY:
            return 0.0
        donor = groups.label[record]
        take_noted(groups, record, journal)
        refresh(space, groups, donor)
        join(space, groups, group, record)
        gain -= rise
    return gain


@kernel(allocates=False)
def evict(
    space: Space, groups: Groups, group: int, column: int, low: int, high: int, k: int, evictions: Evictions
) -> float:
    """Move the members that must leave to the groups they cost least, if the total falls; return the fall.

    If fewer than k stay, groups of more than k lend the others.
    """
    leaving, journal = count_leaving(space, groups, group, column, low, high), evictions.journal
    if leaving == 0 or LEAST_MEMBERS_PER_LEAVER * leaving > groups.size[group]:
        return 0.0
    gain, place = groups.size[group] * groups.cost[group] - LEAST_GAIN, 0
    while place < groups.size[group]:
        record = groups.member[group, place]
        if must_leave(space, groups, record, column, low, high):
            take_noted(groups, record, journal)
        else:
            place += 1
    refresh(space, groups, group)
    gain -= groups.size[group] * groups.cost[group]
    room, host, rises = groups.member.shape[1], evictions.host, evictions.rises
    for place in range(leaving):
        if gain <= 0.0 or cheapest_hosts(space, groups, journal.record[place], room, gain, host, rises) == 0:
            undo(space, groups, journal)
            return 0.0
        join(space, groups, host[0], journal.record[place])
        gain -= rises[0]
    gain = refill(space, groups, group, k, gain, journal)
    if gain <= 0.0:
        undo(space, groups, journal)
        return 0.0
    journal.used[0] = 0
    return gain + LEAST_GAIN


@kernel(allocates=False)
def main_branch(space: Space, groups: Groups, group: int, column: int) -> tuple[int, int]:
    """Return the range of members' codes below the child of a group's node that has more than half of the members, if one has (majority vote)."""
    node = find_node(space, column, groups.low[group, column], groups.high[group, column])
    branch, votes = -1, 0
    for place in range(groups.size[group]):
        child = child_above(space, column, node, groups.codes[groups.member[group, place], column])
        if votes == 0:
            branch = child
        votes += 1 if child == branch else -1
    low, high = groups.high[group, column], groups.low[group, column]
    for place in range(groups.size[group]):
        code = groups.codes[groups.member[group, place], column]
        if child_above(space, column, node, code) == branch:
            low, high = min(low, code), max(high, code)
    return low, high


@kernel(allocates=False)
def evict_from_column(space: Space, groups: Groups, group: int, column: int, k: int, evictions: Evictions) -> float:
    """Try all evictions from one column of a group: of each value of a set, of either end of a range, of all outside the main branch of a node.

    Returns the fall of the total.
    """
    low, high = groups.low[group, column], groups.high[group, column]
    fall = 0.0
    if has_members(space.kind[column]):
        for code in range(low, high + 1):
            if holds_code(groups.words[group], space.word_start[column], code):
                fall += evict(space, groups, group, column, code, code, k, evictions)
    elif has_order(space.kind[column]):
        fall += evict(space, groups, group, column, low + 1, high, k, evictions)
        low, high = groups.low[group, column], groups.high[group, column]
        fall += evict(space, groups, group, column, low, high - 1, k, evictions)
    else:
        low, high = main_branch(space, groups, group, column)
        fall += evict(space, groups, group, column, low, high, k, evictions)
    return fall


@kernel()
def evict_from_groups(space: Space, groups: Groups, k: int, state: WordArray) -> Outcome:
    """Try evictions from every column of every group, from some columns if there are many; return how often, and what was gained."""
    evictions = make_evictions(2 * groups.member.shape[1])
    columns = space.kind.shape[0]
    tried, taken, fall = 0, 0, 0.0
    for group in range(groups.size.shape[0]):
        first = np.int64(draw_below(state, columns) if columns > MOST_COLUMNS else 0)  # draws are unsigned
        for turn in range(min(columns, MOST_COLUMNS)):
            column = int((first + turn) % columns)
            if groups.size[group] > 0 and groups.column_cost[group, column] > 0.0:
                gain = evict_from_column(space, groups, group, column, k, evictions)
                tried += 1
                taken += gain > 0.0
                fall += gain
    return Outcome(tried, taken, fall)
