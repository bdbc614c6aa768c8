from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.errors import ColumnError, DataError
from shoal.frames import Frame, infer_type, to_frame

DATA = {"zip": ["00123", "04567", None], "age": [39, 40, 41], "cost": [1.5, 2.0, None]}


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (pd.DataFrame(DATA), pd.DataFrame),
        (pl.DataFrame(DATA), pl.DataFrame),
        (pa.table(DATA), pa.Table),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_a_table_comes_back_as_the_kind_that_came(table, kind):
    frame = to_frame(table)
    assert frame.names == ["zip", "age", "cost"]
    assert frame.table.column("zip").to_pylist() == DATA["zip"]
    back = frame.restore(frame.table)
    assert isinstance(back, kind)


def test_a_duckdb_relation_comes_back_as_one():
    duckdb = pytest.importorskip("duckdb")
    frame = to_frame(duckdb.from_arrow(pa.table(DATA)))
    assert frame.table.to_pydict() == DATA
    assert frame.restore(frame.table).fetchall()[0] == ("00123", 39, 1.5)


def test_a_polars_lazy_frame_is_collected():
    assert to_frame(pl.LazyFrame(DATA)).records == 3


def test_any_object_with_the_arrow_capsule_is_taken():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(DATA).__arrow_c_stream__(requested_schema)

    assert to_frame(Stream()).records == 3


def test_a_pandas_index_never_travels_along():
    filtered = pd.DataFrame(DATA)[lambda table: table.age > 39]
    filtered.index.name = "row"
    frame = to_frame(filtered)
    assert frame.names == ["zip", "age", "cost"]
    assert list(frame.restore(frame.table).index) == [0, 1]
    assert not frame.table.schema.metadata


def test_categories_of_pandas_and_polars_are_plain_text():
    for table in (
        pd.DataFrame({"job": pd.Categorical(["a", "b", "a"])}),
        pl.DataFrame({"job": pl.Series(["a", "b", "a"], dtype=pl.Categorical)}),
    ):
        assert to_frame(table).table.column("job").to_pylist() == ["a", "b", "a"]


def test_a_column_of_mixed_types_is_named_and_its_values_are_not():
    with pytest.raises(DataError, match="'mixed'") as fault:
        to_frame(pd.DataFrame({"mixed": [1, "secret", 2.5]}))
    assert "secret" not in str(fault.value)


def test_what_is_no_table_is_refused():
    for wrong in ([1, 2], "text", None, pd.Series([1, 2])):
        with pytest.raises(DataError):
            to_frame(wrong)


def test_doubled_and_unnamed_columns_are_refused():
    with pytest.raises(ColumnError, match="two columns named 'a'"):
        to_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ColumnError, match="two columns named 'a'"):
        to_frame(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(ColumnError, match="no name"):
        to_frame(pa.table({"": [1]}))
    with pytest.raises(ColumnError, match="must be text"):
        to_frame(pd.DataFrame([[1, 2]]))


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["39", "-4", "0", None], pa.int64()),
        (["39", "4.25", "1e5"], pa.float64()),
        (["00123", "12345"], pa.string()),
        (["2024-02-29", "1999-12-31"], pa.date32()),
        (["2023-02-30", "1999-12-31"], pa.string()),
        (["2024-02-29 10:00", "1999-12-31 23:59"], pa.timestamp("us")),
        (["39", "?"], pa.string()),
        ([None, None], pa.string()),
        (["12345678901234567890"], pa.float64()),
    ],
)
def test_text_is_read_as_what_all_its_values_are_written_like(texts, kind):
    column = pa.chunked_array([pa.array(texts, pa.string())])
    found = infer_type(column)
    assert found.type == kind
    assert found.null_count == column.null_count


def test_only_text_files_are_typed_by_their_values():
    column = pa.table({"code": ["1", "2"]})
    assert Frame(column).typed("code").type == pa.string()
    assert Frame(column, untyped=True).typed("code").to_pylist() == [1, 2]


def test_dates_of_pandas_survive_the_way_in_and_out():
    table = pd.DataFrame({"born": pd.to_datetime(["2001-02-03", None])})
    frame = to_frame(table)
    assert frame.table.column("born").to_pylist()[0] == dt.datetime(2001, 2, 3)  # noqa: DTZ001
    assert np.isnat(frame.restore(frame.table)["born"].to_numpy()[1])
