"""Rounds of improvement: each cuts the table into regions and lets all operators work on them, cooler from round to round."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import IntArray
from shoal.errors import ParameterError
from shoal.kernels.optimize.cells.steps import measure_steps
from shoal.kernels.optimize.state.regions import make_regions, renumber
from shoal.methods.optimize.candidates import EnumeratedCells, NoCells
from shoal.methods.optimize.operators import OPERATORS, Operator, Round, add_outcomes
from shoal.methods.optimize.params import temperature_for

if TYPE_CHECKING:
    from shoal.kernels.optimize.state.outcome import Outcome
    from shoal.kernels.optimize.state.regions import Regions
    from shoal.methods.optimize.candidates import CellSource
    from shoal.methods.optimize.construct import Starts
    from shoal.methods.optimize.problem import Solution
    from shoal.methods.optimize.search import Search


class Schedule(NamedTuple):
    """A run: rounds that cool down, one after the other."""

    begin: float = 0.0
    end: float = 1.0
    """When it begins and ends, as a share of all rounds or of the seconds."""
    hot: float = 1.0
    """The temperature at its beginning, in multiples of that of the first run."""
    cold_from: float = 0.9
    """Share of the run after which the temperature is 0."""

    def temperature(self, spent: float) -> float:
        """Return the temperature of a round, 1 for the first of the first run, when a share of all rounds or seconds is spent."""
        return self.hot * max(0.0, 1.0 - (spent - self.begin) / (self.end - self.begin) / self.cold_from)


class Annealing:
    """Rounds of improvement with falling temperature."""

    def __init__(self, search: Search, cells: CellSource, pool: Executor) -> None:
        self.search, self.cells, self.pool = search, cells, pool
        problem = search.problem
        self.steps = measure_steps(problem.space, problem.rows)
        self.hottest = temperature_for(search.params.annealing, problem.k, problem.columns)
        self.rounds_made = 0
        self.temperature_factor = search.params.pricing.temperature if isinstance(cells, EnumeratedCells) else 1.0

    def schedule(self, begin: float = 0.0, end: float = 1.0, hot: float = 1.0) -> Schedule:
        """Return the schedule of a run."""
        return Schedule(begin, end, hot * self.temperature_factor, self.search.params.annealing.cold_from)

    def choose(self, starts: Starts) -> Solution:
        """Improve the two best starts for a few rounds, if they are close, and return the better one.

        Groups of cells opened by dual prices need no comparison: they end lowest even if they start a little higher.
        """
        params, stop = self.search.params.annealing, self.search.stop
        best, *others = sorted(starts.values(), key=lambda found: found.loss)
        priced = starts.get("priced")
        if priced is not None and priced.loss <= params.close * best.loss:
            best, others = priced, []
        close = [best, *(other for other in others[:1] if other.loss <= params.close * best.loss)]
        for place, _ in enumerate(close):
            for number in range(min(params.trial_rounds, int(stop.rounds))):
                if not stop.over():
                    close[place] = self.improve(close[place], self.prepare(close[place], number, self.schedule()))
                    self.report(number)
        return min(close, key=lambda found: found.loss)

    def run(self, solution: Solution, number: int, schedule: Schedule) -> tuple[Solution, int]:
        """Make the rounds of a run, the first of which has a number; return its last solution and the number of the next round."""
        stop = self.search.stop
        # ends: by the number of rounds, which grows by one each time
        while number < stop.rounds and stop.spent(number) < schedule.end and not stop.over():
            now = self.prepare(solution, number, schedule)
            before, solution = solution, self.improve(solution, now)
            self.report(number)
            number += 1
            if now.move_temperature == 0.0 and stop.settled(before.loss, solution.loss):
                break
        return solution, number

    def report(self, number: int) -> None:
        """Report what the best solution loses after a round."""
        self.search.report_loss(0.3 + 0.6 * self.search.stop.spent(number + 1))

    def prepare(self, solution: Solution, number: int, schedule: Schedule) -> Round:
        """Return what operators need to know of a round."""
        problem = self.search.problem
        temperature, mean_cost = schedule.temperature(self.search.stop.spent(number)), problem.mean_cost(solution)
        return Round(
            problem=problem,
            params=self.search.params,
            seed=problem.seed_of(number),
            mean_cost=mean_cost,
            temperature=temperature,
            move_temperature=self.hottest * mean_cost * temperature,
            steps=self.steps,
            cells=self.cells.for_round(solution, number),
        )

    def improve(self, solution: Solution, now: Round) -> Solution:
        """Let all operators that apply work on all regions, and return the new solution; the best one is kept."""
        search, problem = self.search, now.problem
        self.rounds_made += 1
        labels, groups = solution.labels.copy(), solution.groups
        active = [one for one in OPERATORS if one.name not in now.params.without and one.applies(now)]
        for width, operators in groupby(active, key=lambda one: one.width):
            most = width * now.params.annealing.region * problem.k
            regions = make_regions(problem.space, problem.rows, labels, groups, most, now.seed)
            separate(labels, regions)
            for operator in operators:
                self._apply(operator, now, labels, regions)
            groups = renumber(labels)
            check_sizes(labels, problem.k, [one.name for one in active])
        better = problem.solution(labels, groups)
        rises = better.loss > solution.loss * (1.0 + 1e-12)  # a smaller rise is rounding
        if rises and isinstance(self.cells, NoCells):
            self.hottest *= now.params.annealing.cooling
        search.keep_if_best(better)
        return better

    def _apply(self, operator: Operator, now: Round, labels: IntArray, regions: Regions) -> None:
        """Let one operator work on all regions, side by side, and note what it did."""
        search = self.search

        def work(region: int) -> None:
            if search.stop.over():
                return
            begin = time.thread_time()
            outcomes = operator.run(now, labels, regions, region)
            done.append((outcomes, time.thread_time() - begin))

        done: list[tuple[tuple[Outcome, ...], float]] = []
        list(self.pool.map(work, range(len(regions.start) - 1)))
        for outcomes, seconds in done:
            add_outcomes(search.statistics, operator.name, operator.parts, outcomes, seconds, now.problem.worst_cost)


def check_sizes(labels: IntArray, k: int, operators: Sequence[str]) -> None:
    """Refuse what an operator has broken: kernels have room for groups of up to 2k records, and none may have fewer than k."""
    sizes = np.bincount(labels)
    if sizes.min() < k or sizes.max() > 2 * k:
        raise ParameterError(
            f"The operators {', '.join(operators)} left groups of {sizes.min()} to {sizes.max()} records. "
            f"Each needs {k} to {2 * k}.",
            hint="one of them breaks the rule of Operator.run.",
        )


def separate(labels: IntArray, regions: Regions) -> None:
    """Number groups by the place of their first record among those of all regions, so that regions share no number."""
    ordered = labels[regions.record]
    place = np.empty(int(labels.max()) + 1, np.int32)
    # backwards: of several values written to one place the last one stays, here the first record of a group
    place[ordered[::-1]] = np.arange(len(ordered) - 1, -1, -1, dtype=np.int32)
    labels[:] = place[labels]
