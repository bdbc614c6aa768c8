"""A bound below which no loss can be: what each record costs in its cheapest cell that holds k records of the whole table, or with its k - 1 nearest records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Progress
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.optimize.cells.best_first import start_cell_search
from shoal.kernels.optimize.cells.bound import bound_levels, run_bound
from shoal.kernels.optimize.cells.pair_bound import bound_by_pairs
from shoal.kernels.space.range_costs import tabulate_costs
from shoal.kernels.space.tuples import distinct_rows, distinct_tuples
from shoal.methods.optimize.construct import CHUNK, QUEUE, combinations
from shoal.methods.optimize.pricing import MOST_COMBINATIONS_PER_VISIT
from shoal.methods.stopping import Stop

if TYPE_CHECKING:
    from shoal.arrays import FloatArray, IntArray, LongArray
    from shoal.encoding import CodedTable
    from shoal.methods.optimize.search import Search

_SPREAD = 2_000
"""Tuples by which columns are put in order."""


def prove(search: Search) -> None:
    """Work out how low any loss can be, if the effort allows it.

    A bound by dual prices is higher already on all but small tables, so there is one chunk of visits besides it.
    """
    problem, params = search.problem, search.params.bound
    if params.visits and problem.rows.size <= params.most_values and not search.stop.over():
        visits = params.visits if search.bound is None else min(params.visits, CHUNK // problem.records)
        pairs = params.pairs if search.bound is None else 0
        proven = lower_bound(problem.table, problem.k, visits, search.reporter.report, search.stop, pairs, problem.seed)
        search.bound = max(proven, search.bound or 0.0)


def lower_bound(
    table: CodedTable, k: int, visits: int, progress: Progress, stop: Stop, pairs: int = 0, seed: int = 0
) -> float:
    """Return a normalized loss that no grouping into groups of k or more can be below; a search that ends early proves less.

    A record that the search did not come to is charged with the cheapest combination of levels that was not reached, or with what it
    costs together with the farthest of its k - 1 nearest: ``pairs`` of tuples are compared for that, at most.
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
    unreached = bound < 0.0
    bound[unreached] = least
    raise_by_pairs(table, rows, multiplicity, k, np.flatnonzero(unreached), pairs, seed, bound, stop)
    worst_cost = table.records * float(table.space.weight.sum())
    return sum_of_products(bound, multiplicity) / worst_cost


def raise_by_pairs(
    table: CodedTable,
    rows: IntArray,
    multiplicity: IntArray,
    k: int,
    tuples: LongArray,
    pairs: int,
    seed: int,
    bound: FloatArray,
    stop: Stop,
) -> None:
    """Raise the bounds of some tuples, of a random part of them if all would be too many pairs."""
    most = pairs // max(len(rows), 1)
    if len(tuples) > most:
        tuples = np.sort(np.random.default_rng([seed, len(rows)]).choice(tuples, most, replace=False))
    if not len(tuples):
        return
    space = table.space
    spread = [len(np.unique(rows[:_SPREAD, column])) for column in range(rows.shape[1])]
    order = np.argsort(
        -space.weight * np.array(spread), kind="stable"
    )  # columns that distinguish most records come first
    costs = tabulate_costs(space)
    # ends: the tuples are cut into a number of parts
    for part in np.array_split(tuples, 1 + len(tuples) * len(rows) // CHUNK):
        if stop.over():
            return
        bound_by_pairs(space, costs, rows, multiplicity, order, part, k, bound)
