"""Every table of the labelled collection, from file to audit with the command that ``shoal inspect`` prints."""

from __future__ import annotations

import pyarrow.csv as pacsv
import pytest
from benchmarks.first_minutes import NOTHING_KNOWN, go, made_tables, option
from benchmarks.roles import labelled

TABLES = made_tables()


def test_the_collection_has_many_tables():
    assert len(TABLES) >= 100


@pytest.mark.parametrize("name", TABLES)
def test_the_printed_command_makes_what_was_described(shoal, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    pacsv.write_csv(TABLES[name], tmp_path / "table.csv")
    way = go(tmp_path / "table.csv", shoal, ["--method", "mondrian"])
    known = [row for row in labelled() if row["table"] == name and row["role"] == "quasi-identifier"]
    if not known and way.problems == (NOTHING_KNOWN,):
        return
    assert way.problems == ()
    assert way.columns == TABLES[name].num_columns
    assert way.warnings <= 3


def test_a_survey_weight_of_zero_is_not_proposed(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{20 + place % 30},{place % 4},{place % 3 / 2}\n" for place in range(120))
    (tmp_path / "table.csv").write_text("age,region,dweight\n" + rows, encoding="utf-8")
    way = go(tmp_path / "table.csv", shoal, ["--method", "mondrian"])
    assert way.problems == ()
    assert "--survey-weight" not in way.command
    assert "missing or 0 in some rows" in " ".join(shoal("inspect", "table.csv").out.split())


def test_a_key_that_some_rows_lack_is_removed_and_counts_nobody(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{20 + place % 30},{place % 4},{place // 3 if place % 40 else ''}\n" for place in range(120))
    (tmp_path / "table.csv").write_text("age,region,idcode\n" + rows, encoding="utf-8")
    way = go(tmp_path / "table.csv", shoal, ["--method", "mondrian"])
    assert way.problems == ()
    assert "--person" not in way.command
    assert option(way.command, "--identifier") == "idcode"
