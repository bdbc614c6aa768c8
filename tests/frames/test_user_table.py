"""Kept columns come back as they came: every type of every frame library."""

from __future__ import annotations

import datetime as dt
import pickle
import uuid
from decimal import Decimal

import deltalake
import duckdb
import ibis
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as papq
import pytest
from polars.testing import assert_series_equal

import shoal
from datasets import Dataset, DatasetDict
from shoal.errors import DataError
from tests.conftest import REPOSITORY

AGES = [30, 31, 32, 50, 51, 90]
IDS = [uuid.UUID(int=one) for one in range(6)]
PANDAS = {
    "Int64 with NA beyond 2^53": pd.array([2**60 + 1, None, 3, 4, 5, 6], dtype="Int64"),
    "period": pd.period_range("2020-01", periods=6, freq="M"),
    "UUID": pd.Series(IDS, dtype=object),
    "interval": pd.interval_range(0, 6),
    "boolean with NA": pd.array([True, None, False, True, None, True], dtype="boolean"),
    "string": pd.array(["a", None, "c", "d", "e", "f"], dtype="string"),
    "ordered category": pd.Categorical(list("abcabc"), categories=["c", "b", "a"], ordered=True),
    "float with two zeros and NaN": np.array([0.0, -0.0, np.nan, 1.5, 2.5, 3.5], np.float32),
    "time zone": pd.date_range("2024-03-30", periods=6, freq="D", tz="Europe/Berlin"),
    "timedelta": pd.to_timedelta(range(6), unit="D"),
    "int8": np.arange(6, dtype=np.int8),
    "Arrow decimal": pd.array([Decimal("1.10")] * 6, dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
}
POLARS = {
    "Enum": pl.Series(list("abcabc"), dtype=pl.Enum(["c", "b", "a"])),
    "Categorical": pl.Series(list("abcabc"), dtype=pl.Categorical),
    "Object": pl.Series(IDS, dtype=pl.Object),
    "Decimal": pl.Series([Decimal("1.50")] * 6),
    "Duration": pl.Series([dt.timedelta(days=one) for one in range(6)]),
    "UInt64": pl.Series([2**64 - 1 - one for one in range(6)], dtype=pl.UInt64),
    "List": pl.Series([[one] for one in range(6)]),
    "Datetime with zone": pl.Series([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 6),
}
ARROW = {
    "dictionary": pa.array(list("abcabc")).dictionary_encode(),
    "large string": pa.array(list("abcabc"), pa.large_string()),
    "NaN": pa.array([0.0, -0.0, float("nan"), None, 1.0, 2.0]),
    "struct": pa.array([{"a": one} for one in range(6)]),
    "nanoseconds": pa.array(range(6), pa.timestamp("ns", "UTC")),
}
HAS_UUID = hasattr(pa, "uuid")  # since pyarrow 18
if HAS_UUID:
    ARROW["uuid"] = pa.array([one.bytes for one in IDS], pa.binary(16)).cast(pa.uuid())


def release(table, role="keep", **parameters):
    columns = {role: ["kept"]}
    given = {"k": 2, "quasi_identifiers": ["age"], "max_suppression": 0.2, "method": "mondrian"}
    return shoal.anonymize(table, **columns, **given | parameters)


def kept_rows(result):
    return np.flatnonzero(result.groups >= 0)


@pytest.mark.parametrize("role", ["keep", "sensitive"])
@pytest.mark.parametrize("name", PANDAS)
def test_a_pandas_column_comes_back_equal_in_value_and_type(name, role):
    if role == "sensitive" and name == "interval":
        pytest.skip("does not apply: models compare plain values, and an interval is none")
    table = pd.DataFrame({"age": AGES, "kept": PANDAS[name]}, index=[7, 7, 8, 9, 10, 11])
    result = release(table, role)
    expected = table["kept"].iloc[kept_rows(result)].reset_index(drop=True)
    pd.testing.assert_series_equal(result.data["kept"], expected)
    assert result.data.index.equals(pd.RangeIndex(len(expected)))


@pytest.mark.parametrize("name", POLARS)
def test_a_polars_column_comes_back_equal_in_value_and_type(name):
    table = pl.DataFrame({"age": AGES, "kept": POLARS[name]})
    result = release(table)
    found, expected = result.data["kept"], table["kept"].gather(kept_rows(result))
    if name == "Object":
        assert found.dtype == pl.Object
        assert found.to_list() == expected.to_list()
    else:
        assert_series_equal(found, expected)


@pytest.mark.parametrize("name", ARROW)
def test_an_arrow_column_comes_back_equal_in_value_and_type(name):
    table = pa.table({"age": AGES, "kept": ARROW[name]})
    result = release(table)
    expected = table.column("kept").take(pa.array(kept_rows(result)))
    assert result.data.schema.field("kept").type == expected.type
    assert str(result.data.column("kept").to_pylist()) == str(expected.to_pylist())  # NaN equals no NaN


def test_a_relation_comes_back_on_its_own_connection():
    connection = duckdb.connect()
    connection.execute("create table people as select range::int as age, 'x' || range as kept from range(30, 36)")
    data = release(connection.table("people")).data
    assert data.columns == ["age", "kept"]
    assert data.query("released", "select count(*) from released, people").fetchall() == [(36,)]


def test_a_narwhals_frame_comes_back_as_one():
    data = release(nw.from_native(pl.DataFrame({"age": AGES, "kept": POLARS["Enum"]}))).data
    assert isinstance(data, nw.DataFrame)
    assert isinstance(data.to_native(), pl.DataFrame)
    assert isinstance(data.schema["kept"], nw.Enum)


def test_a_dict_of_columns_comes_back_as_one():
    data = release({"age": np.array(AGES), "kept": IDS}).data
    assert data["kept"] == IDS
    assert data["age"][:2] == ["[30-32]"] * 2


def test_a_list_of_rows_comes_back_as_one():
    rows = [{"age": age, "kept": one} for age, one in zip(AGES, IDS, strict=True)]
    assert [row["kept"] for row in release(rows).data] == IDS


def test_a_named_level_of_an_index_that_has_a_role_comes_back_in_the_index():
    table = pd.DataFrame({"kept": range(6)}, index=pd.MultiIndex.from_arrays([AGES, range(6)], names=["age", "row"]))
    data = release(table).data
    assert data.index.names == ["age"]
    assert set(data.index) == {"[30-32]", "[50-91]"}
    assert list(data.columns) == ["kept"]


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # of DuckDB, about a call of Ibis
def test_a_table_of_ibis_comes_back_from_its_own_engine_as_arrow():
    connection = ibis.duckdb.connect()
    connection.raw_sql("create table people as select i + 30 as age, 'n' || i as kept from range(6) t(i)")
    people = connection.table("people")
    data = release(people.filter(people.age > 29).mutate(age=people.age * 2)).data
    assert isinstance(data, pa.Table)
    assert sorted(data["kept"].to_pylist()) == [f"n{row}" for row in range(6)]
    assert shoal.audit(people, quasi_identifiers=["age"]).k == 1


def test_a_data_set_of_hugging_face_is_taken_by_the_call_that_the_message_names():
    faces = Dataset.from_dict({"age": AGES, "kept": list(range(6))})
    with pytest.raises(DataError, match=r"data\.to_polars\(\)"):
        release(faces)
    data = release(faces.to_polars()).data
    assert data["kept"].to_list() == list(range(6))
    with pytest.raises(DataError, match=r"A DatasetDict of several tables .*\n.*data\[name\]"):
        release(DatasetDict({"train": faces, "test": faces}))
    with pytest.raises(DataError, match=r"A dict of several tables"):
        release({"train": pd.DataFrame({"age": AGES}), "test": pd.DataFrame({"age": AGES})})


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        (pl.Series([1, 2]), r"series\.to_frame\(\)"),
    ],
)
def test_what_is_no_table_names_the_call_that_makes_one(table, hint):
    with pytest.raises(DataError, match=hint):
        shoal.anonymize(table, k=2, quasi_identifiers=["age"])


