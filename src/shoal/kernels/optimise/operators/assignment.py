"""Which cells are open and which records are assigned to them, so that cells open and close and records move at once.

A record costs what its cell costs, however many others are assigned to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.common.lists import Lists, transpose
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise.cells.candidates import (
    CandidateCells,
    bucket_by_tuple,
    find_holding_cells,
    make_holding,
    make_ungrouped,
)
from shoal.kernels.optimise.groups import Groups

_ROUNDING_ERROR = 1e-9
"""Two costs that differ by no more than this are the same."""


class Assignment(NamedTuple):
    """Cells, open or not, and the records in the open ones. A cell holds tuples, a tuple has records."""

    tuples: Lists
    """The tuples of each cell."""
    cost: FloatArray
    """What a cell costs each record in it."""
    profit: FloatArray
    """The profit of a cell (minus its reduced cost) while no other cell takes its records."""
    cells: Lists
    """The cells of each tuple."""
    opened: IntArray
    """The open cells of each tuple, in the first of its places among ``cells``."""
    opens: IntArray
    """How many open cells each tuple has."""
    tuple_of: IntArray
    """The tuple of each record."""
    head: IntArray
    after: IntArray
    """A linked list of the records of each tuple: ``head`` of each tuple, ``after`` of each record; -1 at the end."""
    label: IntArray
    """The cell each record is in; -1 for a record whose group takes no part."""
    first: IntArray
    later: IntArray
    earlier: IntArray
    """A doubly linked list of the records in each cell: ``first`` of each cell, ``later`` and ``earlier`` of each record; -1 at the ends."""
    size: IntArray
    """How many records each cell has; 0 for a cell that is not open."""


@kernel(allocates=False)
def enter(assigned: Assignment, cell: int, record: int) -> None:
    """Put a record into a cell."""
    old = assigned.first[cell]
    assigned.later[record], assigned.earlier[record] = old, -1
    if old >= 0:
        assigned.earlier[old] = record
    assigned.first[cell], assigned.label[record] = record, cell
    assigned.size[cell] += 1


@kernel(allocates=False)
def leave(assigned: Assignment, record: int) -> None:
    """Take a record out of its cell."""
    cell, later, earlier = assigned.label[record], assigned.later[record], assigned.earlier[record]
    if earlier >= 0:
        assigned.later[earlier] = later
    else:
        assigned.first[cell] = later
    if later >= 0:
        assigned.earlier[later] = earlier
    assigned.size[cell] -= 1


@kernel(allocates=False)
def open_cell(assigned: Assignment, cell: int) -> None:
    """Add a cell to the open cells of each of its tuples."""
    for place in range(assigned.tuples.start[cell], assigned.tuples.start[cell + 1]):
        one = assigned.tuples.item[place]
        assigned.opened[assigned.cells.start[one] + assigned.opens[one]] = cell
        assigned.opens[one] += 1


@kernel(allocates=False)
def close_cell(assigned: Assignment, cell: int) -> None:
    """Remove a cell from the open cells of each of its tuples."""
    for place in range(assigned.tuples.start[cell], assigned.tuples.start[cell + 1]):
        one = assigned.tuples.item[place]
        at, last = assigned.cells.start[one], assigned.cells.start[one] + assigned.opens[one] - 1
        # ends: an open cell stands in the list of each of its tuples
        while assigned.opened[at] != cell:
            at += 1
        assigned.opened[at] = assigned.opened[last]
        assigned.opens[one] -= 1


@kernel(allocates=False)
def cheapest_open(assigned: Assignment, one: int, other_than: int) -> int:
    """Return the cheapest open cell of a tuple, but for one cell; -1 if there is none."""
    best = -1
    for place in range(assigned.cells.start[one], assigned.cells.start[one] + assigned.opens[one]):
        cell = assigned.opened[place]
        if cell != other_than and (best < 0 or assigned.cost[cell] < assigned.cost[best]):
            best = cell
    return best


@kernel()
def cells_of_groups(groups: Groups, tuple_of: IntArray, cells: Lists, cost: FloatArray) -> IntArray:
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
            for at in range(cells.start[one], cells.start[one + 1]):
                if held[cells.item[at]] == 0:
                    met[count] = cells.item[at]
                    count += 1
                held[cells.item[at]] += 1
        for number in range(count):
            if held[met[number]] == groups.size[group] and cost[met[number]] <= groups.cost[group] + _ROUNDING_ERROR:
                chosen[group] = met[number]
            held[met[number]] = 0
    return chosen


@kernel()
def make_assignment(candidates: CandidateCells, groups: Groups, tuple_of: IntArray, k: int) -> Assignment:
    """Assign records to cells: the members of each group that fills a candidate cell go to it; other groups take no part.

    The cells are all candidates that hold k of the records.
    """
    tuples, records = candidates.price.shape[0], tuple_of.shape[0]
    held, holding = make_ungrouped(tuples, records), make_holding(candidates.cost.shape[0])
    found = bucket_by_tuple(held, tuple_of, np.arange(records).astype(np.int32))
    inside = find_holding_cells(candidates, held, holding, found, k)
    cells_of = transpose(inside, tuples)
    cells = inside.start.shape[0] - 1
    found_cells = holding.seen[:cells]
    cost = candidates.cost[found_cells]
    assigned = Assignment(
        inside,
        cost,
        candidates.profit[found_cells],
        cells_of,
        np.zeros(cells_of.item.shape[0], np.int32),
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
    filled = cells_of_groups(groups, tuple_of, cells_of, cost)
    for record in range(records):
        if filled[groups.label[record]] >= 0:
            enter(assigned, filled[groups.label[record]], record)
    for one in range(cells):
        if assigned.size[one] > 0:
            open_cell(assigned, one)
    return assigned


@kernel()
def label_assignment(assigned: Assignment, label: IntArray, k: int) -> None:
    """Write the groups into labels, below the number of records; a cell of 2k records or more makes several groups."""
    used = 0
    number = np.full(label.shape[0], -1, np.int32)
    for record in range(label.shape[0]):  # groups that took no part
        if assigned.label[record] < 0:
            if number[label[record]] < 0:
                number[label[record]] = used
                used += 1
            label[record] = number[label[record]]
    for cell in range(assigned.size.shape[0]):
        parts, place, record = assigned.size[cell] // k, 0, assigned.first[cell]
        while record >= 0:
            label[record] = used + place * parts // assigned.size[cell]
            place += 1
            record = assigned.later[record]
        used += parts
