"""Rebuilding neighbouring groups by cells, if every rule holds afterwards.

A few near groups are dissolved, and their records put into the best cells that hold a random one of them, as in
``optimize.operators.rebuild``. A group is made of records of such a cell that meet every rule together (``completion``); if there are none,
a larger cell is tried. Records that no cell takes go to the cheapest of the new groups that may take them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_below, draw_share
from shoal.kernels.guarded.completion import Classes, completable
from shoal.kernels.guarded.guard import Guard, cheapest_host, holds, make_guard, note_change, recount
from shoal.kernels.models.rules import Tally, new_tally
from shoal.kernels.optimize.cells.steps import BitsetSearch, SeedDistances, find_cell, make_bitset_search
from shoal.kernels.optimize.moves.rebuild import clear, draw_seed, restore, ruin, shake_weights, sort_near
from shoal.kernels.optimize.moves.relocate_swap import LEAST_GAIN
from shoal.kernels.optimize.state.groups import NOBODY, Groups, join, make_groups, put, refresh
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.optimize.state.regroup import neighbours, replace_groups
from shoal.kernels.space.bits import holds_code
from shoal.kernels.space.space import Space

MOST_POOL = 256
"""Records that are put into new groups together, at most."""
MOST_NEAR = 3
"""Groups that are rebuilt together with another one, at most."""
NOISE = 0.5
"""How much column weights are shaken, so that other cells are tried each time."""


class Pool(NamedTuple):
    """The records of the groups that are rebuilt, and room for new groups."""

    record: IntArray
    local_class: LongArray
    """The class of each record, as a number among those of the pool."""
    sample: IntArray
    """One record of each of these classes."""
    share: FloatArray
    """What share of a group each of these classes should have."""
    at_hand: LongArray
    """How many records of each of these classes the cell holds."""
    filled: LongArray
    """How many of them the new group takes."""
    none: LongArray
    """Zeros: what a group has of each class before it is begun."""
    trial: Groups
    guard: Guard
    sieve: BitsetSearch
    tally: Tally
    near: LongArray
    """The groups that are rebuilt."""
    size: LongArray
    """How many records each of them had."""
    weight: FloatArray


@kernel()
def make_pool(space: Space, groups: Groups, guard: Guard, k: int) -> Pool:
    """Return room for the records of a few groups, and for new groups of them."""
    trial = make_groups(space, groups.codes, MOST_POOL // k + 1, min(groups.member.shape[1], MOST_POOL))
    crowd = guard.crowd
    return Pool(
        np.zeros(MOST_POOL, np.int32),
        np.zeros(MOST_POOL, np.int64),
        np.zeros(MOST_POOL, np.int32),
        np.zeros(MOST_POOL),
        np.zeros(MOST_POOL, np.int64),
        np.zeros(MOST_POOL, np.int64),
        np.zeros(MOST_POOL, np.int64),
        trial,
        make_guard(space, guard.rules, crowd.crowds, crowd.points, guard.class_of, trial.size.shape[0]),
        make_bitset_search(groups.codes.shape[1], MOST_POOL),
        new_tally(guard.rules),
        np.zeros(MOST_NEAR + 1, np.int64),
        np.zeros(MOST_NEAR + 1, np.int64),
        np.zeros(space.weight.shape[0]),
    )


@kernel(allocates=False)
def number_classes(class_of: IntArray, share: FloatArray, pool: Pool, count: int) -> int:
    """Number the classes of the first ``count`` records of a pool from 0; return how many there are."""
    used = 0
    for place in range(count):
        own = class_of[pool.record[place]]
        number = 0
        while number < used and class_of[pool.sample[number]] != own:
            number += 1
        if number == used:
            pool.sample[used], pool.share[used] = pool.record[place], share[own]
            used += 1
        pool.local_class[place] = number
    return used


@kernel(allocates=False)
def choose_cell(
    pool: Pool, guard: Guard, steps: SeedDistances, classes: int, left: int, k: int, most: int, share: float
) -> bool:
    """Find the best cell with records that meet every rule together, and write into ``filled`` how many of each class they are."""
    parts = Classes(guard.class_of, pool.sample[:classes], pool.share[:classes])
    at_hand, none, filled = pool.at_hand[:classes], pool.none[:classes], pool.filled[:classes]
    wanted = k
    # ends: each cell holds more records than the one before, and none holds more than are left
    while wanted <= left and find_cell(pool.sieve, steps.counts, left, wanted, share):
        at_hand[:] = 0
        held = 0
        for place in range(left):
            if holds_code(pool.sieve.found, 0, place):
                at_hand[pool.local_class[place]] += 1
                held += 1
        if completable(guard.rules, parts, none, 0, min(most, held), at_hand, filled, pool.tally):
            return True
        wanted = held + 1
    return False


@kernel(allocates=False)
def take_chosen(pool: Pool, group: int, left: int) -> int:
    """Move the records that were chosen out of a cell from the pool to a new group; return how many stay."""
    stay = 0
    for place in range(left):
        if holds_code(pool.sieve.found, 0, place) and pool.filled[pool.local_class[place]] > 0:
            pool.filled[pool.local_class[place]] -= 1
            put(pool.trial, group, pool.record[place])
        else:
            pool.record[stay], pool.local_class[stay] = pool.record[place], pool.local_class[place]
            stay += 1
    return stay


@kernel(allocates=False)
def regroup_valid(
    space: Space,
    groups: Groups,
    guard: Guard,
    steps: SeedDistances,
    pool: Pool,
    count: int,
    classes: int,
    k: int,
    limit: float,
    state: WordArray,
) -> tuple[int, float]:
    """Put the records of a pool into new groups that meet every rule; return their number and what is left of ``limit``, below 0 if that fails."""
    left, used = count, 0
    share, most = draw_share(state), min(k + draw_below(state, k + 1), pool.trial.member.shape[1])
    clear(pool.trial, pool.record[:count])
    # ends: each round takes records out of the pool, or breaks
    while left >= k and used < pool.trial.size.shape[0]:
        draw_seed(groups, steps, pool.weight, pool.record, left, pool.sieve, state)
        if not choose_cell(pool, guard, steps, classes, left, k, most, share):
            break
        left = take_chosen(pool, used, left)
        refresh(space, pool.trial, used)
        recount(pool.guard, pool.trial, used)
        limit -= pool.trial.size[used] * pool.trial.cost[used]
        if limit < 0.0 or not holds(space, pool.trial, pool.guard, used):
            return used, -1.0
        used += 1
    for place in range(left):
        host, rise = cheapest_host(space, pool.trial, pool.guard, NOBODY, pool.record[place], limit)
        if host == NOBODY:
            return used, -1.0
        note_change(pool.guard, host, NOBODY, pool.record[place])
        join(space, pool.trial, host, pool.record[place])
        limit -= rise
    return used, limit


@kernel(allocates=False)
def replace_valid(space: Space, groups: Groups, guard: Guard, pool: Pool, count: int, used: int) -> None:
    """Put ``used`` new groups instead of ``count`` old ones, and count the tallies of all again."""
    replace_groups(space, groups, pool.near[:count], pool.trial, used)
    for number in range(count):
        recount(guard, groups, pool.near[number])
    for new in range(count, used):
        recount(guard, groups, groups.label[pool.trial.member[new, 0]])


@kernel()
def rebuild_groups(
    space: Space,
    steps: SeedDistances,
    groups: Groups,
    guard: Guard,
    share: FloatArray,
    k: int,
    tries: int,
    temperature: float,
    state: WordArray,
) -> Outcome:
    """Rebuild random groups together with near ones, ``tries`` times; kept is what raises the total by less than a random share of ``temperature``.

    ``share`` says what share of a group each class should have. Returns how often, and what was gained.
    """
    pool, tried, taken, fall = make_pool(space, groups, guard, k), 0, 0, 0.0
    for _ in range(tries):
        group = groups.label[draw_below(state, groups.codes.shape[0])]
        if groups.cost[group] == 0.0:
            continue
        count = neighbours(space, groups, group, 1 + draw_below(state, MOST_NEAR), state, pool.near)
        if groups.size[pool.near[:count]].sum() > MOST_POOL:
            continue
        tried += 1
        sort_near(groups, pool.near[:count], state)
        shake_weights(space, NOISE, state, pool.weight)
        records, before = ruin(groups, pool.near[:count], pool.record, pool.size)
        classes = number_classes(guard.class_of, share, pool, records)
        limit = before - LEAST_GAIN + temperature * draw_share(state)
        used, rest = regroup_valid(space, groups, guard, steps, pool, records, classes, k, limit, state)
        if rest < 0.0:
            restore(groups, pool.near[:count], pool.size)
            continue
        replace_valid(space, groups, guard, pool, count, used)
        taken += 1
        fall += before - (limit - rest)
    return Outcome(tried, taken, fall)
