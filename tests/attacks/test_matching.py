from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.matching import Candidates, exact_matches, find_candidates
from shoal.hierarchy import Hierarchy

PAIRS = st.lists(st.tuples(st.integers(0, 4) | st.none(), st.sampled_from("ab")), max_size=12)


def table_of(rows):
    return pa.table(
        {"age": pa.array([age for age, _ in rows], pa.int64()), "sex": pa.array([sex for _, sex in rows], pa.string())}
    )


@given(PAIRS, PAIRS)
def test_a_match_is_a_combination_that_occurs_once_in_each_table(records, known):
    here, there = Counter(records), Counter(known)
    expected = [known.index(row) if here[row] == there[row] == 1 else -1 for row in records]
    assert exact_matches(table_of(records), table_of(known), ["age", "sex"]).tolist() == expected


def test_candidates_are_all_records_whose_cells_cover_what_is_known():
    released = pa.table(
        {
            "age": ["[20-30]", "[20-30]", "35", "*", None],
            "zip": ["01***", "01***", "{01234, 02345}", "02345", "*"],
            "born": ["[2000-01-01 to 2001-06-30]"] * 4 + ["*"],
        }
    )
    known = pa.table(
        {
            "age": [20, 30, 31, 35, 35, None],
            "zip": ["01234", "02345", "01299", "01234", "02345", "02345"],
            "born": [dt.date(2001, 6, 30), *[dt.date(2000, 1, 1)] * 5],
        }
    )
    trees = {"zip": Hierarchy.from_prefixes(["01234", "01299", "02345"], [2])}
    found = find_candidates(released, known, ["age", "zip", "born"], trees)
    # a missing age is covered by * and by a missing cell only
    assert found.count.tolist() == [2, 1, 0, 1, 2, 2]
    assert (found.certain, found.fewest) == (2, 1)


def test_dates_outside_a_range_are_not_covered():
    released = pa.table({"born": ["[2000-01-01 to 2001-06-30]"]})
    known = pa.table({"born": [dt.date(1999, 12, 31), dt.date(2000, 1, 1), dt.date(2001, 7, 1)]})
    assert find_candidates(released, known, ["born"]).count.tolist() == [0, 1, 0]


def test_many_groups_are_counted_like_few(monkeypatch):
    rows = [str(value) for value in np.random.default_rng(0).integers(0, 50, 400)]
    released = pa.table({"a": rows})
    known = pa.table({"a": pa.array(range(60))})
    expected = [rows.count(str(value)) for value in range(60)]
    for chunk in (7, 1000):
        monkeypatch.setattr("shoal.attacks.matching._CHUNK", chunk)
        assert find_candidates(released, known, ["a"]).count.tolist() == expected


def test_a_blind_pick_finds_one_in_as_many_as_there_are():
    found = Candidates(np.array([2, 4, 0, 1]))
    assert found.right_guesses(np.array([0, 1, 2])) == pytest.approx(0.75)
    assert Candidates(np.array([0])).fewest == 0
