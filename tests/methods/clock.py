"""A clock for tests: it moves on by a step each time it is read, so that no test waits or depends on the machine."""

from __future__ import annotations


class TickingClock:
    """Seconds that pass only by being read."""

    def __init__(self, step: float = 1.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now
