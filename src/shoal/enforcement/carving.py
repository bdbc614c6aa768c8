"""Groups carved out of cells: a start for strict models, which hardly any group of a search without models would meet.

The cells are visited from cheap to expensive, and each gives up groups of a target size that meet all models on sensitive values
(``shoal.kernels.guarded.carve``). Rules on the people of a population are left to mending: whether they hold is seen only when a group
is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import IntArray
from shoal.kernels.common.random_state import CARVING, LEVELS, make_state
from shoal.kernels.guarded.carve import run_carving
from shoal.kernels.guarded.completion import Classes, completable
from shoal.kernels.guarded.improve import place_rest
from shoal.kernels.models.rules import Rules, new_tally
from shoal.kernels.optimize.cells.best_first import start_cell_search
from shoal.kernels.optimize.cells.levels import build_levels
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Task
from shoal.methods.optimize.construct import CHUNK, near_blocks
from shoal.methods.optimize.problem import Problem
from shoal.methods.stopping import Stop
from shoal.privacy.compiled_models import CompiledModels
from shoal.privacy.population import build_points, build_population_rules


@dataclass(frozen=True)
class CarvingParams:
    """What carving may spend."""

    block: int = 1 << 15
    """Records out of whose cells groups are carved together; it bounds the memory."""
    ratio: float = 1.6
    """Growth of the windows of numbers from level to level."""
    queue: int = 1 << 18
    """Combinations of levels in the queue, at most."""
    visits: int = 4_000
    """How often a record is visited while groups are carved, on average."""


@dataclass
class Carver:
    """One table and its models."""

    problem: Problem
    case: CompiledModels
    task: Task
    stop: Stop

    @cached_property
    def classes(self) -> Classes:
        """Records with the same sensitive codes as one class, and the share of a group that each should have."""
        rules = self.case.rules
        if not len(rules.codes):  # no model looks at sensitive values
            return Classes(np.zeros(self.problem.records, np.int32), np.zeros(1, np.int32), np.ones(1))
        class_of, count, sample = distinct_tuples(rules.codes)
        share = count / count.sum() if self.case.compares else np.full(len(count), 1.0 / len(count))
        return Classes(class_of, sample.astype(np.int32), share)

    @cached_property
    def smallest(self) -> int:
        """The size from which on a group could meet all rules if the whole table were available."""
        classes, rules = self.classes, self.case.rules
        none, filled = np.zeros(len(classes.share), np.int64), np.zeros(len(classes.share), np.int64)
        at_hand, tally = np.bincount(classes.class_of).astype(np.int64), new_tally(rules)
        for size in range(self.case.k, self.problem.records):
            if completable(rules, classes, none, 0, size, at_hand, filled, tally):
                return size
        return self.problem.records

    def carve(self, multiple: int, params: CarvingParams) -> IntArray:
        """Return groups of so many times the smallest size; -1 for a record that no group can take."""
        problem, target = self.problem, min(multiple * self.smallest, self.problem.records)
        labels, groups = np.full(problem.records, -1, np.int32), 0
        for block in near_blocks(problem.table, problem.rows, params.block, problem.seed):
            found, used = self._carve_block(block, target, params)
            labels[block] = np.where(found < 0, -1, found + groups)
            groups += used
        return labels

    def _carve_block(self, block: IntArray, target: int, params: CarvingParams) -> tuple[IntArray, int]:
        space, rows = self.problem.space, np.ascontiguousarray(self.problem.rows[block])
        rules, classes = rules_of(self.case.rules, block), self._classes_of(block)
        levels = build_levels(space, rows, target, params.ratio, make_state(self.problem.seed, LEVELS))
        search, state = start_cell_search(levels, params.queue), make_state(self.problem.seed, CARVING)
        left = params.visits * len(block)
        while left > 0 and not self.stop.over():
            budget = min(left, CHUNK)
            self.task.progress(0.3, "carving groups out of cells")
            if run_carving(space, rows, levels, rules, classes, target, search, budget, state) < budget:
                break
            left -= budget
        groups = int(search.state[1])
        if groups:
            nobody = build_population_rules([]), build_points([], self.problem.columns)
            place_rest(space, rows, search.label, rules, *nobody, classes.class_of, groups)
        return search.label, groups

    def _classes_of(self, records: IntArray) -> Classes:
        """Return the classes of some records; a class that none of them has is available nowhere."""
        class_of = np.ascontiguousarray(self.classes.class_of[records])
        sample = np.zeros(len(self.classes.share), np.int32)
        sample[class_of[::-1]] = np.arange(len(class_of), dtype=np.int32)[::-1]
        return Classes(class_of, sample, self.classes.share)


def rules_of(rules: Rules, records: IntArray) -> Rules:
    """Return the rules for some records; totals stay those of the whole table."""
    return rules._replace(codes=np.ascontiguousarray(rules.codes[:, records]))
