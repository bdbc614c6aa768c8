"""Moves and swaps that keep every rule, region by region."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_share, make_state, shuffle
from shoal.kernels.common.sorting import order_by_key
from shoal.kernels.guarded.divide import dissolve_groups, divide_groups
from shoal.kernels.guarded.guard import Guard, change_places, cheapest_host, load_guard, may_change, note_change
from shoal.kernels.guarded.rebuild import rebuild_groups
from shoal.kernels.guarded.tighten import tighten_groups
from shoal.kernels.measuring.matching import Points
from shoal.kernels.models.population_rules import PopulationRules
from shoal.kernels.models.rules import Rules
from shoal.kernels.optimize.cells.steps import SeedDistances
from shoal.kernels.optimize.moves.relocate_swap import ANY_SIZE, LEAST_GAIN, cheapest_hosts, swap_change
from shoal.kernels.optimize.state.groups import ENDLESS, NOBODY, Groups, cost_after, join
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.optimize.state.regions import Regions, load_groups, local_labels, store_region
from shoal.kernels.space.space import Space

HOSTS = 4
"""Groups to which the relocation of a record is tried, the cheapest ones."""
REBUILD_TEMPERATURE = 0.5
"""The temperature of rebuilding, as a share of that of moves."""
MOVES = ("relocate-swap", "dissolve", "divide", "tighten", "rebuild")
"""What ``improve_guarded_region`` does with a region, in this order."""


@kernel(allocates=False)
def best_swap(space: Space, groups: Groups, guard: Guard, record: int, other: int, best: float) -> tuple[float, int]:
    """Return the largest fall below ``best`` by an allowed swap of ``record`` with a member of group ``other``."""
    own, partner = groups.label[record], NOBODY
    for place in range(groups.size[other]):
        candidate = groups.member[other, place]
        change = swap_change(space, groups, record, candidate, best)
        if (
            change < best
            and may_change(space, groups, guard, own, record, candidate)
            and may_change(space, groups, guard, other, candidate, record)
        ):
            best, partner = change, candidate
    return best, partner


@kernel(allocates=False)
def improve_record(
    space: Space, groups: Groups, guard: Guard, record: int, most: float, host: LongArray, rises: FloatArray
) -> float:
    """Take the best allowed move or swap of one record if it changes the total by less than ``most``; return the change."""
    own = groups.label[record]
    size = groups.size[own]
    before = size * groups.cost[own]
    if before == 0.0:
        return 0.0
    rest = cost_after(space, groups, own, record, NOBODY, ENDLESS)
    widens = rest < groups.cost[own]
    may_leave = size > 1 and may_change(space, groups, guard, own, record, NOBODY)
    swaps = widens or most > 0.0
    if not may_leave and not swaps:
        return 0.0
    fall = before - (size - 1) * rest
    found = cheapest_hosts(space, groups, record, ANY_SIZE, (before if widens else fall) + most, host, rises)
    best, target, partner = most, NOBODY, NOBODY
    for place in range(found if may_leave else 0):
        if (
            groups.size[host[place]] < groups.member.shape[1]
            and rises[place] - fall < best
            and may_change(space, groups, guard, host[place], NOBODY, record)
        ):
            best, target = rises[place] - fall, host[place]
            break
    for place in range(found if swaps else 0):
        change, candidate = best_swap(space, groups, guard, record, host[place], best)
        if candidate != NOBODY:
            best, target, partner = change, host[place], candidate
    if target == NOBODY:
        return 0.0
    change_places(space, groups, guard, record, target, partner)
    return best


@kernel()
def sweep(space: Space, groups: Groups, guard: Guard, hosts: int, temperature: float, state: WordArray) -> Outcome:
    """Try the best allowed move or swap of every record once, in random order; return how often, and what was gained."""
    order = np.arange(groups.codes.shape[0])
    shuffle(state, order)
    host, rises = np.zeros(hosts, np.int64), np.zeros(hosts)
    taken, fall = 0, 0.0
    for place in range(order.shape[0]):
        most = temperature * draw_share(state) - LEAST_GAIN
        change = improve_record(space, groups, guard, order[place], most, host, rises)
        taken += change != 0.0
        fall -= change
    return Outcome(order.shape[0], taken, fall)


@kernel()
def number_anew(codes: IntArray) -> int:
    """Number codes from 0 without gaps, in place and in their order; return how many there are."""
    number, last = -1, np.int64(-1)
    for place in order_by_key(codes.astype(np.int64)):
        if codes[place] != last:
            last = np.int64(codes[place])
            number += 1
        codes[place] = number
    return number + 1


@kernel()
def part_of_rules(rules: Rules, records: IntArray) -> Rules:
    """Return the rules with the codes of some records only; totals stay those of the whole table.

    Sparse rows are numbered again, so that a tally has room for the codes of these records only.
    """
    codes, start = rules.codes[:, records], rules.start.copy()
    for row in range(rules.sparse, codes.shape[0]):
        start[row + 1] = start[row] + number_anew(codes[row])
    return Rules(
        rules.kind,
        rules.sense,
        rules.row,
        rules.bound,
        rules.rank,
        codes,
        start,
        rules.gate,
        rules.sparse,
        rules.people,
        rules.total,
        rules.value,
        rules.mass,
        rules.population,
        rules.node_start,
        rules.node_parent,
        rules.node_height,
    )


@kernel()
def improve_guarded_region(
    space: Space,
    codes: IntArray,
    label: IntArray,
    rules: Rules,
    crowds: PopulationRules,
    points: Points,
    class_of: IntArray,
    share: FloatArray,
    steps: SeedDistances,
    regions: Regions,
    region: int,
    k: int,
    rebuilds: int,
    temperature: float,
    seed: int,
) -> tuple[Outcome, Outcome, Outcome, Outcome, Outcome]:
    """Improve the groups of one region, keeping every rule, and return what each of ``MOVES`` did.

    ``rebuilds`` is how often groups are rebuilt, for each group; ``share`` is what share of a group each class should have.
    """
    records, local, size = local_labels(label, regions, region)
    used = size.shape[0]
    groups = load_groups(space, codes[records], local, max(used, local.shape[0] // k), 2 * size.max())
    guard = load_guard(space, part_of_rules(rules, records), crowds, points, class_of[records], groups)
    state = make_state(seed, region)
    dissolved, rebuilt = Outcome(0, 0, 0.0), Outcome(0, 0, 0.0)
    moved = sweep(space, groups, guard, HOSTS, temperature, state)
    if temperature == 0.0:  # it gains little, and takes as long as a cold sweep
        dissolved = dissolve_groups(space, groups, guard)
    divided = divide_groups(space, groups, guard, k)
    tightened = tighten_groups(space, groups, guard, temperature, state)
    if rebuilds > 0:
        rebuilt = rebuild_groups(
            space, steps, groups, guard, share, k, rebuilds * used, REBUILD_TEMPERATURE * temperature, state
        )
    store_region(groups, label, regions, region)
    return moved, dissolved, divided, tightened, rebuilt


@kernel()
def place_rest(
    space: Space,
    codes: IntArray,
    label: IntArray,
    rules: Rules,
    crowds: PopulationRules,
    points: Points,
    class_of: IntArray,
    groups: int,
) -> int:
    """Move each record without a group to the group that may take it whose cost rises least; return how many found none."""
    size = np.zeros(groups, np.int64)
    for record in range(label.shape[0]):
        if label[record] >= 0:
            size[label[record]] += 1
    made = load_groups(space, codes, label, groups, 4 * size.max())
    guard = load_guard(space, rules, crowds, points, class_of, made)
    homeless = 0
    for record in range(label.shape[0]):
        if label[record] >= 0:
            continue
        best, _ = cheapest_host(space, made, guard, NOBODY, record, ENDLESS)
        if best == NOBODY:
            homeless += 1
            continue
        note_change(guard, best, NOBODY, record)
        join(space, made, best, record)
        label[record] = best
    return homeless
