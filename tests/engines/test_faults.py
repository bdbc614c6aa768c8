"""Processes are killed while they work on a streamed release; the campaign is ``python -m tests.engines.faults``."""

from __future__ import annotations

import sys

import pytest

from tests.engines import faults


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="does not apply: processes are found as Linux lists them"
)
def test_a_killed_worker_or_parent_leaves_the_whole_release_or_nothing():
    told = []
    tally = faults.run(4, seed=2, tell=told.append)
    assert tally["violations"] == 0, told
    assert tally["worker struck"] >= 1
    assert tally["parent struck"] >= 1
