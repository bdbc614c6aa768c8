from __future__ import annotations

import csv
import json
import tomllib

import pytest

from shoal.io.files import open_table


def rows_of(path):
    return open_table(path).table.to_pylist()


def test_a_release_is_written_and_described(shoal, patients, roles, tmp_path):
    run = shoal("anonymize", patients, "-k", 5, *roles, "-o", tmp_path / "release.csv")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("60 records in ")
    assert "Information loss 0." in run.out
    assert "Written: " in run.out
    released = rows_of(tmp_path / "release.csv")
    assert len(released) == 60
    assert list(released[0]) == ["age", "sex", "zip", "diagnosis", "cost"]
    assert sorted(row["cost"] for row in released) == sorted(row["cost"] for row in rows_of(patients))
    qi = ["--qi", "age,sex,zip"]
    assert shoal("audit", tmp_path / "release.csv", *qi, "--require", "k=5").code == 0


def test_json_says_what_came_out(shoal, patients, roles, tmp_path):
    target = tmp_path / "release.csv"
    told = shoal("anonymize", patients, "-k", 5, *roles, "-o", target, "--json").json
    assert told["records"] == 60
    assert told["k"] >= 5
    assert told["loss"] == told["metrics"]["ncp"]
    assert told["recipe"]["quasi_identifiers"] == ["age", "sex", "zip"]
    assert told["written"] == [str(target)]
    assert told["lower_bound"] is None or told["lower_bound"] <= told["loss"]


def test_without_a_target_nothing_is_written(shoal, patients, roles, tmp_path):
    run = shoal("anonymize", patients, "-k", 5, *roles)
    assert run.code == 0
    assert "Nothing was written" in run.out
    assert list(tmp_path.iterdir()) == [patients]


def test_a_column_without_a_role_is_left_out_and_named(shoal, patients, tmp_path):
    run = shoal("anonymize", patients, "-k", 5, "--qi", "age,sex", "-o", tmp_path / "release.csv")
    assert run.code == 0
    assert run.err.count("\n") == 1
    assert run.err.startswith(
        "Warning: Columns without a role are left out of the release: name, zip, diagnosis, cost."
    )
    assert "--keep or --identifier" in run.err
    assert list(rows_of(tmp_path / "release.csv")[0]) == ["age", "sex"]


def test_every_choice_reaches_the_recipe_and_the_recipe_repeats_it(shoal, patients, tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "recipes").mkdir()
    tree, recipe = tmp_path / "trees" / "zip.csv", tmp_path / "recipes" / "mine.toml"
    made = shoal("hierarchy", "make", "prefixes", "--data", patients, "--column", "zip", "--lengths", "4,3", "-o", tree)
    assert made.code == 0
    words = ["-k", 6, "--qi", "age", "--qi", "sex, zip", "--sensitive", "diagnosis", "--identifier", "name"]
    words += ["--hierarchy", f"zip={tree}", "--hierarchy", "sex=flat", "--kind", "age=numeric", "--weight", "age=8"]
    words += ["--method", "mondrian:strict=false", "--effort", "2.5", "--max-suppression", "0.1", "--seed", 7]
    words += [
        "--model",
        "k-anonymity:k=3",
        "--release",
        "ranges",
        "--keep",
        "cost",
        "--widen",
        "0.25",
        "--ends",
        "age=5",
    ]
    words += ["--treat", "cost=round:50"]
    first = shoal("anonymize", patients, *words, "--save-recipe", recipe, "--json")
    assert first.code == 0, first.err
    saved = tomllib.loads(recipe.read_text("utf-8"))
    assert saved == {
        "version": 1,
        "k": 6,
        "quasi_identifiers": ["age", "sex", "zip"],
        "sensitive": ["diagnosis"],
        "identifiers": ["name"],
        "keep": ["cost"],
        "together": False,
        "kinds": {"age": "numeric"},
        "hierarchies": {"zip": "../trees/zip.csv", "sex": "flat"},
        "weights": {"age": 8.0},
        "models": [{"model": "k-anonymity", "k": 3}],
        "method": "mondrian",
        "method_options": {"strict": False},
        "effort": 2.5,
        "max_suppression": 0.1,
        "release": "ranges",
        "seed": 7,
        "widen": 0.25,
        "ends": {"age": 5.0},
        "treat": {"cost": {"treatment": "round", "to": 50}},
        "engine": "auto",
    }
    again = shoal("anonymize", patients, "--recipe", recipe, "--json")
    assert again.json["metrics"] == first.json["metrics"]


