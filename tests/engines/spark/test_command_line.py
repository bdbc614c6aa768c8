"""``shoal anonymize --engine spark``: a folder in, a folder out."""

from __future__ import annotations

import json

import pyarrow.csv as pacsv
import pyarrow.parquet as papq
import pytest

from tests.cli.conftest import shoal
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.tables import people

__all__ = ["shoal"]

pytestmark = SPARKS_OWN_WARNINGS
OPTIONS = ["-k", "5", "--qi", "age,height,blood", "--sensitive", "illness", "--method", "mondrian", "--engine", "spark"]


@pytest.fixture
def folder(tmp_path):
    """Return a folder of two Parquet files."""
    table = people(200).select(["age", "height", "blood", "illness"])
    (tmp_path / "people").mkdir()
    for part in range(2):
        papq.write_table(table[100 * part : 100 * part + 100], tmp_path / "people" / f"part-{part}.parquet")
    return tmp_path / "people"


@pytest.mark.usefixtures("spark")
def test_a_folder_is_released_into_a_folder_with_its_report(shoal, folder, tmp_path):
    target, report = tmp_path / "release", tmp_path / "report.json"
    done = shoal("anonymize", folder, *OPTIONS, "-o", target, "--report", report, "--json")
    assert done.code == 0
    assert done.json["k"] >= 5
    assert done.json["records"] == papq.read_table(target).num_rows == 200
    assert json.loads(report.read_text("utf-8"))["released"] == 200
    again = shoal("anonymize", folder, *OPTIONS, "-o", target)
    assert "there already" in again.sentences
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people", "release", "report.json"]


@pytest.mark.usefixtures("spark")
def test_the_text_of_a_csv_file_is_read_as_on_one_machine(shoal, tmp_path):
    pacsv.write_csv(people(120).select(["age", "height", "blood", "illness"]), tmp_path / "people.csv")
    done = shoal("anonymize", tmp_path / "people.csv", *OPTIONS, "-o", tmp_path / "release", "--json")
    assert done.code == 0
    assert any("[" in text for text in papq.read_table(tmp_path / "release").column("height").to_pylist())


def test_options_that_do_not_go_with_spark_are_refused_before_any_work(shoal, folder, tmp_path):
    for words, sentence in (
        (["--keep-order", "-o", tmp_path / "r"], "--keep-order cannot be used with --engine spark"),
        (["--public-report", "p.md"], "--public-report cannot be used with --engine spark"),
        (["-o", tmp_path / "r", "--to-table", "t"], "Got both"),
        (["--save-mapping", tmp_path / "m.json"], "recodes a value alike everywhere"),
    ):
        assert sentence in shoal("anonymize", folder, *OPTIONS, *words).sentences
    done = shoal("anonymize", folder, *OPTIONS[:-2], "--master", "local[2]")
    assert "--master is for --engine spark" in done.sentences
    assert [path.name for path in tmp_path.iterdir()] == ["people"]
