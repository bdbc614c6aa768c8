"""Bad input gets one sentence and exit code 2; nothing is written."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from shoal.methods.mondrian import Mondrian

CELLS = ("Person", "asthma", "01203")
"""Values of the table, which no message may show."""


@pytest.fixture
def refused(shoal, tmp_path):
    """Return a function that checks that a call is refused with one sentence and leaves the folder as it was."""

    def check(*words, says, hint="", code=2):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        run = shoal(*words)
        after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert run.code == code, run.err
        assert run.out == ""
        assert run.err.count("Error: ") == 1
        assert says in run.sentences
        assert hint in run.sentences.partition("Hint: ")[2]
        assert "Traceback" not in run.err
        assert not any(cell in run.err for cell in CELLS)
        assert after == before

    return check


@pytest.fixture
def call(patients, roles, tmp_path):
    """Return the words of a call that would succeed."""
    return ["anonymize", patients, "-k", 5, *roles, "-o", tmp_path / "release.csv"]


def test_the_call_of_these_tests_would_succeed(shoal, call):
    assert shoal(*call).code == 0


@pytest.mark.parametrize("command", [["anonymize", "-k", 5], ["audit"], ["inspect"]])
def test_a_missing_file(refused, tmp_path, command):
    refused(*command, tmp_path / "gone.csv", "--qi", "age", says="The file 'gone.csv' does not exist.", hint="path")


def test_a_folder_instead_of_a_file(refused, tmp_path):
    refused("inspect", tmp_path, says="is a folder")


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file(refused, tmp_path, content):
    (tmp_path / "empty.csv").write_text(content, "utf-8")
    refused("anonymize", tmp_path / "empty.csv", "-k", 5, "--qi", "age", says="The file 'empty.csv' is empty.")


@pytest.mark.parametrize("command", [["anonymize", "-k", 5, "--qi", "age"], ["inspect"]])
def test_a_file_without_rows(refused, tmp_path, command):
    (tmp_path / "header.csv").write_text("age,sex\n", "utf-8")
    refused(*command, tmp_path / "header.csv", says="The table has no rows.")


def test_ragged_rows(refused, call, patients):
    patients.write_text(patients.read_text("utf-8") + "Person 99,30,f\n", "utf-8")
    refused(*call, says="of 'patients.csv' has 3 fields where the header has 6", hint="separator")


def test_an_unknown_column_with_the_nearest_name(refused, call):
    refused(
        *call[:-2],
        "--keep",
        "zipp",
        says="The column 'zipp' given as to keep is not in the table.",
        hint="did you mean 'zip'?",
    )


def test_an_unknown_column_in_an_option_for_columns(refused, call):
    refused(*call, "--weight", "agee=2", says="The option --weight names 'agee'", hint="did you mean 'age'?")
    refused(*call, "--hierarchy", "agee=flat", says="The option --hierarchy names 'agee'", hint="did you mean 'age'?")
    refused(*call, "--kind", "agee=date", says="The option --kind names 'agee'", hint="did you mean 'age'?")


def test_a_k_larger_than_the_table(refused, patients, roles):
    refused(
        "anonymize",
        patients,
        "-k",
        61,
        *roles,
        says="The option -k must be at most the number of records, 60. Got 61 instead.",
    )


@pytest.mark.parametrize("k", ["1", "0", "-3", "many"])
def test_a_k_that_protects_nobody(shoal, patients, roles, tmp_path, k):
    run = shoal("anonymize", patients, "-k", k, *roles, "-o", tmp_path / "release.csv")
    assert run.code == 2
    assert "Invalid value for '-k'" in run.sentences
    assert list(tmp_path.iterdir()) == [patients]


def test_no_k_at_all(refused, patients, roles):
    refused("anonymize", patients, *roles, says="The size of the smallest group is not given.", hint="-k 10")


def test_no_quasi_identifier(refused, patients):
    refused(
        "anonymize",
        patients,
        "-k",
        5,
        "--keep",
        "cost",
        says="The option --qi must name at least one column. Got none.",
    )


def test_a_column_in_two_roles(refused, call):
    refused(*call[:-2], "--sensitive", "age", says="The column 'age' has two roles, --qi and sensitive. Give it one.")


def test_a_column_named_twice(refused, patients):
    refused("anonymize", patients, "-k", 5, "--qi", "age,age", says="The column 'age' is named twice")


def test_a_hierarchy_that_does_not_cover_the_data(refused, call, tmp_path):
    (tmp_path / "sex.csv").write_text("f;*\n", "utf-8")
    refused(
        *call,
        "--hierarchy",
        f"sex={tmp_path / 'sex.csv'}",
        says="does not cover the data: it lacks 1 of its values (30 rows, the first is row 2)",
    )


def test_a_hierarchy_file_that_is_missing_or_no_tree(refused, call, tmp_path):
    refused(*call, "--hierarchy", f"sex={tmp_path / 'gone.csv'}", says="cannot be read: No such file")
    (tmp_path / "sex.csv").write_text("f;a;*\nf;b;*\n", "utf-8")
    refused(*call, "--hierarchy", f"sex={tmp_path / 'sex.csv'}", says="Line 2")


def test_text_in_a_numeric_column(refused, call):
    refused(
        *call,
        "--kind",
        "sex=numeric",
        says="The column 'sex' is given as numeric and must hold numbers. Got other text in 60 rows.",
    )


def test_an_unknown_kind(refused, call):
    refused(*call, "--kind", "age=numerik", says="The kind of column 'age' must be", hint="did you mean 'numeric'?")


@pytest.mark.parametrize("option", ["--output", "--save-recipe"])
def test_a_target_that_exists_is_left_as_it_is_before_any_work(refused, call, tmp_path, monkeypatch, option):
    monkeypatch.setattr(Mondrian, "run", lambda *_: pytest.fail("the work began"))
    (tmp_path / "mine.csv").write_text("mine", "utf-8")
    refused(
        *call, option, tmp_path / "mine.csv", says="The target 'mine.csv' exists", hint="add --force to replace it."
    )


def test_a_side_car_that_exists_is_left_as_it_is(refused, call, tmp_path):
    (tmp_path / "release.csv.json").write_text("mine", "utf-8")
    refused(*call, "--sidecar", says="The target 'release.csv.json' exists", hint="--force")


def test_a_side_car_without_a_release(refused, call):
    refused(*call[:-2], "--sidecar", says="The option --sidecar needs a release to stand beside. Got no --output.")


def test_the_input_is_never_replaced_even_with_force(refused, call, patients):
    refused(*call[:-1], patients, "--force", says="The target 'patients.csv' is an input of this call.")


def test_no_file_the_call_reads_is_replaced(refused, call, tmp_path):
    tree, recipe = tmp_path / "sex.csv", tmp_path / "mine.toml"
    tree.write_text("f;*\nm;*\n", "utf-8")
    recipe.write_text('k = 5\nquasi_identifiers = ["age"]\n', "utf-8")
    words = [*call, "--hierarchy", f"sex={tree}", "--recipe", recipe, "--force"]
    for option, target in (("-o", tree), ("--save-recipe", recipe), ("--save-recipe", tree)):
        refused(*words, option, target, says=f"The target '{target.name}' is an input of this call.")


def test_two_targets_that_are_one_file(refused, call, tmp_path):
    both = "The targets 'release.csv' and 'release.csv' are one file."
    refused(*call, "--save-recipe", tmp_path / "release.csv", says=both)
    beside = tmp_path / "release.csv.json"
    refused(*call, "--sidecar", "--report", beside, says="The targets 'release.csv.json' and 'release.csv.json'")


def test_a_link_that_leads_nowhere(refused, call, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "gone.csv")
    refused(*call, "-o", tmp_path / "link.csv", "--force", says="is a link that leads nowhere")


@pytest.mark.parametrize("option", ["--output", "--save-recipe"])
@pytest.mark.parametrize("place", ["patients.csv/release.csv", "nowhere/release.csv"])
def test_a_target_folder_that_cannot_be_written(refused, call, tmp_path, option, place):
    refused(*call, option, tmp_path / place, says="The folder of the target 'release.csv' does not exist.")


def test_a_target_that_is_a_folder(refused, call, tmp_path):
    refused(*call, "-o", tmp_path, says="is a folder. Name a file.")


def test_a_target_without_a_known_ending(refused, call, tmp_path):
    refused(*call, "-o", tmp_path / "release.doc", says="The file 'release.doc' has no known ending.", hint=".parquet")


def test_not_enough_disk(refused, call, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=100, used=90, free=10))
    refused(*call, says="Not enough disk space for 'release.csv'.", hint="free some")


def test_an_unknown_method_model_or_option(refused, call):
    refused(*call, "--method", "mondrain", says="The option --method must be one of", hint="did you mean 'mondrian'?")
    refused(
        *call, "--method", "mondrian:speed=3", says="The method 'mondrian' does not take all of the options ['speed']"
    )
    refused(
        *call, "--model", "k-anonimity:k=3", says="must be one of 'k-anonymity'", hint="did you mean 'k-anonymity'?"
    )
    refused(
        *call,
        "--model",
        "k-anonymity:q=3",
        says="The privacy model 'k-anonymity' does not take just the parameters ['q']",
    )


def test_a_model_that_cannot_be_met_is_exit_code_1(refused, call):
    refused(*call, "--method", "mondrian", "--model", "k-anonymity:k=100", says="Nothing was released", code=1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--weight", "age"], "Write COLUMN=VALUE, such as age=8."),
        (["--hierarchy", "=flat"], "Write COLUMN=VALUE, such as job=job.csv."),
        (["--effort", "much"], "Give fast, balanced, best or a number of seconds."),
        (["--max-suppression", "2"], "2.0 is not in the range"),
        (["--separator", "::"], "Give one character, or the word tab."),
        (["--model", "k-anonymity:3"], "Write parameters as k-anonymity:name=value"),
        (["--release", "rows"], "'rows' is not one of"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_an_option_that_cannot_be_read(shoal, call, tmp_path, patients, words, says):
    run = shoal(*call, *words)
    assert run.code == 2
    assert says in " ".join(run.err.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == [patients]


def test_a_weight_or_an_effort_out_of_range(refused, call):
    refused(*call, "--weight", "age=heavy", says="A weight must be a number. Got 'heavy' instead.")
    refused(
        *call,
        "--weight",
        "age=-1",
        says="The option --weight of 'age' must be a finite number of at least 0 and at most 1e+09. Got -1.0 instead.",
    )
    refused(*call, "--effort", "0", says="The option --effort must be a finite number above 0.")


def test_an_unknown_encoding_or_the_wrong_one(refused, call):
    refused(*call, "--encoding", "utf-99", says="Got 'utf-99'")


def test_a_recipe_that_is_missing_faulty_or_has_unknown_keys(refused, call, tmp_path):
    recipe = tmp_path / "recipe.toml"
    refused(*call, "--recipe", recipe, says="The recipe 'recipe.toml' does not exist.")
    recipe.write_text("k = ", "utf-8")
    refused(*call, "--recipe", recipe, says="is not valid TOML")
    recipe.write_text('k = 5\nquasi_identifiers = ["age"]\nsensitiv = ["cost"]\n', "utf-8")
    refused(*call, "--recipe", recipe, says="has the unknown key 'sensitiv'", hint="did you mean 'sensitive'?")
    recipe.write_text("k = 1\n", "utf-8")
    refused(*call, "--recipe", recipe, says="The recipe 'recipe.toml' is wrong at 'k'")
