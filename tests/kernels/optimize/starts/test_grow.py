from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimize.starts.grow import grow_all, leave_grid, make_grid, take_nearest
from shoal.kernels.optimize.state.groups import ENDLESS, cost_with, total_cost
from tests.kernels.optimize.groups import loaded, recount
from tests.support.tables import coded_tables


@settings(max_examples=40, deadline=None)
@given(coded_tables(least=8), st.integers(0, 99))
def test_the_grid_finds_the_record_that_costs_a_group_least(table, seed):
    groups = loaded(table, 3, seed)
    order = np.random.default_rng(seed).permutation(table.records)
    grid = make_grid(table.space, groups.codes, order, make_state(seed, 0))
    for place in range(3):
        member = groups.member[0, place]
        leave_grid(grid, int(np.flatnonzero(grid.record == member)[0]))
    free = {record for record in range(table.records) if record not in groups.member[0, :3]}
    while free:
        least = min(cost_with(table.space, groups, 0, record, ENDLESS) for record in free)
        found = take_nearest(table.space, groups, 0, grid, 0)
        assert found in free
        assert cost_with(table.space, groups, 0, found, ENDLESS) == pytest.approx(least, abs=1e-12)
        free.remove(found)


@settings(max_examples=40, deadline=None)
@given(coded_tables(least=8), st.integers(2, 4), st.integers(0, 99))
def test_grown_groups_take_every_record_and_keep_their_cost(table, k, seed):
    groups = grow_all(table.space, np.ascontiguousarray(table.codes.T), k, seed)
    assert np.bincount(groups.label).min() >= k
    assert total_cost(groups) == pytest.approx(recount(table, groups.label), abs=1e-9)
