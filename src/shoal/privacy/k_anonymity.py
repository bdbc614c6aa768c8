"""k-anonymity (Samarati & Sweeney 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, IntArray
from shoal.errors import PrivacyError
from shoal.privacy.base import AllOf, PrivacyModel, Requirement
from shoal.privacy.histograms import HistogramRequirement
from shoal.privacy.rows import unit_row
from shoal.validation import check_int

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every group has at least ``k`` records, or ``k`` persons if a person column is named.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age", "sex"], models=[shoal.KAnonymity(3)])
    >>> result.audit.k
    3
    """

    looks_at = "group"
    by_fragment = True

    k: int

    def __post_init__(self) -> None:
        check_int("KAnonymity", "k", self.k, least=2)

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        people = at_least_units(table, self.k)
        return AllOf(people) if people else AtLeast(self.k)

    def describe(self) -> str:
        """Return what the model promises."""
        return f"Everyone shares their released values with at least {self.k - 1} others."


@dataclass(frozen=True)
class AtLeast(Requirement):
    """A least group size."""

    k: int

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Return which groups are smaller than k."""
        return np.bincount(labels[labels >= 0], minlength=groups) < self.k


def at_least_units(table: CodedTable, k: int) -> tuple[Requirement, ...]:
    """Return the requirements that every group hold ``k`` persons and ``k`` households, if the table knows them."""
    rows = [unit_row(table, unit) for unit in table.units]
    for row in rows:
        if row.cardinality < k:
            raise PrivacyError(
                f"The table holds {row.cardinality} {row.name}s in {table.records} records, fewer than k = {k}. "
                "Nothing was released.",
                hint=f"nobody can hide among more {row.name}s than there are; lower k.",
            )
    return tuple(HistogramRequirement("distinct", row, float(k)) for row in rows)
