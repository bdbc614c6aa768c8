"""How much work the search for the least sum of squares may do: counts of steps, or seconds."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from shoal.methods.partition import has_solver
from shoal.typing import Effort

SHORT_SHARE, LONG_SHARE = 0.25, 0.7
"""Which share of the seconds has passed after the short runs, and after the long one if groups are recombined."""
_SHORT_RUNS = 25
_RECOMBINED = 10_000
"""Records up to which groups are recombined: the integer program grows with them."""
_ENDLESS = 1 << 50


class Plan(NamedTuple):
    """How much work an effort stands for."""

    runs: int
    """Short annealing runs, whose groups are recombined."""
    short: int
    """Proposals in each of them."""
    long: tuple[int, ...]
    """Proposals in each long run."""
    begin: float
    """When the work began, by ``time.monotonic``."""
    seconds: float = np.inf
    """How long it may take."""
    spare: int = 0
    """Proposals more in the last long run where nothing is recombined: what the integer program would have cost."""

    def until(self, share: float) -> float:
        """Return when a share of the time has passed."""
        return self.begin + share * self.seconds


def make_plan(effort: Effort, records: int) -> Plan:
    """Return the work for an effort: ``"balanced"`` takes a few seconds, ``"best"`` about a minute."""
    begin = time.monotonic()
    balanced = max(10_000_000, 150 * records)
    if effort == "fast":
        return Plan(0, 0, (), begin)
    if effort == "balanced":
        return Plan(0, 0, (balanced,), begin)
    runs = _SHORT_RUNS if records <= _RECOMBINED and has_solver() else 0
    short = max(1_000_000, 250 * records)
    if effort == "best":
        return Plan(runs, short, (balanced, 6 * balanced), begin, spare=4 * balanced)  # the first as in "balanced"
    return Plan(runs, short, (_ENDLESS,), begin, float(effort))


def passed_share(begin: float, until: float) -> float:
    """Return which share of a time has passed: 0 where it has no end, 1 where it ended before it began."""
    return (time.monotonic() - begin) / (until - begin) if until > begin else 1.0
