"""A bound proven for small groups, raised to one for larger groups (``benchmarks.papers.records``)."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.papers.certificate import certify
from benchmarks.papers.records import carry_bounds, neighbour_bound, raised
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods.base import Task
from shoal.methods.microaggregation.sse import minimize_sse
from tests.kernels.microaggregation.test_mdav import tables
from tests.support import reference_microaggregation as reference


def proven(matrix, k):
    return certify(matrix, k, minimize_sse(matrix, Task(k=k, effort="fast"))).bound


@settings(deadline=None, max_examples=25)
@given(tables(most=9, columns=2), st.integers(2, 3), st.integers(1, 2))
def test_no_grouping_into_larger_groups_is_below_a_raised_bound(matrix, smaller, more):
    k = smaller + more
    if len(matrix) >= k:
        matrix = matrix / max(1.0, np.abs(matrix).max())
        least, _ = reference.optimum(matrix.tolist(), k)
        assert raised(proven(matrix, smaller), smaller, k) <= least + 1e-9
        assert neighbour_bound(np.ascontiguousarray(matrix, np.float64), k) <= least + 1e-9


def test_where_all_records_are_equally_far_apart_the_raised_bound_is_reached():
    corners = np.eye(8)
    least, _ = reference.optimum(corners.tolist(), 4)
    assert raised(proven(corners, 2), 2, 4) == pytest.approx(least, rel=1e-4)


def test_the_higher_of_two_bounds_stands_in_the_table_with_its_proof():
    cells = [(3, "10.0000", "4.0000"), (4, "12.0000", "9.0000"), (10, "30.0000", "1.0000")]
    rows = [
        {"set": "s", "k": k, "shoal": loss, "proven lower bound": bound, "proof": "own"} for k, loss, bound in cells
    ]
    found = carry_bounds(rows)
    assert [row["proof"] for row in found] == ["own", "own", "bound of k = 4, raised"]
    assert [row["proven lower bound"] for row in found] == ["4.0000", "9.0000", "10.8000"]
    assert found[2]["gap %"] == "64.00"
