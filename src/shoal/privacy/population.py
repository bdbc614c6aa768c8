"""Models that count people of the population: k-map and δ-presence."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.errors import ParameterError, PrivacyError
from shoal.kernels.models.population_rules import K_MAP, PRESENCE, PopulationRules, crowd_shortfalls, people_reached
from shoal.kernels.space.space import cover_groups
from shoal.privacy.base import PeoplePromise, PrivacyModel, Requirement, Shown
from shoal.privacy.people import Placed, gather_points, no_points, open_people, place_people
from shoal.privacy.weights import bind_weights
from shoal.validation import check_flag, check_float, check_int

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.encoding import CodedTable
    from shoal.frames import Frame
    from shoal.kernels.measuring.matching import Points

Kind = Literal["k-map", "presence"]
_ALL = 2.0**52
"""More people than any list has."""


@dataclass(frozen=True, eq=False)
class _OnPopulation(PrivacyModel):
    """A model with a list of the population: a table, or the path of a file."""

    @property
    @abstractmethod
    def _people(self) -> Any: ...

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values; a table that has no file appears as ``"(object)"``."""
        given = {key: value for key, value in vars(self).items() if value is not None}
        if "population" not in given:
            return given
        return given | {"population": str(self._people) if isinstance(self._people, (str, Path)) else "(object)"}

    @property
    def fits_cells(self) -> bool:
        """Whether people are counted by the released cells, not estimated."""
        return self._people is not None

    def _bind(self, table: CodedTable, kind: Kind, low: float, high: float, *, everyone: bool) -> CrowdRequirement:
        frame = open_people(self._people)
        if not frame.records:
            raise ParameterError(f"The population given to {type(self).__name__} has no rows.")
        bound = CrowdRequirement(kind, low, high, table, frame, place_people(frame, table.columns), everyone)
        if kind == "k-map" and bound.failing_as(np.zeros(table.records, np.int32), 1, _widest(table))[0]:
            raise PrivacyError(
                f"{type(self).__name__} cannot hold: fewer than {low:g} people of the population fit the whole table. "
                "Nothing was released.",
                hint="ask for less, or check that population and table write their values the same way.",
            )
        return bound


@dataclass(frozen=True, eq=False)
class KMap(_OnPopulation):
    """Every group's released values fit at least ``k`` people of the population (Sweeney 2002).

    Parameters
    ----------
    k
        The least number of people.
    population
        A table of the population with all quasi-identifiers, or the path of a file. Without it their number is estimated: the survey weights
        of a group's records, added up (``survey_weight`` names the column).

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> town = {"age": list(range(18, 90)), "sex": ["f", "m"] * 36}
    >>> model = shoal.KMap(4, population=town)
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age", "sex"], models=[model])
    >>> result.models[0].describe()
    'Anyone who looks for a person in the population finds at least 4 who fit.'
    """

    k: int
    population: Any = None

    def __post_init__(self) -> None:
        check_int("KMap", "k", self.k, least=2)

    @property
    def _people(self) -> Any:
        return self.population

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        return (
            bind_weights(table, self.k)
            if self.population is None
            else self._bind(table, "k-map", float(self.k), 0.0, everyone=False)
        )

    def describe(self) -> str:
        """Return what the model promises."""
        found = "finds" if self.population is not None else "finds, by the survey weights,"
        return f"Anyone who looks for a person in the population {found} at least {self.k} who fit."


@dataclass(frozen=True, eq=False)
class DeltaPresence(_OnPopulation):
    """Of the people of the population who fit a group, a share between ``low`` and ``high`` is in the table.

    Parameters
    ----------
    low
        The least share: how sure one may become that a person is not in the table.
    high
        The largest share, at most 1: how sure one may become that a person is.
    population
        A table of the population with all quasi-identifiers, or the path of a file.
    everyone
        Whether ``low`` holds for each person of the population, as the definition says: a person who fits no released group is known not
        to be in the table. ``False`` is a weaker promise: ``low`` then holds only for the people who fit a group.

    Notes
    -----
    Nergiz, Atzori & Clifton (2007). People are counted by the released cells, for each group; if the boxes of local recoding overlap, a
    person who fits several groups is counted with each. With a range of numbers, people below its smallest and above its largest value fit no
    cell; a hierarchy has a root that everybody fits.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> town = {"age": list(range(18, 90)), "sex": ["f", "m"] * 36}
    >>> model = shoal.DeltaPresence(0.0, 0.5, population=town)
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age", "sex"], models=[model])
    >>> result.models[0].describe()
    'Of the people who fit a group, at most 50 % are in the table, so that being in it stays uncertain.'
    """

    by_persons = False

    low: float
    high: float
    population: Any
    everyone: bool = True

    def __post_init__(self) -> None:
        check_flag("DeltaPresence", "everyone", self.everyone)
        check_float("DeltaPresence", "high", self.high, least=0.0, above=True, most=1.0)
        check_float("DeltaPresence", "low", self.low, least=0.0, most=self.high)

    @property
    def _people(self) -> Any:
        return self.population

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        everyone = self.everyone and self.low > 0
        return self._bind(table, "presence", float(self.low), float(self.high), everyone=everyone)

    def describe(self) -> str:
        """Return what the model promises."""
        said = f"Of the people who fit a group, at most {100 * self.high:.4g} % are in the table"
        if not self.low:
            return f"{said}, so that being in it stays uncertain."
        said += f" and at least {100 * self.low:.4g} %, so that being in it stays uncertain"
        if self.everyone:
            return f"{said}; every person of the population fits a group."
        return f"{said}; people who fit no group are known not to be in it."


