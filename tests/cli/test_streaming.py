"""``shoal anonymize --engine stream``."""

from __future__ import annotations

import pyarrow.parquet as papq
import pytest

from shoal.engines import sizes
from tests.engines.tables import people

OPTIONS = ["-k", "5", "--qi", "age,height,blood", "--sensitive", "illness", "--effort", "fast"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.parquet"
    papq.write_table(people(200).select(["age", "height", "blood", "illness"]), path)
    return path


def test_a_table_is_streamed_from_file_to_file(shoal, table, tmp_path):
    target = tmp_path / "release.parquet"
    done = shoal("anonymize", table, *OPTIONS, "--engine", "stream", "--memory", "1GB", "-o", target, "--json")
    assert done.code == 0
    told = done.json
    assert told["k"] >= 5
    assert told["records"] == papq.read_table(target).num_rows == 200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet", "release.parquet"]


def test_a_large_file_is_streamed_without_being_asked(shoal, table, tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "free_memory", lambda: 40_000)
    done = shoal("anonymize", table, *OPTIONS, "-o", tmp_path / "release.parquet", "--json")
    assert done.json["fragments"] == 1


def test_what_a_streamed_release_lacks_is_said_before_any_work(shoal, table, tmp_path):
    done = shoal("anonymize", table, *OPTIONS, "--engine", "stream")
    assert "Got no --output" in done.sentences
    report = ["--report", tmp_path / "r.md", "--report-examples"]
    for options, name in ((["--keep-order"], "--keep-order"), (report, "--report-examples")):
        done = shoal("anonymize", table, *OPTIONS, "--engine", "stream", "-o", tmp_path / "r.csv", *options)
        assert f"{name} cannot be used" in done.sentences
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


def test_a_streamed_release_has_a_report_and_says_what_to_look_at(shoal, table, tmp_path):
    target, report = tmp_path / "release.parquet", tmp_path / "report.md"
    done = shoal("anonymize", table, *OPTIONS, "--engine", "stream", "-o", target, "--report", report)
    assert done.code == 0
    assert "200 records" in report.read_text("utf-8")
    assert "Written: " in done.out
    assert str(report) in done.out.replace("\n", "")
