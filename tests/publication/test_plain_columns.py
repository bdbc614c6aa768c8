"""Releases in plain columns, for programs without a reader of cells."""

from __future__ import annotations

import json
import warnings

import pandas as pd
import pyarrow.parquet as pq
import pytest

import shoal
import shoal_reader
from shoal.errors import DataError, MissingExtraError, ParameterError
from tests.reader.test_reading import CHOICES, ORIGINAL


@pytest.fixture(scope="module")
def result():
    return shoal.anonymize(ORIGINAL, k=4, keep=["hours"], method="mondrian", **CHOICES)


def test_every_range_has_its_ends_and_its_middle_in_the_file(result, tmp_path):
    result.save(tmp_path / "text.csv")
    result.save(tmp_path / "plain.csv", cells="columns")
    release = shoal_reader.read(tmp_path / "text.csv")
    plain = pd.read_csv(tmp_path / "plain.csv")
    by = ["hours", "cost_low", "cost_high", "age_low", "born_low"]
    wanted = release.columns().assign(born_low=lambda table: table["born_low"].astype(str))
    assert sorted(plain) == sorted(wanted)
    assert plain[by].sort_values(by).to_numpy().tolist() == wanted[by].sort_values(by).to_numpy().tolist()
    assert {name for name in plain if plain[name].dtype.kind not in "if"} == {
        "born_low",
        "born_high",
        "born_mid",
        "seen_low",
        "seen_high",
        "seen_mid",
        "job_1",
        "job_2",
    }


def test_the_dictionary_says_what_each_column_is_and_the_reader_reads_it(result, tmp_path):
    result.save(tmp_path / "plain.csv", cells="columns")
    told = json.loads((tmp_path / "plain.datapackage.json").read_text("utf-8"))
    fields = {field["name"]: field for field in told["resources"][0]["schema"]["fields"]}
    assert fields["age_low"]["description"] == "age: lowest possible value."
    assert (fields["age_low"]["shoal"]["of"], fields["age_low"]["shoal"]["part"]) == ("age", "low")
    assert fields["age_mid"]["shoal"]["kind"] == "number"
    assert fields["born_low"]["type"] == "date"
    assert fields["hours"]["shoal"]["role"] == "kept"
    release = shoal_reader.read(tmp_path / "plain.csv")
    assert release.table["age_low"].dtype.kind == "i"
    assert release.table["born_low"].dtype.kind == "M"
    verified = shoal.verify(tmp_path / "plain.csv")
    assert verified.met, verified


def test_midpoints_keep_the_columns(result, tmp_path):
    result.save(tmp_path / "middle.parquet", cells="midpoints")
    table = pq.read_table(tmp_path / "middle.parquet")
    assert table.column_names == list(result.released.column_names)
    assert str(table.schema.field("age").type) == "double"


def test_k_is_counted_again_over_the_plain_columns(result, tmp_path, monkeypatch):
    from shoal.results import result as module

    def broken(*arguments):
        shaped = real(*arguments)
        return shaped._replace(quasi_identifiers=[*shaped.quasi_identifiers, "hours"])

    real = module.shape_release
    monkeypatch.setattr(module, "shape_release", broken)
    with pytest.raises(shoal.errors.PrivacyError):
        result.save(tmp_path / "plain.csv", cells="columns")
    assert list(tmp_path.iterdir()) == []


def test_plain_columns_of_a_table_with_decimal_commas_have_points_throughout(tmp_path):
    lines = ["age;size;hours"] + [f"{20 + place};{place},5;{place * 7 % 5}" for place in range(20)]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with warnings.catch_warnings(action="ignore"):  # what was understood
        result = shoal.anonymize(
            tmp_path / "in.csv", k=4, quasi_identifiers=["age", "size"], keep=["hours"], method="mondrian"
        )
    result.save(tmp_path / "plain.csv", cells="columns")
    release = shoal_reader.read(tmp_path / "plain.csv")
    assert release.table["size_low"].dtype.kind == "f"
    assert (release.table["size_low"] <= release.table["size_mid"]).all()
    first = (tmp_path / "plain.csv").read_text("utf-8").splitlines()
    assert first[0].replace('"', "").split(";")[:3] == ["age_low", "age_high", "age_mid"]
    assert not any("," in line for line in first)


def test_what_cannot_be_is_refused_before_a_file_is_there(result, tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="The 'cells' parameter"):
        result.save(tmp_path / "a.csv", cells="wide")
    clash = ORIGINAL[["age"]].assign(age_low=1)
    made = shoal.anonymize(clash, k=4, quasi_identifiers=["age"], keep=["age_low"], method="mondrian")
    with pytest.raises(DataError, match="'age_low'"):
        made.save(tmp_path / "a.csv", cells="columns")
    monkeypatch.setitem(__import__("sys").modules, "shoal_reader.reading", None)
    with pytest.raises(MissingExtraError, match="pandas"):
        result.save(tmp_path / "a.csv", cells="columns")
    assert list(tmp_path.iterdir()) == []
