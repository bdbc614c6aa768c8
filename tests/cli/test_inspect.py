from __future__ import annotations

import pytest

from shoal.inspection import guess_role, inspect_table, words_of


def test_roles_are_guessed_and_the_next_call_is_proposed(shoal, patients):
    run = shoal("inspect", patients)
    assert (run.code, run.err) == (0, "")
    assert "--qi age,sex,zip --sensitive diagnosis --identifier name --others drop -o release.csv" in run.out
    assert not any(cell in run.out for cell in ("Person 1", "asthma", "01203"))


def test_json_tells_every_column_and_combination(shoal, patients):
    told = shoal("inspect", patients, "--json").json
    assert told["records"] == 60
    assert {one["name"]: one["role"] for one in told["columns"]} == {
        "name": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "zip": "quasi-identifier",
        "diagnosis": "sensitive",
        "cost": "other",
    }
    assert {one["name"]: one["type"] for one in told["columns"]}["zip"] == "text"
    assert len(told["combinations"]) == 3 + 3 + 1


def test_the_columns_can_be_named(shoal, patients):
    told = shoal("inspect", patients, "--qi", "sex,cost", "--json").json
    roles = {one["name"]: one["role"] for one in told["columns"]}
    assert (roles["cost"], roles["age"]) == ("quasi-identifier", "other")
    assert [one["columns"] for one in told["combinations"]] == [["cost"], ["sex"], ["sex", "cost"]]


def test_a_table_nobody_can_be_found_by_says_so(shoal, tmp_path):
    (tmp_path / "plain.csv").write_text("weather\n" + "wet\ndry\n" * 5, "utf-8")
    assert "Name the columns an outsider may know with --qi" in " ".join(
        shoal("inspect", tmp_path / "plain.csv").out.split()
    )


def test_who_is_alone_is_counted_as_by_hand(patients):
    from collections import Counter

    from shoal.io.files import open_table

    frame = open_table(patients)
    rows = frame.table.to_pylist()
    for one in inspect_table(frame).combinations:
        counts = Counter(tuple(row[name] for name in one.columns) for row in rows)
        assert one.unique == sum(count == 1 for count in counts.values())
        assert (one.smallest, one.groups) == (min(counts.values()), len(counts))


def test_missing_values_are_counted_and_are_no_value():
    import pyarrow as pa

    view = inspect_table(pa.table({"age": [1, None, None, 2, 2]})).columns[0]
    assert (view.distinct, view.missing, view.unique) == (2, 2, 1)


@pytest.mark.parametrize("name", ["birth_date", "birthDate", "BIRTH-DATE", "birth date", "Birth.Date"])
def test_the_words_of_a_name_do_not_depend_on_how_it_is_written(name):
    assert words_of(name) == ["birth", "date"]


@pytest.mark.parametrize(
    ("name", "kind", "distinct", "role"),
    [
        ("patient_id", "whole number", 100, "identifier"),
        ("PatientID", "whole number", 100, "identifier"),
        ("email", "text", 3, "other"),  # a flag, or whether there is one
        ("email", "text", 50, "identifier"),
        ("last_name", "text", 50, "identifier"),
        ("town_name", "text", 50, "quasi-identifier"),
        ("diagnosis_code", "text", 50, "sensitive"),
        ("marital-status", "text", 5, "quasi-identifier"),
        ("reference", "text", 100, "identifier"),
        ("reading", "number", 100, "other"),
        ("counter", "whole number", 99, "identifier"),
        ("seen", "date", 30, "quasi-identifier"),
        ("colour", "text", 5, "other"),
    ],
)
def test_a_role_is_guessed_from_name_type_and_repetition(name, kind, distinct, role):
    assert guess_role(name, kind, distinct, 100)[0] == role


def test_columns_nothing_is_known_about_are_asked_for(shoal, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("age,colour\n" + "".join(f"{age},red\n" for age in (20, 20, 30)), "utf-8")
    run = shoal("inspect", path)
    assert "Left out unless you decide: colour." in run.out
    assert shoal("inspect", path, "--json").json["unique_sets"] == [{"columns": ["age"], "minimal": 1, "unique": 1}]
