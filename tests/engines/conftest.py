"""Small fragments, so that small tables are cut."""

from __future__ import annotations

import pytest

from shoal.engines import plan


@pytest.fixture
def small_fragments(monkeypatch):
    """Cut tables of more than 300 records into fragments of about 150."""
    monkeypatch.setattr(plan, "LARGE", 300)
    monkeypatch.setattr(plan, "_FRAGMENT", 150)
    monkeypatch.setattr(plan, "_FAST_FRAGMENT", 150)
    monkeypatch.setattr(plan, "_MANY_GROUPS", 1)
    monkeypatch.setattr(plan, "_PILOT", 300)
