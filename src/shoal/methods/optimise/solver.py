"""The optimiser as a whole: construct, improve, recombine, prove.

::

    starts = construct                        cuts, cells, grown groups, other methods
    cells  = candidate cells and dual prices  where the effort allows it
    best   = anneal the best of the starts
    repeat                                    where all cells are known and there is a solver
        anneal the best again, warm
        best = recombine both
    prove how low any loss can be
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numba

from shoal.methods.base import Grouping
from shoal.methods.microaggregation.partition import has_solver
from shoal.methods.optimise.annealing import Annealing
from shoal.methods.optimise.bounds import prove
from shoal.methods.optimise.candidates import CellSource, EnumeratedCells, find_candidates
from shoal.methods.optimise.construct import construct
from shoal.methods.optimise.operators import as_details
from shoal.methods.optimise.recombine import merge_groups
from shoal.methods.stopping import INTERRUPTS

if TYPE_CHECKING:
    from shoal.methods.optimise.construct import Starts
    from shoal.methods.optimise.params import RecombineParams
    from shoal.methods.optimise.problem import Solution
    from shoal.methods.optimise.search import Search


def solve(search: Search) -> Grouping:
    """Find groups that lose as little as the effort allows."""
    try:
        starts = construct(search)
        cells = find_candidates(search, starts)
        search.report_loss(0.3)
        improve(search, starts, cells)
        prove(search)
    except INTERRUPTS:
        if search.task.on_interrupt != "best" or search.best is None:
            raise
    details = {
        "losses": tuple(search.losses),
        "lower_bound": search.bound,
        "operators": as_details(search.statistics),
    }
    return Grouping(search.incumbent.labels, details=details)


def improve(search: Search, starts: Starts, cells: CellSource) -> None:
    """Anneal the best starts, regions side by side, until rounds gain too little; recombine several runs where that is possible."""
    if search.stop.rounds == 0 or search.incumbent.groups == 1:
        return
    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        annealing = Annealing(search, cells, pool)
        if isinstance(cells, EnumeratedCells) and has_solver():
            anneal_and_recombine(search, starts, annealing)
        else:
            trial = search.params.annealing.trial_rounds
            annealing.run(annealing.choose(starts), trial, annealing.schedule())


def anneal_and_recombine(search: Search, starts: Starts, annealing: Annealing) -> None:
    """Recombine the groups that several runs find: each run but the first begins with the best groups so far, warm enough to leave part of them."""
    stop, params, number = search.stop, search.params.recombine, search.params.annealing.trial_rounds
    trial, share = stop.rest(), stop.spent()
    found = annealing.choose(starts)
    # how many rounds the clock allows, judged by those of the trial
    rounds = annealing.rounds_made / max(trial.spent(), 1e-9) if stop.timed else stop.rounds
    ends = [share + (1.0 - share) * end for end in ends_of_runs(params, rounds, timed=stop.timed)]
    _, number = annealing.run(found, number, annealing.schedule(share, ends[0]))
    for end in ends[1:]:
        best, share, left_before = search.incumbent, stop.spent(number), stop.left()
        if share < end:
            found, number = annealing.run(best, number, annealing.schedule(share, end, params.reheat))
            seconds = params.time_share * (left_before - stop.left()) if stop.timed else float("inf")
            recombine(search, best, found, annealing.pool, number, seconds)


def ends_of_runs(params: RecombineParams, rounds: float, *, timed: bool) -> tuple[float, ...]:
    """Return when each run ends, as a share of what is left; there is one where rounds are few.

    The clock leaves time to recombine the last one.
    """
    first = params.first_run
    later = min(params.later_runs, int((1.0 - first) * rounds / params.least_rounds))
    if not later:
        return (1.0,)
    last = params.deadline if timed else 1.0
    return tuple(last * (first + (1.0 - first) * run / later) for run in range(later + 1))


def recombine(
    search: Search, best: Solution, found: Solution, pool: Executor, number: int, seconds: float = float("inf")
) -> None:
    """Find better groups made of the cells of two solutions, the better one first; for some seconds if the clock ends the search."""
    problem, reporter = search.problem, search.reporter
    reporter.report(reporter.reached, "recombining runs")
    better, other = sorted((best, found), key=lambda one: one.loss)
    until = search.stop.rest(seconds=seconds)
    seed = problem.seed_of(number)
    merged = merge_groups(problem.table, problem.rows, better.labels, other.labels, problem.k, seed, pool, until)
    search.keep_if_best(problem.completed(merged))
    search.report_loss(reporter.reached)
