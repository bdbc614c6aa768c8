"""Exchange: a cell on offer is opened, another one is closed, and chains bring the records to where they are needed."""

from __future__ import annotations

import numpy as np

from shoal.kernels.chance import draw_below, draw_share, make_state
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_chains import exchange, make_journal, make_trail, undo
from shoal.kernels.optimise_estimate import choose_closed, find_sources, make_sources, weigh_open
from shoal.kernels.optimise_offers import Offers, choose_cell
from shoal.kernels.optimise_play import Play, label_play, make_play
from shoal.kernels.optimise_regions import Regions, load_region, store_region
from shoal.kernels.space import Space
from shoal.typing import IntArray, WordArray

UNSEEN = 0.02
"""What an estimate may be too low by, as chains are long, in multiples of what k records pay in the mean."""
DEAR = 2.0
"""Records that pay this many times the mean, or more, are always looked at, others more seldom in proportion."""


@kernel()
def exchange_cells(play: Play, k: int, tries: int, paid: float, heat: float, state: WordArray) -> float:
    """Exchange cells around random records, ``tries`` times, and return the fall of the total.

    Kept is what costs no more, or more by a random amount of ``heat`` in the mean (as in simulated annealing).
    """
    trail, journal = make_trail(play.cost.shape[0]), make_journal(play.label.shape[0], k)
    sources = make_sources(play)
    fall, known = 0.0, False
    for _ in range(tries):
        record = draw_below(state, play.label.shape[0])
        own, one = play.label[record], play.tuple_of[record]
        if own < 0 or play.cost[own] <= DEAR * paid * draw_share(state):
            continue
        cell = choose_cell(play.begin, play.cell, play.worth, one, state)
        if play.size[cell] > 0:
            continue
        if not known:
            weigh_open(play, sources, trail.queue, k)
            known = True
        limit = -heat * np.log(1.0 - draw_share(state))
        count = find_sources(play, sources, cell)
        closed, saved = choose_closed(play, sources, cell, count, own, k, state)
        if saved + limit + UNSEEN * k * paid <= 0.0:
            continue
        change = exchange(play, trail, journal, cell, closed, k, limit)
        if change <= limit:
            fall -= change
            journal.moves[0] = 0
            known = False
        else:
            undo(play, journal, cell, closed)
    return fall


@kernel()
def exchange_region(
    space: Space,
    codes: IntArray,
    label: IntArray,
    regions: Regions,
    region: int,
    offers: Offers,
    k: int,
    tries: float,
    paid: float,
    heat: float,
    seed: int,
) -> None:
    """Exchange cells in one region, ``tries`` times for each group of k records."""
    groups = load_region(space, codes, label, regions, region, k)
    first, last = regions.start[region], regions.start[region + 1]
    play = make_play(offers, groups, offers.tuple_of[regions.record[first:last]], k)
    state = make_state(seed, region + (2 << 32))  # other numbers than those of the region's other steps
    exchange_cells(play, k, 1 + int(tries * (last - first) / k), paid, heat, state)
    label_play(play, groups.label, k)
    store_region(groups, label, regions, region)
