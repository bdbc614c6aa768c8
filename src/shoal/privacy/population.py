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
from shoal.kernels.enforcement.crowds import K_MAP, PRESENCE, Crowds, crowd_shortfalls
from shoal.kernels.space.space import cover_groups
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.privacy.people import gather_points, no_points, open_people, place_people
from shoal.privacy.weights import bind_weights
from shoal.validation import check_float, check_int

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.encoding import CodedTable
    from shoal.kernels.enforcement.crowds import Crowds
    from shoal.kernels.measuring.matching import Points


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

    def _bind(self, table: CodedTable, kind: Literal["k-map", "presence"], low: float, high: float) -> CrowdRequirement:
        frame = open_people(self._people)
        if not frame.records:
            raise ParameterError(f"The population given to {type(self).__name__} has no rows.")
        bound = CrowdRequirement(kind, low, high, table, place_people(frame, table.columns))
        if kind == "k-map" and bound.failing(np.zeros(table.records, np.int32), 1)[0]:
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
    'Whoever looks for a person in the population finds at least 4 who fit.'
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
            bind_weights(table, self.k) if self.population is None else self._bind(table, "k-map", float(self.k), 0.0)
        )

    def describe(self) -> str:
        """Say what the model promises."""
        found = "finds" if self.population is not None else "finds, as survey weights tell,"
        return f"Whoever looks for a person in the population {found} at least {self.k} who fit."


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

    Notes
    -----
    Nergiz, Atzori & Clifton (2007). It is counted for each group; where the boxes of local recoding overlap, a
    person who fits several groups is counted with each.

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

    low: float
    high: float
    population: Any

    def __post_init__(self) -> None:
        check_float("DeltaPresence", "high", self.high, least=0.0, above=True, most=1.0)
        check_float("DeltaPresence", "low", self.low, least=0.0, most=self.high)

    @property
    def _people(self) -> Any:
        return self.population

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        return self._bind(table, "presence", float(self.low), float(self.high))

    def describe(self) -> str:
        """Say what the model promises."""
        return (
            f"Of the people who fit a group, at most {100 * self.high:.4g} % are in the table"
            + (f" and at least {100 * self.low:.4g} %" if self.low else "")
            + ", so that being in it stays uncertain."
        )


@dataclass(frozen=True, eq=False)
class CrowdRequirement(Requirement):
    """A bound on the people who fit a group's box."""

    kind: Literal["k-map", "presence"]
    low: float
    high: float
    table: CodedTable
    placed: IntArray

    @cached_property
    def crowds(self) -> Crowds:
        """The requirement alone, as the kernels read it."""
        return build_crowds([self])

    @cached_property
    def points(self) -> Points:
        """The people, as the kernels search them."""
        return build_points([self], len(self.table.columns))

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Tell which groups miss the bound, by the boxes their own records span."""
        return self._shortfalls(self.crowds, labels, groups) > 0

    def measured(self, labels: IntArray, groups: int) -> FloatArray:
        """Return for each group the people who fit it (k-map), or the share of them who are in the table."""
        # how far a group is from more people than there are: exact, for their number is a power of two
        short = self._shortfalls(build_crowds([replace(self, kind="k-map", low=_ALL)]), labels, groups)
        people = np.rint(_ALL - short * _ALL)
        if self.kind == "k-map":
            return people
        size = np.bincount(labels[labels >= 0], minlength=groups)
        with np.errstate(divide="ignore"):
            return np.asarray(size / people, np.float64)

    def _shortfalls(self, crowds: Crowds, labels: IntArray, groups: int) -> FloatArray:
        cover = cover_groups(self.table.space, self.table.codes, labels, groups)
        return crowd_shortfalls(crowds, self.points, self.table.space, cover)


def build_crowds(requirements: Sequence[CrowdRequirement]) -> Crowds:
    """Lay requirements on people out as the kernels read them."""
    return Crowds(
        np.array([K_MAP if one.kind == "k-map" else PRESENCE for one in requirements], np.int32),
        np.arange(len(requirements)).astype(np.int32),
        np.array([one.low for one in requirements], np.float64),
        np.array([one.high for one in requirements], np.float64),
    )


def build_points(requirements: Sequence[CrowdRequirement], columns: int) -> Points:
    """Return the lists of people that requirements look at."""
    return gather_points([one.placed for one in requirements]) if requirements else no_points(columns)
