from __future__ import annotations

import pytest


@pytest.fixture
def table(tmp_path):
    """Return a table with groups of 4, 3 and 2 records; all of the last have one diagnosis."""
    path = tmp_path / "table.csv"
    rows = ["a,x", "a,y", "a,x", "a,z", "b,x", "b,y", "b,y", "c,x", "c,x"]
    path.write_text("group,diagnosis\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def test_the_figures_are_those_of_the_table(shoal, table):
    told = shoal("audit", table, "--qi", "group", "--sensitive", "diagnosis", "--json").json
    assert (told["records"], told["groups"], told["k"], told["largest"], told["unique"]) == (9, 3, 2, 4, 0)
    assert (told["l"], told["met"], told["required"]) == (1, True, [])
    shown = shoal("audit", table, "--qi", "group").out.split()
    assert shown[shown.index("k") + 1] == "2"


@pytest.mark.parametrize(("required", "code"), [("k=2", 0), ("k=3", 1), ("k=2,l=1", 0), ("k=2,l=2", 1), ("l=1", 0)])
def test_the_exit_code_says_whether_the_requirement_is_met(shoal, table, required, code):
    words = ["audit", table, "--qi", "group", "--sensitive", "diagnosis", "--require", required]
    assert shoal(*words).code == code
    assert ("NOT MET" in shoal(*words).out) == bool(code)
    told = shoal(*words, "--json")
    assert told.code == code
    assert told.json["met"] == (code == 0)


def test_an_empty_release_meets_no_requirement(shoal, tmp_path):
    (tmp_path / "none.csv").write_text("group\n", "utf-8")
    assert shoal("audit", tmp_path / "none.csv", "--qi", "group", "--require", "k=2").code == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--qi", "grup"], "did you mean 'group'?"),
        (["--qi", "group", "--require", "l=2"], "name them with --sensitive"),
        (["--qi", "group", "--sensitive", "diagnosis", "--require", "m=2"], "The requirement 'm' is unknown."),
        (["--qi", "group", "--require", "k"], "Write NAME=NUMBER"),
        (["--qi", "group", "--require", "k=many"], "Write NAME=NUMBER"),
        ([], "Missing option '--qi'"),
    ],
)
def test_a_call_that_makes_no_sense_is_exit_code_2(shoal, table, words, says):
    run = shoal("audit", table, *words)
    assert run.code == 2
    assert says in run.sentences
