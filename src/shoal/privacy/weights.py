"""k-map without a list of the population: survey weights tell how many people each group stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.errors import ParameterError, PrivacyError
from shoal.kernels.space.tuples import distinct_tuples
from shoal.privacy.base import Requirement

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


def represented(
    labels: IntArray, groups: int, weight: FloatArray, person: IntArray | LongArray | None = None
) -> FloatArray:
    """Return for how many people of the population each group stands; a person's records stand for as many as their mean."""
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

    def measured(self, labels: IntArray, groups: int) -> FloatArray:
        """Return the estimated number of people of each group, rounded down: a half does not hide anybody."""
        return np.floor(represented(labels, groups, self.weight, self.person) * (1 + 1e-12))

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Tell which groups stand for too few people."""
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
