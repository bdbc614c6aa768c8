"""A DataFrame in, a DataFrame out: the same groups as in memory, counted before anything can be read."""

from __future__ import annotations

import stat
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import shoal
import shoal.spark
from shoal.errors import DataError, FileError, ParameterError, PrivacyError
from shoal.spark import engine
from shoal.spark.counting import check_counted
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

# Spark says this of pandas 3 whenever Arrow is used; shoal hands it no pandas
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
ROLES = {"quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": ["illness"], "identifiers": ["note"]}
RECIPE = {"k": 5, "hierarchies": HIERARCHIES, "effort": "fast", **ROLES}
MODELS = (shoal.LDiversity(2), shoal.TCloseness(0.4))


def on_spark(spark, table, parts=3):
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return spark.createDataFrame(rows, SCHEMA).repartition(parts)


SCHEMA = "age long, height double, town string, blood string, tongue string, illness string, note string"


def rows(data):
    return Counter(tuple(row) for row in data.collect())


def rows_in_memory(result):
    return Counter(zip(*(column.to_pylist() for column in result.released.columns), strict=True))


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(("models", "parts"), [((), 1), (MODELS, 4)])
def test_spark_gives_the_rows_that_memory_gives_whatever_the_partitions(spark, models, parts):
    table = people(900)
    expected = shoal.anonymize(table, **RECIPE, models=models)
    with shoal.spark.anonymize(on_spark(spark, table, parts), **RECIPE, models=models) as result:
        assert result.details["fragments"] == expected.details["fragments"] > 3
        assert rows(result.data) == rows_in_memory(expected)
        for name in ("ncp", "dm", "c_avg", "groups", "suppressed"):
            assert result.metrics[name] == pytest.approx(expected.metrics[name], rel=1e-9), name
        assert (result.audit.k, result.audit.records) == (expected.audit.k, expected.audit.records)
        assert result.audit.sensitive["illness"] == pytest.approx(expected.audit.sensitive["illness"])


def test_a_small_table_is_one_fragment_and_comes_back_whole(spark):
    with shoal.spark.anonymize(on_spark(spark, people(200)), **RECIPE) as result:
        assert result.details["fragments"] == 1
        assert result.data.count() == 200
        assert result.audit.k >= 5
        assert result.data.columns == [*QUASI_IDENTIFIERS, "illness"]


def test_kept_columns_stay_with_their_row_and_keep_their_type(spark):
    table = people(200)
    given = RECIPE | {"identifiers": [], "keep": ["note"]}
    with shoal.spark.anonymize(on_spark(spark, table), **given) as result:
        illness = dict(zip(table.column("note").to_pylist(), table.column("illness").to_pylist(), strict=True))
        released = {row["note"]: row["illness"] for row in result.data.collect()}
        assert released == illness
        assert dict(result.data.dtypes)["note"] == "string"


def test_a_release_is_saved_as_a_folder_and_counted_from_there(spark, tmp_path):
    target = str(tmp_path / "release")
    with shoal.spark.anonymize(on_spark(spark, people(200)), **RECIPE) as result:
        assert result.save(target) == target
        assert rows(spark.read.parquet(target)) == rows(result.data)
        with pytest.raises(FileError, match="there already"):
            result.save(target)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_release_that_does_not_agree_with_its_count_is_not_named(spark, tmp_path):
    with shoal.spark.anonymize(on_spark(spark, people(200)), **RECIPE) as result:
        fewer = replace(result, data=result.data.limit(150))
        with pytest.raises(PrivacyError, match="removed again"):
            fewer.save(str(tmp_path / "release"))
    assert list(tmp_path.iterdir()) == []


def test_a_release_below_k_is_refused_and_leaves_nothing(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "check_counted", lambda counted, _: check_counted(counted, 6_000))
    with pytest.raises(PrivacyError, match="fresh count found a group of"):
        shoal.spark.anonymize(on_spark(spark, people(200)), **RECIPE, staging=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_models_that_nothing_can_meet_are_refused_by_the_executor_in_one_sentence(spark, tmp_path):
    with pytest.raises(PrivacyError) as caught:
        shoal.spark.anonymize(
            on_spark(spark, people(60)), **RECIPE | {"k": 5, "models": [shoal.LDiversity(9)]}, staging=str(tmp_path)
        )
    assert "Traceback" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_staging_folder_on_this_machine_is_private_and_goes_with_the_result(spark):
    result = shoal.spark.anonymize(on_spark(spark, people(100)), **RECIPE)
    assert stat.S_IMODE(Path(result.staged).stat().st_mode) & 0o077 == 0
    result.close()
    assert not Path(result.staged).exists()


def test_an_audit_on_spark_counts_what_an_audit_in_memory_counts(spark):
    table = people(300).select(["town", "blood", "illness"])
    data = on_spark(spark, people(300)).select("town", "blood", "illness")
    expected = shoal.audit(table, quasi_identifiers=["town", "blood"], sensitive=["illness"])
    found = shoal.spark.audit(data, quasi_identifiers=["town", "blood"], sensitive=["illness"])
    assert (found.k, found.groups, found.unique, found.records) == (expected.k, expected.groups, expected.unique, 300)
    assert found.sizes == expected.sizes
    assert found.sensitive["illness"] == pytest.approx(expected.sensitive["illness"])


@pytest.mark.parametrize(
    ("changes", "fault", "sentence"),
    [
        ({"quasi_identifiers": ["agee"]}, shoal.ShoalError, "agee"),
        ({"k": 1000}, ParameterError, "at most the number of records"),
        ({"widen": 0.5}, ParameterError, "cannot be used on Spark yet"),
        ({"method": "mdav"}, ParameterError, "ranges"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(spark, tmp_path, changes, fault, sentence):
    with pytest.raises(fault, match=sentence):
        shoal.spark.anonymize(on_spark(spark, people(60)), **RECIPE | changes, staging=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"method": "mondrian"}, "all records in one place"),
        ({"models": [shoal.DeltaDisclosure(3.0)]}, "fragment by fragment"),
    ],
)
def test_a_large_table_refuses_what_needs_all_records_at_once(spark, tmp_path, changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        shoal.spark.anonymize(on_spark(spark, people(900)), **RECIPE | changes, staging=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_other_tables_are_refused_with_the_call_that_helps():
    with pytest.raises(DataError, match="takes a DataFrame of Spark"):
        shoal.spark.anonymize(people(20), **RECIPE)
