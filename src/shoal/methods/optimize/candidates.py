"""Cells that operators may open: enumerated if all columns have a hierarchy, else learned from groups (column generation).

If cells cannot be enumerated, dual prices are found over the cells in the neighbourhood of good groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.common.random_state import CELL_POOL, make_state
from shoal.kernels.optimize.cells.dual_ascent import ascend, cell_profits, raise_ceilings
from shoal.kernels.optimize.cells.neighbourhood import PricedTuples
from shoal.kernels.optimize.cells.reduced_cost import keep_first, make_cell_pool
from shoal.kernels.optimize.cells.variants import vary_all
from shoal.kernels.space.space import cover_groups
from shoal.kernels.space.tuples import distinct_rows
from shoal.methods.optimize.construct import keep_start
from shoal.methods.optimize.params import rounds_with_prices
from shoal.methods.optimize.pricing import (
    MOST_CELLS,
    MOST_TUPLES,
    Priced,
    group_by_prices,
    make_candidates,
    start_dual_ascent,
)

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.optimize.cells.candidates import CandidateCells
    from shoal.kernels.optimize.cells.dual_ascent import DualAscent
    from shoal.kernels.optimize.cells.reduced_cost import CellPool
    from shoal.kernels.space.tuples import Tuples
    from shoal.methods.optimize.construct import Starts
    from shoal.methods.optimize.params import LearningParams
    from shoal.methods.optimize.problem import Problem, Solution
    from shoal.methods.optimize.search import Search

_ROOM = 1 << 24
"""Tuples of all cells together for which there is room."""
_MOST_TUPLES_REMEMBERED = 2_000_000
"""Tuples of all cells together that are remembered from round to round, the most profitable cells first."""
_VISITS = 400_000_000
"""Visits of tuples in one round of learning; the next one begins with the groups that were left."""
_MOST_REDUCED_COST = 0.15
"""The largest reduced cost of a cell that is learned, in multiples of the mean cost of k records."""
_STEPS = 5
"""Subgradient steps in each round of learning. So few are all of one length."""


class Variants:
    """Cells in the neighbourhood of the groups of a search, remembered from round to round, and dual prices over them."""

    def __init__(
        self, table: CodedTable, tuples: Tuples, k: int, seed: int, remembered: int = _MOST_TUPLES_REMEMBERED
    ) -> None:
        self.table, self.tuples, self.k, self.seed, self.remembered = table, tuples, k, seed, remembered
        self.rows, self.multiplicity = distinct_rows(table.codes, tuples)
        self.cells = self._no_cells()
        self.dual: DualAscent | None = None
        self.next = 0

    def _no_cells(self) -> CellPool:
        return make_cell_pool(len(self.multiplicity), _ROOM, MOST_CELLS, make_state(self.seed, CELL_POOL))

    def learn(self, labels: IntArray, groups: int, cost_by_record: FloatArray) -> CandidateCells:
        """Add the neighbourhood of all groups, improve the prices, and return the cells of small reduced cost.

        ``cost_by_record`` is what each record costs in these groups.
        """
        space, k = self.table.space, self.k
        allowed = _MOST_REDUCED_COST * k * float(cost_by_record.mean())
        dual = self.dual
        if dual is None:
            dual = self.dual = start_dual_ascent(self.tuples, cost_by_record)
        self.forget(dual, allowed)
        cover = cover_groups(space, self.table.codes, labels, groups)
        priced = PricedTuples(self.rows, self.multiplicity, dual.best, k, allowed)
        self.next = vary_all(space, cover, self.next, _VISITS, priced, self.cells)
        raise_ceilings(dual, np.inf)
        ascend(self.cells, dual, k, float(cost_by_record.sum()), _STEPS)
        return make_candidates(self.cells, dual, self.tuples.label, k, allowed)

    def forget(self, dual: DualAscent, allowed: float) -> None:
        """Keep the most profitable cells only, if there are too many."""
        used, full = self.cells.used
        if self.cells.start[used] <= self.remembered and not full:
            return
        order = np.argsort(-cell_profits(self.cells, dual, self.k, allowed), kind="stable")
        kept = self._no_cells()
        keep_first(self.cells, order[: MOST_CELLS // 2], self.remembered, kept)
        self.cells = kept


class CellSource(Protocol):
    """Where operators find cells to open: all of them, those learned from groups, or none."""

    def for_round(self, solution: Solution, number: int) -> CandidateCells | None:
        """Return the cells to open and close in a round, if any."""


class NoCells:
    """No cells to open."""

    def for_round(self, *_: object) -> None:
        """Return none."""


class EnumeratedCells:
    """All cells of small reduced cost, found once by enumeration."""

    def __init__(self, candidates: CandidateCells) -> None:
        self.candidates = candidates

    def for_round(self, *_: object) -> CandidateCells:
        """Return the same cells in every round."""
        return self.candidates


class LearnedCells:
    """Cells in the neighbourhood of groups, learned every few rounds."""

    def __init__(self, problem: Problem, params: LearningParams) -> None:
        self.problem, self.params = problem, params
        self.variants = Variants(problem.table, problem.tuples, problem.k, problem.seed)

    def for_round(self, solution: Solution, number: int) -> CandidateCells | None:
        """Return cells learned from the groups of a solution, in every few rounds."""
        if number < self.params.first_round or number % self.params.every:
            return None
        return self.variants.learn(solution.labels, solution.groups, self.problem.cost_by_record(solution))


def find_candidates(search: Search, starts: Starts) -> CellSource:
    """Return the cells to open in later rounds: enumerated if all columns have a hierarchy, else learned later on.

    Enumeration comes with dual prices. They give a start, ``"priced"``, and a bound.
    """
    problem, params = search.problem, search.params
    if search.stop.over() or search.stop.rounds == 0 or len(problem.tuples.size) > MOST_TUPLES:
        return NoCells()
    if params.pricing.visits and problem.by_hierarchy and "pricing" not in params.without:
        priced = _price(search)
        if priced is not None:
            keep_start(search, starts, "priced", priced.labels)
            search.bound = priced.bound / problem.worst_cost if priced.bound > 0.0 else None
            rounds = rounds_with_prices(params.pricing, search.stop.rounds, problem.records)
            search.stop = replace(search.stop, rounds=rounds)
            return EnumeratedCells(priced.candidates)
    fewer, first = int(params.learning.rounds_factor * search.stop.rounds), params.learning.first_round
    if not first or fewer <= first or "learning" in params.without:
        return NoCells()
    search.stop = replace(search.stop, rounds=fewer)
    return LearnedCells(problem, params.learning)


def _price(search: Search) -> Priced | None:
    """Find dual prices; of a number of seconds they may take half of what is left, because the rounds need time too."""
    problem, params = search.problem, search.params.pricing
    cost_by_record, half = problem.cost_by_record(search.incumbent), search.stop.rest(0.5)
    return group_by_prices(
        problem.table, problem.tuples, problem.k, cost_by_record, params, problem.seed, search.reporter.report, half
    )
