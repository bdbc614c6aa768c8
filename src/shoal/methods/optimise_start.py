"""First groups for the optimiser: by generalization cells, or grown record by record in blocks of near records."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.typing import IntArray, Progress

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_BLOCK = 1 << 16
"""Most distinct tuples whose cells are searched together; it bounds the memory."""
_STALLED = 0.0025
"""Where a chunk of looks finds cells for fewer of the records than this, the lattice is too large: cuts take the rest."""
_QUEUE = 1 << 19
"""Combinations of levels kept in mind, at most."""
CHUNK = 10_000_000
"""Looks at records between two progress reports."""


def near_blocks(table: CodedTable, rows: IntArray, most: int, seed: int) -> list[IntArray]:
    """Divide rows into blocks of at most ``most`` near ones."""
    from shoal.kernels.chance import make_state  # noqa: PLC0415  (numba is imported when first needed)
    from shoal.kernels.optimise_regions import sort_groups  # noqa: PLC0415

    ones = np.ones(len(rows), np.int32)
    order, starts = sort_groups(table.space, rows, ones, most, make_state(seed, 1))
    return [order[begin:end] for begin, end in pairwise(starts)]


def find_cells(
    table: CodedTable, k: int, ratio: float, looks: int, seed: int, progress: Progress, deadline: float = np.inf
) -> IntArray:
    """Label records by the cheapest cells that hold k of them; -1 where none was found within ``looks`` at each.

    ``ratio`` is the factor by which windows of numbers grow from level to level. Tables of
    more than one block get a tenth of the looks, so that they stay quick. The search ends at the ``deadline``.
    """
    from shoal.kernels.tuples import distinct_tuples  # noqa: PLC0415

    tuples = distinct_tuples(table.codes)
    rows, counts = np.ascontiguousarray(table.codes.T[tuples.first]), tuples.size.astype(np.int32)
    blocks = near_blocks(table, rows, _BLOCK, seed)
    if len(blocks) > 1:
        looks //= 10
    found, groups = np.full(len(counts), -1, np.int32), 0
    for number, block in enumerate(blocks):
        labels, used = _search_block(table, rows[block], counts[block], k, ratio, looks, seed, deadline)
        found[block] = np.where(labels < 0, -1, labels + groups)
        groups += used
        progress(0.2 * (number + 1) / len(blocks), "looking for cells")
    return found[tuples.label]


def _search_block(
    table: CodedTable, rows: IntArray, counts: IntArray, k: int, ratio: float, looks: int, seed: int, deadline: float
) -> tuple[IntArray, int]:
    from shoal.kernels.chance import make_state  # noqa: PLC0415
    from shoal.kernels.optimise_cells import run_search, start_search  # noqa: PLC0415
    from shoal.kernels.optimise_ladder import build_ladder  # noqa: PLC0415

    ladder = build_ladder(table.space, rows, k, ratio, make_state(seed, 2))
    search = start_search(ladder, _QUEUE)
    left = looks * len(counts)
    while left > 0 and time.monotonic() < deadline:
        alive, budget = int(search.state[0]), min(left, CHUNK)
        if run_search(ladder, counts, k, search, budget) < budget:
            break
        left -= budget
        if alive - search.state[0] < _STALLED * len(counts):
            break
    return search.label, int(search.state[1])


def grow_block(table: CodedTable, records: IntArray, k: int, seed: int) -> tuple[IntArray, float]:
    """Grow groups from random records of a block, each time adding the cheapest; return labels and their cost."""
    from shoal.kernels.optimise_groups import total_cost  # noqa: PLC0415
    from shoal.kernels.optimise_grow import grow_all  # noqa: PLC0415

    groups = grow_all(table.space, np.ascontiguousarray(table.codes.T[records]), k, seed)
    return groups.label, float(total_cost(groups))


def grow_groups(table: CodedTable, blocks: list[IntArray], k: int, seed: int, progress: Progress) -> IntArray:
    """Grow groups in every block."""
    labels, used = np.empty(table.records, np.int32), 0
    for number, block in enumerate(blocks):
        grown, _ = grow_block(table, block, k, seed)
        labels[block] = used + grown
        used += int(grown.max()) + 1
        progress(0.2 + 0.1 * (number + 1) / len(blocks), "growing groups")
    return labels


def lower_bound(table: CodedTable, k: int, looks: int, progress: Progress, deadline: float = np.inf) -> float:
    """Return a normalised loss that no grouping into groups of k or more can be below; a search that ends early proves less."""
    from shoal.kernels.optimise_bound import bound_ladder, run_bound  # noqa: PLC0415
    from shoal.kernels.optimise_cells import start_search  # noqa: PLC0415
    from shoal.kernels.tuples import distinct_tuples  # noqa: PLC0415

    tuples = distinct_tuples(table.codes)
    counts = tuples.size.astype(np.int32)
    ladder = bound_ladder(table.space, np.ascontiguousarray(table.codes.T[tuples.first]))
    search, bound = start_search(ladder, _QUEUE), np.full(len(counts), -1.0)
    left = looks * len(counts)
    while left > 0 and time.monotonic() < deadline:
        budget = min(left, CHUNK)
        if run_bound(ladder, counts, k, search, bound, budget) < budget:
            break
        left -= budget
        progress(1.0, "proving a bound")
    queue = search.queue
    least = float(queue.cost[queue.order[0]]) if queue.size[0] > 0 else 0.0
    whole = table.records * float(table.space.weight.sum())
    return float(np.where(bound < 0.0, least, bound) @ counts) / whole
