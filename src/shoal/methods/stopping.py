"""When a search ends: after its rounds, at its deadline, when a round gains too little, or when somebody cancels it.

Every method that searches for a while asks one ``Stop``. The named efforts are counts of rounds and never look at the clock, so
that the same seed gives the same groups on any machine; only an effort in seconds has a deadline.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shoal.arrays import CancelToken, Clock, Progress
from shoal.errors import CancelledError


def wall_clock() -> float:
    """Return wall seconds since some moment."""
    return time.monotonic()


INTERRUPTS = (KeyboardInterrupt, CancelledError)
"""What ends a search from outside. With ``on_interrupt="best"`` the best groups found by then are returned."""


def check_cancelled(cancel: CancelToken | None) -> None:
    """Raise ``CancelledError`` if somebody has set the token."""
    if cancel is not None and cancel.is_set():
        raise CancelledError("The work was cancelled. Nothing was released.")


def cancellable(progress: Progress, cancel: CancelToken | None) -> Progress:
    """Return a progress function that looks at the token first: every method that reports progress can then be cancelled."""
    if cancel is None:
        return progress

    def report(fraction: float, text: str) -> None:
        check_cancelled(cancel)
        progress(fraction, text)

    return report


@dataclass(frozen=True)
class Stop:
    """When a search ends. Times are wall seconds by ``clock``."""

    rounds: float = math.inf
    """Rounds at most."""
    begin: float = 0.0
    deadline: float = math.inf
    least_gain: float = 0.0
    """A round that lowers the loss by a smaller share of it gains too little to go on."""
    cancel: CancelToken | None = None
    clock: Clock = wall_clock

    @classmethod
    def after(cls, seconds: float, *, cancel: CancelToken | None = None, clock: Clock = wall_clock) -> Stop:
        """Return a stop so many seconds from now; infinitely many mean that the clock is never looked at."""
        begin = clock() if seconds < math.inf else 0.0
        return cls(begin=begin, deadline=begin + seconds, cancel=cancel, clock=clock)

    @property
    def timed(self) -> bool:
        """Whether the clock ends the search, not a count of rounds."""
        return self.deadline < math.inf

    def over(self) -> bool:
        """Return whether the deadline has passed. Raises ``CancelledError`` if somebody has cancelled, so that all loops end at once."""
        check_cancelled(self.cancel)
        return self.timed and self.clock() >= self.deadline

    def left(self) -> float:
        """Return the seconds left, infinitely many if there is no deadline."""
        return self.deadline - self.clock() if self.timed else math.inf

    def spent(self, rounds: float = 0.0) -> float:
        """Return the share of the seconds that has passed or, without a deadline, the share that ``rounds`` are of all rounds."""
        if not self.timed:
            return rounds / self.rounds
        whole = self.deadline - self.begin
        return min(1.0, (self.clock() - self.begin) / whole) if whole > 0.0 else 1.0

    def settled(self, before: float, after: float) -> bool:
        """Return whether a round gained too little to go on, from the loss before and after it."""
        return before - after <= self.least_gain * before

    def each_round(self) -> Iterator[float]:
        """Yield the share spent before each round, until the search is over."""
        number = 0
        while number < self.rounds and not self.over():
            yield self.spent(number)
            number += 1

    def part(self, share: float) -> Stop:
        """Return the stop of a first part of the search, which may take a share of all seconds."""
        return replace(self, deadline=self.begin + share * (self.deadline - self.begin)) if self.timed else self

    def rest(self, share: float = 1.0, seconds: float = math.inf) -> Stop:
        """Return a stop for what begins now: it may take a share of the seconds left, and no more than ``seconds``."""
        if not self.timed:
            return self
        now = self.clock()
        return replace(self, begin=now, deadline=now + min(share * (self.deadline - now), seconds))
