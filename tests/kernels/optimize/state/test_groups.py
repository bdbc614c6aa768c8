from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.optimize.state.groups import (
    ENDLESS,
    NOBODY,
    cost_after,
    cost_with,
    join,
    put,
    refresh,
    take,
    total_cost,
)
from tests.kernels.optimize.groups import loaded, recount
from tests.support.tables import coded_tables


@settings(max_examples=60, deadline=None)
@given(coded_tables(least=8), st.integers(2, 4), st.integers(0, 99))
def test_the_cost_foretold_for_a_move_or_a_swap_is_the_one_counted_after_it(table, k, seed):
    groups = loaded(table, k, seed)
    random = np.random.default_rng(seed)
    one, other = random.choice(table.records, 2, replace=False)
    own, target = groups.label[one], groups.label[other]
    if own == target:
        return
    space = table.space
    foretold = (
        cost_after(space, groups, own, one, other, ENDLESS),
        cost_after(space, groups, target, other, one, ENDLESS),
    )
    without, with_it = (
        cost_after(space, groups, own, one, NOBODY, ENDLESS),
        cost_with(space, groups, target, one, ENDLESS),
    )
    take(groups, one)
    refresh(space, groups, own)
    assert groups.cost[own] == pytest.approx(without, abs=1e-12)
    put(groups, target, one)
    refresh(space, groups, target)
    assert groups.cost[target] == pytest.approx(with_it, abs=1e-12)
    take(groups, other)
    put(groups, own, other)
    refresh(space, groups, own)
    refresh(space, groups, target)
    assert (groups.cost[own], groups.cost[target]) == pytest.approx(foretold, abs=1e-12)
    assert total_cost(groups) == pytest.approx(recount(table, groups.label), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(coded_tables(least=8), st.integers(2, 4), st.integers(0, 99))
def test_a_record_that_joins_leaves_what_a_recount_would(table, k, seed):
    one, other = np.random.default_rng(seed).choice(table.records, 2, replace=False)
    joined, counted = loaded(table, k, seed), loaded(table, k, seed)
    own, target = joined.label[one], joined.label[other]
    if own == target:
        return
    for groups in (joined, counted):
        take(groups, one)
        refresh(table.space, groups, own)
    join(table.space, joined, target, one)
    put(counted, target, one)
    refresh(table.space, counted, target)
    for left, right in zip(joined, counted, strict=True):
        assert (left == right).all()
