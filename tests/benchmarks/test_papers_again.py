"""Experiments of the papers from end to end, in their quick form. Those that take minutes are run by hand and kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("vl_convert")

ROOT = Path(__file__).parent.parent.parent
SECONDS_EACH = ("companies", "weights")


@pytest.mark.compiled
@pytest.mark.parametrize("name", SECONDS_EACH)
def test_an_experiment_of_a_paper_runs_and_keeps_its_tables(name, tmp_path):
    command = [sys.executable, "-m", "benchmarks.papers", "--quick", "--only", name, "--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    kept = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))["tables"]
    assert all(table["rows"] for table in kept)
    full = json.loads((ROOT / "benchmarks" / "results" / "papers" / f"{name}.json").read_text("utf-8"))["tables"]
    titles = {table["title"] for table in full}
    assert {table["title"] for table in kept} <= titles, "the kept run is of other experiments: run it again"
