"""The interface of methods: what they get and what they return."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shoal.arrays import CancelToken, Clock, Effort, IntArray, Progress, Release
from shoal.methods.stopping import wall_clock
from shoal.validation import check_choice

if TYPE_CHECKING:
    from shoal.encoding import CodedTable, Unit
    from shoal.privacy.base import Requirement

Family = Literal["local", "multidimensional", "global", "microaggregation"]
Nominal = Literal["mode", "centroid"]


def say_nothing(fraction: float, text: str) -> None:
    """Progress that nobody wants to see."""


def most_withheld(share: float, records: int) -> int:
    """Return how many records a largest share allows to withhold.

    A count that is whole up to rounding is that count: 0.29 of 100 records are 29, though the product of floats is less.
    """
    return math.floor(share * records + 1e-9)


class Reporter:
    """Passes progress on, never less than before though the same steps may come again, and remembers how far the work is."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.reached = progress, 0.0

    def report(self, fraction: float, text: str) -> None:
        """Report the share of the work that is done."""
        self.reached = min(max(fraction, self.reached), 1.0)
        self.progress(self.reached, text)


@dataclass(frozen=True)
class Task:
    """What a method must reach, and what it may spend."""

    k: int
    requirements: tuple[Requirement, ...] = ()
    """Privacy models beyond k, already bound to the table."""
    together: tuple[Unit, ...] = ()
    """Whose records keep the same companions: persons, households."""
    max_suppression: float = 0.0
    release: Release = "ranges"
    effort: Effort = "balanced"
    seed: int = 0
    progress: Progress = say_nothing
    on_interrupt: Literal["raise", "best"] = "raise"
    """What Ctrl-C and ``cancel`` do in a method that improves a solution: give up, or return the best found so far."""
    cancel: CancelToken | None = None
    """Ends the work when another thread sets it."""
    clock: Clock = wall_clock
    """By which an effort in seconds is kept."""


@dataclass(frozen=True)
class Typical:
    """What stands for a group that is released as one typical value for each column."""

    round_integers: bool = True
    """Whether the mean of integers is rounded to one."""
    nominal: Nominal = "mode"
    """Categories: the most frequent, or if they have a hierarchy the one nearest to all of the group."""


@dataclass(frozen=True)
class Grouping:
    """What a method found."""

    labels: IntArray
    """The group of each record, numbered from 0 without gaps; -1 for a suppressed record."""
    cuts: tuple[IntArray, ...] | None = None
    """Global methods: for each column an array (3, cardinality): the lowest and highest code released for each code, and the node of the
    hierarchy they are released as."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else a method reports: a lower bound, its steps, other solutions."""
    typical: Typical = Typical()
    """How groups are released if representatives are asked for."""


@dataclass(frozen=True)
class MethodInfo:
    """How a method describes itself."""

    name: str
    title: str
    family: Family
    paper: str
    complexity: str
    default_release: Release = "ranges"
    uses_weights: bool = True
    uses_effort: bool = False
    needs_hierarchies: bool = False


@dataclass(frozen=True)
class Method(ABC):
    """A way to find groups. Its parameters are the fields of the dataclass."""

    info: ClassVar[MethodInfo]

    @abstractmethod
    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table`` so that every group has at least ``task.k`` of them."""


@dataclass(frozen=True)
class Representing(Method):
    """A method that leaves to the user what stands for a group when representatives are released."""

    round_integers: bool = field(default=True, kw_only=True)
    nominal: Nominal = field(default="mode", kw_only=True)

    def __post_init__(self) -> None:
        check_choice(type(self).__name__, "nominal", self.nominal, ("mode", "centroid"))

    @property
    def typical(self) -> Typical:
        """What stands for a group."""
        return Typical(self.round_integers, self.nominal)