# --- files -------------------------------------------------------------------------------------------------------


def test_the_numbers_of_a_text_file_are_numbers_in_parquet(tmp_path):
    (tmp_path / "in.csv").write_text("age,kept,zip\n30,1.50,00123\n31,2,00124\n", encoding="utf-8")
    result = shoal.anonymize(
        tmp_path / "in.csv", k=2, quasi_identifiers=["age"], keep=["kept", "zip"], method="mondrian"
    )
    result.save(tmp_path / "out.parquet")
    result.save(tmp_path / "out.csv")
    written = papq.read_table(tmp_path / "out.parquet")
    assert sorted(written.column("kept").to_pylist()) == [1.5, 2.0]
    assert sorted(written.column("zip").to_pylist()) == ["00123", "00124"]
    assert "1.50" in (tmp_path / "out.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["dictionary", "uuid", "large string", "struct", "nanoseconds"])
def test_a_column_of_arrow_has_its_type_in_parquet(tmp_path, name):
    if name == "uuid" and not HAS_UUID:
        pytest.skip("does not apply: pyarrow has no type of UUIDs before version 18")
    result = release(pa.table({"age": AGES, "kept": ARROW[name]}))
    result.save(tmp_path / "out.parquet")
    assert papq.read_table(tmp_path / "out.parquet").schema.field("kept").type == ARROW[name].type


@pytest.mark.parametrize(("name", "text"), [("period", "2020-01"), ("timedelta", "1 days")])
def test_periods_and_durations_are_readable_in_a_text_file(tmp_path, name, text):
    release(pd.DataFrame({"age": AGES, "kept": PANDAS[name]})).save(tmp_path / "out.csv")
    assert text in (tmp_path / "out.csv").read_text(encoding="utf-8")


# --- the page that says so -----------------------------------------------------------------------------------------


def test_the_page_of_types_lists_what_is_tested():
    page = (REPOSITORY / "docs" / "reference" / "types.md").read_text(encoding="utf-8")
    arrow = {*ARROW, "uuid"}  # an older pyarrow does not know it
    for library, types in (("pandas", PANDAS), ("polars", POLARS), ("pyarrow", arrow)):
        listed = {line.split("|")[2].strip() for line in page.splitlines() if line.startswith(f"| {library} |")}
        assert listed == set(types)


def test_a_pickle_of_a_result_holds_no_row_of_the_users_table():
    name = "do-not-carry-me"
    table = pd.DataFrame({"age": AGES, "kept": range(6), "name": [name] * 6})
    assert name.encode() not in pickle.dumps(release(table, identifiers=["name"]))


def test_numbers_with_holes_and_times_in_nanoseconds_are_handed_out_exactly():
    numbers = [2**53 + 1, 2**53 + 1, None, None]
    times = pd.Series(pa.array([1, 1, 3, 3], pa.time64("ns")), dtype=pd.ArrowDtype(pa.time64("ns")))
    frame = pd.DataFrame({"number": pd.array(numbers, "Int64"), "time": times, "row": range(4)})
    result = shoal.anonymize(
        frame, k=2, quasi_identifiers=["number", "time"], keep=["row"], method="mdav", release="representatives"
    )
    assert result.data["number"].dropna().tolist() == [2**53 + 1] * 2
    assert pa.array(result.data["time"]).cast(pa.int64()).to_pylist() == [1, 1, 3, 3]


@pytest.mark.parametrize("kind", [np.ndarray, np.recarray])
def test_a_record_array_comes_back_as_one_with_kept_columns_as_they_were(kind):
    rows = [(20 + row % 3, "ab"[row % 2], np.float32(row)) for row in range(12)]
    given = np.array(rows, [("age", np.int16), ("town", "U1"), ("cost", np.float32)]).view(kind)
    result = shoal.anonymize(given, k=6, quasi_identifiers=["age", "town"], keep=["cost"], method="mondrian")
    assert result.data.dtype.names == ("age", "town", "cost")
    assert result.data["cost"].dtype == np.float32
    assert result.data["cost"].tolist() == list(range(12))
    assert result.data["age"].tolist() == result.released.column("age").to_pylist()


def test_a_delta_table_names_the_call_that_is_taken(tmp_path):
    deltalake.write_deltalake(tmp_path, pa.table({"age": AGES}))
    lake = deltalake.DeltaTable(tmp_path)
    with pytest.raises(
        DataError, match=r"A DeltaTable is not taken as it is\.\nHint: pass the table as data\.to_pyarrow_table\(\)"
    ):
        shoal.anonymize(lake, k=2, quasi_identifiers=["age"])
    result = shoal.anonymize(lake.to_pyarrow_table(), k=2, quasi_identifiers=["age"], method="mondrian")
    assert result.data.num_rows == len(AGES)
