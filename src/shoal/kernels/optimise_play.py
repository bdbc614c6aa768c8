"""Play: which cells are open and which records are in them, kept so that cells open and close and records move at once.

A record costs what its cell costs, however many others are there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_groups import Groups
from shoal.kernels.optimise_offers import Offers, find_offers, loosen, make_holding, make_loose, transpose
from shoal.typing import FloatArray, IntArray, LongArray

_SAME = 1e-9
"""Two costs that differ by less are the same."""


class Play(NamedTuple):
    """Cells, open or not, and the records in the open ones. A cell holds tuples, a tuple has records."""

    start: LongArray
    member: IntArray
    """The tuples of each cell."""
    cost: FloatArray
    """What a cell costs each record in it."""
    worth: FloatArray
    """What a cell is worth while no other takes its records."""
    begin: LongArray
    cell: IntArray
    """The cells of each tuple."""
    opened: IntArray
    """The open cells of each tuple, in the first of its places among ``cell``."""
    opens: IntArray
    """How many these are."""
    tuple_of: IntArray
    """The tuple of each record."""
    head: IntArray
    after: IntArray
    """The records of each tuple: the first one, and the one after each; -1 for none."""
    label: IntArray
    """The cell each record is in, -1 for a record that stays where it is."""
    first: IntArray
    later: IntArray
    earlier: IntArray
    """The records in each cell: the first one, and those next to each; -1 for none."""
    size: IntArray
    """How many these are; 0 for a cell that is not open."""


@kernel(allocates=False)
def enter(play: Play, cell: int, record: int) -> None:
    """Put a record into a cell."""
    old = play.first[cell]
    play.later[record], play.earlier[record] = old, -1
    if old >= 0:
        play.earlier[old] = record
    play.first[cell], play.label[record] = record, cell
    play.size[cell] += 1


@kernel(allocates=False)
def leave(play: Play, record: int) -> None:
    """Take a record out of its cell."""
    cell, later, earlier = play.label[record], play.later[record], play.earlier[record]
    if earlier >= 0:
        play.later[earlier] = later
    else:
        play.first[cell] = later
    if later >= 0:
        play.earlier[later] = earlier
    play.size[cell] -= 1


@kernel(allocates=False)
def open_cell(play: Play, cell: int) -> None:
    """Let the tuples of a cell know that it is open."""
    for place in range(play.start[cell], play.start[cell + 1]):
        one = play.member[place]
        play.opened[play.begin[one] + play.opens[one]] = cell
        play.opens[one] += 1


@kernel(allocates=False)
def close_cell(play: Play, cell: int) -> None:
    """Let the tuples of a cell know that it is not open any more."""
    for place in range(play.start[cell], play.start[cell + 1]):
        one = play.member[place]
        at, last = play.begin[one], play.begin[one] + play.opens[one] - 1
        while play.opened[at] != cell:
            at += 1
        play.opened[at] = play.opened[last]
        play.opens[one] -= 1


@kernel(allocates=False)
def cheapest_open(play: Play, one: int, other_than: int) -> int:
    """Return the cheapest open cell of a tuple, but for one cell; -1 if there is none."""
    best = -1
    for place in range(play.begin[one], play.begin[one] + play.opens[one]):
        cell = play.opened[place]
        if cell != other_than and (best < 0 or play.cost[cell] < play.cost[best]):
            best = cell
    return best


@kernel()
def cells_of_groups(groups: Groups, tuple_of: IntArray, begin: LongArray, cell: IntArray, cost: FloatArray) -> IntArray:
    """Return the cell that each group fills, -1 for a group that costs less than each cell that holds it."""
    chosen, held, met = (
        np.full(groups.size.shape[0], -1, np.int32),
        np.zeros(cost.shape[0], np.int32),
        np.zeros(cost.shape[0], np.int32),
    )
    for group in range(groups.size.shape[0]):
        count = 0
        for place in range(groups.size[group]):
            one = tuple_of[groups.member[group, place]]
            for at in range(begin[one], begin[one + 1]):
                if held[cell[at]] == 0:
                    met[count] = cell[at]
                    count += 1
                held[cell[at]] += 1
        for number in range(count):
            if held[met[number]] == groups.size[group] and cost[met[number]] <= groups.cost[group] + _SAME:
                chosen[group] = met[number]
            held[met[number]] = 0
    return chosen


@kernel()
def make_play(offers: Offers, groups: Groups, tuple_of: IntArray, k: int) -> Play:
    """Let the groups that fill a cell on offer take part, with all cells that hold k of the records."""
    tuples, records = offers.price.shape[0], tuple_of.shape[0]
    held, holding = make_loose(tuples, records), make_holding(offers.cost.shape[0])
    found = loosen(held, tuple_of, np.arange(records).astype(np.int32))
    start, member = find_offers(offers, held, holding, found, k)
    begin, cell = transpose(start, member, tuples)
    cells = start.shape[0] - 1
    found_cells = holding.seen[:cells]
    cost = offers.cost[found_cells]
    play = Play(
        start,
        member,
        cost,
        offers.worth[found_cells],
        begin,
        cell,
        np.zeros(cell.shape[0], np.int32),
        np.zeros(tuples, np.int32),
        tuple_of,
        held.head,
        held.after,
        np.full(records, -1, np.int32),
        np.full(cells, -1, np.int32),
        np.full(records, -1, np.int32),
        np.full(records, -1, np.int32),
        np.zeros(cells, np.int32),
    )
    filled = cells_of_groups(groups, tuple_of, begin, cell, cost)
    for record in range(records):
        if filled[groups.label[record]] >= 0:
            enter(play, filled[groups.label[record]], record)
    for one in range(cells):
        if play.size[one] > 0:
            open_cell(play, one)
    return play


@kernel()
def label_play(play: Play, label: IntArray, k: int) -> None:
    """Write the groups into labels below the number of records: a cell of 2k records or more makes several ones."""
    used = 0
    number = np.full(label.shape[0], -1, np.int32)
    for record in range(label.shape[0]):  # groups that took no part
        if play.label[record] < 0:
            if number[label[record]] < 0:
                number[label[record]] = used
                used += 1
            label[record] = number[label[record]]
    for cell in range(play.size.shape[0]):
        parts, place, record = play.size[cell] // k, 0, play.first[cell]
        while record >= 0:
            label[record] = used + place * parts // play.size[cell]
            place += 1
            record = play.later[record]
        used += parts
