"""Processes are killed while they work on a release; the campaign is ``python -m tests.engines.spark.faults``."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.engines.spark import faults


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="does not apply: processes are found as Linux lists them"
)
def test_a_killed_worker_executor_or_driver_leaves_the_whole_release_or_nothing():
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java is installed; Spark needs it")
    told = []
    tally = faults.run(3, seed=1, tell=told.append, kinds=("worker", "executor", "driver"))
    assert tally["violations"] == 0, told
    assert all(tally[f"{kind} struck"] == 1 for kind in ("worker", "executor", "driver"))
