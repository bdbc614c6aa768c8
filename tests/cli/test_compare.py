from __future__ import annotations

import pytest

QI = ("--qi", "age,sex,zip", "--sensitive", "diagnosis")


def test_points_are_shown_with_the_recommended_one_and_the_rule(shoal, patients):
    run = shoal("compare", patients, *QI, "-k", "2,5", "--methods", "mondrian,mdav")
    assert (run.code, run.err) == (0, "")
    assert run.out.count("recommended") >= 2
    assert run.out.count("mondrian") >= 2
    assert "For each k only the release that loses least" in run.out


def test_json_holds_every_point(shoal, patients, tmp_path):
    told = shoal(
        "compare", patients, *QI, "-k", "2,5", "--methods", "mondrian", "-o", tmp_path / "a.html", "--json"
    ).json
    assert [(one["method"], one["k"]) for one in told["points"]] == [("mondrian", 2), ("mondrian", 5)]
    assert told["written"] == [str(tmp_path / "a.html")]
    assert (tmp_path / "a.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_recipe_gives_roles_and_the_options_the_rest(shoal, patients, roles, tmp_path):
    recipe = tmp_path / "recipe.toml"
    assert shoal("anonymize", patients, "-k", 7, *roles, "--save-recipe", recipe).code == 0
    told = shoal(
        "compare", patients, "--recipe", recipe, "-k", "3", "--methods", "mondrian:strict=false", "--json"
    ).json
    assert [(one["method"], one["k"]) for one in told["points"]] == [("mondrian (strict=False)", 3)]


def test_a_state_is_taken_up_again(shoal, patients, tmp_path):
    words = ["compare", patients, *QI, "--methods", "mondrian", "--state", tmp_path / "state.jsonl", "--json"]
    first = shoal(*words, "-k", "2").json
    again = shoal(*words, "-k", "2,5").json
    assert again["points"][0]["seconds"] == first["points"][0]["seconds"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-k", "2,x"], "whole numbers separated by commas"),
        (["-k", "1"], "at least 2"),
        (["--methods", "mondrain"], "did you mean 'mondrian'"),
        (["-o", "a.pdf"], "no known ending"),
        (["--efforts", "slow"], "best or a number of"),
    ],
)
def test_a_wrong_call_is_refused(shoal, patients, words, says):
    run = shoal("compare", patients, *QI, *words)
    assert run.code == 2
    assert says in run.sentences


def test_without_quasi_identifiers_nothing_is_compared(shoal, patients):
    run = shoal("compare", patients)
    assert run.code == 2
    assert "No quasi-identifiers are given." in run.err
