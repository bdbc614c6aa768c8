"""What a privacy model is, to methods, audit and recipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from shoal.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


class Requirement(ABC):
    """A privacy model bound to one table."""

    @abstractmethod
    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Tell for each group whether it falls short; records labelled -1 belong to none, no group is empty."""

    @property
    def parts(self) -> tuple[Requirement, ...]:
        """The requirements this one consists of; by default itself."""
        return (self,)


@dataclass(frozen=True)
class AllOf(Requirement):
    """Several requirements at once, such as one for each sensitive column."""

    each: tuple[Requirement, ...]

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Tell which groups fall short of any of them."""
        failing = self.each[0].failing(labels, groups)
        for one in self.each[1:]:
            failing = failing | one.failing(labels, groups)
        return failing

    @property
    def parts(self) -> tuple[Requirement, ...]:
        """The requirements themselves."""
        return self.each


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """Something that must hold of every group. Its parameters are the fields of the dataclass.

    A field called ``population`` holds a table, or the path of a file.
    """

    looks_at: ClassVar[Literal["group", "table", "more"]] = "more"
    """What decides: a group's size and its sensitive values, also those of the whole table, or anything else, such as a population.

    "more", of which nothing is taken for granted, is neither streamed nor judged by the released rows alone.
    """
    by_fragment: ClassVar[bool] = False
    """Whether fragments of a table can keep it each by itself.

    Then each sensitive column is judged by itself, two groups that keep it keep it as one too, and what is measured against the whole
    table is measured against ``total`` of a column where it is there.
    """

    @abstractmethod
    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""

    @abstractmethod
    def describe(self) -> str:
        """Say in one sentence, for a reader without training, what the model promises."""

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, for a recipe."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def bind_models(models: Sequence[PrivacyModel], table: CodedTable, sensitive: Sequence[str]) -> tuple[Requirement, ...]:
    """Bind every model to the sensitive columns of a table; a class column that a method looks at is none of them."""
    protected = replace(table, attributes={name: table.attributes[name] for name in sensitive})
    return tuple(model.bind(protected) for model in models)


def failing_groups(requirements: Sequence[Requirement], labels: IntArray, groups: int) -> BoolArray:
    """Tell which groups fall short of any requirement."""
    failing = np.zeros(groups, np.bool_)
    for one in requirements:
        failing |= one.failing(labels, groups)
    return failing
