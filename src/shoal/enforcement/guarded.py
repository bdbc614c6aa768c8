"""The search with privacy models in view: every step keeps every model, so that little has to be mended afterwards.

::

    starts = the plain groups, mended        if few of them fail, from one search without the models to the next
             groups carved out of cells      if many do
    best   = the start that loses least after some rounds of moves, swaps, divisions and tightenings
    best   = anneal the best start           balanced and best: each step only if all models hold
    withhold records if that pays         as far as ``max_suppression`` allows (``withholding``)

An effort goes on where the smaller one ended and keeps the best groups seen, so that more effort never loses more.
All of shoal's own models are kept this way; models of a user's own are left to joining, which is slower. Groups
of other methods that had to be mended go through a few cold rounds of the same search (``polishing``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

from shoal.arrays import Effort, IntArray
from shoal.enforcement.carving import Carver, rules_of
from shoal.enforcement.guarded_params import COLD, GuardedParams, stages_of
from shoal.enforcement.leaving_out import mend_or_leave_out
from shoal.enforcement.mending import repair_equal_boxes
from shoal.enforcement.neighbours import number_without_gaps
from shoal.enforcement.people import MENDABLE, group_in_layers, layered_unit
from shoal.enforcement.withholding import withhold
from shoal.errors import PrivacyError
from shoal.kernels.guarded.improve import MOVES, improve_guarded_region
from shoal.kernels.optimize.cells.steps import SeedDistances, measure_steps
from shoal.kernels.optimize.state.regions import Regions, make_regions
from shoal.methods.base import Grouping, Method, Task, most_withheld
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimize.bounds import lower_bound
from shoal.methods.optimize.operators import Statistics, add_outcomes, as_details
from shoal.methods.optimize.params import EFFORTS
from shoal.methods.optimize.problem import Problem, Solution
from shoal.methods.stopping import INTERRUPTS, Stop
from shoal.privacy.base import failing_groups
from shoal.privacy.compiled_models import CompiledModels

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.measuring.matching import Points
    from shoal.kernels.models.population_rules import PopulationRules
    from shoal.kernels.models.rules import Rules
    from shoal.kernels.optimize.state.outcome import Outcome

_PLAIN_SHARE = 0.25
"""Of the seconds left, the share that a search without models may take if the clock ends the search."""


def search_guarded(method: Method, table: CodedTable, task: Task, case: CompiledModels) -> Grouping:
    """Return groups that meet k and all rules, found by a search that begins with what ``method`` finds without the models.

    The search itself withholds nobody, so that it is the same whatever may be withheld afterwards; only if no grouping of all
    records meets the models does mending withhold some.
    """
    most = most_withheld(task.max_suppression, table.records)
    try:
        return _search(method, table, replace(task, max_suppression=0.0), case, most)
    except PrivacyError:
        if most == 0:
            raise
        return _search(method, table, task, case, most)


def _search(method: Method, table: CodedTable, task: Task, case: CompiledModels, most: int) -> Grouping:
    """Take all stages of an effort, and withhold up to ``most`` records after each of them."""
    seconds = float("inf") if isinstance(task.effort, str) else float(task.effort)
    stop = Stop.after(seconds, cancel=task.cancel, clock=task.clock)
    search = GuardedSearch(method, Problem.of(table, task), case, task, stop)
    try:
        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            for effort, params in stages_of(task, table.records):
                search.run(effort, params, pool)
                if most:
                    search.release(most, pool)
            search.prove()
    except INTERRUPTS:
        if task.on_interrupt != "best" or not search.seen:
            raise
    details = {
        "losses": tuple(search.losses),
        "lower_bound": search.bound,
        "bound_from": search.bound_from,
        "operators": as_details(search.statistics),
    }
    return Grouping(search.least_lossy.labels, details=details)


class Part(NamedTuple):
    """The records that are released, as the kernels read them."""

    rows: IntArray
    labels: IntArray
    rules: Rules
    crowds: PopulationRules
    points: Points
    class_of: IntArray


@dataclass
class GuardedSearch:
    """One table, the models as rules, and the best groups seen."""

    method: Method
    problem: Problem
    case: CompiledModels
    task: Task
    stop: Stop
    part: bool = False
    """Whether labels are those of some groups only, so that it is unknown yet which ones are released alike."""
    seen: list[Solution] = field(default_factory=list)
    """The best solution, as the only entry, once there is one."""
    released: list[Solution] = field(default_factory=list)
    """The best solution of each stage with records withheld, if some may be."""
    losses: list[float] = field(default_factory=list)
    bound: float | None = None
    bound_from: str | None = None
    """What the bound follows from: k, or the records that a group needs to meet the models."""
    failing: float = 0.0
    """Share of the groups of the last search without models that fail."""
    rounds: int = 0
    """Rounds so far; each has a seed of its own."""
    statistics: dict[str, Statistics] = field(default_factory=dict)
    """What each operator did, without models in view and with."""

    @property
    def best(self) -> Solution:
        """The best groups so far."""
        return self.seen[0]

    @property
    def least_lossy(self) -> Solution:
        """The best groups so far, with or without withheld records."""
        return min([*self.released, *self.seen], key=lambda one: one.loss)

    @cached_property
    def steps(self) -> SeedDistances:
        """How far the values of each column are apart."""
        return measure_steps(self.problem.space, self.problem.rows)

    @cached_property
    def carver(self) -> Carver:
        """What carves groups out of cells."""
        return Carver(self.problem, self.case, self.task, self.stop)

    @property
    def can_carve(self) -> bool:
        """Whether groups are carved by their sensitive values; each person's records are values of their own."""
        return bool(self.case.histograms) and not self.problem.table.units

    def run(self, effort: Effort, params: GuardedParams, pool: Executor) -> None:
        """Take one stage: make starts, try each for some rounds, and go on with the best."""
        starts = list(self._starts(effort, params))
        tried = [self.anneal(one, pool, params.trial_rounds, params, params.hottest) for one in starts]
        first = min([*tried, *self.seen], key=lambda one: one.loss)
        self.anneal(first, pool, self.rounds_for(first, params), params, params.hottest)

    def release(self, most: int, pool: Executor) -> None:
        """Withhold up to ``most`` records if that pays; the search goes on with the groups of all records."""
        aside = replace(self, seen=list(self.seen), released=[], losses=[])
        self.released.append(withhold(aside, most, lambda found: aside.anneal(found, pool, COLD.rounds, COLD)))

    def rounds_for(self, found: Solution, params: GuardedParams) -> int:
        """Return how many rounds a solution gets: the work of a round grows with the size of its groups."""
        mean = self.problem.records / max(found.groups, 1)
        factor = min(max(params.usual_size / mean, 1.0 / params.most_rounds), params.most_rounds)
        return max(round(params.rounds * factor), 1)

    def _starts(self, effort: Effort, params: GuardedParams) -> Iterator[Solution]:
        """Yield starts of a stage, each of which meets all rules."""
        if not params.targets or self.stop.over():
            return
        if self.problem.table.units:
            yield self._start_with_people(effort)
            return
        plain = self._plain(effort) if self._mending_pays(params) else None  # judged by the stage before
        if plain is not None and self._mending_pays(params):
            yield self._mended(plain)
        if self.can_carve and self.failing >= params.carvable:
            yield from filter(None, (self._carved(target, params) for target in params.targets))
        if params.cuts:
            yield self._mended(self._cuts())
        if not self.seen:
            yield self._mended(self._plain(effort))

    def _mending_pays(self, params: GuardedParams) -> bool:
        """Return whether mended groups of the search without models are a start: not if mending undoes what it found."""
        return self.failing <= params.mendable or not self.can_carve

    def _plain(self, effort: Effort) -> IntArray:
        """Return the groups of the search without models, and note how many of them fail.

        It is not an answer to an interrupt, because its groups need not meet the models.
        """
        least = self.case.least
        if self.stop.timed and effort != "fast":
            effort = max(_PLAIN_SHARE * self.stop.left(), 0.0)
        task = replace(self.task, k=least, effort=effort, requirements=(), on_interrupt="raise")
        found = self.method.run(self.problem.table, task)
        self._note_bound(found.details.get("lower_bound"), least)
        for name, told in found.details.get("operators", {}).items():
            self.statistics.setdefault(name, Statistics()).add_all(Statistics(**told))
        groups = int(found.labels.max()) + 1
        self.failing = float(failing_groups(self.task.requirements, found.labels, groups).mean())
        return found.labels

    def _cuts(self) -> IntArray:
        """Return Mondrian's groups, found without models."""
        return Mondrian().run(self.problem.table, replace(self.task, requirements=())).labels

    def _quick_cuts_hold(self) -> bool:
        """Return whether groups of k records mostly have enough persons, judged by quick cuts: then a search without models is a start."""
        labels = self._cuts()
        return float(failing_groups(self.task.requirements, labels, int(labels.max()) + 1).mean()) <= MENDABLE

    def _mended(self, labels: IntArray) -> Solution:
        return self.solution(mend_or_leave_out(self.problem.table, labels, self.task))

    def _carved(self, multiple: int, params: GuardedParams) -> Solution | None:
        """Return groups carved out of cells, or None if records are left that no group can take."""
        labels = self.carver.carve(multiple, params.carving)
        homeless = labels < 0
        if int(homeless.sum()) > most_withheld(self.task.max_suppression, self.problem.records):
            labels[homeless] = labels.max() + 1
        try:
            return self._mended(labels)
        except PrivacyError:
            return None

    def _note_bound(self, bound: float | None, size: int) -> None:
        """Note a bound for groups of ``size`` records, which any bound for all models is."""
        if bound is not None and (self.bound is None or bound > self.bound):
            self.bound = bound
            self.bound_from = (
                f"k = {size}" if size == self.case.k else f"a group needs {size} records to meet the models"
            )

    def prove(self) -> None:
        """Work out how low any loss can be, unless the search without models has."""
        visits = EFFORTS[self.task.effort].bound.visits if isinstance(self.task.effort, str) else 0
        if visits == 0 or self.bound is not None or self.stop.over():
            return
        least = self.case.least
        self._note_bound(lower_bound(self.problem.table, least, visits, self.task.progress, self.stop), least)

    def _start_with_people(self, effort: Effort) -> Solution:
        """Return a start in which every group has k persons: mended, or found layer by layer if many groups lack persons."""
        labels, table = self._plain(effort) if self._quick_cuts_hold() else None, self.problem.table
        if labels is None or self.failing > MENDABLE:
            labels = group_in_layers(self.method, table, replace(self.task, effort=effort), layered_unit(table)).labels
        return self._mended(labels)

    def solution(self, labels: IntArray) -> Solution:
        """Return a grouping with its loss, withheld records counting in full, and keep it if it is the best so far."""
        labels = number_without_gaps(labels)
        if not self.part and not self.case.closed_under_union:
            try:
                labels = repair_equal_boxes(self.problem.table, labels, self.task)
            except PrivacyError:
                if not self.seen:
                    raise
                return self.best  # from which the search goes on
        found = self.problem.solution(labels, int(labels.max()) + 1)
        withheld = int((labels < 0).sum())
        found = found._replace(loss=found.loss + withheld / self.problem.records)
        if not self.seen or found.loss < self.best.loss:
            self.seen[:] = [found]
        self.losses.append(self.best.loss)
        return found

    def anneal(
        self, found: Solution, pool: Executor, rounds: int, params: GuardedParams, hottest: float = 0.0
    ) -> Solution:
        """Improve a solution for some rounds, cooler from one to the next; return the best of them."""
        best = found
        for share in replace(self.stop, rounds=rounds).each_round():
            temperature = hottest * max(0.0, 1.0 - share / params.cold)
            found = self._improve(found, pool, params, temperature * self.problem.mean_cost(found))
            best = min(best, found, key=lambda one: one.loss)
            self.task.progress(0.3 + 0.6 * share, f"improving, loss {best.loss:.4f}")
        return best

    def part_of(self, found: Solution) -> tuple[IntArray, Part]:
        """Return which records of a solution are released, and what the kernels read of them; the labels are a copy."""
        kept = np.flatnonzero(found.labels >= 0).astype(np.int32)
        rows, rules, class_of = self.problem.rows, self.case.rules, self.carver.classes.class_of
        if len(kept) < self.problem.records:
            rows, rules, class_of = (
                np.ascontiguousarray(rows[kept]),
                rules_of(rules, kept),
                np.ascontiguousarray(class_of[kept]),
            )
        return kept, Part(rows, found.labels[kept], rules, self.case.crowds, self.case.points, class_of)

    def regions_of(self, part: Part, groups: int, wanted: int, seed: int) -> Regions:
        """Return regions of about ``wanted`` near groups."""
        most = wanted * max(self.case.k, len(part.labels) // groups)
        return make_regions(self.problem.space, part.rows, part.labels, groups, most, seed)

    def _improve(self, found: Solution, pool: Executor, params: GuardedParams, temperature: float) -> Solution:
        space, seed, least = self.problem.space, self.problem.seed_of(self.rounds), self.case.least
        self.rounds += 1
        kept, part = self.part_of(found)
        small = len(kept) < params.small * least * found.groups
        regions = self.regions_of(part, found.groups, params.small_region if small else params.region, seed)
        share, rebuilds = self.carver.classes.share, params.rebuilds if small else 0

        def improve(region: int) -> tuple[tuple[Outcome, ...], float]:
            begin = time.thread_time()
            outcomes = improve_guarded_region(
                space, *part, share, self.steps, regions, region, least, rebuilds, temperature, seed
            )
            return outcomes, time.thread_time() - begin

        for outcomes, seconds in pool.map(improve, range(len(regions.start) - 1)):
            add_outcomes(self.statistics, "with-models", MOVES, outcomes, seconds, self.problem.worst_cost)
        labels = found.labels.copy()
        labels[kept] = part.labels
        return self.solution(labels)
