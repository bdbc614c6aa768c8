from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.errors import ColumnError, DataError, NotationNotice
from shoal.frames import Frame, to_frame

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


def test_a_text_file_and_a_frame_with_the_same_text_are_read_alike():
    column = pa.table({"code": ["1", "2"], "zip": ["00123", "12345"]})
    for frame in (Frame(column), Frame(column, untyped=True), to_frame(pd.DataFrame(column.to_pydict()))):
        assert frame.typed("code").to_pylist() == [1, 2]
        assert frame.typed("zip").to_pylist() == ["00123", "12345"]


def test_how_text_in_a_frame_is_understood_is_told_once():
    frame = to_frame(pd.DataFrame({"born": ["30.04.1992", "1.2.1990"], "town": ["a", "b"]}))
    with pytest.warns(NotationNotice, match=r"Understood born as dates written %d.%m.%Y\."):
        told = frame.tell(["born", "town"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told.tell(["born", "town"])


def test_plain_numbers_and_dates_of_a_text_file_need_no_notice():
    frame = Frame(pa.table({"age": ["39", "40"], "born": ["1992-04-30", "1990-02-01"]}), untyped=True)
    assert frame.understood(frame.names) == {}


def test_dates_of_pandas_survive_the_way_in_and_out():
    table = pd.DataFrame({"born": pd.to_datetime(["2001-02-03", None])})
    frame = to_frame(table)
    assert frame.table.column("born").to_pylist()[0] == dt.datetime(2001, 2, 3)  # noqa: DTZ001
    assert np.isnat(frame.restore(frame.table)["born"].to_numpy()[1])