def test_options_replace_what_the_recipe_says(shoal, patients, roles, tmp_path):
    recipe = tmp_path / "recipe.toml"
    assert shoal("anonymize", patients, "-k", 5, *roles, "--weight", "age=2", "--save-recipe", recipe).code == 0
    told = shoal("anonymize", patients, "--recipe", recipe, "-k", 9, "--weight", "zip=3", "--json").json["recipe"]
    assert told["k"] == 9
    assert told["weights"] == {"age": 2.0, "zip": 3.0}
    assert told["identifiers"] == ["name"]


def test_ordered_values_are_released_as_a_range(shoal, tmp_path):
    table = tmp_path / "schools.csv"
    table.write_text("school\n" + "low\nmiddle\nhigh\n" * 4, "utf-8")
    target = tmp_path / "release.csv"
    run = shoal("anonymize", table, "-k", 12, "--qi", "school", "--kind", "school=low,middle,high", "-o", target)
    assert run.code == 0
    assert {row["school"] for row in rows_of(target)} == {"[low to high]"}


def test_a_side_car_says_where_the_release_comes_from(shoal, patients, roles, tmp_path):
    target = tmp_path / "release.csv.gz"
    run = shoal("anonymize", patients, "-k", 5, *roles, "-o", target, "--sidecar", "--json")
    assert run.json["written"] == [str(target), str(tmp_path / "release.csv.gz.json")]
    beside = json.loads((tmp_path / "release.csv.gz.json").read_text("utf-8"))
    assert "sha" not in " ".join(beside)
    assert beside["audit"]["k"] == run.json["k"]
    assert "Person" not in (tmp_path / "release.csv.gz.json").read_text("utf-8")


def test_formulas_are_named_and_made_harmless_when_asked(shoal, tmp_path):
    table, target = tmp_path / "notes.csv", tmp_path / "release.csv"
    table.write_text("age,note\n" + "30,=1+1\n40,-5\n" * 5, "utf-8")
    words = ["anonymize", table, "-k", 5, "--qi", "age", "--keep", "note", "-o", target]
    assert shoal(*words).sentences == (
        "Warning: A spreadsheet would run cells of these columns as formulas: 'note' (5). "
        "Save with --spreadsheet-safe to make them harmless."
    )
    assert {row["note"] for row in rows_of(target)} == {"=1+1", "-5"}
    assert shoal(*words, "--force", "--spreadsheet-safe").err == ""
    assert {row["note"] for row in rows_of(target)} == {"'=1+1", "-5"}


def test_rows_stay_in_order_only_when_told_and_with_a_warning(shoal, patients, roles, tmp_path):
    target = tmp_path / "release.csv"
    run = shoal("anonymize", patients, "-k", 5, *roles, "-o", target, "--keep-order")
    assert run.sentences.startswith("Warning: The rows are written in the order of the input")
    assert [row["cost"] for row in rows_of(target)] == [row["cost"] for row in rows_of(patients)]
    assert shoal("anonymize", patients, "-k", 5, *roles, "-o", target, "--force").code == 0
    assert [row["cost"] for row in rows_of(target)] != [row["cost"] for row in rows_of(patients)]


def test_a_key_decides_the_order_of_the_rows_and_no_file_names_it(shoal, patients, roles, tmp_path):
    key, recipe = tmp_path / "order.bin", tmp_path / "recipe.toml"
    assert shoal("key", "make", key).code == 0
    words = ["anonymize", patients, "-k", 5, *roles, "--method", "mondrian", "--shuffle-key", key]
    targets = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert shoal(*words, "-o", targets[0], "--sidecar", "--save-recipe", recipe).code == 0
    assert shoal(*words, "-o", targets[1]).code == 0
    assert targets[0].read_bytes() == targets[1].read_bytes()
    assert [row["cost"] for row in rows_of(targets[0])] != [row["cost"] for row in rows_of(patients)]
    assert "order.bin" not in recipe.read_text() + (tmp_path / "a.csv.json").read_text()


def test_a_bad_key_for_the_order_is_refused_before_any_work(shoal, patients, roles, tmp_path):
    words = ["anonymize", patients, "-k", 5, *roles, "-o", tmp_path / "release.csv", "--shuffle-key"]
    run = shoal(*words, tmp_path / "none.bin")
    assert run.code == 2
    assert run.sentences.startswith("Error: The key 'none.bin' does not exist.")
    key = tmp_path / "order.bin"
    assert shoal("key", "make", key).code == 0
    assert "leave one of the two out" in shoal(*words, key, "--keep-order").sentences
    assert "cannot be used with --engine stream" in shoal(*words, key, "--engine", "stream").sentences
    assert not (tmp_path / "release.csv").exists()


