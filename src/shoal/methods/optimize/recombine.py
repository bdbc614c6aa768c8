"""Recombining two groupings: of the cells that either one fills, the best ones are opened.

Two good groupings of one table, found by separate runs, share most of their cells. Those are kept, and which of the others to open
is a small integer program whose solution loses no more than either (as tours are merged by Cook and Seymour 2003).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.common.lists import Lists, transpose
from shoal.kernels.common.random_state import RECOMBINING, make_state
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.optimize.cells.neighbourhood import keep_filled
from shoal.kernels.optimize.cells.reduced_cost import make_cell_pool
from shoal.kernels.optimize.state.regions import make_regions, renumber
from shoal.kernels.space.tuples import distinct_rows, distinct_tuples
from shoal.methods.optimize.facility_location import FacilityLocation, solve_facility_location
from shoal.methods.optimize.problem import costed_cover
from shoal.methods.stopping import Stop

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from shoal.encoding import CodedTable
    from shoal.kernels.optimize.cells.reduced_cost import CellPool
    from shoal.kernels.space.space import Cover
    from shoal.kernels.space.tuples import Tuples

_ROOM = 1 << 22
"""Tuples that the cells of both groupings hold, counted once for each cell, at most."""
_MOST_PAIRS = 7_000
"""Pairs of a cell and a customer (tuples that the same cells hold) up to which the program is solved: its time grows faster than they do."""
_MOST_FREE = 300
"""Cells that only one of the two groupings fills, up to which the program is solved."""
_REGION = 4_000
"""Records of a region that is recombined at once, in multiples of k."""


class Filled(NamedTuple):
    """Groups of the whole table and the cells they fill."""

    labels: IntArray
    cover: Cover
    cost: FloatArray
    """What a group costs each of its records."""

    @classmethod
    def by(cls, table: CodedTable, labels: IntArray) -> Filled:
        """Return the cells that groups fill, and what these cost."""
        return cls(labels, *costed_cover(table, labels, int(labels.max()) + 1))


class Part(NamedTuple):
    """Some records and their groups."""

    records: IntArray
    labels: IntArray


def merge_groups(
    table: CodedTable,
    rows: IntArray,
    better: IntArray,
    other: IntArray,
    k: int,
    seed: int,
    pool: Executor,
    stop: Stop,
) -> IntArray:
    """Return groups that lose no more than ``better``, of the cells that these and the ``other`` groups fill."""
    filled = Filled.by(table, better), Filled.by(table, other)
    used = len(filled[0].cost)
    regions = make_regions(table.space, rows, better, used, _REGION * k, seed)

    def merge(region: int) -> list[Part]:
        records = regions.record[regions.start[region] : regions.start[region + 1]]
        return list(merge_region(table, records, *filled, k, seed, stop))

    merged = better.copy()
    for part in chain.from_iterable(pool.map(merge, range(len(regions.start) - 1))):
        groups = renumber(part.labels)
        merged[part.records] = used + part.labels
        used += groups
    renumber(merged)
    return merged


def merge_region(
    table: CodedTable, records: IntArray, better: Filled, other: Filled, k: int, seed: int, stop: Stop
) -> Iterator[Part]:
    """Yield better groups of some records, or of parts of them, from the cells of both groupings.

    The records make up whole groups of ``better``, one after the other. If the program is too large, each half has its own.
    """
    if stop.over():
        return
    tuples = distinct_tuples(table.codes[:, records])
    cells, shared = _cells_of_both(table, records, tuples, better, other, seed)
    found = _program(cells, shared, tuples, k)
    if found is None:
        for half in _halves(records, better.labels):
            yield from merge_region(table, half, better, other, k, seed, stop)
        return
    program, customer = found
    seconds = stop.left() / 2.0  # what comes after needs time too
    moved = None if program.fixed.all() else solve_facility_location(program, seconds)
    if moved is None:
        return
    if sum_of_products(moved, program.cost[program.facility]) < better.cost[better.labels[records]].sum():
        labels = np.empty(len(records), np.int32)
        labels[np.argsort(customer[tuples.label], kind="stable")] = np.repeat(program.facility, moved)
        yield Part(records, labels)


def _halves(records: IntArray, labels: IntArray) -> list[IntArray]:
    """Cut records that come group by group into two parts of about the same size; no parts if they are one group."""
    ends = np.flatnonzero(np.diff(labels[records])) + 1
    if not len(ends):
        return []
    return np.split(records, [ends[np.argmin(np.abs(ends - len(records) // 2))]])


def _cells_of_both(
    table: CodedTable, records: IntArray, tuples: Tuples, better: Filled, other: Filled, seed: int
) -> tuple[CellPool, IntArray]:
    """Return the cells that the groups of some records fill, and those that groups of both do."""
    rows, _ = distinct_rows(table.codes[:, records], tuples)
    chosen = [np.unique(one.labels[records]).astype(np.int64) for one in (better, other)]
    groups = sum(map(len, chosen))
    cells = make_cell_pool(len(rows), min(_ROOM, groups * len(rows)), groups, make_state(seed, RECOMBINING))
    places = [
        keep_filled(table.space, rows, one.cover, one.cost, numbers, cells)
        for one, numbers in zip((better, other), chosen, strict=True)
    ]
    return cells, np.intersect1d(places[0], places[1])


def _program(cells: CellPool, shared: IntArray, tuples: Tuples, k: int) -> tuple[FacilityLocation, IntArray] | None:
    """Return which cells there are to open, and the customer of each tuple; None if they are too many."""
    used, full = map(int, cells.used)
    if full:
        return None
    sizes, member = np.diff(cells.start[: used + 1]), cells.member[: cells.start[used]]
    holds_k = np.bincount(np.repeat(np.arange(used), sizes), tuples.size[member], used) >= k
    start = np.concatenate(([0], np.cumsum(sizes[holds_k])))
    begin, cell = transpose(Lists(start, member[np.repeat(holds_k, sizes)]), len(tuples.size))
    in_cells = np.add.reduceat(cells.key[:used][holds_k][cell], begin[:-1])  # equal for tuples of the same cells
    _, first, customer = np.unique(in_cells, return_index=True, return_inverse=True)
    length = np.diff(begin)[first]
    pair = np.arange(length.sum()) + np.repeat(begin[first] - np.cumsum(length) + length, length)
    program = FacilityLocation(
        np.bincount(customer, tuples.size).astype(np.int64),
        np.repeat(np.arange(len(first)), length),
        cell[pair].astype(np.int64),
        cells.cost[:used][holds_k],
        np.isin(np.flatnonzero(holds_k), shared),
        k,
    )
    small = len(pair) <= _MOST_PAIRS and (~program.fixed).sum() <= _MOST_FREE
    return (program, customer.astype(np.int32)) if small else None
