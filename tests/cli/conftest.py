"""What the tests of the command line share."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shoal.cli.app import app

SOURCES = Path(__file__).resolve().parents[2] / "src"
HEADER = "name,age,sex,zip,diagnosis,cost"


def run_python(*words, **settings):
    """Run Python in a process of its own that finds the shoal of this repository."""
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, *map(str, words)]
    settings = os.environ | {"PYTHONPATH": path} | settings
    return subprocess.run(command, capture_output=True, text=True, check=False, env=settings, preexec_fn=_hear_signals)


def _hear_signals():
    """Undo what a test run in the background hands down: there a shell has signals ignored."""
    for one in (signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


@dataclass(frozen=True)
class Run:
    """What one call of the command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def sentences(self) -> str:
        """What was said on standard error, on one line."""
        return " ".join(self.err.split())


@pytest.fixture
def shoal():
    """Return a function that calls the command line with the given words."""

    def run(*words):
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="shoal")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Run(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def patients(tmp_path):
    """Return a file of 60 patients whose zip codes have leading zeros."""
    path = tmp_path / "patients.csv"
    rows = [
        f"Person {i},{20 + i % 37},{'fm'[i % 2]},0{1200 + i % 11},{'flu' if i % 3 else 'asthma'},{i}.5"
        for i in range(60)
    ]
    path.write_text("\n".join([HEADER, *rows]) + "\n", "utf-8")
    return path


@pytest.fixture
def roles():
    """Return the options that give every column of ``patients`` a role."""
    return ["--qi", "age,sex,zip", "--sensitive", "diagnosis", "--identifier", "name", "--keep", "cost"]
