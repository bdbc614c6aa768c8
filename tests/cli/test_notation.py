"""How values are written, told and said on the command line."""

from __future__ import annotations

import re

import pytest

GERMAN = "income;born;town\n" + "\n".join(
    f"{1000 + 37 * number:,}".replace(",", ".") + f",5;{1 + number % 28:02}.0{1 + number % 9}.19{50 + number % 40};a"
    for number in range(60)
)


@pytest.fixture
def german(tmp_path):
    file = tmp_path / "leute.csv"
    file.write_text(GERMAN + "\n")
    return file


def test_a_german_file_is_released_as_ranges_and_the_reading_is_told_in_options(shoal, german, tmp_path):
    target = tmp_path / "release.csv"
    run = shoal(
        "anonymize", german, "-k", 5, "--qi", "income,born", "--keep", "town", "--method", "mondrian",
        "--ends", "exact", "-o", target,
    )  # fmt: skip
    assert run.code == 0
    assert run.sentences.count("Understood income as numbers with decimal comma and thousands point") == 1
    assert "born as dates written %d.%m.%Y" in run.sentences
    assert "--kind, --decimal, --thousands, --date-format or --missing" in run.sentences
    cells = [line.split(";")[0].strip(chr(34)) for line in target.read_text().splitlines()[1:]]
    assert all(re.fullmatch(r"\[\d+\.5-\d+\.5\]", cell) for cell in cells)


@pytest.mark.parametrize("method", ["mondrian", "mdav"])
def test_a_release_has_decimal_points_and_can_be_read_back(shoal, german, tmp_path, method):
    target = tmp_path / "release.csv"
    words = ["-k", 5, "--qi", "income", "--keep", "town", "--identifier", "born"]
    ends = ["--ends", "exact"] if method == "mondrian" else []
    assert shoal("anonymize", german, *words, "--method", method, *ends, "-o", target).code == 0
    cells = [line.split(";")[0].strip(chr(34)) for line in target.read_text().splitlines()[1:]]
    assert all("." in cell and "," not in cell for cell in cells)
    attacked = shoal("attack", german, target, "--qi", "income")
    assert attacked.code == 0, attacked.err


def test_dates_that_can_be_read_in_two_ways_are_asked_about_in_options(shoal, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("born\n" + "04/05/1992\n05/04/1993\n" * 10)
    run = shoal("anonymize", file, "-k", 2, "--qi", "born", "--method", "mondrian", "-o", tmp_path / "out.csv")
    assert run.code == 2
    assert "%d/%m/%Y or %m/%d/%Y" in run.sentences
    assert "--date-format %d/%m/%Y" in run.sentences
    assert "--kind born=nominal" in run.sentences
    assert "=" not in run.sentences.replace("born=nominal", "")
    assert not (tmp_path / "out.csv").exists()
    said = shoal("anonymize", file, "-k", 2, "--qi", "born", "--method", "mondrian", "--date-format", "%m/%d/%Y")
    assert said.code == 0


def test_what_is_said_about_notations_reaches_the_recipe(shoal, german, tmp_path):
    said = ["--decimal", "comma", "--thousands", "point", "--date-format", "%d.%m.%Y", "--missing", "NA,-99"]
    recipe = tmp_path / "recipe.toml"
    choices = ["-k", 5, "--qi", "income", "--method", "mondrian", "--others", "drop", "--save-recipe", recipe]
    assert shoal("anonymize", german, *choices, *said).code == 0
    text = recipe.read_text()
    assert 'decimal = ","' in text
    assert 'thousands = "."' in text
    assert '"-99"' in text


@pytest.mark.parametrize(
    ("option", "value"), [("--decimal", "dash"), ("--thousands", "x"), ("--date-format", "dd.mm.yyyy")]
)
def test_an_unknown_notation_is_refused_in_the_words_of_the_option(shoal, german, option, value):
    run = shoal("anonymize", german, "-k", 5, "--qi", "income", option, value)
    assert run.code == 2
    assert option in run.sentences


@pytest.mark.parametrize("header", ['"","age","town"', '"age","town"'])
def test_a_first_column_without_a_name_is_named_and_told(shoal, tmp_path, header):
    file = tmp_path / "r.csv"
    file.write_text(header + "\n" + "".join(f'"{row}",{20 + row % 9},"a"\n' for row in range(40)))
    run = shoal(
        "anonymize", file, "-k", 2, "--qi", "age", "--keep", "town", "--identifier", "row", "--method", "mondrian"
    )
    assert run.code == 0
    assert "The first column has no name and is called 'row' here" in run.sentences
