from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.space.tuples import distinct_tuples


def check_against_plain_python(codes):
    rows = [tuple(row) for row in codes.T.tolist()]
    distinct = sorted(set(rows))
    found = distinct_tuples(codes)
    assert found.label.tolist() == [distinct.index(row) for row in rows]
    assert found.size.tolist() == [Counter(rows)[row] for row in distinct]
    assert found.first.tolist() == [rows.index(row) for row in distinct]


@st.composite
def code_tables(draw):
    """Columns of few codes, or of codes so large that two of them do not fit into one key."""
    columns, records = draw(st.integers(1, 5)), draw(st.integers(0, 20))
    pools = st.one_of(st.integers(0, 3), st.sampled_from([0, 1, 2**31 - 2, 2**31 - 1]))
    cells = [draw(st.lists(pools, min_size=records, max_size=records)) for _ in range(columns)]
    return np.array(cells, np.int32).reshape(columns, records)


@given(code_tables())
def test_tuples_are_numbered_counted_and_found_in_lexicographic_order(codes):
    check_against_plain_python(codes)


@pytest.mark.parametrize("columns", [1, 2, 3, 40])
def test_many_wide_columns_do_not_overflow_the_key(columns):
    codes = np.random.default_rng(0).choice(np.array([0, 2**31 - 1], np.int32), size=(columns, 50))
    check_against_plain_python(codes)


def test_an_empty_table_has_no_tuples():
    found = distinct_tuples(np.zeros((3, 0), np.int32))
    assert [part.tolist() for part in found] == [[], [], []]


def test_without_columns_all_records_are_one_tuple():
    found = distinct_tuples(np.zeros((0, 4), np.int32))
    assert [part.tolist() for part in found] == [[0, 0, 0, 0], [4], [0]]


def test_the_arrays_have_the_types_kernels_are_compiled_for():
    found = distinct_tuples(np.array([[1, 0]], np.int32))
    assert [part.dtype for part in found] == [np.int32, np.int64, np.int64]
