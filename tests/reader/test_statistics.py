"""Means, quantiles and cross tables: their bounds are those of all tables inside the cells, found by trying them all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal_reader
from shoal_reader import ReleaseError

TOLD = {
    "resources": [{"schema": {"fields": [
        {"name": "age", "shoal": {"role": "quasi-identifier", "form": "ranges", "kind": "integer"}},
        {"name": "job", "shoal": {"role": "quasi-identifier", "form": "sets", "kind": "text", "values": ["a", "b", "c"]}},
        {"name": "sex", "type": "string"},
        {"name": "cost", "type": "number"},
    ]}}]
}  # fmt: skip
RANGES = st.tuples(st.integers(0, 9), st.integers(0, 3)).map(lambda one: f"[{one[0]}-{sum(one)}]")
SETS = st.sampled_from(["a", "b", "{a, b}", "{b, c}", "*"])
ROWS = st.lists(st.tuples(RANGES, SETS, st.sampled_from(["f", "m"]), st.integers(0, 9)), min_size=1, max_size=5)


def read(rows):
    return shoal_reader.read(pd.DataFrame(rows, columns=["age", "job", "sex", "cost"]), TOLD)


def ends(row):
    low, _, high = row[0][1:-1].partition("-")
    return int(low), int(high)


def members(row):
    return "abc" if row[1] == "*" else [one for one in row[1] if one in "abc"]


def plain_quantile(values, q):
    ordered = sorted(values)
    return ordered[max(math.ceil(q * len(ordered) - 1e-9), 1) - 1]


def extremes(rows, group, measure):
    """Try every choice of members and of lowest and highest ends."""
    found = []
    for jobs in itertools.product(*map(members, rows)):
        inside = [row for row, job in zip(rows, jobs, strict=True) if job == group]
        if inside:
            found.append((measure([ends(row)[0] for row in inside]), measure([ends(row)[1] for row in inside])))
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None


@settings(max_examples=60)
@given(ROWS, st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]))
def test_bounds_are_the_extremes_of_all_tables_inside_the_cells(rows, q):
    release = read(rows)
    means, quantiles = release.mean("age", by="job", bounds=True), release.quantile("age", q, by="job", bounds=True)
    for group in "abc":
        for table, measure in ((means, np.mean), (quantiles, lambda values: plain_quantile(values, q))):
            wanted = extremes(rows, group, measure)
            if wanted is None:
                assert table.loc[group].isna().all()
            else:
                assert table.loc[group, ["low", "high"]].tolist() == pytest.approx(wanted)
                if table is means:
                    assert (
                        table.loc[group, "low"] - 1e-9
                        <= table.loc[group, "estimate"]
                        <= table.loc[group, "high"] + 1e-9
                    )


@given(ROWS)
def test_a_cross_table_lies_between_certain_and_possible_counts(rows):
    table = read(rows).crosstab("job", "sex", bounds=True)
    for (job, sex), counts in table.iterrows():
        inside = [members(row) for row in rows if row[2] == sex]
        assert counts["low"] == sum(list(one) == [job] for one in inside)
        assert counts["high"] == sum(job in one for one in inside)
        assert counts["expected"] == pytest.approx(sum((job in one) / len(one) for one in inside))


def test_means_without_bounds_are_plain():
    release = read([("[20-30]", "a", "f", 1), ("40", "{a, b}", "m", 4)])
    assert release.mean("age") == 32.5
    assert release.mean("cost", by="sex").to_dict() == {"f": 1.0, "m": 4.0}
    assert release.mean("cost", by="job").round(2).to_dict() == {"a": 2.0, "b": 4.0} | {
        "c": pytest.approx(np.nan, nan_ok=True)
    }
    assert release.mean("age", bounds=True).to_dict() == {"estimate": 32.5, "low": 30.0, "high": 35.0}


def test_a_median_of_dates_is_a_date():
    cells = pd.DataFrame({"born": ["[1950-01-01 to 1950-01-31]", "1960-05-05", "[1970-01-01 to 1972-01-01]"]})
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(cells)
    assert release.quantile("born") == pd.Timestamp("1960-05-05")
    assert release.mean("born", bounds=True)["high"] > pd.Timestamp("1960-01-01")


def test_questions_that_have_no_answer_are_refused():
    release = read([("[20-30]", "a", "f", 1)])
    with pytest.raises(ReleaseError, match="between 0 and 1"):
        release.quantile("age", 1.5)
    with pytest.raises(ReleaseError, match="cross table needs categories"):
        release.crosstab("age", "sex")
    with pytest.raises(ReleaseError, match="holds categories"):
        release.mean("job")
