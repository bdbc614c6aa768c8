"""How much work the search for the least sum of squares may do: counts of steps."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.arrays import Effort
from shoal.methods.microaggregation.partition import has_solver

_SHORT_RUNS = 25
_RECOMBINED = 10_000
"""Records up to which groups are recombined: the integer program grows with them."""
_ENDLESS = 1 << 50


@dataclass(frozen=True)
class SSEParams:
    """How much work an effort stands for."""

    runs: int = 0
    """Short annealing runs, whose groups are recombined."""
    short: int = 0
    """Proposals in each of them."""
    long: tuple[int, ...] = ()
    """Proposals in each long run."""
    spare: int = 0
    """Proposals more in the last long run if nothing is recombined: what the integer program would have cost."""
    short_share: float = 0.25
    """Which share of the seconds has passed after the short runs."""
    long_share: float = 0.7
    """Which share has passed after the long run if groups are recombined."""


def params_for(effort: Effort, records: int) -> SSEParams:
    """Return the work for an effort: ``"balanced"`` takes a few seconds, ``"best"`` about a minute."""
    balanced = max(10_000_000, 150 * records)
    if effort == "fast":
        return SSEParams()
    if effort == "balanced":
        return SSEParams(long=(balanced,))
    runs = _SHORT_RUNS if records <= _RECOMBINED and has_solver() else 0
    short = max(1_000_000, 250 * records)
    if effort == "best":
        return SSEParams(runs, short, (balanced, 6 * balanced), 4 * balanced)  # the first long run as in "balanced"
    return SSEParams(runs, short, (_ENDLESS,))
