from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimize.moves.evict import evict, evict_from_groups, main_branch, make_evictions
from shoal.kernels.optimize.moves.relocate_swap import sweep
from shoal.kernels.optimize.state.groups import total_cost
from shoal.kernels.optimize.state.regions import load_groups
from tests.kernels.optimize.groups import loaded, recount
from tests.support.tables import coded_table, coded_tables


def test_members_on_a_step_leave_together_and_others_are_lent_where_too_few_stay():
    space = coded_table(60, "fi", 0).space
    codes = np.array([[0, 1]] * 4 + [[1, 1]] * 2 + [[1, 1]] * 4 + [[0, 1]] * 6, np.int32)
    groups = load_groups(space, codes, np.array([0] * 6 + [1] * 4 + [2] * 6, np.int32), 3, 10)
    sizes = evict_from(space, groups, k=4)
    assert sizes == [4, 6, 6]
    assert total_cost(groups) == 0.0
    groups = load_groups(space, codes, np.array([0] * 6 + [1] * 4 + [2] * 6, np.int32), 3, 10)
    assert evict_from(space, groups, k=5) == [5, 6, 5]
    assert total_cost(groups) == 0.0


def evict_from(space, groups, k):
    """Evict what is not code 0 in column 0 from group 0; return the sizes of all groups."""
    before = total_cost(groups)
    fall = evict(space, groups, 0, 0, 0, 0, k, make_evictions(40))
    assert fall == pytest.approx(before - total_cost(groups))
    return groups.size.tolist()


def test_an_eviction_that_does_not_pay_leaves_every_record_where_it_was():
    table = coded_table(60, "fi", 0)
    codes = np.array([[0, 1]] * 4 + [[1, 1]] * 2 + [[2, 2]] * 4, np.int32)
    groups = load_groups(table.space, codes, np.array([0] * 6 + [1] * 4, np.int32), 2, 10)
    before = [field.copy() for field in groups if field.ndim == 1]
    assert evict_from(table.space, groups, k=4) == [6, 4]
    for field, was in zip([field for field in groups if field.ndim == 1], before, strict=True):
        if field is not groups.place:  # members may stand in another order
            assert field.tolist() == was.tolist()
    assert sorted(groups.member[0, :6].tolist()) == [0, 1, 2, 3, 4, 5]


@settings(max_examples=40, deadline=None)
@given(coded_tables(least=12), st.integers(2, 5), st.integers(0, 99))
def test_after_evictions_the_total_is_that_of_a_recount_and_every_group_has_k(table, k, seed):
    groups = loaded(table, k, seed)
    before = total_cost(groups)
    sweep(table.space, groups, k, 3, 0.0, make_state(seed, 1))  # so that some groups have more than k
    between = total_cost(groups)
    fall = evict_from_groups(table.space, groups, k, make_state(seed, 2)).gained
    assert 0.0 <= fall <= before
    assert total_cost(groups) == pytest.approx(between - fall, abs=1e-9)
    assert total_cost(groups) == pytest.approx(recount(table, groups.label), abs=1e-9)
    assert np.bincount(groups.label)[np.bincount(groups.label) > 0].min() >= k


def test_the_main_branch_is_the_child_with_most_members():
    table = coded_table(400, "n", 3)
    space, rows = table.space, np.ascontiguousarray(table.codes.T)
    groups = load_groups(space, rows, np.zeros(table.records, np.int32), 1, table.records)
    child = {code: parent_below_root(space, code) for code in sorted(set(rows[:, 0].tolist()))}
    branch = child[int(rows[0, 0])]
    chosen = [record for record in range(table.records) if child[int(rows[record, 0])] == branch]
    others = [record for record in range(table.records) if child[int(rows[record, 0])] != branch][: len(chosen) - 1]
    picked = rows[sorted(chosen + others)]
    groups = load_groups(space, picked, np.zeros(len(picked), np.int32), 1, len(picked))
    codes = [code for code in picked[:, 0].tolist() if child[code] == branch]
    assert main_branch(space, groups, 0, 0) == (min(codes), max(codes))


def parent_below_root(space, code):
    """Return the ancestor of a leaf code just below the root."""
    node = code
    while space.node_parent[space.node_parent[node]] != space.node_parent[node]:  # the root is its own parent
        node = int(space.node_parent[node])
    return node
