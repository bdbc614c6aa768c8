"""The interface of privacy models for methods, audit and recipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from shoal.arrays import AnyArray, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.frames import Frame
    from shoal.kernels.space.space import Cover, Space


class Shown(NamedTuple):
    """The cells that groups are released with, as boxes of codes. ``cover.size`` is the number of records in each group."""

    space: Space
    cover: Cover
    ends: Mapping[int, AnyArray] = {}
    """Columns whose ends moved, by row: the exact numbers that their codes 1, 2, … stand for, in rising order."""


@dataclass(frozen=True, eq=False)
class PeoplePromise:
    """What a requirement promises of a list of people, in plain numbers: the recount looks it up in the released cells."""

    people: Frame
    fewest: float = 0.0
    """People who fit each released group, at least."""
    low: float = 0.0
    """Share of the people who fit a released group that is in the table, at least …"""
    high: float = 1.0
    """… and at most; not looked at if ``shares`` is false."""
    shares: bool = False
    everyone: bool = False
    """Whether each person of the list must fit some released group."""


class Requirement(ABC):
    """A privacy model bound to one table."""

    @abstractmethod
    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Return for each group whether it falls short; records labelled -1 belong to none, no group is empty."""

    def failing_as(self, labels: IntArray, groups: int, shown: Shown) -> BoolArray:  # noqa: ARG002
        """Return which groups fall short if they are released with these cells. By default cells do not matter."""
        return self.failing(labels, groups)

    def unreached(self, shown: Shown) -> IntArray:  # noqa: ARG002
        """Return the people who must fit some group and fit none of these cells, by the doubled codes of their values; by default nobody."""
        return np.zeros((0, 0), np.int32)

    def people_measures(self, labels: IntArray, groups: int) -> dict[str, FloatArray]:  # noqa: ARG002
        """Return what is measured of the people behind each group without a look at cells, by the name it has in an audit."""
        return {}

    def check_reachable(self, model: str, *, withholding: bool = False) -> None:  # noqa: B027
        """Raise if no groups of the table can meet the requirement of ``model``. By default this is not known before the search."""

    @property
    def by_cells(self) -> bool:
        """Whether the released cells decide, so that ``failing_as`` must be asked as soon as they are known."""
        return False

    @property
    def promises(self) -> tuple[PeoplePromise, ...]:
        """What is promised of lists of people; the recount checks it by the released cells alone."""
        return ()

    @property
    def parts(self) -> tuple[Requirement, ...]:
        """The requirements this one consists of; by default itself."""
        return (self,)


@dataclass(frozen=True)
class AllOf(Requirement):
    """Several requirements at once, such as one for each sensitive column."""

    each: tuple[Requirement, ...]

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Return which groups fall short of any of them."""
        failing = self.each[0].failing(labels, groups)
        for one in self.each[1:]:
            failing = failing | one.failing(labels, groups)
        return failing

    def failing_as(self, labels: IntArray, groups: int, shown: Shown) -> BoolArray:
        """Return which groups fall short of any of them with these cells."""
        return failing_groups(self.each, labels, groups, shown)

    def check_reachable(self, model: str, *, withholding: bool = False) -> None:
        """Raise if one of them cannot be met."""
        for one in self.each:
            one.check_reachable(model, withholding=withholding)

    def unreached(self, shown: Shown) -> IntArray:
        """Return the people whom any of them asks for and no group reaches."""
        return unreached_people(self.each, shown)

    @property
    def by_cells(self) -> bool:
        """Whether the released cells decide for any of them."""
        return read_cells(self.each)

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
    table is measured against ``total`` of a column if it is there.
    """

    by_persons: ClassVar[bool] = True
    """Whether the model can count persons or households instead of records."""

    @abstractmethod
    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""

    @abstractmethod
    def describe(self) -> str:
        """Return one sentence, for a reader without training, on what the model promises."""

    @property
    def fits_cells(self) -> bool:
        """Whether the model counts who fits the released cells, so that cells must be ranges, sets or nodes."""
        return False

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, for a recipe."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def bind_models(models: Sequence[PrivacyModel], table: CodedTable, sensitive: Sequence[str]) -> tuple[Requirement, ...]:
    """Bind every model to the sensitive columns of a table; a class column that a method looks at is none of them."""
    protected = replace(table, attributes={name: table.attributes[name] for name in sensitive})
    return tuple(model.bind(protected) for model in models)


def refuse_unreachable(
    models: Sequence[PrivacyModel], requirements: Sequence[Requirement], max_suppression: float
) -> None:
    """Raise before any search if a model cannot hold, whatever the groups are."""
    for model, requirement in zip(models, requirements, strict=True):
        requirement.check_reachable(type(model).__name__, withholding=max_suppression > 0)


def failing_groups(
    requirements: Sequence[Requirement], labels: IntArray, groups: int, shown: Shown | None = None
) -> BoolArray:
    """Return which groups fall short of any requirement, released with the cells ``shown`` or as narrow as their records allow."""
    failing = np.zeros(groups, np.bool_)
    for one in requirements:
        failing |= one.failing(labels, groups) if shown is None else one.failing_as(labels, groups, shown)
    return failing


def unreached_people(requirements: Sequence[Requirement], shown: Shown) -> IntArray:
    """Return the people who must fit some group and fit none, for any requirement, by the doubled codes of their values."""
    found = [one for requirement in requirements for one in [requirement.unreached(shown)] if one.size]
    return np.hstack(found) if found else np.zeros((0, 0), np.int32)


def read_cells(requirements: Sequence[Requirement]) -> bool:
    """Return whether the released cells decide for any requirement."""
    return any(one.by_cells for one in requirements)
