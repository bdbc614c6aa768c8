from __future__ import annotations

import csv
import json
import shlex

import numpy as np
import pyarrow.compute as pc
import pytest

import shoal as library
from shoal.cli import demo

FILES = {
    "patients.csv",
    "voters.csv",
    "release.csv",
    "release.datapackage.json",
    "recipe.toml",
    "summary.json",
    "report.html",
    "recipe-hierarchies",
}


def rows_of(path):
    """Return the rows of a file, in an order of their own."""
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(csv.reader(file))


@pytest.fixture(scope="module")
def story():
    return demo.tell_story(lambda *_: None)


def test_the_demo_leaves_everything_in_its_folder_and_says_what_to_try_next(shoal, tmp_path):
    folder = tmp_path / "made"
    run = shoal("demo", "--output", folder)
    assert run.code == 0, run.err
    assert {path.name for path in folder.iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    told = json.loads((folder / "summary.json").read_text("utf-8"))["story"]
    assert f"{told['named_rightly_before']:,} patients are named outright" in " ".join(run.out.split())
    assert "shoal inspect" in run.out


def test_the_release_of_the_demo_is_as_anonymous_as_told_and_its_recipe_makes_it_again(shoal, tmp_path):
    assert shoal("demo", "--output", tmp_path / "made").code == 0
    qi = ",".join(demo.QUASI_IDENTIFIERS)
    assert shoal("audit", tmp_path / "made" / "release.csv", "--qi", qi, "--require", f"k={demo.K}").code == 0
    again = tmp_path / "again.csv"
    words = ["--recipe", tmp_path / "made" / "recipe.toml", "-o", again]
    assert shoal("anonymize", tmp_path / "made" / "patients.csv", *words).code == 0
    assert rows_of(again) == rows_of(tmp_path / "made" / "release.csv")


def test_the_stranger_is_checked_against_the_truth(story):
    patients, voters = story.register.patients, story.register.voters
    named = np.flatnonzero(story.named >= 0)
    for column in demo.KNOWN:
        assert patients[column].take(named).equals(voters[column].take(story.named[named]))
    names = pc.equal(patients["name"].take(named), voters["name"].take(story.named[named]))
    right = (story.named >= 0) & (story.named == story.register.truth)
    assert story.right == right.sum() <= len(named)
    assert pc.sum(names).as_py() >= story.right > 0


def test_nobody_on_the_voter_list_fits_fewer_released_records_than_k(story):
    count = story.candidates.count
    assert count[count > 0].min() >= demo.K
    assert story.candidates.certain == 0
    assert 0 < story.guesses < story.right / demo.K


def test_every_patient_on_the_list_fits_at_least_their_own_group(story):
    groups = story.result.groups
    size = np.bincount(groups)
    listed = np.flatnonzero(story.register.truth >= 0)
    assert (story.candidates.count[story.register.truth[listed]] >= size[groups[listed]]).all()


def test_a_folder_in_use_is_left_alone_unless_forced(shoal, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.txt").write_text("keep", "utf-8")
    (tmp_path / "mine" / "recipe-hierarchies").mkdir()
    run = shoal("demo", "--output", tmp_path / "mine")
    assert run.code == 2
    assert run.sentences.endswith("Hint: add --force to replace it.")
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"note.txt", "recipe-hierarchies"}
    assert shoal("demo", "--output", tmp_path / "mine", "--force").code == 0
    assert {path.name for path in (tmp_path / "mine").iterdir()} == FILES | {"note.txt"}


@pytest.mark.parametrize("target", ["a-file", "a-file/below", "nowhere/below"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_work(shoal, tmp_path, monkeypatch, target):
    monkeypatch.setattr(demo, "tell_story", lambda _: pytest.fail("the work began"))
    (tmp_path / "a-file").write_text("x", "utf-8")
    run = shoal("demo", "--output", tmp_path / target)
    assert run.code == 2
    assert run.err.count("Error: ") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]


def test_a_demo_that_fails_leaves_nothing(shoal, tmp_path, monkeypatch):
    def fail(*_):
        raise library.errors.PrivacyError("It does not hold.")

    monkeypatch.setattr(demo, "tell_story", fail)
    run = shoal("demo", "--output", tmp_path / "made")
    assert (run.code, run.err) == (1, "Error: It does not hold.\n")
    assert list(tmp_path.iterdir()) == []


def test_the_commands_that_the_demo_prints_run_as_printed(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = shoal("demo", "--output", "my demo").out
    commands = [shlex.split(line)[1:] for line in told.splitlines() if line.startswith("  shoal ")]
    assert [words[0] for words in commands] == ["inspect", "anonymize", "audit"]
    assert [shoal(*words).code for words in commands] == [0, 0, 0]


def test_a_program_that_the_shell_does_not_find_is_named_by_its_path(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/opt/a place/bin/shoal"])
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert demo._program() == "'/opt/a place/bin/shoal'"
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert demo._program() == "shoal"
