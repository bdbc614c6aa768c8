from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.kernels.chance import make_state
from shoal.kernels.optimise_ladder import build_ladder
from shoal.kernels.optimise_prices import climb_prices, make_climb, open_cells, raise_ceilings
from shoal.kernels.optimise_walk import collect, start_walk
from shoal.kernels.optimise_worth import STEPS, cell_worth, make_cells
from shoal.kernels.tuples import distinct_tuples
from shoal.methods.base import Task
from shoal.methods.optimise_prices import _levels, group_by_prices
from tests import reference_optimise
from tests.tables import coded_table


def tables_of_trees(least, most):
    """Draw a small table of hierarchies and flat columns."""
    return st.builds(
        coded_table,
        st.integers(least, most),
        st.text("nf", min_size=1, max_size=4),
        st.integers(0, 10**6),
        missing=st.booleans(),
        weighted=st.booleans(),
    )


trees, small_trees = tables_of_trees(4, 30), tables_of_trees(4, 9)


def worth_by_trying_all(price, many, cost, k):
    """Return the best sum of what some k or more records pay above the cost, 0 if there is none above."""
    paid = [one - cost for one, times in zip(price, many, strict=True) for _ in range(times)]
    return max([0.0, *(sum(some) for size in range(k, len(paid) + 1) for some in combinations(paid, size))])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 3)), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(0, 20),
)
def test_a_cell_is_worth_what_its_best_records_pay_above_its_cost(tuples, k, cost):
    price, many = np.array([one[0] for one in tuples], float), np.array([one[1] for one in tuples], np.int32)
    member, count, taken = (
        np.arange(len(many), dtype=np.int32),
        np.zeros(STEPS, np.int64),
        np.zeros(len(many), np.int32),
    )
    worth = cell_worth(member, float(cost), price, many, k, 0.0, count, taken)
    assert worth == pytest.approx(worth_by_trying_all(price, many, cost, k), abs=1e-9)
    if worth > 0.0:
        assert taken.sum() >= k
        assert (taken <= many).all()
        assert taken @ (price - cost) == pytest.approx(worth)


def collected(table, k, ceiling, budget, many=None):
    """Return the cells that the walk keeps: their tuples (a table's records, each ``many`` times, else once) and costs."""
    rows, many = np.ascontiguousarray(table.codes.T), np.ones(table.records, np.int32) if many is None else many
    levels = _levels(build_ladder(table.space, rows, k, 1.6, make_state(0, 2)))
    walk, cells = (
        start_walk(len(table.columns), table.records),
        make_cells(table.records, 1 << 16, 1 << 12, make_state(0, 3)),
    )
    while walk.depth[0] >= 0:
        collect(*levels, walk, many, k, ceiling, cells, budget)
    assert cells.used[1] == 0
    return cells, many, levels


def kept(cells):
    """Return the tuples of each cell in a store and what it costs."""
    return {
        tuple(sorted(cells.member[cells.start[one] : cells.start[one + 1]].tolist())): cells.cost[one]
        for one in range(cells.used[0])
    }


def cells_by_trying_all(levels, k, ceiling):
    """Return the cheapest cost of every set of tuples that some combination of levels holds in one cell, if worth something."""
    found = {}
    for step in product(*(range(*ends) for ends in zip(levels.first, levels.first[1:], strict=False))):
        key, cost = levels.cell[list(step)].T, levels.cost[list(step)].sum(0)
        for one in np.unique(key, axis=0):
            inside = np.flatnonzero((key == one).all(1))
            if worth_of(ceiling[inside] - cost[inside[0]], k) > 1e-9:
                found[tuple(inside)] = min(found.get(tuple(inside), np.inf), cost[inside[0]])
    return found


def worth_of(over, k):
    """Return the sum of the k largest and of all further ones above 0."""
    ranked = np.sort(over)[::-1]
    return ranked[:k].sum() + np.maximum(ranked[k:], 0.0).sum() if len(ranked) >= k else 0.0


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 99), st.sampled_from([1, 50, 10_000]))
def test_the_walk_keeps_the_cells_that_are_worth_something_at_the_ceiling_and_no_other(table, k, seed, budget):
    ceiling = np.random.default_rng(seed).random(table.records) * float(table.space.weight.sum())
    cells, _, levels = collected(table, k, ceiling, budget)
    found = kept(cells)
    wanted = cells_by_trying_all(levels, k, ceiling)
    assert found.keys() == wanted.keys()
    assert all(found[one] == pytest.approx(wanted[one]) for one in found)


