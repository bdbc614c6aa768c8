"""Releases in plain columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal_reader
from shoal_reader import ReleaseError, shaping
from tests.reader.releases import released
from tests.reader.test_reading import CHOICES, ORIGINAL


@pytest.fixture(scope="module")
def release():
    return released(ORIGINAL, k=4, **CHOICES)[1]


def test_ranges_become_three_columns_sets_shares_and_trees_levels(release):
    table = release.columns()
    bounds = release.bounds("age")
    assert table["age_low"].tolist() == bounds["low"].tolist()
    assert table["age_mid"].tolist() == ((bounds["low"] + bounds["high"]) / 2).tolist()
    assert table["born_low"].dtype.kind == "M"
    shares = [name for name in table if name.startswith("town_")]
    assert shares == [f"town_{value}" for value in release.column("town").values]
    assert np.allclose(table[shares].sum(axis=1), 1)
    assert table["job_1"].isna().tolist() == release.table["job"].eq("*").tolist()
    assert set(table["job_1"].dropna()) <= {"care", "[30-39]"}
    assert table["hours"].tolist() == ORIGINAL["hours"].tolist()
    assert not [name for name in table if name in {"age", "town", "job"}]
    text = [name for name in table if table[name].dtype == object]
    assert set(text) == {"job_1", "job_2"}


def test_midpoints_replace_ranges_and_leave_the_rest(release):
    shaped = {one.name: one for one in shaping.shape(release, "midpoints")}
    assert list(shaped) == list(release.names)
    assert shaped["age"].values.tolist() == release.midpoints()["age"].tolist()
    assert shaped["town"].values.tolist() == release.text()["town"].tolist()
    assert (shaped["age"].part, shaped["town"].part) == ("mid", "")


def test_a_column_of_exact_cells_and_one_of_very_many_values_stay(monkeypatch):
    monkeypatch.setattr(shaping, "MOST_SHARES", 2)
    cells = pd.DataFrame({"sex": ["f", "*", "m"], "age": ["30", "40", "50"], "job": ["{a, b}", "c", "*"]})
    quasi = {"role": "quasi-identifier"}
    fields = [
        {"name": "sex", "shoal": {**quasi, "form": "sets", "kind": "text"}},
        {"name": "age", "shoal": {**quasi, "form": "ranges", "kind": "integer"}},
        {"name": "job", "shoal": {**quasi, "form": "sets", "kind": "text"}},
    ]
    table = shoal_reader.read(cells, {"resources": [{"schema": {"fields": fields}}]}).columns()
    assert list(table) == ["sex_f", "sex_m", "age", "job"]
    assert table["sex_f"].tolist() == [1, 0.5, 0]
    assert table["age"].tolist() == [30, 40, 50]
    assert table["job"].tolist() == ["{a, b}", "c", "*"]


def test_two_columns_of_one_name_are_refused():
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(pd.DataFrame({"age": ["[1-2]"], "age_low": ["x"]}))
    with pytest.raises(ReleaseError, match="'age_low'"):
        release.columns()
