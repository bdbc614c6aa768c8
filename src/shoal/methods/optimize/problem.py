"""The problem and its solutions: a table, k and weights; a grouping and what it loses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.optimize.starts.cut import complete
from shoal.kernels.space.space import Cover, cover_groups, group_costs
from shoal.kernels.space.tuples import Tuples, distinct_tuples

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.space.space import Space
    from shoal.methods.base import Task


class Solution(NamedTuple):
    """A grouping of all records and what it loses."""

    labels: IntArray
    """The group of each record, numbered from 0 without gaps."""
    groups: int
    """Their number."""
    loss: float
    """The normalized loss, 0 to 1."""


class CostedCover(NamedTuple):
    """The boxes around the groups of a grouping, and what they cost."""

    cover: Cover
    cost: FloatArray
    """What each group costs each of its records."""


@dataclass(frozen=True)
class Problem:
    """What is to be grouped, and by what a grouping is judged."""

    table: CodedTable
    k: int
    seed: int = 0

    @classmethod
    def of(cls, table: CodedTable, task: Task) -> Problem:
        """Return the problem of a task, with weights of at most 1: what counts as a gain must not depend on the size of all weights."""
        if table.weights.max() != 1.0:
            table = replace(table, weights=table.weights / table.weights.max())
        seed = task.seed % (1 << 32)  # kernels take 64-bit words
        return cls(table, min(task.k, table.records), seed)

    @property
    def space(self) -> Space:
        """What releasing a range of codes costs in each column."""
        return self.table.space

    @property
    def records(self) -> int:
        """The number of records."""
        return self.table.records

    @property
    def columns(self) -> int:
        """The number of quasi-identifiers."""
        return len(self.table.columns)

    @property
    def by_hierarchy(self) -> bool:
        """Whether all columns have a hierarchy, so that all cells can be enumerated."""
        return all(column.hierarchy is not None for column in self.table.columns)

    @property
    def combinations(self) -> float:
        """The number of combinations of one level a column, if all columns have a hierarchy."""
        return math.prod(float(column.tree.levels) for column in self.table.columns)

    @property
    def has_sets(self) -> bool:
        """Whether a column is released as sets of values."""
        return any(column.kind.by_members for column in self.table.columns)

    @cached_property
    def rows(self) -> IntArray:
        """The codes of each record, (n, m)."""
        return np.ascontiguousarray(self.table.codes.T)

    @cached_property
    def tuples(self) -> Tuples:
        """The distinct records."""
        return distinct_tuples(self.table.codes)

    @cached_property
    def worst_cost(self) -> float:
        """What a table costs in which every cell is suppressed: the loss is a share of it."""
        return self.records * float(self.space.weight.sum())

    def solution(self, labels: IntArray, groups: int) -> Solution:
        """Return a grouping, its groups numbered from 0 without gaps, with its loss."""
        found = costed_cover(self.table, labels, groups)
        return Solution(labels, groups, sum_of_products(found.cost, found.cover.size) / self.worst_cost)

    def completed(self, labels: IntArray) -> Solution:
        """Return a grouping in which records labelled -1 have a group too and all groups have fewer than 2k records."""
        labels = labels.copy()
        return self.solution(labels, complete(self.space, self.rows, labels, int(labels.max()) + 1, self.k))

    def cost_by_record(self, solution: Solution) -> FloatArray:
        """Return what each record costs in a grouping."""
        return costed_cover(self.table, solution.labels, solution.groups).cost[solution.labels]

    def mean_cost(self, solution: Solution) -> float:
        """Return the mean cost of a record: the unit of all temperatures."""
        return solution.loss * self.worst_cost / self.records

    def seed_of(self, number: int) -> int:
        """Return the seed of a round."""
        return (self.seed << 24) + number


def costed_cover(table: CodedTable, labels: IntArray, groups: int) -> CostedCover:
    """Return the box around each group of a table and what it costs each of its records."""
    cover = cover_groups(table.space, table.codes, labels, groups)
    return CostedCover(cover, group_costs(table.space, cover))
