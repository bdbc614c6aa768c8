from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.optimize.state.regions import make_regions, renumber
from tests.kernels.optimize.groups import loaded
from tests.support.tables import coded_table, coded_tables


@settings(max_examples=40, deadline=None)
@given(coded_tables(least=8), st.integers(2, 4), st.integers(0, 99), st.integers(1, 30))
def test_regions_hold_whole_groups_and_every_record_once(table, k, seed, most):
    label = loaded(table, k, seed).label.copy()
    rows = np.ascontiguousarray(table.codes.T)
    regions = make_regions(table.space, rows, label, renumber(label), most, seed)
    assert sorted(regions.record.tolist()) == list(range(table.records))
    seen: set[int] = set()
    for first, last in pairwise(regions.start):
        groups = set(label[regions.record[first:last]].tolist())
        assert not groups & seen
        assert last - first <= most or len(groups) == 1
        seen |= groups


def test_a_region_holds_the_groups_nearest_to_one_of_them():
    """Sixteen groups at the corners of two columns: regions of four are never those of opposite corners only."""
    table = coded_table(60, "ff", 0)
    corner = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32)
    rows = np.repeat(corner, 8, axis=0)
    label = np.repeat(np.arange(16, dtype=np.int32), 2)
    for seed in range(20):
        regions = make_regions(table.space, rows, label, 16, 8, seed)
        first = rows[regions.record[: regions.start[1]]]
        assert len(np.unique(first, axis=0)) == 1
