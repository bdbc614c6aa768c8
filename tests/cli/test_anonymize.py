from __future__ import annotations

import csv
import json
import tomllib

import pytest

from shoal.cli.target_options import MEASURES
from shoal.io.files import open_table
from shoal.metrics import REGISTRY


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
    assert told["written"] == [str(target), str(tmp_path / "release.datapackage.json")]
    assert told["lower_bound"] is None or told["lower_bound"] <= told["loss"]


def test_without_a_target_nothing_is_written(shoal, patients, roles, tmp_path):
    run = shoal("anonymize", patients, "-k", 5, *roles)
    assert run.code == 0
    assert "Nothing was written" in run.out
    assert list(tmp_path.iterdir()) == [patients]


def test_a_column_without_a_role_is_left_out_and_named(shoal, patients, tmp_path):
    run = shoal("anonymize", patients, "-k", 5, "--qi", "age,sex", "--others", "drop", "-o", tmp_path / "release.csv")
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
        "derived": "refuse",
        "others": "ask",
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


def test_a_dictionary_travels_with_the_release(shoal, patients, roles, tmp_path):
    target, beside = tmp_path / "release.csv.gz", tmp_path / "release.datapackage.json"
    run = shoal("anonymize", patients, "-k", 5, *roles, "-o", target, "--json")
    assert run.json["written"] == [str(target), str(beside)]
    told = json.loads(beside.read_text("utf-8"))
    assert told["shoal"]["audience"] == "public"
    assert told["shoal"]["measures"]["smallest"] == run.json["k"]
    assert "Person" not in beside.read_text("utf-8")
    assert str(tmp_path) not in beside.read_text("utf-8")
    run = shoal("anonymize", patients, "-k", 5, *roles, "-o", tmp_path / "other.csv", "--no-dictionary", "--json")
    assert run.json["written"] == [str(tmp_path / "other.csv")]


def test_what_the_publisher_says_stands_in_the_dictionary(shoal, patients, roles, tmp_path):
    about = tmp_path / "about.toml"
    about.write_text('title = "Stays"\n[[licenses]]\nname = "CC0-1.0"\n[columns.cost]\nunit = "EUR"\n', "utf-8")
    words = ["anonymize", patients, "-k", 5, *roles, "-o", tmp_path / "release.csv", "--force", "--about", about]
    assert shoal(*words).code == 0
    told = json.loads((tmp_path / "release.datapackage.json").read_text("utf-8"))
    assert (told["title"], told["licenses"]) == ("Stays", [{"name": "CC0-1.0"}])
    (cost,) = [one for one in told["resources"][0]["schema"]["fields"] if one["name"] == "cost"]
    assert cost["shoal"]["unit"] == "EUR"
    for text, sentence in (("titel = 1", "is wrong at 'titel'"), ("=", "is not valid TOML")):
        about.write_text(text, "utf-8")
        run = shoal(*words)
        assert (run.code, sentence in run.sentences) == (2, True)


def test_public_files_and_those_of_the_holder_are_told_apart(shoal, patients, roles, tmp_path):
    names = {"-o": "release.csv", "--public-report": "public.md", "--codebook": "codebook.html"}
    own = {"--report": "report.json", "--save-recipe": "recipe.toml"}
    words = [part for option, name in (names | own).items() for part in (option, tmp_path / name)]
    assert shoal("anonymize", patients, "-k", 5, *roles, *words).code == 0
    for name in own.values():
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
        assert "holder" in "".join((tmp_path / name).read_text("utf-8").splitlines(keepends=True)[:2])
    for name in (*names.values(), "release.datapackage.json"):
        assert (tmp_path / name).stat().st_mode & 0o044
        assert "holder" not in (tmp_path / name).read_text("utf-8").lower()


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
    assert shoal(*words, "-o", targets[0], "--save-recipe", recipe).code == 0
    assert shoal(*words, "-o", targets[1]).code == 0
    assert targets[0].read_bytes() == targets[1].read_bytes()
    assert [row["cost"] for row in rows_of(targets[0])] != [row["cost"] for row in rows_of(patients)]
    assert "order.bin" not in recipe.read_text() + (tmp_path / "a.datapackage.json").read_text()


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


def test_questions_are_answered_on_screen_and_in_the_report(shoal, patients, roles, tmp_path):
    asked = ["--analysis", "crosstab(sex, diagnosis)"]
    run = shoal("anonymize", patients, "-k", 5, *roles, *asked, "--report", tmp_path / "report.md")
    assert run.code == 0
    assert "crosstab(sex" in run.out
    assert "Analyses before and after" in (tmp_path / "report.md").read_text("utf-8")
    page = shoal("anonymize", patients, "-k", 5, *roles, *asked, "--report", tmp_path / "report.html")
    assert page.code == 0
    assert "<h2>Analyses before and after</h2>" in (tmp_path / "report.html").read_text("utf-8")
    told = shoal("anonymize", patients, "-k", 5, *roles, *asked, "--json").json
    assert {row["way"] for row in told["analyses"]} == {"midpoints", "expected", "completed"}
    assert shoal("anonymize", patients, "-k", 5, *roles, "--analysis", "sex of diagnosis").code == 2


def test_a_measure_that_is_asked_for_is_printed_with_what_it_measures(shoal, patients, roles):
    asked = [one for name in ("dm", "c_avg", "ipg") for one in ("--measure", name)]
    run = shoal("anonymize", patients, "-k", 5, *roles, *asked)
    told = shoal("anonymize", patients, "-k", 5, *roles, "--json").json["metrics"]
    assert run.code == 0
    words = " ".join(run.out.split())
    assert f"Discernability (dm) {told['dm']:,.0f}: sum over records of the size of their group." in words
    assert f"Mean group size ÷ k (c_avg) {told['c_avg']:.4g}: " in words
    assert f"IPG (ipg) {told['ipg']:.4g}: " in words
    assert "Discernability" not in shoal("anonymize", patients, "-k", 5, *roles).out


def test_every_measure_of_a_loss_can_be_asked_for():
    assert {"ncp", *MEASURES} == set(REGISTRY)
