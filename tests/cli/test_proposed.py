"""The command that ``shoal inspect`` prints: run as printed, it makes the release that was described, for every table."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from tests.derived.tables import liver, stays

_RANDOM = np.random.default_rng(7)
N = 400


def _panel():
    person = np.repeat(np.arange(N // 4), 4)
    return pa.table(
        {
            "idcode": person + 1000,
            "year": np.tile([2001, 2002, 2003, 2004], N // 4),
            "age": np.repeat(_RANDOM.integers(20, 60, N // 4), 4) + np.tile([0, 1, 2, 3], N // 4),
            "race": np.repeat(_RANDOM.choice(["a", "b", "c"], N // 4), 4),
            "union": _RANDOM.integers(0, 2, N),
            "ln_wage": _RANDOM.normal(2, 0.5, N),
            "months_since_last_visit": _RANDOM.integers(0, 40, N),
        }
    )


def _survey():
    household = _RANDOM.integers(0, 150, N)
    return pa.table(
        {
            "hhid": household,
            "agea": _RANDOM.integers(18, 90, N),
            "gndr": _RANDOM.integers(1, 3, N),
            "eduyrs": _RANDOM.integers(6, 22, N),
            "dweight": np.round(_RANDOM.gamma(4, 0.25, N), 4),
            "hinctnta": _RANDOM.integers(1, 11, N),
            "x1": _RANDOM.normal(0, 1, N),
        }
    )


def _shop():
    return pa.table(
        {
            "e-mail": [f"p{place}@x.org" for place in range(N)],
            "zip": _RANDOM.integers(10_000, 99_999, N) // 500 * 500,
            "DistanceFromHome": _RANDOM.integers(1, 30, N),
            "name, first": [f"First{place}" for place in range(N)],
            "sex": _RANDOM.choice(["f", "m"], N),
            "NumCompaniesWorked": _RANDOM.integers(0, 10, N),
            "income": np.rint(_RANDOM.lognormal(10, 0.5, N)),
            "remark": [f"the customer number {place} came with a question" for place in range(N)],
        }
    )


TABLES = {"liver": liver(N), "stays": stays(N), "panel": _panel(), "survey": _survey(), "shop": _shop()}


def command_of(told):
    found = re.search(r"If the roles are right, next \((\d+) of (\d+) columns released\):\n {2}shoal (.*)", told)
    return int(found[1]), int(found[2]), shlex.split(found[3])


def run_as_printed(shoal, words):
    return shoal(*words, "--method", "mondrian", "--json")


@pytest.mark.parametrize("name", TABLES)
def test_the_printed_command_makes_the_release_that_was_described(shoal, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    pacsv.write_csv(TABLES[name], tmp_path / "table.csv")
    told = shoal("inspect", "table.csv")
    released, columns, words = command_of(told.out)
    run = run_as_printed(shoal, words)
    assert run.code == 0, run.err
    assert columns == TABLES[name].num_columns
    with (tmp_path / "release.csv").open(encoding="utf-8") as lines:
        assert len(next(lines).split(",")) == released
    recipe = run.json["recipe"]
    found = shoal("inspect", "table.csv", "--json").json
    assert (recipe.get("person"), recipe.get("household"), recipe.get("survey_weight")) == (
        found["person"],
        found["household"],
        found["survey_weight"],
    )
    assert run.json["k"] >= recipe["k"]


def test_whose_the_records_are_is_in_the_command_once(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pacsv.write_csv(_panel(), tmp_path / "panel.csv")
    _, _, words = command_of(shoal("inspect", "panel.csv").out)
    assert words[words.index("--person") + 1] == "idcode"
    assert "--identifier" not in words
    pacsv.write_csv(_survey(), tmp_path / "survey.csv")
    _, _, words = command_of(shoal("inspect", "survey.csv").out)
    assert words[words.index("--household") + 1] == "hhid"
    assert words[words.index("--survey-weight") + 1] == "dweight"
    assert words[words.index("--qi") + 1] == "agea,gndr,eduyrs"


def test_zip_codes_that_are_numbers_are_places_and_distances_are_numbers(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pacsv.write_csv(_shop(), tmp_path / "shop.csv")
    _, _, words = command_of(shoal("inspect", "shop.csv").out)
    assert "zip=nominal" in words
    assert "zip=auto" in words
    assert not any(word.startswith("DistanceFromHome=") for word in words)


def test_what_was_said_about_reading_is_said_again(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"{20 + place % 40};0{place % 10},5;{1 + place % 28:02}.0{1 + place % 9}.1980\n" for place in range(80)
    )
    (tmp_path / "alter.csv").write_text("alter;miete;geboren\n" + rows, encoding="cp1252")
    options = [
        "--separator",
        ";",
        "--decimal",
        "comma",
        "--date-format",
        "%d.%m.%Y",
        "--encoding",
        "cp1252",
        "--missing",
        "-,k.A.",
    ]
    _, _, words = command_of(shoal("inspect", "alter.csv", *options).out)
    assert all(word in words for word in ("--separator", ";", "comma", "%d.%m.%Y", "cp1252", "-,k.A."))
    assert run_as_printed(shoal, words).code == 0


# --- columns without a role --------------------------------------------------------------------------------------


@pytest.fixture
def panel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pacsv.write_csv(_panel(), tmp_path / "panel.csv")
    return ["anonymize", "panel.csv", "-k", 5, "--qi", "age,race", "--person", "idcode", "--method", "mondrian"]


def test_the_command_line_stops_at_columns_without_a_role_with_the_options_that_decide(shoal, panel, tmp_path):
    run = shoal(*panel, "-o", "release.csv")
    assert run.code != 0
    assert "4 of 7 columns have no role: year, union, ln_wage, months_since_last_visit" in " ".join(run.err.split())
    assert "--others drop" in " ".join(run.err.split())
    assert "--qi year" in " ".join(run.err.split())
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize(("others", "columns"), [("drop", 2), ("keep", 6)])
def test_one_option_decides_for_all(shoal, panel, tmp_path, others, columns):
    run = shoal(*panel, "-o", "release.csv", "--others", others)
    assert run.code == 0, run.err
    assert f"{columns} of 7 columns released." in run.out
    with (tmp_path / "release.csv").open(encoding="utf-8") as lines:
        assert len(next(lines).split(",")) == columns


def test_a_recipe_may_decide(shoal, panel, tmp_path):
    assert shoal(*panel, "--others", "keep", "--save-recipe", "recipe.toml").code == 0
    assert 'others = "keep"' in (tmp_path / "recipe.toml").read_text()
    assert shoal("anonymize", "panel.csv", "--recipe", "recipe.toml", "-o", "release.csv").code == 0


def test_a_hierarchy_is_suggested_for_a_table_given_as_everywhere_else(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pacsv.write_csv(_shop(), tmp_path / "shop.csv")
    by_argument = shoal("hierarchy", "suggest", "shop.csv", "--column", "zip")
    by_option = shoal("hierarchy", "suggest", "--data", "shop.csv", "--column", "zip")
    assert by_argument.code == by_option.code == 0
    assert by_argument.out == by_option.out
    assert shoal("hierarchy", "suggest", "--column", "zip").sentences.startswith("Error: The table is not given.")


def test_an_attack_takes_its_roles_from_a_recipe(shoal, panel):
    assert (
        shoal(*panel, "--others", "drop", "-o", "release.csv", "--keep-order", "--save-recipe", "recipe.toml").code == 0
    )
    found = [
        shoal("attack", "panel.csv", "release.csv", *words, "--json")
        for words in (["--recipe", "recipe.toml"], ["--qi", "age,race", "--person", "idcode"])
    ]
    assert found[0].json == found[1].json
    assert "The columns the intruder knows are not given." in shoal("attack", "panel.csv", "release.csv").sentences
