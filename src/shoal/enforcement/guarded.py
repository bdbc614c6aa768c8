"""The search with privacy models in view: every step keeps every model, so that little has to be mended afterwards.

::

    starts = the plain groups, mended        where few of them fail, from one search without the models to the next
             groups carved out of cells      where many do
    best   = the start that loses least after some rounds of moves, swaps, divisions and tightenings
    best   = anneal the best start           balanced and best: each step only where all models hold

An effort goes on where the smaller one ended and keeps the best groups seen, so that more effort never loses more.
Models that look at the sensitive values of a group (l, t, α, β, δ) and at its size are kept this way; models on a population
and models of a user's own are left to mending, which is slower.

Groups of other methods that had to be mended go through a few cold rounds of the same search (``polish_mended``).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numba
import numpy as np

from shoal.arrays import BoolArray, Effort, IntArray
from shoal.enforcement.layers import MENDABLE, group_in_layers, layered_unit
from shoal.enforcement.mending import Case, join_alike, mend, number_without_gaps
from shoal.errors import PrivacyError
from shoal.kernels.common.random_state import make_state
from shoal.kernels.enforcement.rules import (
    BETA,
    BETA_ENHANCED,
    DELTA,
    EQUAL,
    HIERARCHICAL,
    ORDERED,
    Rules,
    new_tally,
)
from shoal.kernels.guarded.carve import run_carving
from shoal.kernels.guarded.completion import Classes, completable
from shoal.kernels.guarded.improve import improve_guarded_region, place_rest
from shoal.kernels.optimise.cells.best_first import start_search
from shoal.kernels.optimise.cells.levels import build_levels
from shoal.kernels.optimise.regions import make_regions
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Grouping, Method, Task, most_withheld
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimise import Optimise
from shoal.methods.optimise.bounds import lower_bound
from shoal.methods.optimise.construct import CHUNK, near_blocks
from shoal.methods.optimise.params import EFFORTS
from shoal.methods.optimise.problem import Problem, Solution
from shoal.methods.stopping import INTERRUPTS, Stop
from shoal.privacy.base import failing_groups

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class GuardedParams:
    """What the search with models may spend, and when it does what."""

    mendable: float = 0.7
    """Share of failing plain groups up to which mending them is a start; beyond it, mending undoes what the search found."""
    carvable: float = 0.5
    """Share of failing plain groups from which carving groups out of cells is a start."""
    targets: tuple[int, ...] = (3,)
    """Sizes of carved groups to try, in multiples of the smallest group that can meet all models."""
    trial_rounds: int = 2
    """Rounds after which the best start is chosen."""
    rounds: int = 2
    """Rounds after that, where groups have ``usual_size`` records."""
    usual_size: int = 25
    """Mean size of a group; a round takes longer with larger groups, so smaller ones get more rounds and larger ones fewer."""
    most_rounds: float = 2.5
    """How many times more rounds there may be for small groups; for large ones at least the inverse."""
    hottest: float = 0.0
    """Temperature of the first of them, in multiples of the mean cost of a record."""
    cold: float = 0.9
    """Share of the rounds after which the temperature is 0."""
    region: int = 100
    """Groups of a region, in the mean."""
    block: int = 1 << 15
    """Records out of whose cells groups are carved together; it bounds the memory."""
    ratio: float = 1.6
    """Growth of the windows of numbers from level to level."""
    queue: int = 1 << 18
    """Combinations of levels kept in mind, at most."""
    visits: int = 4_000
    """How often a record is looked at while groups are carved, in the mean."""


STAGES: dict[Effort, GuardedParams] = {
    "fast": GuardedParams(),
    "balanced": GuardedParams(targets=(5,), rounds=32, hottest=1.0),
    "best": GuardedParams(targets=(), rounds=160, hottest=1.0),
}
"""What each effort does after the smaller ones."""
_POLISHING = GuardedParams(rounds=3)
"""Rounds for the groups of other methods that were mended."""
_ENDLESS = 1_000_000
_COMPARING = (EQUAL, ORDERED, HIERARCHICAL, BETA, BETA_ENHANCED, DELTA)
"""Rules that compare a group with the whole table."""


def stages_of(task: Task) -> list[tuple[Effort, GuardedParams]]:
    """Return the stages of an effort; a number of seconds is one long annealing after the fast stage."""
    if not isinstance(task.effort, str):
        return [("fast", STAGES["fast"]), ("balanced", replace(STAGES["balanced"], rounds=_ENDLESS))]
    names = list(STAGES)
    return [(name, STAGES[name]) for name in names[: names.index(task.effort) + 1]]


def search_guarded(method: Method, table: CodedTable, task: Task, case: Case) -> Grouping:
    """Return groups that meet k and all rules, found by a search that begins with what ``method`` finds without the models."""
    seconds = float("inf") if isinstance(task.effort, str) else float(task.effort)
    stop = Stop.after(seconds, cancel=task.cancel, clock=task.clock)
    search = GuardedSearch(method, Problem.of(table, task), case, task, stop)
    try:
        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            for effort, params in stages_of(task):
                search.run(effort, params, pool)
            search.prove()
    except INTERRUPTS:
        if task.on_interrupt != "best" or not search.seen:
            raise
    details = {"losses": tuple(search.losses), "lower_bound": search.bound, "bound_from": search.bound_from}
    return Grouping(_released_apart(table, search.best.labels, task), details=details)


def _released_apart(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Mend groups that fail once those with equal boxes are one group, as they are in the release."""
    together = join_alike(table, labels)
    fails = failing_groups(task.requirements, together, int(together.max(initial=-1)) + 1).any()
    return mend(table, together, task) if fails else labels


