from __future__ import annotations

import json

import pytest

import shoal as library
from shoal.io.files import write_table


@pytest.fixture
def published(tmp_path):
    """A register, a voter list and a release of the register, as files."""
    register = library.datasets.hospital(n=400, seed=0)
    names = ["birth_date", "sex", "zip"]
    patients = register.patients.select([*names, "diagnosis"])
    result = library.anonymize(patients, k=4, quasi_identifiers=names, sensitive=["diagnosis"], method="mondrian")
    paths = {name: tmp_path / f"{name}.csv" for name in ("patients", "voters", "release", "again")}
    write_table(patients, paths["patients"])
    write_table(register.voters, paths["voters"])
    result.save(paths["release"])
    again = library.anonymize(patients, k=5, quasi_identifiers=names, sensitive=["diagnosis"], method="mondrian")
    again.save(paths["again"])
    return paths


def test_attack_tells_what_each_attack_found(shoal, published):
    run = shoal(
        "attack", published["patients"], published["release"], "--qi", "birth_date,sex,zip", "--sensitive", "diagnosis"
    )
    assert run.code == 0
    for attack in ("linkage", "homogeneity", "row order", "leftovers"):
        assert attack in run.out
    assert "Nobody is named outright" in run.out


def test_attack_gives_json_with_list_and_earlier_release(shoal, published):
    run = shoal(
        "attack",
        published["patients"],
        published["patients"],
        "--qi",
        "birth_date,sex,zip",
        "--known",
        published["voters"],
        "--previous",
        published["again"],
        "-k",
        "4",
        "--json",
    )
    assert run.code == 0
    findings = {one["attack"]: one for one in json.loads(run.out)["findings"]}
    assert findings["linkage"]["figures"]["named_rightly"] > 100
    assert findings["row order"]["figures"]["order_kept"] == 1.0
    assert "two releases" in findings


def test_values_of_examples_are_printed_only_where_asked_for(shoal, published):
    call = ["attack", published["patients"], published["patients"], "--qi", "birth_date,sex,zip"]
    voters = ["--known", published["voters"]]
    name = library.datasets.hospital(n=400, seed=0).voters.column("name")
    plain, shown = shoal(*call, *voters), shoal(*call, *voters, "--show-values")
    assert plain.code == shown.code == 0
    row = json.loads(shoal(*call, *voters, "--json").out)["findings"][0]["examples"][0]
    person = name[row].as_py()
    assert f"row {row} of the list of people: " in shown.out
    assert person in shown.out
    assert person not in plain.out
    asked = json.loads(shoal(*call, *voters, "--json", "--show-values").out)["findings"][0]
    assert asked["example_values"][0]["name"] == person


def test_a_file_that_is_not_there_is_named(shoal, published, tmp_path):
    run = shoal("attack", published["patients"], tmp_path / "gone.csv", "--qi", "sex")
    assert run.code == 2
    assert "gone.csv" in run.err


@pytest.fixture
def by_hierarchy(shoal, tmp_path):
    """Return a table, its release by hierarchy with dictionary and recipe, and the roles."""
    (tmp_path / "jobs.csv").write_text("nurse;care;*\nmedic;care;*\nbaker;craft;*\nsmith;craft;*\n", "utf-8")
    jobs = ["nurse", "medic", "baker", "smith"] * 6
    (tmp_path / "people.csv").write_text(
        "job,illness\n" + "".join(f"{job},flu{i % 3}\n" for i, job in enumerate(jobs)), "utf-8"
    )
    words = ["anonymize", tmp_path / "people.csv", "-k", 8, "--qi", "job", "--sensitive", "illness"]
    given = ["--hierarchy", f"job={tmp_path / 'jobs.csv'}", "--method", "mondrian", "-o", tmp_path / "release.csv"]
    assert shoal(*words, *given, "--save-recipe", tmp_path / "recipe.toml").code == 0
    return tmp_path


@pytest.mark.parametrize("source", ["dictionary", "recipe"])
def test_hierarchies_are_found_by_themselves(shoal, by_hierarchy, source, monkeypatch):
    taken = []
    monkeypatch.setattr(
        "shoal.attacks.run_attacks", lambda *_, hierarchies, **__: taken.append(sorted(hierarchies)) or []
    )
    words = ["attack", by_hierarchy / "people.csv", by_hierarchy / "release.csv", "--qi", "job"]
    if source == "recipe":
        (by_hierarchy / "release.datapackage.json").unlink()
        assert shoal(*words).code == 0
        words += ["--recipe", by_hierarchy / "recipe.toml"]
    assert shoal(*words).code == 0
    assert taken == ([[], ["job"]] if source == "recipe" else [["job"]])


def test_a_dictionary_of_another_program_is_left_alone(shoal, by_hierarchy):
    (by_hierarchy / "release.datapackage.json").write_text("[1, 2]", "utf-8")
    words = ["attack", by_hierarchy / "people.csv", by_hierarchy / "release.csv", "--qi", "job"]
    assert shoal(*words, "--hierarchy", f"job={by_hierarchy / 'jobs.csv'}").code == 0
