"""Tightening: a group keeps one child of its cover in a column, and all members outside that child leave together.

One record cannot leave at a gain while others hold the cover as wide, so all go or none. Each of them moves to a group that may
take it, or changes places with a record of the same class inside the child, to which no model on sensitive values can object.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.journal import Journal, make_journal, note
from shoal.kernels.common.random_state import draw_below
from shoal.kernels.guarded.guard import Guard, change_places, may_change
from shoal.kernels.guarded.population_guard import crowd_allows
from shoal.kernels.optimize.moves.relocate_swap import LEAST_GAIN
from shoal.kernels.optimize.state.groups import ENDLESS, NOBODY, Groups, cost_after, cost_with
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.space.kinds import has_members, has_tree
from shoal.kernels.space.space import Space, child_above, find_node

MOST_EVICTED = 12
"""Members that leave together, at most."""


@kernel(allocates=False)
def take_back(space: Space, groups: Groups, guard: Guard, journal: Journal) -> None:
    """Undo all steps of a journal; a step is two entries, of the record that left and of the one that came, or NOBODY."""
    while journal.used[0] > 0:
        journal.used[0] -= 2
        step = journal.used[0]
        change_places(space, groups, guard, journal.record[step], journal.origin[step], journal.record[step + 1])


@kernel(allocates=False)
def side_of(space: Space, groups: Groups, column: int, record: int, node: int, cut: int) -> int:
    """Return which part of a group's cover a record is in: the child of ``node``, or below or above the cut of a range."""
    code = groups.codes[record, column]
    if has_tree(space.kind[column]):
        return child_above(space, column, node, code)
    return 1 if code > cut else 0


@kernel(allocates=False)
def outsiders(
    space: Space, groups: Groups, group: int, column: int, state: WordArray, out: IntArray
) -> tuple[int, int, int]:
    """Choose the part of a column's cover to keep and write the members outside it.

    Returns how many there are (0 if they are too many) and the lowest and highest code of the members that stay. A node
    keeps the child of a random member; a range loses what is beyond a random member's value on the side with fewer.
    """
    size = groups.size[group]
    low, high = groups.low[group, column], groups.high[group, column]
    node, cut = 0, 0
    witness = groups.codes[groups.member[group, draw_below(state, size)], column]
    if has_tree(space.kind[column]):
        node = find_node(space, column, low, high)
        keep = child_above(space, column, node, witness)
    else:
        cut = min(witness, high - 1)
        above = 0
        for place in range(size):
            above += groups.codes[groups.member[group, place], column] > cut
        keep = 1 if 2 * above >= size else 0
    found, first, last = 0, high, low
    for place in range(size):
        record = groups.member[group, place]
        if side_of(space, groups, column, record, node, cut) == keep:
            first, last = min(first, groups.codes[record, column]), max(last, groups.codes[record, column])
        elif found == out.shape[0]:
            return 0, low, high
        else:
            out[found] = record
            found += 1
    return found, first, last


@kernel(allocates=False)
def fits_inside(space: Space, groups: Groups, group: int, column: int, first: int, last: int, record: int) -> bool:
    """Return whether a record is within the cover of a group, with ``first..last`` in one column."""
    for other in range(space.kind.shape[0]):
        code = groups.codes[record, other]
        if other == column:
            if code < first or code > last:
                return False
        elif code < groups.low[group, other] or code > groups.high[group, other]:
            return False
    return True


@kernel(allocates=False)
def evict(
    space: Space,
    groups: Groups,
    guard: Guard,
    record: int,
    column: int,
    first: int,
    last: int,
    most: float,
    journal: Journal,
) -> float:
    """Let a record leave by the cheapest move or swap with one of its class; return what other groups pay, above ``most`` if none."""
    own = groups.label[record]
    may_leave = may_change(space, groups, guard, own, record, NOBODY)
    best, target, partner = most, NOBODY, NOBODY
    for group in range(groups.size.shape[0]):
        size = groups.size[group]
        if group == own or size == 0:
            continue
        before = size * groups.cost[group]
        limit = (best + before) / size
        if groups.cost[group] > limit and best < 0.0:
            continue
        cost = cost_with(space, groups, group, record, limit)
        if cost > limit:
            continue
        rise = (size + 1) * cost - before
        if (
            may_leave
            and rise < best
            and size < groups.member.shape[1]
            and may_change(space, groups, guard, group, NOBODY, record)
        ):
            best, target, partner = rise, group, NOBODY
        for place in range(size):
            candidate = groups.member[group, place]
            if guard.class_of[candidate] != guard.class_of[record]:
                continue
            if not fits_inside(space, groups, own, column, first, last, candidate):
                continue
            limit = (best + before) / size
            change = size * cost_after(space, groups, group, candidate, record, limit) - before
            if (
                change < best
                and crowd_allows(space, groups, guard.crowd, group, candidate, record)
                and crowd_allows(space, groups, guard.crowd, own, record, candidate)
            ):
                best, target, partner = change, group, candidate
    if target == NOBODY:
        return ENDLESS
    note(journal, record, own)
    note(journal, partner, target)
    change_places(space, groups, guard, record, target, partner)
    return best


@kernel(allocates=False)
def tighten_group(
    space: Space,
    groups: Groups,
    guard: Guard,
    group: int,
    column: int,
    temperature: float,
    state: WordArray,
    out: IntArray,
    journal: Journal,
) -> float:
    """Tighten one column of a group if the total rises by less than ``temperature``; return the change."""
    count, first, last = outsiders(space, groups, group, column, state, out)
    if count == 0:
        return 0.0
    size, before = groups.size[group], groups.size[group] * groups.cost[group]
    narrowed = groups.cost[group] - groups.column_cost[group, column]
    spent, most = 0.0, before + temperature - (size - count) * narrowed  # at best the others pay nothing more
    journal.used[0] = 0
    for place in range(count):
        paid = evict(space, groups, guard, out[place], column, first, last, most - spent, journal)
        if paid == ENDLESS:
            take_back(space, groups, guard, journal)
            return 0.0
        spent += paid
    change = spent + groups.size[group] * groups.cost[group] - before
    if change >= temperature - LEAST_GAIN:
        take_back(space, groups, guard, journal)
        return 0.0
    return change


@kernel()
def tighten_groups(space: Space, groups: Groups, guard: Guard, temperature: float, state: WordArray) -> Outcome:
    """Try to tighten each column of each group once, except sets, which have no part to keep. Return how often, and what was gained."""
    out, journal = np.zeros(MOST_EVICTED, np.int32), make_journal(2 * MOST_EVICTED)
    tried, taken, fall = 0, 0, 0.0
    for group in range(groups.size.shape[0]):
        for column in range(space.kind.shape[0]):
            if (
                groups.size[group] > 0
                and groups.column_cost[group, column] > 0.0
                and not has_members(space.kind[column])
            ):
                change = tighten_group(space, groups, guard, group, column, temperature, state, out, journal)
                tried += 1
                taken += change != 0.0
                fall -= change
    return Outcome(tried, taken, fall)
