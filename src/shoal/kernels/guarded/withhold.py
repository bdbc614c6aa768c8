"""Which records are better withheld: those for whose sake a group is released so coarsely that the others lose more than they do.

A withheld record loses everything. It pays to withhold the members outside one part of a group's cover in a column (one child of a node, the
values up to or from one of a range, those with one value of a set) if the others lose so much less in turn, and still meet every rule. If they do not, one
member may be withheld in exchange for a record of another group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.guarded.guard import Guard, holds, load_guard, make_guard, may_change, recount
from shoal.kernels.guarded.improve import part_of_rules
from shoal.kernels.measuring.matching import Points
from shoal.kernels.models.population_rules import PopulationRules
from shoal.kernels.models.rules import Rules
from shoal.kernels.optimize.moves.relocate_swap import LEAST_GAIN
from shoal.kernels.optimize.state.groups import ENDLESS, NOBODY, Groups, cost_after, make_groups, put, refresh, take
from shoal.kernels.optimize.state.regions import Regions, load_groups, local_labels
from shoal.kernels.space.kinds import leaves_part
from shoal.kernels.space.space import Space

MOST_LEAVERS = 12
"""Members of a group that are withheld in one step, at most."""
MOST_WITNESSES = 64
"""Members of a group whose values are tried as the part that stays, at most."""


WITHHELD = -1
"""The group of a record that is withheld."""


class Leavers(NamedTuple):
    """Steps of withholding, one after the other, with an entry for each record that leaves its group."""

    record: IntArray
    group: IntArray
    """Where it goes: WITHHELD, or another group."""
    step: LongArray
    """Entries of one step are carried out together or not at all."""
    gain: FloatArray
    """What the step gains for each record that it withholds; no more than the steps before it."""


COLUMN, WITNESS, ABOVE, LEAVER, FILLER = range(5)
"""A step as five numbers: the members outside one part of a column's cover are withheld, or one member (LEAVER, else NOBODY) in exchange for FILLER."""


@kernel(allocates=False)
def leaves(space: Space, groups: Groups, group: int, column: int, record: int, witness: int, above: bool) -> bool:
    """Return whether a member leaves when a column of its group is narrowed, as ``witness`` and ``above`` say (:func:`leaves_part`)."""
    low, high = groups.low[group, column], groups.high[group, column]
    return leaves_part(space, column, low, high, witness, above, groups.codes[record, column])


@kernel(allocates=False)
def part_gain(
    space: Space,
    groups: Groups,
    trial: Groups,
    guard: Guard,
    group: int,
    column: int,
    witness: int,
    above: bool,
    worst: float,
) -> float:
    """Return what withholding the members outside one part gains for each of them, 0 if a rule forbids it; the others are in ``trial``."""
    size, total, count = groups.size[group], groups.size[group] * groups.cost[group], 0
    trial.size[0] = 0
    for place in range(size):
        record = groups.member[group, place]
        if not leaves(space, groups, group, column, record, witness, above):
            put(trial, 0, record)
            continue
        count += 1
        if count > MOST_LEAVERS or count == size or count * worst >= total:
            return 0.0
    if count == 0:
        return 0.0
    refresh(space, trial, 0)
    gain = (total - (size - count) * trial.cost[0] - count * worst) / count
    if gain <= LEAST_GAIN:
        return 0.0
    recount(guard, trial, 0)
    return gain if holds(space, trial, guard, 0) else 0.0


@kernel(allocates=False)
def best_part(
    space: Space, groups: Groups, trial: Groups, alone: Guard, group: int, worst: float, step: LongArray
) -> float:
    """Write the best step that withholds the members outside one part; return its gain for each of them, 0 for no step.

    ``alone`` guards the group of ``trial``.
    """
    size, best = groups.size[group], 0.0
    every = (size + MOST_WITNESSES - 1) // MOST_WITNESSES
    for column in range(space.kind.shape[0]):
        if groups.column_cost[group, column] == 0.0:
            continue
        for place in range(0, size, every):
            witness = groups.codes[groups.member[group, place], column]
            for above in (False, True):
                gain = part_gain(space, groups, trial, alone, group, column, witness, above, worst)
                if gain > best:
                    best = gain
                    step[COLUMN], step[WITNESS], step[ABOVE], step[LEAVER] = column, witness, above, NOBODY
    return best


