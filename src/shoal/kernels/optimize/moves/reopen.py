"""Reopen: a candidate cell takes the place of the groups whose records it takes.

If k is large, better groups are many records away: no move, swap or eviction leads there. Here a candidate cell
(``cells/candidates.py``) is opened whatever its profit, the groups it takes records from are dissolved, and their other records go to
further candidates, by falling profit, or to neighbouring groups. There are tens of thousands of such tries, and a temperature at
first (ruin and recreate, Schrimpf et al. 2000).
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_below, draw_share, make_state
from shoal.kernels.optimize.cells.candidates import (
    CandidateCells,
    Opening,
    Ungrouped,
    bucket_by_tuple,
    choose_cell,
    make_holding,
    make_ungrouped,
    regroup_by_candidates,
)
from shoal.kernels.optimize.moves.rebuild import clear, replace_or_undo, ruin
from shoal.kernels.optimize.moves.relocate_swap import LEAST_GAIN
from shoal.kernels.optimize.state.groups import Groups, make_groups
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.optimize.state.regions import Regions, load_region, store_region
from shoal.kernels.space.space import Space

HOPEFUL_SHARE = 0.82
"""Records left over are given to other groups only if the sum of their dual prices is below this share of what they may cost.

They always cost more than their prices: of the tries above this share hardly one in ten thousand is kept, and they would take most of the time.
"""
MOST_RUINED = 8
"""Groups dissolved for one cell, at most."""

_STREAM = 1
"""Number of the stream of random numbers that this operator draws from."""


@kernel(allocates=False)
def overlapping_groups(
    groups: Groups,
    candidates: CandidateCells,
    cell: int,
    k: int,
    held: Ungrouped,
    shared: LongArray,
    met: LongArray,
    near: LongArray,
) -> int:
    """Find the groups with most of the records that a cell would take, as many as fit into ``near``; return how many.

    All records of the last tuple it takes are counted, though it may take only some. ``held`` has all records by tuple; ``shared`` is 0
    before and after.
    """
    taken, some = 0, 0
    for place in range(candidates.tuples.start[cell], candidates.tuples.start[cell + 1]):
        one = candidates.tuples.item[place]
        if taken >= k and candidates.price[one] <= candidates.cost[cell]:
            break
        record = held.head[one]
        while record >= 0:
            group = groups.label[record]
            if shared[group] == 0:
                met[some] = group
                some += 1
            shared[group] += 1
            taken += 1
            record = held.after[record]
    count = min(some, near.shape[0])
    for number in range(count):
        best = met[0]
        for place in range(1, some):
            if shared[met[place]] > shared[best]:
                best = met[place]
        near[number], shared[best] = best, 0
    for place in range(some):
        shared[met[place]] = 0
    return count


@kernel(allocates=False)
def gather_ungrouped(
    candidates: CandidateCells, ungrouped: Ungrouped, tuples: int, pool: IntArray
) -> tuple[int, float]:
    """Move the records still ungrouped into a pool, those of high price first; return their number and the sum of their dual prices."""
    count, prices = 0, 0.0
    for number in range(tuples):
        one = ungrouped.found[number]
        prices += ungrouped.left[one] * candidates.price[one]
        record = ungrouped.head[one]
        for _ in range(ungrouped.left[one]):
            pool[count] = record
            record = ungrouped.after[record]
            count += 1
        ungrouped.left[one] = 0
    return count, prices


@kernel()
def reopen_cells(
    space: Space,
    candidates: CandidateCells,
    tuple_of: IntArray,
    groups: Groups,
    k: int,
    tries: int,
    mean_cost: float,
    temperature: float,
    state: WordArray,
) -> Outcome:
    """Open cells instead of the groups they overlap, ``tries`` times; return how often, and what was gained.

    The cell is opened first, whatever its profit, if the groups dissolved for it hold k of its records. The new groups are kept if they raise the
    total by no more than a random share of ``temperature``, times the mean cost of the dissolved records over ``mean_cost``.

    Parameters
    ----------
    tuple_of
        The tuple of each record of the groups.
    mean_cost
        The mean cost of a record, the unit of ``temperature``. Further cells may have a reduced cost of up to a random share of k times as much.
    """
    records, room = groups.codes.shape[0], groups.member.shape[1]
    shared, met = np.zeros(groups.size.shape[0], np.int64), np.zeros(groups.size.shape[0], np.int64)
    near, size, pool = (
        np.zeros(MOST_RUINED, np.int64),
        np.zeros(MOST_RUINED, np.int64),
        np.zeros(MOST_RUINED * room, np.int32),
    )
    trial = make_groups(space, groups.codes, pool.shape[0] // k + 1, room)
    held, ungrouped = (
        make_ungrouped(candidates.price.shape[0], records),
        make_ungrouped(candidates.price.shape[0], records),
    )
    holding = make_holding(candidates.cost.shape[0])
    bucket_by_tuple(held, tuple_of, np.arange(records).astype(np.int32))
    host, rises = np.zeros(1, np.int64), np.zeros(1)
    tried, taken, fall = 0, 0, 0.0
    for _ in range(tries):
        record = draw_below(state, records)
        cell = choose_cell(candidates.cells, candidates.profit, tuple_of[record], state)
        if cell < 0 or groups.cost[groups.label[record]] == 0.0:
            continue
        tried += 1
        most = 1 + draw_below(state, MOST_RUINED)
        count = overlapping_groups(groups, candidates, cell, k, held, shared, met, near[:most])
        total, before = ruin(groups, near[:count], pool, size)
        limit = before + LEAST_GAIN + temperature * before / (total * mean_cost) * draw_share(state)
        clear(trial, pool[:total])
        tuples = bucket_by_tuple(ungrouped, tuple_of, pool[:total])
        allowed = k * mean_cost * draw_share(state)
        used, cost = regroup_by_candidates(
            space, candidates, ungrouped, holding, trial, tuples, k, limit, allowed, cell
        )
        left, prices = gather_ungrouped(candidates, ungrouped, tuples, pool)
        rest = limit - cost if used > 0 and prices < HOPEFUL_SHARE * (limit - cost) else 0.0
        rest = replace_or_undo(space, groups, trial, used, near[:count], size, pool, left, rest, host, rises)
        if rest >= 0.0:
            taken += 1
            fall += before - limit + rest
    return Outcome(tried, taken, fall)


@kernel()
def reopen_region(
    space: Space, codes: IntArray, label: IntArray, regions: Regions, region: int, opening: Opening
) -> Outcome:
    """Reopen cells in one region and return what that gained."""
    groups = load_region(space, codes, label, regions, region, opening.k)
    records = regions.record[regions.start[region] : regions.start[region + 1]]
    outcome = reopen_cells(
        space,
        opening.candidates,
        opening.candidates.tuple_of[records],
        groups,
        opening.k,
        1 + int(opening.tries * records.shape[0] / opening.k),
        opening.mean_cost,
        opening.temperature,
        make_state(opening.seed, region + (_STREAM << 32)),  # other numbers than those of the local moves
    )
    store_region(groups, label, regions, region)
    return outcome
