"""Dual prices of enumerated cells: which cells to open, a bound, and candidates for later."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, Progress
from shoal.kernels.common.lists import Lists, transpose
from shoal.kernels.common.random_state import CELL_POOL, LEVELS, make_state
from shoal.kernels.optimize.cells.candidates import CandidateCells
from shoal.kernels.optimize.cells.depth_first import collect, start_enumeration
from shoal.kernels.optimize.cells.dual_ascent import (
    ascend,
    cell_profits,
    make_dual_ascent,
    open_cells,
    raise_ceilings,
)
from shoal.kernels.optimize.cells.levels import MOST_LEVELS, build_levels
from shoal.kernels.optimize.cells.reduced_cost import make_cell_pool
from shoal.kernels.space.tuples import distinct_rows
from shoal.methods.optimize.construct import CHUNK, combinations
from shoal.methods.optimize.params import margin_for
from shoal.methods.stopping import Stop

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.optimize.cells.dual_ascent import DualAscent
    from shoal.kernels.optimize.cells.levels import Levels
    from shoal.kernels.optimize.cells.reduced_cost import CellPool
    from shoal.kernels.space.tuples import Tuples
    from shoal.methods.optimize.params import PricingParams

MOST_TUPLES = 1 << 16
"""Distinct tuples up to which there are dual prices."""
MOST_CELLS = 1 << 19
"""Cells that a pool may keep."""
_MOST_MEMBERS = 1 << 25
"""Tuples of all these cells together."""
MOST_COMBINATIONS_PER_VISIT = 1_000
"""If there are more combinations of levels than this many times the visits of a tuple, no enumeration comes to its end, and none is begun."""
_FIRST_PRICE = 0.93
"""The first prices, as a share of what records cost in a known grouping."""
_STEPS = (40, 150)
"""Subgradient steps after each enumeration, at least and at most."""
_STEPS_AT_ONCE = 10
"""Steps after each of which the clock is read."""
_MOST_REDUCED_COST_OPENED = 1.0
"""The largest reduced cost of a cell that is opened, in multiples of the mean cost of k records."""
_MOST_REDUCED_COST_KEPT = 1.2
"""The largest reduced cost of a candidate, in multiples of the last margin for each of k records."""
_BOUND_LOWERING = 1.0 - 1e-9
"""A bound is multiplied by this, which lowers it by more than rounding can have raised it."""


class Priced(NamedTuple):
    """What dual prices gave."""

    labels: IntArray
    """Groups of the cells opened, -1 for records in none."""
    bound: float
    """No grouping costs less."""
    candidates: CandidateCells
    """Cells of small reduced cost, to be tried later on."""


def group_by_prices(
    table: CodedTable,
    tuples: Tuples,
    k: int,
    cost_by_record: FloatArray,
    params: PricingParams,
    seed: int,
    progress: Progress,
    stop: Stop,
) -> Priced | None:
    """Return groups of the cells that prices open, and the bound of the prices; None if cells are too many or time is short.

    All columns must have a hierarchy: an enumeration knows some ranges of numbers only.

    Parameters
    ----------
    cost_by_record
        What each record costs in a known grouping.
    """
    rows, multiplicity = distinct_rows(table.codes, tuples)
    known_cost, mean = float(cost_by_record.sum()), float(cost_by_record.mean())
    levels = build_levels(table.space, rows, k, 2.0, make_state(seed, LEVELS))  # the ratio is for windows of numbers
    if np.diff(levels.first).max() >= MOST_LEVELS:  # of a higher tree some levels are left out
        return None
    if combinations(levels.first) > MOST_COMBINATIONS_PER_VISIT * params.visits:
        return None
    by_column = _by_column(levels)
    dual = start_dual_ascent(tuples, cost_by_record)
    cells, bound = None, 0.0
    last_margin = margin_for(params.last_margin, k)
    margins = (*params.margins, last_margin)
    for number, margin in enumerate(margins):
        raise_ceilings(dual, margin * mean)
        found = _enumerate(by_column, dual, k, params.visits * len(multiplicity), seed, stop)
        if found is None:
            break
        cells = found
        bound = max(bound, _ascend(cells, dual, k, known_cost, params.step_visits, stop))
        progress(0.3 * (number + 1) / len(margins), "pricing cells")
    if cells is None:
        return None
    order = np.argsort(tuples.label, kind="stable")
    start = np.concatenate(([0], np.cumsum(tuples.size)))
    labels = np.full(table.records, -1, np.int32)
    open_cells(cells, dual, k, _MOST_REDUCED_COST_OPENED * k * mean, start, order, labels)
    candidates = make_candidates(cells, dual, tuples.label, k, _MOST_REDUCED_COST_KEPT * last_margin * k * mean)
    return Priced(labels, bound * _BOUND_LOWERING, candidates)


def start_dual_ascent(tuples: Tuples, cost_by_record: FloatArray) -> DualAscent:
    """Return the dual ascent before its first step, with prices from what each record costs in a known grouping."""
    multiplicity = tuples.size.astype(np.int32)
    return make_dual_ascent(_FIRST_PRICE * np.bincount(tuples.label, cost_by_record) / multiplicity, multiplicity)


def make_candidates(cells: CellPool, dual: DualAscent, tuple_of: IntArray, k: int, allowed: float) -> CandidateCells:
    """Return the cells of a reduced cost below ``allowed``, with tuples numbered by falling price."""
    order = np.argsort(-dual.best, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    used = cells.used[0]
    profit, sizes = cell_profits(cells, dual, k, allowed), np.diff(cells.start[: used + 1])
    kept = profit > 0.0
    start = np.concatenate(([0], np.cumsum(sizes[kept])))
    member = rank[cells.member[: cells.start[used]][np.repeat(kept, sizes)]]
    cells_of = transpose(Lists(start, member), len(order))
    tuples_of = transpose(cells_of, len(start) - 1)  # twice: then the tuples of a cell come by falling price
    return CandidateCells(
        rank[tuple_of], dual.best[order], tuples_of, cells.cost[:used][kept], profit[kept] - allowed, cells_of
    )


def _ascend(cells: CellPool, dual: DualAscent, k: int, known_cost: float, visits: int, stop: Stop) -> float:
    """Improve the prices over the cells of one enumeration and return the bound they prove."""
    steps = int(np.clip(visits // max(int(cells.start[cells.used[0]]), 1), *_STEPS))
    bound = 0.0
    for _ in range(0, steps, _STEPS_AT_ONCE):
        if stop.over():
            break
        bound = ascend(cells, dual, k, known_cost, _STEPS_AT_ONCE)
    return bound


class _ByColumn(NamedTuple):
    """The cell of each tuple at each level of each column, and what it costs."""

    first: LongArray
    """The first level of each column, m + 1 entries."""
    cell: IntArray
    """(levels, n): the number of the cell."""
    cost: FloatArray
    """(levels, n): what it costs each record."""

    def in_order(self, order: LongArray) -> _ByColumn:
        """Return the same for tuples in another order."""
        return _ByColumn(self.first, self.cell[:, order], self.cost[:, order])


def _by_column(levels: Levels) -> _ByColumn:
    """Number the cells of each level. Columns whose first step is expensive come first, because they rule most cells out early."""
    columns = list(pairwise(levels.first))
    columns.sort(key=lambda by_column: -levels.cost[min(by_column[0] + 1, by_column[1] - 1)])
    order = np.concatenate([np.arange(*by_column) for by_column in columns])
    first = np.concatenate(([0], np.cumsum([end - begin for begin, end in columns])))
    cell = np.array([np.unique(marks, return_inverse=True)[1] for marks in levels.mark[order]], np.int32)
    return _ByColumn(first, cell, levels.cell_cost[order])


def _enumerate(by_column: _ByColumn, dual: DualAscent, k: int, visits: int, seed: int, stop: Stop) -> CellPool | None:
    """Keep all cells that have a profit at the ceiling; None if there is no room or no time."""
    tuples = len(dual.multiplicity)
    order = np.argsort(-dual.ceiling, kind="stable")
    ordered, multiplicity, ceiling = by_column.in_order(order), dual.multiplicity[order], dual.ceiling[order]
    enumeration = start_enumeration(len(by_column.first) - 1, tuples)
    cells = make_cell_pool(tuples, _MOST_MEMBERS, MOST_CELLS, make_state(seed, CELL_POOL))
    # ends: each round spends visits, and no cell of the finite tree is visited twice
    while enumeration.depth[0] >= 0:
        if cells.used[1] or visits <= 0 or stop.over():
            return None
        collect(*ordered, enumeration, multiplicity, k, ceiling, order, cells, min(visits, CHUNK))
        visits -= CHUNK
    return cells