def test_a_full_store_says_so():
    table = coded_table(30, "nnf", 3)
    levels = _levels(build_ladder(table.space, np.ascontiguousarray(table.codes.T), 2, 1.6, make_state(0, 2)))
    many, ceiling = np.ones(30, np.int32), np.full(30, 3.0)
    for room, most in ((10, 100), (1000, 2)):
        cells = make_cells(30, room, most, make_state(0, 3))
        collect(*levels, start_walk(3, 30), many, 2, ceiling, cells, 1_000_000)
        assert cells.used[1] == 1
        assert cells.used[0] <= most
        assert cells.start[cells.used[0]] <= room


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_prices_stay_below_their_ceiling_and_the_best_prove_what_they_are_said_to(table, k, seed):
    random = np.random.default_rng(seed)
    many = np.ones(table.records, np.int32)
    climb = make_climb(random.random(table.records), many)
    raise_ceilings(climb, 0.3)
    cells, _, _ = collected(table, k, climb.ceiling, 10_000)
    before = climb_prices(cells, climb, k, float(table.records), 1)
    bound = climb_prices(cells, climb, k, float(table.records), 30)
    assert bound >= before
    assert (climb.best <= climb.ceiling).all()
    worths = (
        worth_of(climb.best[cells.member[cells.start[one] : cells.start[one + 1]]] - cells.cost[one], k)
        for one in range(cells.used[0])
    )
    assert bound == pytest.approx(climb.best.sum() - sum(max(0.0, worth) for worth in worths))


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 99), st.floats(0.0, 4.0))
def test_every_opened_cell_gets_k_records_that_lie_in_it(table, k, seed, allowed):
    climb = make_climb(np.random.default_rng(seed).random(table.records), np.ones(table.records, np.int32))
    raise_ceilings(climb, 0.5)
    cells, _, _ = collected(table, k, climb.ceiling, 10_000)
    label = np.full(table.records, -1, np.int32)
    groups = open_cells(cells, climb, k, allowed, np.arange(table.records + 1), np.arange(table.records), label)
    assert label.max(initial=-1) == groups - 1
    held = [set(cells.member[cells.start[one] : cells.start[one + 1]].tolist()) for one in range(cells.used[0])]
    for group in range(groups):
        mine = set(np.flatnonzero(label == group).tolist())
        assert len(mine) >= k
        assert any(mine <= one for one in held)


@settings(max_examples=60, deadline=None)
@given(small_trees, st.integers(2, 3), st.integers(0, 99))
def test_no_grouping_is_below_the_bound_of_prices(table, k, seed):
    paid = np.random.default_rng(seed).random(table.records) * float(table.space.weight.sum())
    found = group_by_prices(table, distinct_tuples(table.codes), k, paid, 1_000_000, 0, lambda *_: None, np.inf)
    whole = table.records * float(table.space.weight.sum())
    assert found.bound / whole <= reference_optimise.least_loss(table, k) + 1e-9


def test_prices_prove_more_than_the_cheapest_cell_of_each_record():
    table = coded_table(400, "nnnff", 5)
    bounds = [shoal.Optimise().run(table, Task(k=5, effort=one)).details["lower_bound"] for one in ("balanced", "best")]
    assert bounds[0] * 1.05 < bounds[1]


def test_the_higher_bound_counts_where_prices_prove_less_than_the_cheapest_cells():
    table = coded_table(77, "ff", 496638, missing=True)
    bounds = [shoal.Optimise().run(table, Task(k=5, effort=one)).details["lower_bound"] for one in ("balanced", "best")]
    assert bounds[0] <= bounds[1]


def test_a_walk_that_may_not_look_often_enough_gives_nothing():
    table = coded_table(200, "nnff", 5)
    paid = np.ones(200)
    known = (table, distinct_tuples(table.codes), 5, paid)
    assert group_by_prices(*known, 1, 0, lambda *_: None, np.inf) is None
    assert group_by_prices(*known, 1_000_000, 0, lambda *_: None, 0.0) is None
    assert group_by_prices(*known, 1_000_000, 0, lambda *_: None, np.inf) is not None
