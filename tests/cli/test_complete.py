"""``shoal complete``: plausible tables of a released file."""

from __future__ import annotations

import pandas as pd
import pytest


@pytest.fixture
def release(shoal, patients, roles):
    target = patients.with_name("release.csv")
    run = shoal("anonymize", patients, "-k", 5, *roles, "--method", "mondrian", "-o", target)
    assert run.code == 0, run.err
    return target


def test_tables_are_written_below_one_another(shoal, release, tmp_path):
    target = tmp_path / "plausible.parquet"
    run = shoal("complete", release, "-m", 3, "--seed", 1, "-o", target)
    assert run.code == 0, run.err
    assert "not data about people" in run.out
    table, cells = pd.read_parquet(target), pd.read_csv(release)
    assert table.columns.tolist() == ["completion", *cells.columns]
    assert table["completion"].value_counts().to_dict() == dict.fromkeys((1, 2, 3), len(cells))
    assert not table.astype(str).apply(lambda column: column.str.startswith("[")).to_numpy().any()
    again = tmp_path / "again_plausible.csv"
    assert shoal("complete", release, "-m", 3, "--seed", 1, "-o", again).code == 0
    assert len(pd.read_csv(again)) == len(table)


def test_a_file_that_does_not_say_what_it_is_is_not_written(shoal, release, tmp_path):
    run = shoal("complete", release, "-o", tmp_path / "people.csv")
    assert (run.code, "must have 'plausible' in its name" in run.sentences) == (2, True)
    assert not (tmp_path / "people.csv").exists()


@pytest.mark.parametrize(
    ("words", "sentence"), [(("-m", 0), "at least 1"), (("--dictionary", "no.json"), "cannot be read")]
)
def test_bad_input_is_told_in_a_sentence(shoal, release, tmp_path, words, sentence):
    run = shoal("complete", release, *words, "-o", tmp_path / "plausible.csv")
    assert (run.code, sentence in run.sentences) == (2, True), run.err
    assert not (tmp_path / "plausible.csv").exists()


def test_the_release_itself_and_a_file_that_is_there_are_not_replaced(shoal, release, tmp_path):
    target = tmp_path / "plausible.csv"
    target.write_text("mine", encoding="utf-8")
    assert shoal("complete", release, "-m", 1, "-o", target).code == 2
    assert target.read_text("utf-8") == "mine"


def test_cells_can_be_plain_columns(shoal, patients, roles, tmp_path):
    target = tmp_path / "plain.csv"
    run = shoal("anonymize", patients, "-k", 5, *roles, "--method", "mondrian", "--cells", "columns", "-o", target)
    assert run.code == 0, run.err
    assert {"age_low", "age_high", "age_mid"} <= set(pd.read_csv(target))
