"""Small fragments, so that small tables are cut."""

from __future__ import annotations

import pytest

from shoal.engines.stream import engine
from shoal.plan import steps


@pytest.fixture
def small_batches(monkeypatch):
    """Let batches on disk have 100 rows, so that small tables have many."""
    monkeypatch.setattr(engine, "_ROWS", 100)
    monkeypatch.setattr(engine, "_FEWEST_ROWS", 100)


@pytest.fixture
def small_fragments(monkeypatch):
    """Cut tables of more than 300 records into fragments of about 150."""
    monkeypatch.setattr(steps, "LARGE", 300)
    monkeypatch.setattr(steps, "_FRAGMENT", 150)
    monkeypatch.setattr(steps, "_MIXED_FRAGMENT", 150)
    monkeypatch.setattr(steps, "_FAST_FRAGMENT", 150)
    monkeypatch.setattr(steps, "_MANY_GROUPS", 1)
    monkeypatch.setattr(steps, "_PILOT", 300)


@pytest.fixture
def small_sample(monkeypatch):
    """Draw small samples: a fiftieth of the tuples of a table of 900 records."""
    monkeypatch.setattr(steps, "_SPARE", 0.06)
    monkeypatch.setattr(steps, "_FEWEST_TUPLES", 3)
