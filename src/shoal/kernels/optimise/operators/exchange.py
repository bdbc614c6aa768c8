"""Exchange: a candidate cell is opened, another cell is closed, and chains bring the records to where they are needed."""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, WordArray
from shoal.kernels.common.random_state import draw_below, draw_share
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise.cells.candidates import Opening, choose_cell, load_candidate_region
from shoal.kernels.optimise.operators.assignment import Assignment, label_assignment, make_assignment
from shoal.kernels.optimise.operators.chains import exchange, make_exchange_journal, make_trail, undo
from shoal.kernels.optimise.operators.exchange_estimate import (
    choose_closed,
    find_sources,
    find_spare_cells,
    make_sources,
)
from shoal.kernels.optimise.outcome import Outcome
from shoal.kernels.optimise.regions import Regions, store_region
from shoal.kernels.space.space import Space

ESTIMATE_ERROR = 0.02
"""By how much an estimate may be too low, in multiples of the mean cost of k records, for an exchange still to be tried."""
DEAR_FACTOR = 2.0
"""Records that cost this many times the mean, or more, are always tried; a cheaper one with a chance in proportion to its cost."""

_STREAM = 2
"""Number of the stream of random numbers that this operator draws from."""


@kernel()
def exchange_cells(
    assigned: Assignment, k: int, tries: int, mean_cost: float, temperature: float, state: WordArray
) -> Outcome:
    """Exchange cells that hold random records, ``tries`` times; tell how often, and what was gained.

    An exchange is kept if it raises the total by no more than a random amount, exponential with mean ``temperature`` (simulated annealing).
    """
    trail, journal = make_trail(assigned.cost.shape[0]), make_exchange_journal(assigned.label.shape[0], k)
    sources = make_sources(assigned)
    tried, taken, fall, known = 0, 0, 0.0, False
    for _ in range(tries):
        record = draw_below(state, assigned.label.shape[0])
        own, one = assigned.label[record], assigned.tuple_of[record]
        if own < 0 or assigned.cost[own] <= DEAR_FACTOR * mean_cost * draw_share(state):
            continue
        cell = choose_cell(assigned.cells, assigned.profit, one, state)
        if assigned.size[cell] > 0:
            continue
        if not known:
            find_spare_cells(assigned, sources, trail.queue, k)
            known = True
        tried += 1
        limit = -temperature * np.log(1.0 - draw_share(state))
        count = find_sources(assigned, sources, cell)
        closed, saved = choose_closed(assigned, sources, cell, count, own, k, state)
        if saved + limit + ESTIMATE_ERROR * k * mean_cost <= 0.0:
            continue
        change = exchange(assigned, trail, journal, cell, closed, k, limit)
        if change <= limit:
            taken += 1
            fall -= change
            journal.used[0] = 0
            known = False
        else:
            undo(assigned, journal, cell, closed)
    return Outcome(tried, taken, fall)


@kernel()
def exchange_region(
    space: Space, codes: IntArray, label: IntArray, regions: Regions, region: int, opening: Opening
) -> Outcome:
    """Exchange cells in one region and tell what that gained."""
    here = load_candidate_region(space, codes, label, regions, region, opening, _STREAM)
    assigned = make_assignment(opening.candidates, here.groups, here.tuple_of, opening.k)
    outcome = exchange_cells(assigned, opening.k, here.tries, opening.mean_cost, opening.temperature, here.state)
    label_assignment(assigned, here.groups.label, opening.k)
    store_region(here.groups, label, regions, region)
    return outcome