def test_separator_and_encoding_can_be_given(shoal, tmp_path):
    table = tmp_path / "table.txt"
    table.write_bytes(("straße\tage\n" + "Köln\t30\nBonn\t40\n" * 5).encode("cp1252"))
    target = tmp_path / "release.csv"
    words = ["--separator", "tab", "--encoding", "cp1252", "-k", 10, "--qi", "straße,age", "-o", target]
    assert shoal("anonymize", table, *words).code == 0
    with target.open(encoding="cp1252", newline="") as file:
        assert list(csv.reader(file, delimiter="\t"))[1:] == [["{Bonn, Köln}", "[30-40]"]] * 10


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_the_ending_chooses_the_format(shoal, patients, roles, tmp_path, ending):
    target = tmp_path / f"release{ending}"
    assert shoal("anonymize", patients, "-k", 5, *roles, "-o", target).code == 0
    assert len(rows_of(target)) == 60
    assert shoal("audit", target, "--qi", "age,sex,zip", "--require", "k=5").code == 0


def test_a_bound_is_told_where_the_method_knows_one(shoal, patients, roles, monkeypatch):
    from dataclasses import replace

    from shoal.methods.mondrian import Mondrian

    run = Mondrian.run
    monkeypatch.setattr(Mondrian, "run", lambda *words: replace(run(*words), details={"lower_bound": 0.01234}))
    words = ["-k", 5, *roles, "--method", "mondrian"]
    assert "no grouping can be below 0.012" in " ".join(shoal("anonymize", patients, *words).out.split())
    assert shoal("anonymize", patients, *words, "--json").json["lower_bound"] == 0.01234


def test_a_report_is_written_in_the_form_of_its_ending(shoal, patients, roles, tmp_path):
    for ending, start in ((".html", "<!doctype html>"), (".md", "# Report"), (".json", "{")):
        target = tmp_path / f"report{ending}"
        run = shoal("anonymize", patients, "-k", 5, *roles, "--report", target)
        assert run.code == 0, run.err
        assert f"Written: {target}" in " ".join(run.out.split())
        assert target.read_text("utf-8").startswith(start)


def test_a_report_holds_original_rows_only_when_asked(shoal, patients, roles, tmp_path):
    shoal("anonymize", patients, "-k", 5, *roles, "--report", tmp_path / "a.json")
    shoal("anonymize", patients, "-k", 5, *roles, "--report", tmp_path / "b.json", "--report-examples")
    without, with_rows = (json.loads((tmp_path / name).read_text("utf-8"))["examples"] for name in ("a.json", "b.json"))
    assert [row["original"] for row in without["rows"]] == [None] * 8
    assert all(row["original"] for row in with_rows["rows"])


def test_a_report_that_cannot_be_made_is_refused_before_the_work(shoal, patients, roles, tmp_path):
    run = shoal("anonymize", patients, "-k", 5, *roles, "-o", tmp_path / "release.csv", "--report", tmp_path / "a.pdf")
    assert run.code == 2
    assert "no known ending" in run.err
    assert not (tmp_path / "release.csv").exists()


def test_nodes_of_a_hierarchy_are_given_weights(shoal, patients, tmp_path):
    tree = tmp_path / "sex.csv"
    tree.write_text("f;*\nm;*\n", "utf-8")
    words = [
        "anonymize",
        patients,
        "--qi",
        "age,sex",
        "--identifier",
        "name,zip",
        "--sensitive",
        "diagnosis",
        "--keep",
        "cost",
    ]
    words += ["-k", "3", "--method", "mondrian", "--hierarchy", f"sex={tree}"]
    run = shoal(*words, "--weight", "sex:f=3", "-o", tmp_path / "a.csv", "--save-recipe", tmp_path / "r.toml")
    assert run.code == 0
    assert tomllib.loads((tmp_path / "r.toml").read_text("utf-8"))["weights"] == {"sex": {"f": 3.0}}
    both = shoal(*words, "--weight", "sex:f=3", "--weight", "sex=2", "-o", tmp_path / "b.csv")
    assert both.code == 2
    assert "a weight of its own and weights of nodes" in both.sentences
