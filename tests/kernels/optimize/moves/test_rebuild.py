from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimize.cells.steps import (
    bucket_by_step,
    find_cell,
    make_bitset_search,
    measure_steps,
    step_between,
)
from shoal.kernels.optimize.moves.rebuild import rebuild_by_cells
from shoal.kernels.optimize.state.groups import total_cost
from shoal.kernels.optimize.state.regions import load_groups
from shoal.kernels.space.space import range_cost
from tests.kernels.optimize.groups import check_groups, loaded, recount
from tests.support.tables import coded_table, coded_tables


@settings(max_examples=60, deadline=None)
@given(coded_tables(least=8), st.integers(2, 4), st.integers(0, 99))
def test_after_every_rebuilding_by_cells_the_kept_total_is_that_of_a_recount_and_no_higher(table, k, seed):
    groups, state = loaded(table, k, seed), make_state(seed, 1)
    steps = measure_steps(table.space, groups.codes)
    before = total_cost(groups)
    for tries in (1, 1, 1, 20):
        fall = rebuild_by_cells(table.space, steps, groups, k, tries, 3, 0.5, 0.0, state).gained
        after = total_cost(groups)
        assert fall >= -1e-8
        assert after == pytest.approx(before - fall, abs=1e-9)
        check_groups(table, groups, k)
        before = after


@settings(max_examples=40, deadline=None)
@given(coded_tables(least=8), st.integers(2, 4), st.integers(0, 99))
def test_a_hot_rebuilding_may_raise_the_total_by_no_more_than_its_heat_and_counts_it_right(table, k, seed):
    groups, state = loaded(table, k, seed), make_state(seed, 1)
    steps = measure_steps(table.space, groups.codes)
    for _ in range(10):
        before = total_cost(groups)
        fall = rebuild_by_cells(table.space, steps, groups, k, 1, 3, 0.5, 0.7, state).gained
        assert fall > -0.7 - 1e-8
        assert total_cost(groups) == pytest.approx(before - fall, abs=1e-9)
        assert total_cost(groups) == pytest.approx(recount(table, groups.label), abs=1e-9)


def best_value(table, pool, seed, k, share, profit):
    """Return the least cost less a share of the first k records' worth, over all combinations of steps."""
    columns = range(table.codes.shape[0])
    away = [[step_between(table.space, one, *table.codes[one, [seed, other]]) for other in pool] for one in columns]
    found = np.inf
    for limits in product(*(sorted(set(column)) for column in away)):
        held = [
            place
            for place in range(len(pool))
            if all(away[column][place][0] <= limits[column][0] for column in columns)
        ]
        if len(held) >= k:
            paid = sum(table.space.weight[column] * limits[column][1] for column in columns)
            found = min(found, paid - share * sum(profit[place] for place in held[:k]) / k)
    return found


@settings(max_examples=60, deadline=None)
@given(coded_tables(least=6, most=80), st.integers(1, 5), st.floats(0, 1), st.integers(0, 99))
def test_the_cell_found_is_the_best_of_all_combinations(table, k, share, seed):
    random = np.random.default_rng(seed)
    rows = np.ascontiguousarray(table.codes.T)
    pool = random.permutation(table.records).astype(np.int32)
    sieve, steps = make_bitset_search(rows.shape[1], len(pool)), measure_steps(table.space, rows)
    sieve.cost_before[:] = np.sort(random.random(len(pool)))[::-1]
    chosen = int(pool[0])
    bucket_by_step(steps, rows, table.space.weight, chosen, pool, len(pool), sieve)
    assert find_cell(sieve, steps.counts, len(pool), k, share)
    held = [place for place in range(len(pool)) if int(sieve.found[place >> 6]) >> (place & 63) & 1]
    cost = 0.0
    for column, weight in enumerate(table.space.weight):
        steps_away = [step_between(table.space, column, rows[chosen, column], rows[pool[one], column]) for one in held]
        cost += weight * max(steps_away)[1]
    value = cost - share * float(sieve.cost_before[held[:k]].sum()) / k
    assert len(held) >= k
    assert value == pytest.approx(best_value(table, pool, chosen, k, share, sieve.cost_before), abs=1e-9)


def test_a_step_of_a_hierarchy_costs_what_the_common_ancestor_costs():
    table = coded_table(80, "n", 3)
    size = int(table.space.cardinality[0])
    for one, other in product(range(size), repeat=2):
        step, cost = step_between(table.space, 0, one, other)
        assert cost == range_cost(table.space, 0, min(one, other), max(one, other))
        assert (step == 0) == (one == other)


def test_values_too_many_to_tell_apart_are_taken_for_their_neighbours():
    table = coded_table(80, "i", 3)
    rows = np.arange(1000, dtype=np.int32)[:, None]
    space = table.space._replace(
        cardinality=np.array([1000], np.int32), domain=np.array([999.0]), position=np.arange(1000.0)
    )
    steps = measure_steps(space, rows)
    assert steps.values[0] == 250
    assert steps.rank.tolist() == [code // 4 for code in range(1000)]
    assert steps.away.reshape(250, 250)[0].max() == 7
    assert (np.diff(steps.away.reshape(250, 250)[0]) >= 0).all()


def test_mixed_up_groups_become_the_cells_that_were_mixed():
    table = coded_table(60, "fff", 0)
    codes = np.array([[0, 0, 0]] * 4 + [[1, 1, 1]] * 4 + [[2, 0, 1]] * 4, np.int32)
    groups = load_groups(table.space, codes, np.array([0, 1, 2] * 4, np.int32), 3, 8)
    assert total_cost(groups) == pytest.approx(36.0)
    fall = rebuild_by_cells(
        table.space, measure_steps(table.space, codes), groups, 4, 30, 3, 0.5, 0.0, make_state(0, 0)
    ).gained
    assert fall == pytest.approx(36.0)
    assert total_cost(groups) == 0.0
