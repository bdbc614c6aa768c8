"""Candidate cells: those of small reduced cost, and how ungrouped records find the ones that hold k of them.

Dual prices show which cells can be part of good groupings (``pricing/dual_ascent.py``). Tuples are numbered by falling price, so that a
cell takes its first tuples, and its profit is known after one pass over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.heap import Queue, drop_first, make_queue, push
from shoal.kernels.common.lists import Lists
from shoal.kernels.common.random_state import draw_below
from shoal.kernels.common.sorting import sort_codes
from shoal.kernels.optimize.cells.reduced_cost import profit_in_order
from shoal.kernels.optimize.state.groups import ENDLESS, Groups, put, refresh
from shoal.kernels.space.space import Space

MOST_TRIED = 3
"""Cells compared when one is chosen to be opened."""


class CandidateCells(NamedTuple):
    """Cells of small reduced cost. Tuples are numbered by falling price."""

    tuple_of: IntArray
    """The tuple of each record of the table."""
    price: FloatArray
    """The dual price of a record of each tuple."""
    tuples: Lists
    """The tuples of each cell, by falling price."""
    cost: FloatArray
    """What a cell costs each record in it."""
    profit: FloatArray
    """The profit of a cell (minus its reduced cost) while no other cell takes its records."""
    cells: Lists
    """The cells of each tuple."""


class Ungrouped(NamedTuple):
    """The ungrouped records, bucketed by distinct tuple."""

    left: IntArray
    """How many ungrouped records each tuple has."""
    head: IntArray
    """The first ungrouped record of each tuple; undefined if ``left`` is 0."""
    after: IntArray
    """The record of the same tuple after each record, -1 for none."""
    found: IntArray
    """The tuples that have ungrouped records, by falling price."""


@kernel()
def make_ungrouped(tuples: int, records: int) -> Ungrouped:
    """Return empty buckets for up to ``records`` of ``tuples``."""
    return Ungrouped(
        np.zeros(tuples, np.int32),
        np.full(tuples, -1, np.int32),
        np.full(records, -1, np.int32),
        np.zeros(records, np.int32),
    )


class Holding(NamedTuple):
    """Scratch space to find the cells that hold k ungrouped records. ``regroup_by_candidates`` leaves all but ``seen`` as it was."""

    records: IntArray
    """How many ungrouped records each cell holds; 0 between two searches."""
    tuples: IntArray
    """How many ungrouped tuples each cell holds; 0 between two searches."""
    place: IntArray
    """The place of each cell among those that hold k records; -1 for others, and between two searches."""
    seen: IntArray
    """The cells that hold ungrouped records; those that hold k first."""


@kernel()
def make_holding(cells: int) -> Holding:
    """Return scratch space for ``cells`` cells."""
    return Holding(
        np.zeros(cells, np.int32), np.zeros(cells, np.int32), np.full(cells, -1, np.int32), np.zeros(cells, np.int32)
    )


@kernel(allocates=False)
def choose_cell(cells: Lists, profit: FloatArray, one: int, state: WordArray) -> int:
    """Return the most profitable of a few random cells that hold a tuple, -1 if none does."""
    begin, count = cells.start[one], cells.start[one + 1] - cells.start[one]
    best = -1
    for _ in range(min(MOST_TRIED, count)):
        chosen = cells.item[begin + draw_below(state, count)]
        if best < 0 or profit[chosen] > profit[best]:
            best = chosen
    return best


@kernel(allocates=False)
def bucket_by_tuple(ungrouped: Ungrouped, tuple_of: IntArray, pool: IntArray) -> int:
    """Put the records of ``pool`` into the buckets of their tuples; return how many tuples they have."""
    count = 0
    for place in range(pool.shape[0]):
        record = pool[place]
        one = tuple_of[record]
        if ungrouped.left[one] == 0:
            ungrouped.found[count], ungrouped.head[one] = one, -1
            count += 1
        ungrouped.after[record], ungrouped.head[one] = ungrouped.head[one], record
        ungrouped.left[one] += 1
    sort_codes(ungrouped.found[:count])
    return count


@kernel()
def find_holding_cells(
    candidates: CandidateCells, ungrouped: Ungrouped, holding: Holding, tuples: int, k: int
) -> Lists:
    """Find the cells that hold k ungrouped records, into ``holding.seen``; return the ungrouped tuples of each."""
    seen = 0
    for number in range(tuples):
        one = ungrouped.found[number]
        for at in range(candidates.cells.start[one], candidates.cells.start[one + 1]):
            cell = candidates.cells.item[at]
            if holding.tuples[cell] == 0:
                holding.seen[seen] = cell
                seen += 1
            holding.tuples[cell] += 1
            holding.records[cell] += ungrouped.left[one]
    start, cells = np.zeros(seen + 1, np.int64), 0
    for place in range(seen):
        cell = holding.seen[place]
        if holding.records[cell] >= k:
            holding.seen[cells], holding.place[cell] = cell, cells
            start[cells + 1] = start[cells] + holding.tuples[cell]
            cells += 1
        holding.tuples[cell] = holding.records[cell] = 0
    at_cell, member = start[:cells].copy(), np.empty(start[cells], np.int32)
    for number in range(tuples):
        one = ungrouped.found[number]
        for at in range(candidates.cells.start[one], candidates.cells.start[one + 1]):
            place = holding.place[candidates.cells.item[at]]
            if place >= 0:
                member[at_cell[place]] = one
                at_cell[place] += 1
    return Lists(start[: cells + 1], member)


@kernel(allocates=False)
def take_ungrouped(trial: Groups, group: int, ungrouped: Ungrouped, member: IntArray, wanted: int) -> None:
    """Put ``wanted`` ungrouped records of some tuples, the first ones, into a group."""
    for place in range(member.shape[0]):
        one = member[place]
        while ungrouped.left[one] > 0 and wanted > 0:
            record = ungrouped.head[one]
            ungrouped.head[one] = ungrouped.after[record]
            ungrouped.left[one] -= 1
            wanted -= 1
            put(trial, group, record)
        if wanted == 0:
            break


@kernel()
def queue_candidates(
    candidates: CandidateCells,
    ungrouped: Ungrouped,
    holding: Holding,
    tuples: Lists,
    k: int,
    allowed: float,
    forced: int,
) -> tuple[Queue, int]:
    """Return a queue of the cells found, the one forced first, then by falling profit down to a reduced cost of ``allowed``."""
    cells = tuples.start.shape[0] - 1
    queue, waiting = make_queue(max(cells, 1)), 0
    for place in range(cells):
        cell, inside = holding.seen[place], tuples.item[tuples.start[place] : tuples.start[place + 1]]
        profit, _ = profit_in_order(inside, candidates.cost[cell], candidates.price, ungrouped.left, k)
        if cell == forced:
            waiting = push(queue, waiting, -ENDLESS, place, place)
        elif profit + allowed > 0.0:
            waiting = push(queue, waiting, -profit, place, place)
    return queue, waiting


@kernel()
def regroup_by_candidates(
    space: Space,
    candidates: CandidateCells,
    ungrouped: Ungrouped,
    holding: Holding,
    trial: Groups,
    tuples: int,
    k: int,
    limit: float,
    allowed: float,
    forced: int,
) -> tuple[int, float]:
    """Open cells for ungrouped records, while they cost less than ``limit``; return how many groups they make and what these cost.

    A cell's profit only falls while others take records, so it is worked out again only when the cell comes first.
    """
    held = find_holding_cells(candidates, ungrouped, holding, tuples, k)
    queue, waiting = queue_candidates(candidates, ungrouped, holding, held, k, allowed, forced)
    used, cost, room = 0, 0.0, trial.member.shape[1]
    while waiting > 0 and cost < limit:
        place, first = queue.item[0], queue.bound[0] == -ENDLESS
        waiting = drop_first(queue, waiting)
        inside, cost_each = held.item[held.start[place] : held.start[place + 1]], candidates.cost[holding.seen[place]]
        profit, taken = profit_in_order(inside, cost_each, candidates.price, ungrouped.left, k)
        if profit + allowed <= 0.0 and not first:
            continue
        if not first and waiting > 0 and -profit > queue.bound[0]:
            waiting = push(queue, waiting, -profit, place, place)
            continue
        take_ungrouped(trial, used, ungrouped, inside, min(taken, room))
        refresh(space, trial, used)
        cost += trial.size[used] * trial.cost[used]
        used += 1
        waiting = push(queue, waiting, -profit, place, place)  # it may hold another k
    for place in range(held.start.shape[0] - 1):
        holding.place[holding.seen[place]] = -1
    return used, cost


class Opening(NamedTuple):
    """The settings of a round for the operator that opens candidate cells."""

    candidates: CandidateCells
    k: int
    tries: float
    """Tries for each group of k records."""
    mean_cost: float
    """The mean cost of a record."""
    temperature: float
    """By how much a step may raise the cost."""
    seed: int
