"""A DataFrame in, a DataFrame out: the same groups as in memory, counted before anything can be read."""

from __future__ import annotations

import stat
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq
import pytest

import shoal
import shoal.spark
from shoal.engines.spark import fragments, whole
from shoal.engines.spark.counting import check_counted
from shoal.engines.spark.staging import Staging
from shoal.engines.spark.work import at_hand
from shoal.errors import DataError, FileError, ParameterError, PrivacyError, RepeatedPersonWarning
from shoal.privacy import PrivacyModel
from shoal.treatments.pseudonyms import make_key, pseudonym
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

pytestmark = SPARKS_OWN_WARNINGS
ROLES = {"quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": ["illness"], "identifiers": ["note"]}
RECIPE = {"k": 5, "hierarchies": HIERARCHIES, "effort": "fast", **ROLES}
MODELS = (shoal.LDiversity(2), shoal.TCloseness(0.4))


def on_spark(spark, table, parts=3):
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return spark.createDataFrame(rows, SCHEMA).repartition(parts)


SCHEMA = "age long, height double, town string, blood string, tongue string, illness string, note string"


def rows(data):
    return Counter(tuple(row) for row in data.collect())


def rows_of(table):
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def rows_in_memory(result):
    return rows_of(result.released)


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(("models", "ends", "parts"), [((), "round", 1), (MODELS, "exact", 4)])
def test_memory_stream_and_spark_give_the_same_rows_whatever_the_partitions(spark, tmp_path, models, ends, parts):
    table, given = people(900), RECIPE | {"models": models, "ends": ends}
    expected = shoal.anonymize(table, **given)
    papq.write_table(table, tmp_path / "people.parquet")
    recipe = shoal.Anonymizer(**given)
    recipe.stream(tmp_path / "people.parquet", tmp_path / "streamed.parquet", memory="1GB", workers=1)
    assert rows_of(papq.read_table(tmp_path / "streamed.parquet")) == rows_in_memory(expected)
    with shoal.spark.anonymize(on_spark(spark, table, parts), **given) as result:
        assert [path.name for path in Path(result.staged).iterdir()] == ["rows"]
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


def test_a_release_can_be_a_table_and_takes_the_place_of_another_only_if_asked(spark):
    with shoal.spark.anonymize(on_spark(spark, people(200)), **RECIPE) as result:
        assert result.save("released_people") == "released_people"
        with pytest.raises(FileError, match="there already"):
            result.save("released_people")
        fewer = replace(result, rows=result.data.limit(150))
        with pytest.raises(DataError, match="removed again"):
            fewer.save("released_people", force=True)
        assert spark.table("released_people").count() == 200
        result.save("released_people", force=True)
        assert rows(spark.table("released_people")) == rows(result.data)
    assert [one.tableName for one in spark.sql("SHOW TABLES").collect()] == ["released_people"]
    spark.sql("DROP TABLE released_people")


