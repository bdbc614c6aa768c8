"""How low any loss can be: each record's cheapest cell that holds k records of the whole table is a cost it cannot avoid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Progress
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.optimise.bound import bound_levels, run_bound
from shoal.kernels.optimise.cells.best_first import start_cell_search
from shoal.kernels.space.tuples import distinct_rows, distinct_tuples
from shoal.methods.optimise.construct import CHUNK, QUEUE, combinations
from shoal.methods.optimise.pricing import MOST_COMBINATIONS_PER_VISIT
from shoal.methods.stopping import Stop

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.methods.optimise.search import Search


def prove(search: Search) -> None:
    """Work out how low any loss can be, where the effort allows it.

    A bound by dual prices is higher already on all but small tables, so there is one chunk of visits beside it.
    """
    problem, params = search.problem, search.params.bound
    if params.visits and problem.rows.size <= params.most_values and not search.stop.over():
        visits = params.visits if search.bound is None else min(params.visits, CHUNK // problem.records)
        proven = lower_bound(problem.table, problem.k, visits, search.reporter.report, search.stop)
        search.bound = max(proven, search.bound or 0.0)


def lower_bound(table: CodedTable, k: int, visits: int, progress: Progress, stop: Stop) -> float:
    """Return a normalised loss that no grouping into groups of k or more can be below; a search that ends early proves less.

    A record that the search did not come to is charged with the cheapest combination of levels that was not reached.
    """
    tuples = distinct_tuples(table.codes)
    rows, multiplicity = distinct_rows(table.codes, tuples)
    levels = bound_levels(table.space, rows)
    search, bound = start_cell_search(levels, QUEUE), np.full(len(multiplicity), -1.0)
    # what a long search of far too many combinations proves is next to nothing
    if combinations(levels.first) > MOST_COMBINATIONS_PER_VISIT * visits:
        visits = min(visits, CHUNK // len(multiplicity))
    left = visits * len(multiplicity)
    # ends: each round spends visits, of which there is a number
    while left > 0 and not stop.over():
        budget = min(left, CHUNK)
        if run_bound(levels, multiplicity, k, search, bound, budget) < budget:
            break
        left -= budget
        progress(1.0, "proving a bound")
    waiting = search.combinations
    least = float(waiting.heap.bound[0]) if waiting.size[0] > 0 else 0.0
    worst_cost = table.records * float(table.space.weight.sum())
    return sum_of_products(np.where(bound < 0.0, least, bound), multiplicity) / worst_cost
