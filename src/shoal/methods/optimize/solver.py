"""The optimizer as a whole: construct, improve, recombine, prove.

::

    starts = construct                        cuts, cells, grown groups, other methods
             boxes of samples                 each sample a search of its own
    cells  = candidate cells and dual prices  if the effort allows it
    best   = anneal the best of the starts
    repeat                                    if all cells are known and there is a solver
        anneal the best again, warm
        best = recombine both
    prove how low any loss can be
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numba

from shoal.methods.base import Grouping, say_nothing
from shoal.methods.microaggregation.partition import has_solver
from shoal.methods.optimize.annealing import Annealing
from shoal.methods.optimize.bounds import prove
from shoal.methods.optimize.candidates import CellSource, EnumeratedCells, find_candidates
from shoal.methods.optimize.construct import construct, keep_start
from shoal.methods.optimize.operators import as_details
from shoal.methods.optimize.params import EFFORTS
from shoal.methods.optimize.recombine import merge_groups
from shoal.methods.optimize.sampled import NAME as SAMPLED
from shoal.methods.optimize.sampled import group_by_samples, samples_pay
from shoal.methods.optimize.search import Search
from shoal.methods.stopping import INTERRUPTS

if TYPE_CHECKING:
    from shoal.methods.optimize.construct import Starts
    from shoal.methods.optimize.params import RecombineParams
    from shoal.methods.optimize.problem import Solution


_LUCK = 2_000
"""Records up to which two searches may differ by luck by more than effort gains."""


def solve(search: Search) -> Grouping:
    """Find groups that lose as little as the effort allows."""
    try:
        starts = construct(search)
        if samples_pay(search) and (labels := group_by_samples(search, solve)) is not None:
            keep_start(search, starts, SAMPLED, labels)
        cells = find_candidates(search, starts)
        search.report_loss(0.3)
        improve(search, starts, cells)
        keep_what_fast_finds(search)
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


def keep_what_fast_finds(search: Search) -> None:
    """Search a small table at `fast` too, so that luck never makes more effort lose more."""
    task, table = search.task, search.problem.table
    own = isinstance(task.effort, str) and search.params is EFFORTS[task.effort]
    if own and table.records <= _LUCK and task.effort != "fast":
        quick = Search.of(table, replace(task, effort="fast", progress=say_nothing))
        solve(quick)
        search.keep_if_best(quick.incumbent)


def improve(search: Search, starts: Starts, cells: CellSource) -> None:
    """Anneal the best starts, regions side by side, until rounds gain too little; recombine several runs if that is possible."""
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
    """Return when each run ends, as a share of what is left; there is one if rounds are few.

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
