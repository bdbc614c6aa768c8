"""The budget of the search with models: what each stage of an effort may spend, and when each step applies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shoal.arrays import Effort
from shoal.enforcement.carving import CarvingParams

if TYPE_CHECKING:
    from shoal.methods.base import Task


@dataclass(frozen=True)
class GuardedParams:
    """The budget of one stage, and which starts it makes."""

    mendable: float = 0.7
    """Share of failing plain groups up to which mending them is a start; beyond it, mending undoes what the search found."""
    carvable: float = 0.5
    """Share of failing plain groups from which carving groups out of cells is a start."""
    targets: tuple[int, ...] = (3,)
    """Sizes of carved groups to try, in multiples of the smallest group that can meet all models."""
    cuts: bool = False
    """Whether mended cuts of Mondrian are a start too: if values are few or ordered they may be the best one."""
    trial_rounds: int = 2
    """Rounds after which the best start is chosen."""
    rounds: int = 2
    """Rounds after that, if groups have ``usual_size`` records."""
    usual_size: int = 25
    """Mean size of a group; a round takes longer with larger groups, so smaller ones get more rounds and larger ones fewer."""
    most_rounds: float = 2.5
    """How many times more rounds there may be for small groups; for large ones at least the inverse."""
    hottest: float = 0.0
    """Temperature of the first of them, in multiples of the mean cost of a record."""
    cold: float = 0.9
    """Share of the rounds after which the temperature is 0."""
    region: int = 100
    """Groups of a region, on average."""
    rebuilds: int = 2
    """How often groups are rebuilt in a round, for each group, if they are small."""
    small: float = 2.0
    """Groups are small if they have fewer records on average than this many times what the models need: rebuilt groups of others hardly ever meet them."""
    small_region: int = 40
    """Groups of a region if they are small."""
    carving: CarvingParams = field(default_factory=CarvingParams)


STAGES: dict[Effort, GuardedParams] = {
    "fast": GuardedParams(),
    "balanced": GuardedParams(targets=(5,), rounds=48, hottest=1.0),
    "best": GuardedParams(targets=(), rounds=160, hottest=1.0),
}
"""The stages of the search: an effort takes its own after those of the smaller efforts."""
SMALL_TABLE = 5_000
"""Records up to which effort "fast" has more starts and rounds, which take next to nothing there."""
_FAST_ON_SMALL = GuardedParams(cuts=True, trial_rounds=4, rounds=6)
COLD = GuardedParams()
"""The few cold rounds after records were withheld."""
_ENDLESS = 1_000_000
"""Rounds of a stage that the clock ends."""


def stages_of(task: Task, records: int) -> list[tuple[Effort, GuardedParams]]:
    """Return the stages of an effort; a number of seconds is the fast stage and an annealing that the clock ends."""
    stages = STAGES | ({"fast": _FAST_ON_SMALL} if records <= SMALL_TABLE else {})
    if not isinstance(task.effort, str):
        return [("fast", stages["fast"]), ("balanced", replace(stages["balanced"], rounds=_ENDLESS))]
    names = list(stages)
    return [(name, stages[name]) for name in names[: names.index(task.effort) + 1]]
