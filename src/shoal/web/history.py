"""Undo and redo without end: every state that was, with the words for what led to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

State = TypeVar("State")


@dataclass(frozen=True)
class Step(Generic[State]):
    """A state, and what was done to reach it."""

    state: State
    words: str


@dataclass
class History(Generic[State]):
    """States in the order they were made; ``place`` is the one that counts now."""

    steps: list[Step[State]]
    place: int = 0
    version: int = field(default=0, init=False)
    """Grows with every change and all other news, so that a page knows whether it is the newest."""
    edition: int = field(default=0, init=False)
    """Grows whenever another state counts: a change made on an older one is refused."""

    @property
    def state(self) -> State:
        """The state that counts now."""
        return self.steps[self.place].state

    def add(self, state: State, words: str) -> None:
        """Go on to a new state; what was undone before is forgotten. An equal state is not a step."""
        if state == self.state:
            return
        self.steps = [*self.steps[: self.place + 1], Step(state, words)]
        self.go(len(self.steps) - 1)

    def go(self, place: int) -> None:
        """Make another state count; beyond either end nothing happens."""
        self.place = min(max(place, 0), len(self.steps) - 1)
        self.version += 1
        self.edition += 1

    def amend(self, state: State) -> None:
        """Put another state instead of the one that counts now, without a step."""
        self.steps = [*self.steps]
        self.steps[self.place] = Step(state, self.steps[self.place].words)
        self.version += 1
        self.edition += 1
