"""Cells first, with models: groups that meet every rule are carved out of each cell; its other records go on to coarser cells.

Combinations of levels are visited from cheap to expensive (see ``optimize.cells.best_first``). A cell of enough records seldom meets a strict
model as a whole, but some of its records together do: they are chosen one by one, each time the nearest with which the group can still
be completed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_below
from shoal.kernels.guarded.completion import Classes, completable
from shoal.kernels.models.rules import Rules, Tally, new_tally
from shoal.kernels.optimize.cells.best_first import (
    COST_TOLERANCE,
    ROUNDING_ALLOWANCE,
    CellSearch,
    count_cells,
    dequeue,
    enqueue,
    push_dearer,
)
from shoal.kernels.optimize.cells.levels import Levels
from shoal.kernels.optimize.state.groups import ENDLESS, Groups, cost_with, join, make_groups, put, refresh
from shoal.kernels.space.space import Space

MOST_CANDIDATES = 512
"""Records of a cell among which the nearest is sought, at most."""


class Scratch(NamedTuple):
    """Room for the group that is being built; arrays have an entry for each class."""

    group: Groups
    have: LongArray
    """Records of the group."""
    at_hand: LongArray
    """Candidates that are left."""
    filled: LongArray
    """Records of the group once filled up, on trial."""
    nearest: LongArray
    """The nearest candidate, as a place among all of them; -1 if there is none."""
    rise: FloatArray
    """What the group costs each record with it."""
    tried: LongArray
    """1 if the class cannot be next."""
    tally: Tally


@kernel()
def make_scratch(space: Space, codes: IntArray, rules: Rules, classes: Classes, target: int) -> Scratch:
    """Return room for groups of ``target`` records."""
    count = classes.share.shape[0]
    return Scratch(
        make_groups(space, codes, 1, target),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros(count, np.int64),
        new_tally(rules),
    )


@kernel(allocates=False)
def find_nearest(space: Space, scratch: Scratch, classes: Classes, pool: IntArray) -> None:
    """Find for each class the record of the pool that costs the group least; taken records are -1 in the pool."""
    for one in range(scratch.nearest.shape[0]):
        scratch.nearest[one], scratch.rise[one], scratch.tried[one] = -1, np.inf, 0
    for place in range(pool.shape[0]):
        record = pool[place]
        if record < 0:
            continue
        one = classes.class_of[record]
        if scratch.rise[one] <= scratch.group.cost[0]:
            continue
        cost = cost_with(space, scratch.group, 0, record, scratch.rise[one])
        if cost < scratch.rise[one]:
            scratch.rise[one], scratch.nearest[one] = cost, place


@kernel(allocates=False)
def choose_class(rules: Rules, classes: Classes, scratch: Scratch, size: int, target: int) -> int:
    """Return the class whose nearest record costs least among those with which the group can be completed, or -1."""
    # ends: each round marks one more class as tried, or returns
    while True:
        best = -1
        for one in range(scratch.nearest.shape[0]):
            if (
                scratch.nearest[one] >= 0
                and scratch.tried[one] == 0
                and (
                    best < 0
                    or scratch.rise[one] < scratch.rise[best]
                    or (
                        scratch.rise[one] == scratch.rise[best]
                        and scratch.have[one] - target * classes.share[one]
                        < scratch.have[best] - target * classes.share[best]
                    )
                )
            ):
                best = one
        if best < 0:
            return -1
        scratch.tried[best] = 1
        scratch.have[best] += 1
        scratch.at_hand[best] -= 1
        fits = completable(
            rules, classes, scratch.have, size + 1, target, scratch.at_hand, scratch.filled, scratch.tally
        )
        scratch.have[best] -= 1
        scratch.at_hand[best] += 1
        if fits:
            return best


@kernel(allocates=False)
def rarest_class(classes: Classes, at_hand: LongArray) -> int:
    """Return the class of which the fewest are available in proportion to its share of a group."""
    best, least = -1, np.inf
    for one in range(at_hand.shape[0]):
        if at_hand[one] > 0 and at_hand[one] < least * classes.share[one]:
            best, least = one, at_hand[one] / classes.share[one]
    return best


@kernel(allocates=False)
def start_group(
    space: Space, scratch: Scratch, classes: Classes, pool: IntArray, seed_class: int, state: WordArray
) -> None:
    """Begin a group with a random record of a class."""
    skip = draw_below(state, scratch.at_hand[seed_class])
    for place in range(pool.shape[0]):
        record = pool[place]
        if record >= 0 and classes.class_of[record] == seed_class:
            if skip == 0:
                put(scratch.group, 0, record)
                refresh(space, scratch.group, 0)
                scratch.have[seed_class] += 1
                scratch.at_hand[seed_class] -= 1
                pool[place] = -1
                return
            skip -= 1


@kernel(allocates=False)
def carve_group(
    space: Space, rules: Rules, classes: Classes, scratch: Scratch, pool: IntArray, target: int, state: WordArray
) -> bool:
    """Choose a group of ``target`` records that meets every rule out of a pool; False if there is none.

    The records are in ``scratch.group`` and are -1 in the pool; after a failure the pool is spoilt.
    """
    scratch.group.size[0] = 0
    scratch.have[:] = 0
    if not completable(rules, classes, scratch.have, 0, target, scratch.at_hand, scratch.filled, scratch.tally):
        return False
    start_group(space, scratch, classes, pool, rarest_class(classes, scratch.at_hand), state)
    # ends: each round adds a record or returns
    while scratch.group.size[0] < target:
        find_nearest(space, scratch, classes, pool)
        one = choose_class(rules, classes, scratch, scratch.group.size[0], target)
        if one < 0:
            return False
        place = scratch.nearest[one]
        join(space, scratch.group, 0, pool[place])
        pool[place] = -1
        scratch.have[one] += 1
        scratch.at_hand[one] -= 1
    return True


@kernel()
def carve_cell(
    space: Space,
    rules: Rules,
    classes: Classes,
    scratch: Scratch,
    records: IntArray,
    target: int,
    search: CellSearch,
    state: WordArray,
) -> None:
    """Carve groups out of the records of one cell until none is found."""
    left = records.shape[0]
    pool = records.copy()
    # ends: each round carves a group out of what is left, or returns
    while left >= target:
        used = min(left, MOST_CANDIDATES)
        for place in range(left - 1, 0, -1):  # another part of a large cell each time
            other = draw_below(state, place + 1)
            pool[place], pool[other] = pool[other], pool[place]
        scratch.at_hand[:] = 0
        for place in range(used):
            scratch.at_hand[classes.class_of[pool[place]]] += 1
        if not carve_group(space, rules, classes, scratch, pool[:used], target, state):
            return
        for place in range(target):
            search.label[scratch.group.member[0, place]] = search.state[1]
        search.state[1] += 1
        kept = 0
        for place in range(left):
            if pool[place] >= 0:
                pool[kept] = pool[place]
                kept += 1
        left = kept


@kernel()
def gather_cells(
    levels: Levels, step: IntArray, target: int, limit: float, search: CellSearch
) -> tuple[IntArray, LongArray, float]:
    """Return the records of all cells with enough of them that cost at most ``limit``, cell by cell, and where each begins.

    The third value is the cost of the cheapest cell that must wait.
    """
    alive, least = search.state[0], np.inf
    cells = 0
    begin = np.zeros(alive + 2, np.int64)
    for place in range(alive):
        at = search.slot[place]
        if search.table.records[at] < target:
            continue
        if search.table.group[at] == -1:
            cost, record = 0.0, search.alive[place]
            for column in range(step.shape[0]):
                cost += levels.cell_cost[levels.first[column] + step[column], record]
            if cost > limit:
                search.table.group[at] = -2
                least = min(least, cost)
            else:
                search.table.group[at] = cells
                cells += 1
        if search.table.group[at] >= 0:
            begin[search.table.group[at] + 2] += 1
    for cell in range(cells):
        begin[cell + 2] += begin[cell + 1]
    record_of = np.empty(begin[cells + 1], np.int32)
    for place in range(alive):
        at = search.slot[place]
        if search.table.records[at] >= target and search.table.group[at] >= 0:
            cell = search.table.group[at]
            record_of[begin[cell + 1]] = search.alive[place]
            begin[cell + 1] += 1
    return record_of, begin[: cells + 1], least


@kernel(allocates=False)
def drop_labelled(search: CellSearch) -> None:
    """Keep only the records alive that no group has taken."""
    stay = 0
    for place in range(search.state[0]):
        if search.label[search.alive[place]] < 0:
            search.alive[stay] = search.alive[place]
            stay += 1
    search.state[0] = stay


@kernel()
def run_carving(
    space: Space,
    codes: IntArray,
    levels: Levels,
    rules: Rules,
    classes: Classes,
    target: int,
    search: CellSearch,
    budget: int,
    state: WordArray,
) -> int:
    """Go on carving for ``budget`` visits of records; return the visits spent, fewer than the budget at the end."""
    scratch = make_scratch(space, codes, rules, classes, target)
    ones = np.ones(codes.shape[0], np.int32)
    spent, columns = 0, levels.first.shape[0] - 1
    # ends: every pass over a combination spends at least 16 of the budget
    while search.combinations.size[0] > 0 and search.state[0] >= target and spent < budget:
        entry = dequeue(search.combinations)
        push_dearer(levels, search.combinations, entry)
        search.combinations.last[entry] = columns
        spent += search.state[0] + 16
        search.state[2] += 1
        step = search.combinations.step[entry]
        alive = search.alive[: search.state[0]]
        if not count_cells(levels, step, ones, alive, target, search.table, search.state[2], search.slot):
            continue
        limit = search.combinations.cost[entry] * COST_TOLERANCE + ROUNDING_ALLOWANCE
        records, begin, least = gather_cells(levels, step, target, limit, search)
        for cell in range(begin.shape[0] - 1):
            carve_cell(space, rules, classes, scratch, records[begin[cell] : begin[cell + 1]], target, search, state)
        drop_labelled(search)
        search.combinations.cost[entry] = least
        if least < ENDLESS:
            enqueue(search.combinations, entry)
    return spent
