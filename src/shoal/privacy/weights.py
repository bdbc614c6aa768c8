"""k-map without a list of the population: survey weights give the number of people that each group represents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.errors import ParameterError, PrivacyError
from shoal.kernels.space.tuples import distinct_tuples
from shoal.privacy.base import Requirement
from shoal.privacy.histograms import HistogramRequirement
from shoal.privacy.rows import SensitiveRow

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_EXPONENT = 5
_STEPS = 2.0**_EXPONENT
"""Into how many steps the numbers from 0 to a power of two are cut before they are rounded down."""


def represented(
    labels: IntArray, groups: int, weight: FloatArray, person: IntArray | LongArray | None = None
) -> FloatArray:
    """Return how many people of the population each group represents; a person's records stand for as many as their mean."""
    kept = labels >= 0
    labels, weight = labels[kept], weight[kept]
    if person is None:
        return np.asarray(np.bincount(labels, weight, groups), np.float64)
    pairs = distinct_tuples(np.stack([labels, person[kept]]).astype(np.int32))
    mean = np.bincount(pairs.label, weight, len(pairs.size)) / pairs.size
    return np.asarray(np.bincount(labels[pairs.first], mean, groups), np.float64)


@dataclass(frozen=True, eq=False)
class WeightRequirement(Requirement):
    """A least sum of survey weights in a group: the estimated number of people of the population who share its values."""

    k: int
    weight: FloatArray
    person: IntArray | None = None

    @cached_property
    def rounded(self) -> HistogramRequirement | None:
        """The bound as the search keeps it, on weights rounded down by less than a sixteenth, so that few of them differ.

        None if the records of one person weigh differently, or if the rounded weights of the whole table are too few.
        """
        share, power = np.frexp(self.weight)
        value, codes = np.unique(np.ldexp(np.floor(share * _STEPS), power - _EXPONENT), return_inverse=True)
        row = SensitiveRow("survey weights", codes.astype(np.int32), len(value), person=self.person, value=value)
        bound = HistogramRequirement("weight", row, float(self.k))
        differ = self.person is not None and row.pairs.cardinality > len(np.unique(self.person))
        return None if differ or bound.failing(np.zeros(len(codes), np.int32), 1)[0] else bound

    def measured(self, labels: IntArray, groups: int) -> FloatArray:
        """Return the estimated number of people of each group, rounded down: a half does not hide anybody."""
        return np.floor(represented(labels, groups, self.weight, self.person) * (1 + 1e-12))

    def people_measures(self, labels: IntArray, groups: int) -> dict[str, FloatArray]:
        """Return the estimated number of people of each group."""
        return {"k_map": self.measured(labels, groups)}

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Return which groups represent too few people."""
        return self.measured(labels, groups) < self.k


def bind_weights(table: CodedTable, k: int) -> WeightRequirement:
    """Return k-map by the survey weights of a table, or say that it has none, or too few people."""
    if table.survey_weight is None:
        raise ParameterError(
            "KMap needs to know the population, and got neither a list of it nor survey weights.",
            hint='give population=…, or name the column of survey weights, as in survey_weight="w".',
        )
    bound = WeightRequirement(k, table.survey_weight, table.units.get("person"))
    whole = float(bound.measured(np.zeros(table.records, np.int32), 1)[0])
    if whole < k:
        raise PrivacyError(
            f"KMap cannot hold: by its survey weights the whole table stands for {whole:g} people, fewer than {k}. Nothing was released.",
            hint="ask for less, or check the survey weights.",
        )
    return bound