def polish_mended(table: CodedTable, before: IntArray, mended: IntArray, task: Task, case: Case) -> IntArray:
    """Improve the groups that mending changed, among themselves and without breaking a rule; the others stay as they are."""
    changed = changed_groups(before, mended)
    labels = np.where(np.append(changed, False)[mended], mended, -1).astype(np.int32)
    if not changed.any():
        return mended
    stop = Stop(cancel=task.cancel, clock=task.clock)
    search = GuardedSearch(Optimise(), Problem.of(table, task), case, task, stop)
    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        found = search.anneal(search.solution(labels), pool, _POLISHING.rounds, _POLISHING)
    apart = np.where(found.labels >= 0, found.labels + len(changed), mended)
    return _released_apart(table, number_without_gaps(apart), task)


def changed_groups(before: IntArray, after: IntArray) -> BoolArray:
    """Tell which groups of ``after`` are not groups of ``before``."""
    kept = after >= 0
    groups = int(after.max(initial=-1)) + 1
    size, old_size = np.bincount(after[kept], minlength=groups), np.bincount(before[before >= 0], minlength=1)
    origin = np.full(groups, -1, np.int32)
    origin[after[kept]] = before[kept]  # any one member's
    same = np.bincount(after[kept], origin[after[kept]] == before[kept], groups) == size
    return np.asarray(~(same & (origin >= 0) & (old_size[origin] == size)), np.bool_)


