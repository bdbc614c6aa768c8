"""The command line refuses what is wrong with one sentence and exit code 2 or, for a promise that cannot be kept, 1; nothing is written."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from shoal.methods.mondrian import Mondrian
from tests.cli.conftest import shoal  # noqa: F401  (a fixture)
from tests.mistakes.command_line import GOOD, ODD_FILES, mistakes, write_people
from tests.mistakes.library import SECRET


@pytest.fixture
def refused(shoal, tmp_path):  # noqa: F811
    """Return a function that checks that a call is refused with one sentence and leaves the folder as it was."""
    write_people(tmp_path)

    def check(*words, says):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        run = shoal(*(str(word).replace("{}", str(tmp_path)) for word in words))
        assert run.code == (1 if "cannot hold" in says or "Nothing was released" in says else 2), run.err
        assert run.out == ""
        assert run.err.count("Error") == 1
        assert says in " ".join(run.err.replace("│", " ").split())
        assert SECRET not in run.err
        assert len(run.err) < 20_000  # an option of 5,000 digits is shown as it was given
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before

    return check


def test_the_call_of_these_tests_would_succeed(shoal, tmp_path):  # noqa: F811
    write_people(tmp_path)
    assert shoal(*(word.replace("{}", str(tmp_path)) for word in GOOD)).code == 0


@pytest.mark.parametrize("mistake", list(mistakes()), ids=lambda mistake: mistake.name)
def test_a_mistake_is_refused(mistake, refused, tmp_path):
    mistake.write(tmp_path)
    refused(*mistake.words, says=mistake.says)


@pytest.mark.parametrize("file", ODD_FILES)
def test_an_odd_file_is_taken_or_refused_in_a_sentence(file, shoal, tmp_path):  # noqa: F811
    write_people(tmp_path)
    place, target = tmp_path / file, tmp_path / "release.csv"
    place.write_bytes(ODD_FILES[file])
    as_table = ("anonymize", place, "-k", 2, "--qi", "age,sex", "--method", "mondrian", "-o", target)
    as_tree = ("anonymize", tmp_path / "people.csv", "-k", 4, "--qi", "sex", "--others", "drop", "--hierarchy", f"sex={place}", "-o", target)  # fmt: skip
    for words in (("inspect", place), ("audit", place, "--qi", "age"), as_table, as_tree):
        run = shoal(*words)
        assert run.code in {0, 2}
        assert "please report" not in run.err
        assert target.exists() == (run.code == 0 and "-o" in words)
        target.unlink(missing_ok=True)
        (tmp_path / "release.datapackage.json").unlink(missing_ok=True)


@pytest.mark.parametrize("option", ["--output", "--save-recipe"])
def test_a_target_that_exists_is_left_as_it_is_before_any_work(refused, tmp_path, monkeypatch, option):
    monkeypatch.setattr(Mondrian, "run", lambda *_: pytest.fail("the work began"))
    (tmp_path / "mine.csv").write_text("mine", "utf-8")
    refused(*GOOD, option, "{}/mine.csv", says="The target 'mine.csv' exists")


def test_a_dictionary_that_exists_is_left_as_it_is(refused, tmp_path):
    (tmp_path / "release.datapackage.json").write_text("mine", "utf-8")
    refused(
        *GOOD,
        says="The target 'release.datapackage.json' exists and is left as it is. Hint: add --force to replace it.",
    )


def test_no_file_the_call_reads_is_replaced(refused, tmp_path):
    tree, recipe = tmp_path / "sex.csv", tmp_path / "mine.toml"
    tree.write_text("f;*\nm;*\n", "utf-8")
    recipe.write_text('k = 5\nquasi_identifiers = ["age"]\n', "utf-8")
    words = [*GOOD, "--hierarchy", f"sex={tree}", "--recipe", recipe, "--force"]
    for option, target in (("-o", tree), ("--save-recipe", recipe), ("--save-recipe", tree)):
        refused(*words, option, target, says=f"The target '{target.name}' is an input of this call.")


def test_a_link_that_leads_nowhere(refused, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "gone.csv")
    refused(*GOOD, "-o", "{}/link.csv", "--force", says="is a link that leads nowhere")


def test_not_enough_disk(refused, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=100, used=90, free=10))
    refused(*GOOD, says="Not enough disk space for 'release.csv'. Hint: free some")