@dataclass(frozen=True, eq=False)
class CrowdRequirement(Requirement):
    """A bound on the people who fit a group's released cells."""

    kind: Kind
    low: float
    high: float
    table: CodedTable
    people: Frame
    placed: Placed
    everyone: bool = False
    """Whether each person of the list must fit some group."""

    @cached_property
    def crowds(self) -> PopulationRules:
        """The requirement alone, as the kernels read it."""
        return build_population_rules([self])

    @cached_property
    def points(self) -> Points:
        """The people, as the kernels search them."""
        return build_points([self], len(self.table.columns))

    @property
    def by_cells(self) -> bool:
        """Whether the released cells decide: always."""
        return True

    @property
    def promises(self) -> tuple[PeoplePromise, ...]:
        """The bound in plain numbers."""
        if self.kind == "k-map":
            return (PeoplePromise(self.people, fewest=self.low),)
        return (PeoplePromise(self.people, 1.0, self.low, self.high, shares=True, everyone=self.everyone),)

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Return which groups miss the bound if their cells are as narrow as their own records allow."""
        return self.failing_as(labels, groups, self._narrowest(labels, groups))

    def failing_as(self, labels: IntArray, groups: int, shown: Shown) -> BoolArray:  # noqa: ARG002
        """Return which groups miss the bound by the people who fit their released cells."""
        return crowd_shortfalls(self.crowds, self._points(shown), shown.space, shown.cover) > 0

    def unreached(self, shown: Shown) -> IntArray:
        """Return the distinct people who fit no group, if each must fit one, by the doubled codes of their values."""
        if not self.everyone:
            return np.zeros((0, 0), np.int32)
        points = self._points(shown)
        return np.ascontiguousarray(points.value[:, ~people_reached(points, 0, shown.space, shown.cover)])

    def measured(self, labels: IntArray, groups: int) -> FloatArray:
        """Return for each group the people who fit its narrowest cells (k-map), or the share of them who are in the table."""
        # how far a group is from more people than there are: exact, because their number is a power of two
        shown = self._narrowest(labels, groups)
        all_of_them = build_population_rules([replace(self, kind="k-map", low=_ALL)])
        people = np.rint(_ALL - crowd_shortfalls(all_of_them, self.points, shown.space, shown.cover) * _ALL)
        if self.kind == "k-map":
            return people
        size = np.bincount(labels[labels >= 0], minlength=groups)
        with np.errstate(divide="ignore"):
            return np.asarray(size / people, np.float64)

    def _narrowest(self, labels: IntArray, groups: int) -> Shown:
        return Shown(self.table.space, cover_groups(self.table.space, self.table.codes, labels, groups))

    def _points(self, shown: Shown) -> Points:
        """Return the people, placed among the ends of the columns whose ends moved."""
        if not shown.ends:
            return self.points
        codes = self.placed.codes.copy()
        for row, ends in shown.ends.items():
            codes[row] = self.placed.among(row, ends)
        return gather_points([codes])


def _widest(table: CodedTable) -> Shown:
    """Return the widest cells that the values of a table can be released with, as one group."""
    codes = np.stack([np.zeros(len(table.columns), np.int32), table.space.cardinality - 1], axis=1)
    cover = cover_groups(table.space, np.ascontiguousarray(codes), np.zeros(2, np.int32), 1)
    cover.words[:] = np.uint64(2**64 - 1)
    return Shown(table.space, cover)


def build_population_rules(requirements: Sequence[CrowdRequirement]) -> PopulationRules:
    """Lay requirements on people out as the kernels read them."""
    return PopulationRules(
        np.array([K_MAP if one.kind == "k-map" else PRESENCE for one in requirements], np.int32),
        np.arange(len(requirements)).astype(np.int32),
        np.array([one.low for one in requirements], np.float64),
        np.array([one.high for one in requirements], np.float64),
    )


def build_points(requirements: Sequence[CrowdRequirement], columns: int) -> Points:
    """Return the lists of people that requirements count."""
    return gather_points([one.placed.codes for one in requirements]) if requirements else no_points(columns)