@dataclass
class GuardedSearch:
    """One table, the models as rules, and the best groups seen."""

    method: Method
    problem: Problem
    case: Case
    task: Task
    stop: Stop
    seen: list[Solution] = field(default_factory=list)
    """The best solution, as the only entry, once there is one."""
    losses: list[float] = field(default_factory=list)
    bound: float | None = None
    bound_from: str | None = None
    """What the bound follows from: k, or the records that a group needs to meet the models."""
    failing: float = 0.0
    """Share of the groups of the last search without models that fail."""
    rounds: int = 0
    """Rounds so far; each has a seed of its own."""

    @property
    def best(self) -> Solution:
        """The best groups so far."""
        return self.seen[0]

    @property
    def k(self) -> int:
        """The smallest group that k and all models of size allow."""
        return self.case.k

    @cached_property
    def classes(self) -> Classes:
        """Records with the same sensitive codes as one class, and the share of a group that each should have."""
        rules = self.case.rules
        kin, count, sample = distinct_tuples(rules.codes)
        compares = np.isin(rules.kind, _COMPARING).any()
        share = count / count.sum() if compares else np.full(len(count), 1.0 / len(count))
        return Classes(kin, sample.astype(np.int32), share)

    @cached_property
    def smallest(self) -> int:
        """The size from which on a group could meet all rules if the whole table were at hand."""
        classes, rules = self.classes, self.case.rules
        none, filled = np.zeros(len(classes.share), np.int64), np.zeros(len(classes.share), np.int64)
        at_hand, tally = np.bincount(classes.kin).astype(np.int64), new_tally(rules)
        for size in range(self.k, self.problem.records):
            if completable(rules, classes, none, 0, size, at_hand, filled, tally):
                return size
        return self.problem.records

    def run(self, effort: Effort, params: GuardedParams, pool: Executor) -> None:
        """Take one stage: make starts, try each for some rounds, and go on with the best."""
        starts = list(self._starts(effort, params))
        tried = [self.anneal(one, pool, params.trial_rounds, params, params.hottest) for one in starts]
        first = min([*tried, *self.seen], key=lambda one: one.loss)
        self.anneal(first, pool, self.rounds_for(first, params), params, params.hottest)

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
            plain = self._plain(effort) if self._quick_cuts_hold() else None
            yield self._start_with_people(plain if self.failing <= MENDABLE else None, effort)
            return
        mended = self._plain_mended(effort, params) if self.failing <= params.mendable else None
        carved = [self.carved(target, params) for target in params.targets if self.failing >= params.carvable]
        yield from (one for one in [*carved, mended] if one is not None)
        if mended is None and not any(carved) and not self.seen:
            yield self.solution(mend(self.problem.table, self._plain(effort), self.task, polish=False))

    def _plain(self, effort: Effort) -> IntArray:
        """Return the groups of the search without models, and note how many of them fail."""
        found = self.method.run(self.problem.table, replace(self.task, effort=effort, requirements=()))
        self._note_bound(found.details.get("lower_bound"), f"k = {self.problem.k}")
        groups = int(found.labels.max()) + 1
        self.failing = float(failing_groups(self.task.requirements, found.labels, groups).mean())
        return found.labels

    def _quick_cuts_hold(self) -> bool:
        """Tell by quick cuts whether groups of k records have mostly enough persons, so that a search without models is worth its time."""
        labels = Mondrian().run(self.problem.table, replace(self.task, requirements=())).labels
        return float(failing_groups(self.task.requirements, labels, int(labels.max()) + 1).mean()) <= MENDABLE

    def _plain_mended(self, effort: Effort, params: GuardedParams) -> Solution | None:
        """Return the groups of the search without models, mended; None where mending would undo what it found."""
        labels = self._plain(effort)
        if self.failing > params.mendable:
            return None
        return self.solution(mend(self.problem.table, labels, self.task, polish=False))

    def _note_bound(self, bound: float | None, reason: str) -> None:
        if bound is not None and (self.bound is None or bound > self.bound):
            self.bound, self.bound_from = bound, reason

    def prove(self) -> None:
        """Work out how low any loss can be: any bound for groups of so many records is one, and models need some."""
        visits = EFFORTS[self.task.effort].bound.visits if isinstance(self.task.effort, str) else 0
        size = max(self.k, *(one.least_records for one in self.case.histograms))
        if visits == 0 or (size == self.problem.k and self.bound is not None) or self.stop.over():
            return
        bound = lower_bound(self.problem.table, size, visits, self.task.progress, self.stop)
        self._note_bound(bound, f"k = {size}" if size == self.k else f"a group needs {size} records to meet the models")

    def _start_with_people(self, plain: IntArray | None, effort: Effort) -> Solution:
        """Return a start in which every group has k persons: mended, or found layer by layer where no plain groups are given."""
        table = self.problem.table
        if plain is None:
            task = replace(self.task, effort=effort)
            plain = group_in_layers(self.method, table, task, layered_unit(table)).labels
        return self.solution(mend(table, plain, self.task, polish=False))

    def solution(self, labels: IntArray) -> Solution:
        """Return a grouping with its loss, withheld records counting in full, and keep it if it is the best so far."""
        labels = number_without_gaps(labels)
        found = self.problem.solution(labels, int(labels.max()) + 1)
        withheld = int((labels < 0).sum())
        found = found._replace(loss=found.loss + withheld / self.problem.records)
        if not self.seen or found.loss < self.best.loss:
            self.seen[:] = [found]
        self.losses.append(self.best.loss)
        return found

    # --- carving ---------------------------------------------------------------------------------------------

    def carved(self, multiple: int, params: GuardedParams) -> Solution | None:
        """Return groups carved out of cells, or None where records are left that no group can take."""
        problem, target = self.problem, min(multiple * self.smallest, self.problem.records)
        labels, groups = np.full(problem.records, -1, np.int32), 0
        for block in near_blocks(problem.table, problem.rows, params.block, problem.seed):
            found, used = self._carve_block(block, target, params)
            labels[block] = np.where(found < 0, -1, found + groups)
            groups += used
        homeless = labels < 0
        if int(homeless.sum()) > most_withheld(self.task.max_suppression, problem.records):
            labels[homeless] = groups
            try:
                labels = mend(problem.table, labels, self.task, polish=False)
            except PrivacyError:
                return None
        return self.solution(labels)

    def _carve_block(self, block: IntArray, target: int, params: GuardedParams) -> tuple[IntArray, int]:
        space, rows = self.problem.space, np.ascontiguousarray(self.problem.rows[block])
        rules, classes = self._rules_of(block), self._classes_of(block)
        levels = build_levels(space, rows, target, params.ratio, make_state(self.problem.seed, 2))
        search, state = start_search(levels, params.queue), make_state(self.problem.seed, 5)
        left = params.visits * len(block)
        while left > 0 and not self.stop.over():
            budget = min(left, CHUNK)
            self.task.progress(0.3, "carving groups out of cells")
            if run_carving(space, rows, levels, rules, classes, target, search, budget, state) < budget:
                break
            left -= budget
        groups = int(search.state[1])
        if groups:
            place_rest(space, rows, search.label, rules, classes.kin, groups)
        return search.label, groups

    def _rules_of(self, records: IntArray) -> Rules:
        """Return the rules for some records; totals stay those of the whole table."""
        return self.case.rules._replace(codes=np.ascontiguousarray(self.case.rules.codes[:, records]))

    def _classes_of(self, records: IntArray) -> Classes:
        """Return the classes of some records; a class that none of them has is at hand nowhere."""
        kin = np.ascontiguousarray(self.classes.kin[records])
        sample = np.zeros(len(self.classes.share), np.int32)
        sample[kin[::-1]] = np.arange(len(kin), dtype=np.int32)[::-1]
        return Classes(kin, sample, self.classes.share)

    # --- annealing -------------------------------------------------------------------------------------------

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

    def _improve(self, found: Solution, pool: Executor, params: GuardedParams, heat: float) -> Solution:
        space, seed = self.problem.space, self.problem.seed_of(self.rounds)
        self.rounds += 1
        kept = np.flatnonzero(found.labels >= 0).astype(np.int32)
        rows, inside, rules, kin = self.problem.rows, found.labels[kept], self.case.rules, self.classes.kin
        if len(kept) < self.problem.records:
            rows, rules, kin = np.ascontiguousarray(rows[kept]), self._rules_of(kept), np.ascontiguousarray(kin[kept])
        most = params.region * max(self.k, len(kept) // found.groups)
        regions = make_regions(space, rows, inside, found.groups, most, seed)

        def improve(region: int) -> float:
            return improve_guarded_region(space, rows, inside, rules, kin, regions, region, self.k, heat, seed)

        list(pool.map(improve, range(len(regions.start) - 1)))
        labels = found.labels.copy()
        labels[kept] = inside
        return self.solution(labels)
