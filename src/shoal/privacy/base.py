"""What a privacy model is, to methods, audit and recipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


class Requirement(ABC):
    """A privacy model bound to one table."""

    @abstractmethod
    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Tell for each group whether it falls short; records labelled -1 belong to none."""


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """Something that must hold of every group. Its parameters are the fields of the dataclass."""

    @abstractmethod
    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""

    @abstractmethod
    def describe(self) -> str:
        """Say in one sentence, for a reader without training, what the model promises."""
