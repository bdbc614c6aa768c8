"""What tests of methods share: a clock that only they move."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from shoal.methods import stopping
from tests.methods.clock import TickingClock


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Let the wall clock of all methods stand still, so that no test depends on how busy the machine is; ``clock.step`` moves it."""
    clock = TickingClock(0.0)
    monkeypatch.setattr(stopping, "time", SimpleNamespace(monotonic=clock))
    return clock
