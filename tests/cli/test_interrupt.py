"""Ctrl-C and a request to stop, in a real process: exit code 130, one sentence, nothing left behind."""

from __future__ import annotations

import pytest

from tests.cli.conftest import run_python

PROGRAM = """
import os, signal
from importlib import import_module

def interrupted(*words, **more):
    os.kill(os.getpid(), signal.{signal})
    raise SystemExit("the signal was not noticed")

setattr(import_module("{module}"){owner}, "{function}", interrupted)
from shoal.__main__ import main
main()
"""
PLACES = {
    "grouping": ("shoal.methods.mondrian", ".Mondrian", "run"),
    "verifying": ("shoal.results.result", "", "verify_written"),
    "the recipe": ("shoal.request", "", "stage_recipe"),
}


def interrupt(place, signal, *words):
    module, owner, function = PLACES[place]
    program = PROGRAM.format(module=module, owner=owner, function=function, signal=signal)
    return run_python("-c", program, *words)


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("place", ["grouping", "verifying"])
def test_an_interrupt_leaves_no_file(patients, roles, tmp_path, place, signal):
    target = tmp_path / "release.csv"
    run = interrupt(place, signal, "anonymize", patients, "-k", 5, "--method", "mondrian", *roles, "-o", target)
    assert run.returncode == 130, run.stderr
    assert run.stderr.startswith("Error: Stopped while ")
    assert run.stderr.endswith("nothing was written.\n")
    assert (run.stdout, run.stderr.count("\n")) == ("", 1)
    assert list(tmp_path.iterdir()) == [patients]


def test_an_interrupt_keeps_the_file_that_was_to_be_replaced(patients, roles, tmp_path):
    target = tmp_path / "release.csv"
    target.write_text("the old release", "utf-8")
    words = ["anonymize", patients, "-k", 5, *roles, "-o", target, "--force"]
    assert interrupt("verifying", "SIGINT", *words).returncode == 130
    assert target.read_text("utf-8") == "the old release"


def test_an_interrupt_before_the_last_file_leaves_none(patients, roles, tmp_path):
    targets = ["-o", tmp_path / "release.csv", "--save-recipe", tmp_path / "recipe.toml"]
    run = interrupt("the recipe", "SIGTERM", "anonymize", patients, "-k", 5, *roles, *targets)
    assert run.returncode == 130
    assert run.stderr.endswith("nothing was written.\n")
    assert list(tmp_path.iterdir()) == [patients]


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupt_while_files_are_named_says_that_they_are_there(patients, roles, tmp_path, signal):
    program = f"""
import os, signal, shoal.io.transaction as transaction
usual = transaction._give_name
def struck(*words, **more):
    os.kill(os.getpid(), signal.{signal})
    return usual(*words, **more)
transaction._give_name = struck
from shoal.__main__ import main
main()
"""
    targets = ["-o", tmp_path / "release.csv", "--save-recipe", tmp_path / "recipe.toml"]
    run = run_python("-c", program, "anonymize", patients, "-k", 5, *roles, *targets)
    assert run.returncode == 130, run.stderr
    assert run.stderr.endswith("already written: release.csv, release.datapackage.json, recipe.toml.\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        "patients.csv",
        "release.csv",
        "release.datapackage.json",
        "recipe.toml",
    }


def test_an_interrupted_demo_leaves_no_folder(tmp_path):
    run = interrupt("verifying", "SIGINT", "demo", "--output", tmp_path / "made")
    assert run.returncode == 130
    assert list(tmp_path.iterdir()) == []
