from __future__ import annotations

import pytest

from shoal.hierarchy import Hierarchy


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "zip,age,born,job\n01234,7,2024-03-01,nurse\n01299,12,2024-11-30,baker\n01234,,1999-01-01,nurse\n", "utf-8"
    )
    return path


def test_a_file_is_drawn_as_a_tree(shoal, tmp_path):
    (tmp_path / "job.csv").write_text("nurse;health;*\nbaker;food;*\n", "utf-8")
    run = shoal("hierarchy", "show", tmp_path / "job.csv")
    assert run.code == 0
    assert run.out.splitlines()[0] == "job.csv: 2 values, 3 levels"
    assert "│   └── nurse" in run.out


def test_a_long_tree_is_cut_unless_all_is_asked_for(shoal, tmp_path):
    (tmp_path / "n.csv").write_text("".join(f"{i};*\n" for i in range(50)), "utf-8")
    assert "… 10 more" in shoal("hierarchy", "show", tmp_path / "n.csv").out
    assert "└── 49" in shoal("hierarchy", "show", tmp_path / "n.csv", "--all").out


@pytest.mark.parametrize(
    ("words", "column", "value", "path"),
    [
        (["prefixes", "--lengths", "4,2"], "zip", "01234", ("01234", "0123*", "01***", "*")),
        (["intervals", "--width", "5,10"], "age", 7, ("7", "[5-9]", "[0-9]", "*")),
        (["intervals", "--cuts", "0,10,20"], "age", 12, ("12", "[10-20]", "*")),
        (["dates", "--levels", "month,year"], "born", "2024-03-01", ("2024-03-01", "2024-03", "2024", "*")),
        (["flat"], "job", "nurse", ("nurse", "*")),
    ],
)
def test_a_hierarchy_is_made_from_a_column_and_covers_it(shoal, table, tmp_path, words, column, value, path):
    target = tmp_path / "made.csv"
    data = ["--data", table, "--column", column]
    run = shoal("hierarchy", "make", words[0], *data, *words[1:], "-o", target)
    assert run.code == 0, run.err
    assert run.out.startswith("Written: ")
    assert Hierarchy.from_csv(target).path(value) == path
    checked = shoal("hierarchy", "check", target, *data)
    assert checked.code == 0
    assert "covers all 3 rows" in checked.out


@pytest.mark.parametrize(
    ("column", "value", "above"),
    [
        ("zip", "01234", ("0123*", "012**", "01***", "0****", "*")),
        ("age", "7", ("[6-7]", "[4-7]", "*")),
        ("born", "30.11.2024", ("2024-11", "2024", "2020s", "*")),
        ("job", "nurse", ("Health professionals", "Professionals", "*")),
    ],
)
def test_a_hierarchy_is_suggested_by_what_a_column_holds_and_covers_it(shoal, table, tmp_path, column, value, above):
    table.write_text(
        table.read_text("utf-8")
        .replace("2024-11-30", "30.11.2024")
        .replace("2024-03-01", "01.03.2024")
        .replace("1999-01-01", "01.01.1999"),
        "utf-8",
    )
    target = tmp_path / "made.csv"
    data = ["--data", table, "--column", column]
    run = shoal("hierarchy", "suggest", *data, "-o", target)
    assert run.code == 0, run.err
    assert Hierarchy.from_csv(target).path(value)[1:] == above
    assert shoal("hierarchy", "check", target, *data).code == 0


def test_without_a_target_the_hierarchy_is_printed(shoal, table):
    run = shoal("hierarchy", "make", "flat", "--data", table, "--column", "job")
    assert run.out == "baker;*\nnurse;*\n"


