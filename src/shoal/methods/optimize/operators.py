"""The operators of the local search, as objects in a list.

An operator is one class: a name, when it applies, and ``run``, which changes the groups of one region and returns the outcome. Regions
are independent of each other, so an operator runs on many of them at the same time. To add one, write a class and append it to ``OPERATORS``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from shoal.arrays import IntArray
from shoal.kernels.optimize.cells.candidates import Opening
from shoal.kernels.optimize.moves.local_moves import MOVES, improve_region
from shoal.kernels.optimize.moves.reopen import reopen_region
from shoal.kernels.optimize.state.outcome import Outcome

if TYPE_CHECKING:
    from shoal.kernels.optimize.cells.candidates import CandidateCells
    from shoal.kernels.optimize.cells.steps import SeedDistances
    from shoal.kernels.optimize.state.regions import Regions
    from shoal.methods.optimize.params import Params
    from shoal.methods.optimize.problem import Problem

_WIDTH_OF_CELL_REGIONS = 6
"""How many times larger than usual the regions are in which cells are opened."""


@dataclass(frozen=True)
class Round:
    """What operators know of the round they work in."""

    problem: Problem
    params: Params
    seed: int
    mean_cost: float
    """The mean cost of a record at its beginning."""
    temperature: float
    """The temperature as a share of that of the first round: from about 1 down to 0 in the last, cold rounds."""
    move_temperature: float
    """By how much a move of one record may raise the total cost."""
    steps: SeedDistances
    """How far apart the values of each column are (``kernels/optimize/cells/steps.py``)."""
    cells: CandidateCells | None
    """Candidate cells to open, if there are some in this round."""

    @property
    def cell_temperature(self) -> float:
        """The mean cost of k records times the temperature: the unit of what opening a cell may cost more."""
        return self.problem.k * self.mean_cost * self.temperature


class Operator(ABC):
    """One way to lower the loss of a region."""

    name: ClassVar[str]
    parts: ClassVar[tuple[str, ...]] = ()
    """The names of its parts, if ``run`` returns an outcome for each of them."""
    width: int = 1
    """How large its regions are, in multiples of the usual ones; operators of the same width that follow each other share their regions."""

    def applies(self, now: Round) -> bool:  # noqa: ARG002
        """Return whether it has something to do in a round."""
        return True

    @abstractmethod
    def run(self, now: Round, labels: IntArray, regions: Regions, region: int) -> tuple[Outcome, ...]:
        """Change the labels of a region's records, ``regions.record[start:stop]``, and return what each part did.

        ``start`` and ``stop`` are ``regions.start[region]`` and ``regions.start[region + 1]``. Every group must keep k to 2k records of this
        region alone, and a label must be in ``start..stop - 1``: those of other regions do not.
        """


class LocalMoves(Operator):
    """Moves of one record or a few: relocate and swap, dissolve, evict, and rebuild by cells; one kernel loads a region once for all."""

    name = "local-moves"
    parts = MOVES

    def run(self, now: Round, labels: IntArray, regions: Regions, region: int) -> tuple[Outcome, ...]:
        """Improve a region by moves."""
        problem, params = now.problem, now.params.local_moves
        visits = max(params.visits, params.least_visits // problem.records)
        if now.cells is not None:
            visits = (visits + 1) // 2  # opening cells rebuilds groups too, and better
        active = sum(1 << bit for bit, move in enumerate(MOVES) if move not in now.params.without)
        return improve_region(
            problem.space,
            problem.rows,
            labels,
            regions,
            region,
            now.steps,
            problem.k,
            active,
            visits,
            now.move_temperature,
            params.rebuild_temperature * now.move_temperature,
            params.noise,
            now.seed,
        )


class Reopen(Operator):
    """Open a candidate cell instead of the groups whose records it takes, and rebuild what they leave."""

    name = "reopen"
    width = _WIDTH_OF_CELL_REGIONS

    def applies(self, now: Round) -> bool:
        """Return whether there are candidate cells."""
        return now.cells is not None

    def run(self, now: Round, labels: IntArray, regions: Regions, region: int) -> tuple[Outcome, ...]:
        """Reopen cells in a region."""
        cells, params = cast("CandidateCells", now.cells), now.params.reopen
        temperature = params.temperature * now.cell_temperature
        opening = Opening(cells, now.problem.k, params.tries_for(now.problem.k), now.mean_cost, temperature, now.seed)
        return (reopen_region(now.problem.space, now.problem.rows, labels, regions, region, opening),)


OPERATORS: list[Operator] = [Reopen(), LocalMoves()]
"""The order is that in which a round applies them."""


@dataclass
class Statistics:
    """What an operator did in a whole search."""

    tried: int = 0
    taken: int = 0
    gained: float = 0.0
    """The fall of the normalized loss. Steps of a warm round may raise it, so this may be below 0."""
    seconds: float | None = None
    """CPU seconds; None for a part of an operator."""

    def add(self, outcome: Outcome, worst_cost: float) -> None:
        """Add what was done in a region."""
        self.tried += outcome.tried
        self.taken += outcome.taken
        self.gained += outcome.gained / worst_cost

    def add_all(self, other: Statistics) -> None:
        """Add what was done in another search."""
        self.tried += other.tried
        self.taken += other.taken
        self.gained += other.gained
        if other.seconds is not None:
            self.seconds = (self.seconds or 0.0) + other.seconds


def add_outcomes(
    statistics: dict[str, Statistics],
    name: str,
    parts: Sequence[str],
    outcomes: tuple[Outcome, ...],
    seconds: float,
    worst_cost: float,
) -> None:
    """Add what an operator and its parts did in a region."""
    whole = statistics.setdefault(name, Statistics(seconds=0.0))
    whole.seconds = (whole.seconds or 0.0) + seconds
    for outcome in outcomes:
        whole.add(outcome, worst_cost)
    for part, outcome in zip(parts, outcomes, strict=False):
        statistics.setdefault(f"{name}: {part}", Statistics()).add(outcome, worst_cost)


def as_details(statistics: dict[str, Statistics]) -> dict[str, dict[str, Any]]:
    """Return statistics as plain values, for ``result.details``."""
    return {name: asdict(one) for name, one in statistics.items()}
