from __future__ import annotations

import datetime as dt
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import PrivacyError
from shoal.recount.rows import check_codes, check_release, read_anew, recount
from shoal.release import make as making

TWICE = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["a", "a", "b"]))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (pa.array([0.0, -0.0, float("nan"), None]), [0, 0, 1, 1]),
        (pa.array([1.5, 1.5, 2.5], pa.float32()), [0, 0, 1]),
        (TWICE, [0, 0, 1]),
        (pa.array([2**53, 2**53 + 1, 2**53]), [0, 1, 0]),
        (pa.array([1, 2], pa.timestamp("ns", "Europe/Berlin")), [0, 1]),
        (pa.array([dt.timedelta(1), dt.timedelta(2)]), [0, 1]),
        (pa.array([dt.date(2024, 1, 1), None]), [0, 1]),
        (pa.array(["a", None, "a"]), [0, 1, 0]),
        (pa.array([None, None], pa.string()), [0, 0]),
    ],
)
def test_rows_have_one_number_where_they_read_the_same(values, numbers):
    assert read_anew(pa.chunked_array([values])).tolist() == numbers


def test_columns_in_chunks_are_read_as_one():
    column = pa.chunked_array([pa.array(["a", "b"]), pa.array(["b", "c"])])
    assert read_anew(column).tolist() == [0, 1, 1, 2]
    assert read_anew(pa.chunked_array([], pa.string())).tolist() == []


def test_combinations_are_numbered():
    table = pa.table({"a": ["x", "x", "y", "x"], "b": [1, 2, 1, 1]})
    assert recount(table, ["a", "b"]).tolist() == [0, 1, 2, 0]


def test_a_group_of_one_less_than_k_is_found_and_one_of_k_is_not():
    table = pa.table({"a": ["x"] * 3 + ["y"] * 4})
    check_release(table, ["a"], 3)
    with pytest.raises(PrivacyError, match="group of 3"):
        check_release(table, ["a"], 4)


def test_values_told_apart_that_read_the_same_are_found():
    same = pa.chunked_array([pa.array(["hiv", "hiv", "flu"])])
    check_codes("s", np.array([0, 0, 1], np.int32), same)
    check_codes("s", np.array([0, 0, 0], np.int32), same)  # stricter than need be, never laxer
    with pytest.raises(PrivacyError, match="fewer values in the column 's'"):
        check_codes("s", np.array([0, 1, 2], np.int32), same)


def test_the_count_can_disagree_with_the_coding(monkeypatch):
    """Were the coding to tell equal values apart again, no release would come of it."""
    coding = import_module("shoal.encoding.encode")  # the package has a function of that name

    def careless(column):
        return column.combine_chunks() if pa.types.is_dictionary(column.type) else encode(column)

    encode = coding.encode_dictionary
    sick = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 4, pa.int32()), pa.array(["hiv", "hiv"]))
    table = pa.table({"x": [1] * 8, "s": sick})
    monkeypatch.setattr(coding, "encode_dictionary", careless)
    monkeypatch.setattr("shoal.frames.frame.canonical", lambda column: column)
    with pytest.raises(PrivacyError, match="fewer values in the column 's'"):
        shoal.anonymize(
            table, k=2, quasi_identifiers=["x"], sensitive=["s"], models=[shoal.LDiversity(2)], method="mondrian"
        )


@pytest.mark.parametrize("short", [1, 0])
def test_a_release_with_a_group_of_one_less_than_k_never_leaves(monkeypatch, short):
    def spoiled(*_):
        cells = ["*"] * 4 + ["[0-9]"] * (6 - short) + ["*"] * short
        return {"x": pa.array(cells)}

    monkeypatch.setattr(making, "render", spoiled)
    given = {"k": 4 if short else 5, "quasi_identifiers": ["x"], "method": "mondrian"}
    table = pa.table({"x": range(10)})
    if short:
        assert shoal.anonymize(table, **given).audit.k == 5
    else:
        with pytest.raises(PrivacyError, match="group of 4"):
            shoal.anonymize(table, **given)
