"""Standard output that is closed or full, and too little memory: a sentence, exit code 2, nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.methods.mondrian import Mondrian
from tests.cli.conftest import SOURCES


def run_shell(script, *words):
    environment = os.environ | {"PYTHONPATH": str(SOURCES)}
    command = ["sh", "-c", f'"$0" -m shoal "$@" {script}', sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="does not apply: the system has no /dev/full")
@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("script", [">/dev/full", ">&-"])
def test_what_cannot_be_told_is_not_written(patients, roles, tmp_path, script, form):
    words = ["anonymize", patients, "-k", 5, *roles, "--method", "mondrian", "-o", tmp_path / "release.csv", *form]
    run = run_shell(script, *words)
    assert run.returncode == 2, run.stderr
    assert run.stderr.startswith("Error: ")
    assert "Traceback" not in run.stderr
    assert list(tmp_path.iterdir()) == [patients]


def test_a_closed_standard_error_changes_nothing(patients, roles, tmp_path):
    run = run_shell("2>&-", "anonymize", patients, "-k", 5, *roles, "--method", "mondrian")
    assert run.returncode == 0
    assert run_shell("2>&-", "anonymize", tmp_path / "gone.csv", "-k", 5, "--qi", "age").returncode == 2


def test_too_little_memory_is_said(shoal, patients, roles, tmp_path, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(Mondrian, "run", exhausted)
    run = shoal("anonymize", patients, "-k", 5, *roles, "--method", "mondrian", "-o", tmp_path / "release.csv")
    assert run.code == 2
    assert run.err.startswith("Error: There is not enough memory for this table.")
    assert list(tmp_path.iterdir()) == [patients]


def test_cells_are_shown_only_when_asked(shoal, patients, roles, tmp_path):
    (tmp_path / "sex.csv").write_text("f;*\n", "utf-8")
    words = ["anonymize", patients, "-k", 5, *roles, "--hierarchy", f"sex={tmp_path / 'sex.csv'}"]
    assert "'m'" not in shoal(*words).err
    assert "--show-values shows the values" in shoal(*words).err
    assert "Values: 'm'" in shoal(*words, "--show-values").err
