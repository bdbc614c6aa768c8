"""Merging two groupings: of the cells that either one fills, the best ones are opened.

Two good groupings of one table, found by separate runs, share most of their cells. Those are kept, and which of the
others to open is a small program with an outcome below both (as tours are merged by Cook and Seymour 2003).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.methods.opening import Opening, open_best
from shoal.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from shoal.encoding import CodedTable
    from shoal.kernels.optimise_worth import Cells
    from shoal.kernels.space import Cover
    from shoal.kernels.tuples import Tuples

_ROOM = 1 << 22
"""Tuples of all cells together for which there is room."""
_MOST_PAIRS = 30_000
"""Pairs of a cell and a sort of records up to which the program is solved: its time grows faster than they do."""
_MOST_FREE = 800
"""Cells that only one of both fills, up to which it is solved."""
_REGION = 4_000
"""Records merged at once, in multiples of k."""


class Filled(NamedTuple):
    """Groups of the whole table and the cells they fill."""

    labels: IntArray
    cover: Cover
    cost: FloatArray
    """What a group costs each of its records."""


class Part(NamedTuple):
    """Some records and their groups."""

    records: IntArray
    labels: IntArray


def merge_groups(
    table: CodedTable,
    rows: IntArray,
    mine: IntArray,
    other: IntArray,
    k: int,
    seed: int,
    pool: Executor,
    deadline: float,
) -> IntArray:
    """Return groups that lose no more than ``mine``, of the cells that these and the ``other`` groups fill."""
    from shoal.kernels.optimise_regions import make_regions, renumber  # noqa: PLC0415  (numba is imported when first needed)

    filled = fill_cells(table, mine), fill_cells(table, other)
    used = len(filled[0].cost)
    regions = make_regions(table.space, rows, mine, used, _REGION * k, seed)

    def merge(region: int) -> list[Part]:
        records = regions.record[regions.start[region] : regions.start[region + 1]]
        return list(merge_region(table, records, *filled, k, seed, deadline))

    merged = mine.copy()
    for part in chain.from_iterable(pool.map(merge, range(len(regions.start) - 1))):
        groups = renumber(part.labels)
        merged[part.records] = used + part.labels
        used += groups
    renumber(merged)
    return merged


def fill_cells(table: CodedTable, labels: IntArray) -> Filled:
    """Return the cells that groups fill, and what these cost."""
    from shoal.kernels.space import cost_table, cover_groups  # noqa: PLC0415

    cover = cover_groups(table.space, table.codes, labels, int(labels.max()) + 1)
    return Filled(labels, cover, table.space.weight @ cost_table(table.space, cover))


def merge_region(
    table: CodedTable, records: IntArray, mine: Filled, other: Filled, k: int, seed: int, deadline: float = np.inf
) -> Iterator[Part]:
    """Yield better groups of some records, or of parts of them, from the cells of both groupings.

    The records make up whole groups of ``mine``, one after the other. Where the program is too large, each half has its own.
    """
    from shoal.kernels.tuples import distinct_tuples  # noqa: PLC0415

    left = deadline - time.monotonic()
    if left <= 0.0:
        return
    tuples = distinct_tuples(table.codes[:, records])
    cells, shared = _cells_of_both(table, records, tuples, mine, other, seed)
    program = _program(cells, shared, tuples, k)
    if program is None:
        for half in _halves(records, mine.labels):
            yield from merge_region(table, half, mine, other, k, seed, deadline)
        return
    opening, sort = program
    moved = None if opening.sure.all() else open_best(opening, left / 2.0)  # what comes after needs time too
    if moved is not None and moved @ opening.cost[opening.cell] < mine.cost[mine.labels[records]].sum():
        labels = np.empty(len(records), np.int32)
        labels[np.argsort(sort[tuples.label], kind="stable")] = np.repeat(opening.cell, moved)
        yield Part(records, labels)


def _halves(records: IntArray, labels: IntArray) -> list[IntArray]:
    """Cut records that come group by group into two parts of about the same size; no parts if they are one group."""
    ends = np.flatnonzero(np.diff(labels[records])) + 1
    if not len(ends):
        return []
    return np.split(records, [ends[np.argmin(np.abs(ends - len(records) // 2))]])


def _cells_of_both(
    table: CodedTable, records: IntArray, tuples: Tuples, mine: Filled, other: Filled, seed: int
) -> tuple[Cells, IntArray]:
    """Return the cells that the groups of some records fill, and those that groups of both do."""
    from shoal.kernels.chance import make_state  # noqa: PLC0415
    from shoal.kernels.optimise_around import keep_filled  # noqa: PLC0415
    from shoal.kernels.optimise_worth import make_cells  # noqa: PLC0415

    rows = np.ascontiguousarray(table.codes[:, records].T[tuples.first])
    chosen = [np.unique(one.labels[records]).astype(np.int64) for one in (mine, other)]
    groups = sum(map(len, chosen))
    cells = make_cells(len(rows), min(_ROOM, groups * len(rows)), groups, make_state(seed, 4))
    places = [
        keep_filled(table.space, rows, one.cover, one.cost, numbers, cells)
        for one, numbers in zip((mine, other), chosen, strict=True)
    ]
    return cells, np.intersect1d(places[0], places[1])


def _program(cells: Cells, shared: IntArray, tuples: Tuples, k: int) -> tuple[Opening, IntArray] | None:
    """Return which cells there are to open, and the sort of each tuple; None where they are too many."""
    from shoal.kernels.optimise_offers import transpose  # noqa: PLC0415

    used, full = map(int, cells.used)
    if full:
        return None
    sizes, member = np.diff(cells.start[: used + 1]), cells.member[: cells.start[used]]
    holds_k = np.bincount(np.repeat(np.arange(used), sizes), tuples.size[member], used) >= k
    start = np.concatenate(([0], np.cumsum(sizes[holds_k])))
    begin, cell = transpose(start, member[np.repeat(holds_k, sizes)], len(tuples.size))
    in_cells = np.add.reduceat(cells.key[:used][holds_k][cell], begin[:-1])  # equal for tuples of the same cells
    _, first, sort = np.unique(in_cells, return_index=True, return_inverse=True)
    length = np.diff(begin)[first]
    pair = np.arange(length.sum()) + np.repeat(begin[first] - np.cumsum(length) + length, length)
    opening = Opening(
        np.bincount(sort, tuples.size).astype(np.int64),
        np.repeat(np.arange(len(first)), length),
        cell[pair].astype(np.int64),
        cells.cost[:used][holds_k],
        np.isin(np.flatnonzero(holds_k), shared),
        k,
    )
    small = len(pair) <= _MOST_PAIRS and (~opening.sure).sum() <= _MOST_FREE
    return (opening, sort.astype(np.int32)) if small else None
