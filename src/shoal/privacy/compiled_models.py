"""All requirements of a task on one table, as the kernels read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.models.population_rules import PRESENCE, crowd_shortfalls
from shoal.privacy.base import Requirement
from shoal.privacy.histograms import HistogramRequirement, build_rules
from shoal.privacy.k_anonymity import AtLeast
from shoal.privacy.measures import lacking
from shoal.privacy.population import CrowdRequirement, build_points, build_population_rules
from shoal.privacy.weights import WeightRequirement

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.measuring.matching import Points
    from shoal.kernels.models.population_rules import PopulationRules
    from shoal.kernels.models.rules import Rules
    from shoal.kernels.space.space import Cover


@dataclass(frozen=True)
class CompiledModels:
    """Table and requirements as the kernels read them."""

    table: CodedTable
    k: int
    """The smallest group that k and the models of size allow."""
    histograms: Sequence[HistogramRequirement]
    rules: Rules
    crowds: PopulationRules
    points: Points

    @property
    def least(self) -> int:
        """Records that a group needs at least to meet all models, whatever its values are."""
        return min(max([self.k, *(one.least_records for one in self.histograms)]), self.table.records)

    @property
    def closed_under_union(self) -> bool:
        """Whether two groups that meet all models meet them as one too.

        A larger group is released as it was: the same people fit it, of whom more are in the table. Persons who have a
        value in one group and hide in the other make its share rise.
        """
        closed = all(one.about.closed for one in self.histograms)
        return bool(closed and (self.crowds.kind != PRESENCE).all() and self.rules.people < 0)

    @property
    def compares(self) -> bool:
        """Whether a model compares groups with the whole table."""
        return any(one.about.compares for one in self.histograms)

    def shortfalls(self, labels: IntArray, cover: Cover) -> FloatArray:
        """Return how far each group falls short."""
        short = lacking("size", float(self.k), cover.size.astype(np.float64))
        for one in self.histograms:
            short += one.lacking(labels, cover.size.shape[0])
        if len(self.crowds.kind):
            short += crowd_shortfalls(self.crowds, self.points, self.table.space, cover)
        return short


def parts_of(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Return what requirements consist of, in the form in which the search keeps them."""
    parts = [part for requirement in requirements for part in requirement.parts]
    return [part.rounded or part if isinstance(part, WeightRequirement) else part for part in parts]


def all_known(requirements: Sequence[Requirement]) -> bool:
    """Return whether all requirements are shoal's own, so that groups which fail can be mended."""
    return all(isinstance(part, HistogramRequirement | CrowdRequirement | AtLeast) for part in parts_of(requirements))


def compile_models(table: CodedTable, k: int, requirements: Sequence[Requirement]) -> CompiledModels:
    """Lay k and requirements out as the kernels read them."""
    parts = parts_of(requirements)
    histograms = [part for part in parts if isinstance(part, HistogramRequirement)]
    crowds = [part for part in parts if isinstance(part, CrowdRequirement)]
    sizes = [part for part in parts if isinstance(part, AtLeast)]
    k = max([k, *(part.k for part in sizes)])
    columns = len(table.columns)
    rules = build_rules(histograms, table.records, k=k)
    return CompiledModels(table, k, histograms, rules, build_population_rules(crowds), build_points(crowds, columns))
