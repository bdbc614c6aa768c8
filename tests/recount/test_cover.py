from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.errors import PrivacyError
from shoal.frames import Frame
from shoal.recount.cover import check_cover, distinct_pairs
from shoal.release import make as making

AGES = shoal.Hierarchy.from_intervals(range(20, 40), 10)
JOBS = shoal.Hierarchy.from_dict({"*": {"care": ["nurse"], "craft": ["baker"]}})


def check(values, cells, **choices):
    column = pa.chunked_array([pa.array(values)])
    coded = encode(Frame(pa.table({"x": column})), ["x"], **{key: {"x": one} for key, one in choices.items()})
    check_cover(coded.columns[0], column, pa.chunked_array([pa.array(cells, pa.string())]))


GOOD = [
    ([1, 2, 5], ["1", "[1-2]", "*"], {}),
    ([2**53, 2**53 + 1], [f"[{2**53}-{2**53 + 1}]"] * 2, {}),
    ([-1.5, 0.0, None], ["[-1.5 to 0]", "[-1.5 to 0]", None], {}),
    ([dt.date(2024, 1, 1), None], ["2024-01-01", "*"], {}),
    (["a", "b", "c"], ["{a, b}", "b", "*"], {}),
    (["low", "high"], ["[low to high]", "high"], {"kinds": ["low", "mid", "high"]}),
    ([21, 35.0], ["[20-29]", "[30-39]"], {"hierarchies": AGES}),
    (["21.0", "35"], ["21", "*"], {"hierarchies": AGES}),
    ([True, False], ["[0-1]", "0"], {"kinds": "numeric"}),
]


@pytest.mark.parametrize(("values", "cells", "choices"), GOOD)
def test_cells_that_hold_their_values_pass(values, cells, choices):
    check(values, cells, **choices)


@pytest.mark.parametrize(
    ("values", "cells", "choices"),
    [
        ([1, 2, 5], ["1", "[3-4]", "*"], {}),
        ([2**53, 2**53 + 1], [f"[{2**53 + 1}-{2**53 + 2}]"] * 2, {}),
        ([1, 2], ["[2-1]", "[2-1]"], {}),
        ([1, 2], ["{1, 2}", "{1, 2}"], {}),
        ([1, 2], ["[a to b]", "2"], {}),
        ([1, None], ["1", "1"], {}),
        ([1, 2], ["1", None], {}),
        ([dt.date(2024, 1, 1)], ["[2024-01-02 to 2024-01-03]"], {}),
        (["a", "b", "c"], ["{a, b}", "c", "*"], {}),
        (["low", "high"], ["[low to mid]", "[low to mid]"], {"kinds": ["low", "mid", "high"]}),
        ([21, 35], ["[20-29]", "[20-29]"], {"hierarchies": AGES}),
        (["nurse", "baker"], ["care", "care"], {"hierarchies": JOBS}),
        (["nurse", "baker"], ["nurse", "nurse"], {"hierarchies": JOBS}),
    ],
)
def test_a_cell_that_misses_its_value_is_found(values, cells, choices):
    with pytest.raises(PrivacyError, match="cells of the column 'x' would not cover"):
        check(values, cells, **choices)


def test_pairs_not_rows_are_looked_at():
    pairs = distinct_pairs(pa.chunked_array([pa.array([1, 1, 2] * 1000)]), pa.chunked_array([pa.array(["a"] * 3000)]))
    assert len(pairs.rows) == 2
    assert pairs.rows.tolist() == [2000, 1000]


@pytest.mark.parametrize("method", ["mondrian", "optimize"])
def test_no_release_leaves_with_a_cell_that_misses_its_value(monkeypatch, method):
    table = pa.table({"x": np.arange(20), "y": list("abcd") * 5})
    render = making.render

    def wrong(*given):
        columns = render(*given)
        return columns | {"x": pa.array(["[0-3]"] * len(columns["x"]))}

    given = {"k": 2, "quasi_identifiers": ["x", "y"], "method": method}
    shoal.anonymize(table, **given)
    monkeypatch.setattr(making, "render", wrong)
    with pytest.raises(PrivacyError, match="16 cells of the column 'x'"):
        shoal.anonymize(table, **given)