def test_a_hierarchy_that_does_not_cover_the_column_is_exit_code_1(shoal, table, tmp_path):
    (tmp_path / "job.csv").write_text("nurse;*\n", "utf-8")
    run = shoal("hierarchy", "check", tmp_path / "job.csv", "--data", table, "--column", "job")
    assert (run.code, run.out) == (1, "")
    assert "does not cover the data: it lacks 1 of its values (1 rows, the first is row" in run.sentences


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "gone.csv"], "cannot be read"),
        (["check", "job.csv", "--data", "table.csv", "--column", "jobb"], "did you mean 'job'?"),
        (["check", "faulty.csv", "--data", "table.csv", "--column", "job"], "Line 2"),
        (["suggest", "--data", "table.csv", "--column", "jobb"], "did you mean 'job'?"),
        (["make", "flat", "--data", "gone.csv", "--column", "job"], "does not exist"),
        (["make", "prefixes", "--data", "table.csv", "--column", "zip", "--lengths", "four"], "must be numbers"),
        (["make", "intervals", "--data", "table.csv", "--column", "age"], "Give either --width or --cuts."),
        (["make", "intervals", "--data", "table.csv", "--column", "job", "--width", "5"], "Error: "),
        (["make", "dates", "--data", "table.csv", "--column", "born", "--levels", "week"], "'week'"),
        (["make", "flat", "--data", "table.csv", "--column", "job", "-o", "job.csv"], "add --force to replace it."),
        (["make", "flat", "--data", "table.csv", "--column", "job", "-o", "job.csv/x.csv"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2(shoal, table, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.csv").write_text("nurse;*\nbaker;*\n", "utf-8")
    (tmp_path / "faulty.csv").write_text("nurse;a;*\nnurse;b;*\n", "utf-8")
    before = {path.name for path in tmp_path.iterdir()}
    run = shoal("hierarchy", *words)
    assert run.code == 2
    assert says in run.sentences
    assert "Traceback" not in run.err
    assert {path.name for path in tmp_path.iterdir()} == before
    assert (tmp_path / "job.csv").read_text("utf-8") == "nurse;*\nbaker;*\n"


def test_a_hierarchy_is_suggested_for_one_column_or_all_while_anonymizing(shoal, patients, roles):
    for words in (
        ["--hierarchy", "auto"],
        ["--hierarchy", "zip=auto", "--hierarchy", "sex=flat", "--kind", "age=numeric"],
    ):
        run = shoal("anonymize", patients, "-k", 5, *roles, "--method", "mondrian", *words, "--json")
        assert run.code == 0, run.err
        assert run.json["recipe"]["hierarchies"]["zip"] == "suggest"


def test_check_says_what_each_level_leaves_and_never_a_value(shoal, tmp_path):
    (tmp_path / "job.csv").write_text("nurse;health;*\ndoctor;health;*\nsmith;craft;*\n", "utf-8")
    (tmp_path / "people.csv").write_text("job,who\n" + "nurse,1\n" * 6 + "doctor,2\n" * 4 + "smith,3\n", "utf-8")
    words = ["hierarchy", "check", tmp_path / "job.csv", "--data", tmp_path / "people.csv", "--column", "job"]
    run = shoal(*words, "-k", 3)
    assert run.code == 0
    assert "1 of the values that occur (1 person) will always be suppressed" in " ".join(run.out.split())
    assert "people below 3" in " ".join(run.out.split())
    assert "smith" not in run.out
    assert "1 value has fewer than 3 people" in " ".join(run.out.split())
    assert "3 values have fewer than 3 people" in " ".join(shoal(*words, "-k", 3, "--person", "who").out.split())


def test_a_hierarchy_is_learned_on_the_command_line(shoal, tmp_path):
    rows = "".join(f"{colour},{pay}\n" for colour, pay in (("red", 1), ("crimson", 1), ("blue", 9), ("azure", 9)) * 20)
    (tmp_path / "people.csv").write_text("colour,pay\n" + rows, "utf-8")
    words = [
        "hierarchy",
        "learn",
        "--data",
        tmp_path / "people.csv",
        "--qi",
        "colour,pay",
        "-k",
        15,
        "--effort",
        "fast",
    ]
    run = shoal(*words, "--column", "colour", "-o", tmp_path / "colour.csv")
    assert run.code == 0, run.err
    assert "learned from the data" in run.sentences
    assert Hierarchy.from_csv(tmp_path / "colour.csv").common_ancestor(["blue", "azure"]) == "azure, blue"
    assert "nothing to learn" in shoal(*words, "--column", "pay").sentences