@kernel(allocates=False)
def best_exchange(
    space: Space, groups: Groups, guard: Guard, group: int, best: float, worst: float, step: LongArray
) -> float:
    """Write the best step that withholds one member in exchange for a record another group can spare; return its gain, ``best`` if none is better."""
    size = groups.size[group]
    before = size * groups.cost[group]
    for place in range(size):
        leaver = groups.member[group, place]
        rest = cost_after(space, groups, group, leaver, NOBODY, ENDLESS)
        if before - size * rest - worst <= max(best, LEAST_GAIN):
            continue
        for filler in range(groups.label.shape[0]):
            other = groups.label[filler]
            if other == group or other < 0 or groups.size[other] == 1:
                continue
            limit = (before - worst - max(best, LEAST_GAIN) + groups.size[other] * groups.cost[other]) / size
            cost = cost_after(space, groups, group, leaver, filler, limit)
            if cost > limit:
                continue
            spared = cost_after(space, groups, other, filler, NOBODY, ENDLESS)
            gain = before - worst - size * cost
            gain += groups.size[other] * groups.cost[other] - (groups.size[other] - 1) * spared
            if (
                gain > max(best, LEAST_GAIN)
                and may_change(space, groups, guard, group, leaver, filler)
                and may_change(space, groups, guard, other, filler, NOBODY)
            ):
                best, step[LEAVER], step[FILLER] = gain, leaver, filler
    return best


@kernel(allocates=False)
def note_leaver(found: Leavers, count: int, record: int, group: int, step: int, gain: float) -> int:
    """Add an entry; return how many there are then."""
    found.record[count], found.group[count], found.step[count], found.gain[count] = record, group, step, gain
    return count + 1


@kernel(allocates=False)
def carry_out(
    space: Space,
    groups: Groups,
    guard: Guard,
    group: int,
    step: LongArray,
    number: int,
    gain: float,
    found: Leavers,
    count: int,
) -> int:
    """Take a step and note it; return how many entries there are then. Who is withheld is in no group."""
    first = count
    if step[LEAVER] != NOBODY:
        count = note_leaver(found, count, step[LEAVER], WITHHELD, number, gain)
        count = note_leaver(found, count, step[FILLER], group, number, gain)
        other = groups.label[step[FILLER]]
        take(groups, step[FILLER])
        put(groups, group, step[FILLER])
        refresh(space, groups, other)
        recount(guard, groups, other)
    else:
        for place in range(groups.size[group]):
            record = groups.member[group, place]
            if leaves(space, groups, group, step[COLUMN], record, step[WITNESS], step[ABOVE] == 1):
                count = note_leaver(found, count, record, WITHHELD, number, gain)
    for place in range(first, count):
        if found.group[place] == WITHHELD:
            take(groups, found.record[place])
    refresh(space, groups, group)
    recount(guard, groups, group)
    return count


@kernel()
def find_steps(
    space: Space, groups: Groups, trial: Groups, guard: Guard, alone: Guard, most: FloatArray, found: Leavers
) -> int:
    """Take the best step of any group again and again, and note all of them; return how many entries there are.

    ``most`` holds the gain of each group's best step when it was last worked out, infinity if the group changed since.
    """
    worst, step = space.weight.sum(), np.zeros(5, np.int64)
    count, number, least = 0, 0, np.inf
    # ends: between two steps, of which each withholds a record, the best step of every group is worked out at most once
    while True:
        group = int(np.argmax(most))
        if most[group] <= 0.0:
            return count
        gain = 0.0
        if groups.size[group] * groups.cost[group] > worst:
            gain = best_part(space, groups, trial, alone, group, worst, step)
            gain = best_exchange(space, groups, guard, group, gain, worst, step)
        most[group] = gain
        if gain > 0.0 and gain >= most.max():
            least = min(least, gain)
            if step[LEAVER] != NOBODY:
                most[groups.label[step[FILLER]]] = np.inf
            count = carry_out(space, groups, guard, group, step, number, least, found, count)
            most[group] = np.inf
            number += 1


@kernel()
def find_leavers(
    space: Space,
    codes: IntArray,
    label: IntArray,
    rules: Rules,
    crowds: PopulationRules,
    points: Points,
    class_of: IntArray,
    regions: Regions,
    region: int,
) -> Leavers:
    """Return what is better withheld in the groups of one region, step by step; labels stay as they are."""
    records, local, size = local_labels(label, regions, region)
    used, name = size.shape[0], np.zeros(size.shape[0], np.int32)
    for place in range(local.shape[0]):
        name[local[place]] = label[records[place]]
    groups = load_groups(space, codes[records], local, used, size.max() + 1)
    trial = make_groups(space, groups.codes, 1, size.max() + 1)
    part = part_of_rules(rules, records)
    guard = load_guard(space, part, crowds, points, class_of[records], groups)
    alone = make_guard(space, part, crowds, points, class_of[records], 1)
    room = 2 * local.shape[0]
    found = Leavers(np.zeros(room, np.int32), np.zeros(room, np.int32), np.zeros(room, np.int64), np.zeros(room))
    count = find_steps(space, groups, trial, guard, alone, np.full(used, np.inf), found)
    for place in range(count):
        found.record[place] = records[found.record[place]]
        if found.group[place] != WITHHELD:
            found.group[place] = name[found.group[place]]
    return Leavers(found.record[:count], found.group[:count], found.step[:count], found.gain[:count])