def test_a_release_that_does_not_agree_with_its_count_is_not_named(spark, tmp_path):
    with shoal.spark.anonymize(on_spark(spark, people(200)), **RECIPE) as result:
        fewer = replace(result, rows=result.data.limit(150))
        with pytest.raises(DataError, match="removed again"):
            fewer.save(str(tmp_path / "release"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_fragments")
def test_a_release_below_k_is_refused_and_leaves_nothing(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(fragments, "check_counted", lambda counted, _: check_counted(counted, 6_000))
    with pytest.raises(PrivacyError, match="recount found a group of"):
        shoal.spark.anonymize(on_spark(spark, people(900)), **RECIPE, staging=str(tmp_path))
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


@pytest.mark.parametrize(
    "asked",
    [
        {"sampling_fraction": 0.1, "unique_columns": 2},
        {"person": "owner", "household": "house"},
        {"person": "owner", "survey_weight": "weight"},
        {"population": 700},
    ],
)
def test_an_audit_on_spark_finds_what_an_audit_in_memory_finds(spark, asked):
    def owned(records, seed=0):
        number = np.arange(records)
        side = {"owner": (number * 7 % (records // 2)).astype(str), "house": (number // 4).astype(str)}
        table = people(records, seed).select(["town", "blood", "illness"])
        return pa.table(
            {**dict(zip(table.column_names, table.columns, strict=True)), **side, "weight": 1.0 + number % 3}
        )

    table, there = owned(300), dict(asked)
    schema = "town string, blood string, illness string, owner string, house string, weight double"
    as_spark = lambda one: spark.createDataFrame(list(zip(*(c.to_pylist() for c in one.columns), strict=True)), schema)  # noqa: E731
    if "population" in asked:
        asked, there = {"population": owned(700, 1)}, {"population": as_spark(owned(700, 1))}
    names = {"quasi_identifiers": ["town", "blood"], "sensitive": ["illness"]}
    expected = shoal.audit(table, **names, **asked).as_dict()
    found = shoal.spark.audit(as_spark(table).repartition(3), **names, **there).as_dict()
    for name in ("records", "k", "groups", "unique", "largest", "sizes", "persons", "households", "unique_sets"):
        assert found[name] == expected[name], name
    assert found["sensitive"]["illness"] == pytest.approx(expected["sensitive"]["illness"])
    assert found["risk"] == pytest.approx(expected["risk"])
    assert found["represented"] == pytest.approx(expected["represented"])
    assert len(found["population"]) == len(expected["population"])


def test_cells_that_read_the_same_are_one_group_wherever_they_lie(spark):
    cells = [0.0, -0.0, float("nan"), None] * 3
    data = spark.createDataFrame([(cell,) for cell in cells], "height double").repartition(5)
    found = shoal.spark.audit(data, quasi_identifiers=["height"])
    assert (found.k, found.groups) == (6, 2)


@pytest.mark.parametrize(
    ("changes", "fault", "sentence"),
    [
        ({"quasi_identifiers": ["agee"], "hierarchies": {}}, shoal.ShoalError, "agee"),
        ({"k": 1000}, ParameterError, "at most the number of records"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(spark, tmp_path, changes, fault, sentence):
    with pytest.raises(fault, match=sentence):
        shoal.spark.anonymize(on_spark(spark, people(60)), **RECIPE | changes, staging=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"models": [shoal.DeltaDisclosure(3.0)]}, "DeltaDisclosure"),
        ({"method": "mdav"}, "A release with representatives"),
        (
            {"identifiers": [], "person": "note", "models": [shoal.LDiversity(2)]},
            "A person or household column with models",
        ),
        ({"identifiers": [], "person": "note", "together": True}, "'together'"),
        ({"widen": 0.2}, "'widen'"),
    ],
)
def test_a_table_too_large_for_one_task_is_refused_before_any_work_if_it_needs_one(
    spark, tmp_path, monkeypatch, changes, what
):
    monkeypatch.setattr(whole, "MOST_RECORDS", 800)
    with pytest.raises(ParameterError, match=f"{what} needs all records in one place"):
        shoal.spark.anonymize(on_spark(spark, people(900)), **RECIPE | changes, staging=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@dataclass(frozen=True)
class Theirs(PrivacyModel):
    """A model of another package on a list of people in a file."""

    population: Any

    def bind(self, table):
        raise NotImplementedError

    def describe(self):
        return ""


def test_a_list_of_people_is_read_before_executors_need_it_whosever_model_it_is(tmp_path):
    papq.write_table(people(9), tmp_path / "town.parquet")
    place = str(tmp_path / "town.parquet")
    given = [Theirs(place), shoal.KMap(3, population=place), shoal.KMap(3), Theirs(people(9))]
    read = at_hand(shoal.Anonymizer(**RECIPE, models=given).request).models
    assert [getattr(one.population, "num_rows", None) for one in read] == [9, 9, None, 9]


@pytest.mark.parametrize(
    ("module", "master", "here"),
    [
        ("pyspark.sql.session", "local[2]", True),
        ("pyspark.sql.session", "yarn", False),
        ("pyspark.sql.connect.session", "local[2]", False),
    ],
)
def test_a_cluster_or_a_server_needs_a_folder_for_staging(module, master, here):
    session = type("SparkSession", (), {"conf": {"spark.master": master}, "__module__": module})()
    data = SimpleNamespace(sparkSession=session)
    if here:
        place = Staging(data, None)
        assert stat.S_IMODE(Path(place.address).stat().st_mode) == 0o700
        place.close()
        assert not Path(place.address).exists()
    else:
        with pytest.raises(ParameterError, match="must name a folder that every executor can write"):
            Staging(data, None)


def test_other_tables_are_refused_with_the_call_that_helps():
    with pytest.raises(DataError, match="takes a DataFrame of Spark"):
        shoal.spark.anonymize(people(20), **RECIPE)


# --- all that one machine can do -----------------------------------------------------------------------------------


def test_people_treatments_and_pseudonyms_go_through_one_task_as_in_memory(spark, tmp_path):
    table = people(240).append_column("cost", pa.array(np.arange(240) * 7 + 3))
    table = table.set_column(6, "note", pa.array((np.arange(240) // 2).astype(str)))
    key = make_key(tmp_path / "key.bin")
    given = RECIPE | {
        "identifiers": [],
        "person": "note",
        "pseudonymize": ["note"],
        "key": key,
        "keep": ["cost"],
        "treat": {"cost": shoal.Round(100)},
        "ends": "round",
        "method": "mondrian",
    }
    data = spark.createDataFrame(
        list(zip(*(one.to_pylist() for one in table.columns), strict=True)), f"{SCHEMA}, cost long"
    )
    with shoal.spark.anonymize(data, **given, report=True) as result:
        found = [row.asDict() for row in result.data.collect()]
        assert result.audit.persons == 120
        assert result.report().summary.reached.k == result.audit.k >= 5
    assert {row["cost"] % 100 for row in found} == {0}
    assert {row["note"] for row in found} == {pseudonym(key.read_bytes(), str(one)) for one in range(120)}
    expected = shoal.anonymize(table, **given)
    assert expected.audit.persons == 120
    assert result.metrics["ncp"] == pytest.approx(expected.metrics["ncp"], rel=0.2)


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(("ends", "each"), [("exact", 2), ("round", 20)])
def test_people_are_counted_fragment_by_fragment_as_in_memory(spark, ends, each):
    table = people(900).set_column(6, "note", pa.array((np.arange(900) // each).astype(str)))
    given = RECIPE | {"identifiers": [], "person": "note", "k": 3, "ends": ends}
    expected = shoal.anonymize(table, **given)
    with shoal.spark.anonymize(on_spark(spark, table), **given) as result:
        assert result.data.columns == [*QUASI_IDENTIFIERS, "illness"]
        assert result.details["fragments"] == expected.details["fragments"] > 1
        assert result.audit.persons == expected.audit.persons == 900 // each
        assert (result.audit.k, result.audit.records) == (expected.audit.k, 900)
        assert result.metrics["ncp"] == pytest.approx(expected.metrics["ncp"], rel=0.05)
        assert set(result.audit.sensitive["illness"]) == set(expected.audit.sensitive["illness"])
        staged = papq.read_table(f"{result.staged}/rows")
        names = [*QUASI_IDENTIFIERS, "shoal_person"]
        met = {row for row in zip(*(staged.column(name).to_pylist() for name in names), strict=True) if row[-1]}
        assert min(Counter(row[:-1] for row in met).values()) >= 3


def test_warnings_of_the_task_are_heard_on_the_driver(spark):
    table = people(200)
    table = table.set_column(6, "note", pa.array([f"P{one // 2:05}" for one in range(200)]))
    given = RECIPE | {"method": "mondrian", "identifiers": ["patient_id"]}
    with (
        pytest.warns(RepeatedPersonWarning, match="'patient_id' seems to name 100 people"),
        shoal.spark.anonymize(on_spark(spark, table).withColumnRenamed("note", "patient_id"), **given),
    ):
        pass


def test_representatives_keep_the_type_of_numbers(spark):
    with shoal.spark.anonymize(on_spark(spark, people(100)), **RECIPE | {"method": "mdav"}) as result:
        assert dict(result.data.dtypes) == {
            "age": "bigint",
            "height": "double",
            "town": "string",
            "blood": "string",
            "tongue": "string",
            "illness": "string",
        }
        assert result.audit.k >= 5


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(("method", "models"), [("bug", []), ("datafly", [shoal.LDiversity(3)])])
def test_global_recodings_see_combinations_only_and_give_what_memory_gives(spark, method, models):
    names = ["town", "blood", "tongue"]
    given = RECIPE | {"quasi_identifiers": names, "keep": ["note"], "identifiers": [], "max_suppression": 0.2}
    given |= {"method": method, "models": models, "hierarchies": HIERARCHIES | {"tongue": "flat"}}
    table = people(900).drop_columns(["age", "height"])
    expected = shoal.anonymize(table, **given)
    data = on_spark(spark, people(900)).drop("age", "height")
    with shoal.spark.anonymize(data, **given) as result:
        assert rows(result.data) == rows_in_memory(expected)
        assert result.suppressed == expected.suppressed
        assert result.metrics["ncp"] == pytest.approx(expected.metrics["ncp"], rel=1e-9)
        assert result.generalization == expected.generalization
        new = people(40, seed=3).drop_columns(["age", "height"])
        with pytest.warns(shoal.errors.PrivacyWarning):
            recoded = expected.transform(new, unseen="suppress")
        found = result.transform(on_spark(spark, people(40, seed=3)).drop("age", "height"), unseen="suppress")
        assert rows(found) == rows_of(recoded)


@pytest.mark.usefixtures("small_fragments")
def test_other_local_methods_work_fragment_by_fragment(spark):
    with shoal.spark.anonymize(on_spark(spark, people(900)), **RECIPE | {"method": "mondrian"}) as result:
        assert result.details["fragments"] > 3
        assert result.audit.k >= 5
        with pytest.raises(ParameterError, match="no mapping of values"):
            result.transform(on_spark(spark, people(20)))
