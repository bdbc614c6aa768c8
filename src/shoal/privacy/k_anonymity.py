"""k-anonymity (Samarati & Sweeney 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, IntArray
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.validation import check_int

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every group has at least ``k`` records."""

    k: int

    def __post_init__(self) -> None:
        check_int("KAnonymity", "k", self.k, least=2)

    def bind(self, table: CodedTable) -> Requirement:  # noqa: ARG002
        """Return the model as a requirement; it needs nothing of the table."""
        return AtLeast(self.k)

    def describe(self) -> str:
        """Say what the model promises."""
        return f"Everyone shares their released values with at least {self.k - 1} others."


@dataclass(frozen=True)
class AtLeast(Requirement):
    """A least group size."""

    k: int

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Tell which groups are smaller than k."""
        return np.bincount(labels[labels >= 0], minlength=groups) < self.k
