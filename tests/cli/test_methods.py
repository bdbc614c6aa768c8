from __future__ import annotations

import tomllib
from typing import get_args

import pytest

from shoal.cli.methods import FAMILIES
from shoal.methods import DEFAULT_METHOD, REGISTRY
from shoal.methods.base import Family


def test_every_method_is_listed_with_its_paper(shoal):
    told = shoal("methods", "--json").json
    assert [one["name"] for one in told] == list(REGISTRY.places())
    assert all(one["paper"] and one["family"] and one["complexity"] for one in told)
    assert [one["name"] for one in told if one["default"]] == [DEFAULT_METHOD]


def test_the_table_names_every_method_and_marks_the_default(shoal):
    run = shoal("methods")
    assert run.code == 0
    for name in REGISTRY.places():
        assert name in run.out
    assert "(default)" in run.out


def test_every_family_has_its_words():
    assert set(FAMILIES) == set(get_args(Family))


def test_every_option_is_listed_with_its_default_and_its_choices(shoal):
    told = {one["name"]: one["options"] for one in shoal("methods", "--json").json}
    assert told["bottom-up"]["merge"] == {"default": "increase", "choices": ["increase", "union"]}
    assert told["forest"]["tries"] == {"default": 1, "choices": []}
    assert told["k-member"] == {}
    table = " ".join(shoal("methods").out.split())
    for words in ("merge=increase|union", "strict=true|false", "cut=nearest|median", "rest=join|nearest|suppress"):
        assert words in table


@pytest.mark.parametrize(
    "method",
    [
        "bottom-up:merge=union",
        "mondrian:cut=median",
        "merge-split:grow=false",
        "forest:neighbour=any,tries=3",
        "sbca:rest=nearest",
    ],
)
def test_the_options_of_the_papers_are_taken_on_the_command_line_and_by_recipes(shoal, patients, tmp_path, method):
    chosen = ["--qi", "age,sex", "--sensitive", "diagnosis", "--identifier", "name,zip", "--keep", "cost", "-k", "3"]
    run = shoal(
        "anonymize",
        patients,
        *chosen,
        "--method",
        method,
        "-o",
        tmp_path / "a.csv",
        "--save-recipe",
        tmp_path / "r.toml",
    )
    assert run.code == 0
    name, _, options = method.partition(":")
    recipe = tomllib.loads((tmp_path / "r.toml").read_text("utf-8"))
    assert recipe["method"] == name
    assert set(recipe["method_options"]) == {option.partition("=")[0] for option in options.split(",")}
    again = shoal("anonymize", patients, "--recipe", tmp_path / "r.toml", "-o", tmp_path / "b.csv")
    assert again.code == 0
    one, other = (sorted((tmp_path / name).read_text("utf-8").splitlines()) for name in ("a.csv", "b.csv"))
    assert one == other  # rows are written in a random order
