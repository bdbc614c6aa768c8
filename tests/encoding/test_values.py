"""Every value a table may hold, through a whole release: what is equal counts as equal, and every cell covers its value."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.cells.parse import parse_cell, read_number
from shoal.cells.representatives import representatives
from shoal.encoding import encode
from shoal.errors import PrivacyError
from shoal.frames import Frame
from shoal.methods.base import Typical

NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
TWICE = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1], pa.int32()), pa.array(["hiv", "hiv"]))
HOLE = pa.DictionaryArray.from_arrays(pa.array([0, None, 0, None], pa.int32()), pa.array([None, "flu"]))


def release(values, k=2, method="mondrian", **parameters):
    table = values if isinstance(values, (pa.Table, pd.DataFrame)) else pa.table({"x": values})
    return shoal.anonymize(table, k=k, quasi_identifiers=["x"], method=method, **parameters)


@pytest.mark.parametrize(
    "values",
    [
        TWICE,
        HOLE,
        pa.array([0.0, -0.0, 0.0, -0.0]),
        pa.array([float("nan"), None, float("nan"), None], from_pandas=False),
        pa.array(np.array([float("nan"), NAN, float("nan"), NAN])),
    ],
    ids=["entry twice", "null entry", "two zeros", "NaN and null", "two NaN"],
)
def test_what_is_equal_is_one_sensitive_value(values):
    table = pa.table({"x": [1, 1, 1, 1], "s": values})
    assert shoal.audit(table, quasi_identifiers=["x"], sensitive=["s"]).l == 1
    with pytest.raises(PrivacyError):
        release(table, sensitive=["s"], models=[shoal.LDiversity(2)])


@pytest.mark.parametrize("values", [TWICE, HOLE, pa.array([0.0, -0.0, 0.0, -0.0]), pa.array([NAN, None, NAN, None])])
def test_what_is_equal_is_one_quasi_identifier(values):
    result = release(pa.table({"x": values}))
    assert result.audit.groups == 1
    assert len(result.released.column("x").unique()) == 1
    assert shoal.audit(pa.table({"x": values}), quasi_identifiers=["x"]).k == 4


BIG = 2**53
INSTANTS = pa.array([1_700_000_000_000_000_000 + step for step in range(6)], pa.timestamp("ns"))
ZONED = pa.array([dt.datetime(2024, 3, day, tzinfo=dt.UTC) for day in (1, 2, 3, 4)]).cast(
    pa.timestamp("us", "Europe/Berlin")
)


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (pa.array([BIG, BIG + 1, BIG + 2, BIG + 3]), [f"[{BIG}-{BIG + 1}]", f"[{BIG + 2}-{BIG + 3}]"]),
        (pa.array([2**63 - 1, 2**63 - 2, 5, 6]), ["[5-6]", f"[{2**63 - 2}-{2**63 - 1}]"]),
        (pa.array([2**64 - 1, 2**64 - 2, 5, 6], pa.uint64()), ["[5-6]", f"[{2**64 - 2}-{2**64 - 1}]"]),
        (
            pa.array([Decimal("12345678901234567890.1") + step for step in range(4)]),
            ["[12345678901234567890.1-12345678901234567891.1]", "[12345678901234567892.1-12345678901234567893.1]"],
        ),
        (
            INSTANTS.slice(0, 4),
            [
                "[2023-11-14T22:13:20 to 2023-11-14T22:13:20.000000001]",
                "[2023-11-14T22:13:20.000000002 to 2023-11-14T22:13:20.000000003]",
            ],
        ),
        (
            pa.array([dt.datetime(2024, 3, day) for day in (1, 2, 3, 4)], pa.timestamp("us")),  # noqa: DTZ001
            ["[2024-03-01 to 2024-03-02]", "[2024-03-03 to 2024-03-04]"],
        ),
        (
            ZONED,
            [
                "[2024-03-01T01:00:00+01:00 to 2024-03-02T01:00:00+01:00]",
                "[2024-03-03T01:00:00+01:00 to 2024-03-04T01:00:00+01:00]",
            ],
        ),
        (
            pa.array([dt.datetime(2024, 3, day, tzinfo=dt.UTC) for day in (1, 1, 2, 2)]),
            ["2024-03-01T00:00:00+00:00", "2024-03-02T00:00:00+00:00"],
        ),
        (
            pa.array([dt.timedelta(days=1), dt.timedelta(hours=2), -dt.timedelta(days=3), dt.timedelta(0)]),
            ["[-3 days to 0 days]", "[0 days 02:00:00 to 1 days]"],
        ),
        (
            pa.array([dt.time(9), dt.time(9, 30), dt.time(10), dt.time(10, 0, 0, 500)]),
            ["[09:00:00 to 09:30:00]", "[10:00:00 to 10:00:00.000500]"],
        ),
        (
            pd.DataFrame({"x": pd.period_range("2020-01", periods=4, freq="M")}),
            ["[2020-01 to 2020-02]", "[2020-03 to 2020-04]"],
        ),
        (
            pd.DataFrame({"x": pd.period_range("2020Q1", periods=4, freq="Q")}),
            ["[2020Q1 to 2020Q2]", "[2020Q3 to 2020Q4]"],
        ),
    ],
    ids=[
        "integers",
        "int64",
        "uint64",
        "decimals",
        "nanoseconds",
        "midnights",
        "zone",
        "zoned midnights",
        "durations",
        "times",
        "months",
        "quarters",
    ],
)
def test_a_range_is_released_as_what_its_values_are(values, cells):
    assert set(release(values, ends="exact").released.column("x").to_pylist()) == set(cells)


def test_six_instants_a_nanosecond_apart_are_six_values():
    result = release(INSTANTS)
    assert result.audit.groups == 2
    assert result.metrics["ncp"] == pytest.approx(2 / 5)  # each range spans three of six neighbours


def test_eighteen_digits_from_a_file_are_ordered_exactly(tmp_path):
    numbers = [900_000_000_000_000_000 + step * 7 for step in range(30)]
    path = tmp_path / "ids.csv"
    path.write_text("x\n" + "\n".join(map(str, numbers)) + "\n", encoding="utf-8")
    result = shoal.anonymize(path, k=3, quasi_identifiers=["x"], method="mondrian")
    for number, cell in zip(numbers, result.released.column("x").to_pylist(), strict=True):
        low, high = (int(end) for end in parse_cell(cell).values)
        assert low <= number <= high


def test_numbers_match_the_leaves_of_a_hierarchy_by_number_and_its_intervals_are_released_as_they_are(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("x\n60.0\n61.5\n70.0\n75\n", encoding="utf-8")
    tree = shoal.Hierarchy.from_intervals([60.0, 61.5, 70, 75], 10)
    result = shoal.anonymize(path, k=2, quasi_identifiers=["x"], hierarchies={"x": tree}, method="mondrian")
    assert result.released.column("x").to_pylist() == ["[60-69.9]", "[60-69.9]", "[70-79.9]", "[70-79.9]"]


def test_a_code_with_leading_zeros_is_no_number():
    tree = shoal.Hierarchy.flat(["7", "60"])
    assert tree.leaf_codes(["7.0", "6e1", "007", "60.5"]).tolist() == [0, 1, -1, -1]
    assert shoal.Hierarchy.flat(["1", "1.0"]).leaf_codes(["1", "1.00"]).tolist() == [0, -1]


def test_a_node_named_like_a_range_it_is_not_stays_quoted():
    tree = shoal.Hierarchy.from_dict({"*": {"[1-2]": ["a", "b"], "[5-6]": ["5", "7"]}})
    result = release(pa.array(["a", "b", "5", "7"]), hierarchies={"x": tree})
    assert set(result.released.column("x").to_pylist()) == {'"[1-2]"', '"[5-6]"'}


# --- representatives ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "means"),
    [
        (pa.array([2**63 - 1, 2**63 - 3, 5, 7]), [6, 2**63 - 2]),
        (pa.array([2**64 - 1, 2**64 - 3, 5, 7], pa.uint64()), [6, 2**64 - 2]),
        (pa.array([-(2**63), -(2**63) + 2, 2**63 - 1, 2**63 - 3]), [-(2**63) + 1, 2**63 - 2]),
        (pa.array([-(2**63), 2**63 - 1]), [0]),
        (pa.array([BIG, BIG + 2]), [BIG + 1]),
        (pa.array([0.1, 0.1, 0.1, 0.1]), [0.1]),
        (pa.array([1, 2], pa.int8()), [2]),
        (pa.array([dt.timedelta(days=1), dt.timedelta(days=2)]), [dt.timedelta(days=1, hours=12)]),
    ],
    ids=["int64", "uint64", "both ends", "all of int64", "2^53", "equal floats", "int8", "durations"],
)
def test_a_mean_lies_among_the_values_it_is_made_from(values, means):
    result = release(values, method="mdav")
    released = result.released.column("x")
    found = sorted(set(released.to_pylist()))
    assert (found == pytest.approx(means)) if pa.types.is_floating(values.type) else (found == means)
    assert released.type == values.type
    assert all(np.isfinite(value) for value in result.metrics.values() if isinstance(value, float))


@pytest.mark.parametrize(
    ("values", "means"),
    [([1.7e308, 1.6e308], [1.65e308]), ([-1.7e308, -1.6e308], [-1.65e308]), ([1.7e308, -1.7e308], [0.0])],
)
def test_a_mean_of_huge_floats_is_finite(values, means):
    coded = encode(Frame(pa.table({"x": values})), ["x"])
    released = representatives(coded, np.zeros(2, np.int32), Typical())["x"].to_pylist()
    assert released == pytest.approx(means * 2)


def test_a_mean_of_months_is_a_month():
    months = pd.DataFrame({"x": pd.PeriodIndex(["2020-01", "2020-03"], freq="M")})
    assert release(months, method="mdav").data["x"].astype(str).tolist() == ["2020-02", "2020-02"]


# --- reading released texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("9007199254740993", pa.int64(), 9007199254740993),
        ("2024-03-01", pa.date32(), 19783),
        ("2024-03-01", pa.date64(), 19783 * 86_400_000),
        ("1970-01-01T01:00:00.000000007+01:00", pa.timestamp("ns", "Europe/Berlin"), 7),
        ("1969-12-31T23:59:59.999000", pa.timestamp("ms"), -1),
        ("10:00:00.000500", pa.time64("us"), 36_000_000_500),
        ("-3 days 01:00:00.5", pa.duration("ms"), -(3 * 86_400_000 + 3_600_500)),
    ],
)
def test_a_released_end_is_read_exactly(text, kind, number):
    assert read_number(text, kind) == number


@pytest.mark.parametrize(
    ("text", "kind"), [("x", pa.decimal128(5, 2)), ("1 day", pa.duration("s")), ("1.5", pa.int8())]
)
def test_text_of_another_type_is_refused(text, kind):
    with pytest.raises(ValueError):  # noqa: PT011  (who reads a cell words the complaint)
        read_number(text, kind)


def test_values_that_no_row_has_any_more_are_not_counted():
    whole = pa.array(["gone", "also gone", "a", "a", "b", "b"]).dictionary_encode()
    part = Frame(pa.table({"x": whole.slice(2)}))
    for column in (encode(part, ["x"]).columns[0], encode(part, ["x"], hierarchies={"x": "flat"}).columns[0]):
        assert column.texts == ["a", "b"]
    frame = pd.DataFrame({"x": pd.Categorical(["a", "a", "b", "b"], categories=["gone", "a", "b"])})
    assert release(frame, k=4).metrics["ncp"] == 1.0
