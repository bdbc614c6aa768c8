from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimize.cells.depth_first import collect, start_enumeration
from shoal.kernels.optimize.cells.dual_ascent import ascend, make_dual_ascent, open_cells, raise_ceilings
from shoal.kernels.optimize.cells.levels import build_levels
from shoal.kernels.optimize.cells.reduced_cost import BINS, cell_profit, make_cell_pool
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Task
from shoal.methods.optimize.params import EFFORTS, PricingParams
from shoal.methods.optimize.pricing import _by_column, group_by_prices
from shoal.methods.stopping import Stop
from tests.support import reference_optimize
from tests.support.tables import coded_table


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


def profit_by_trying_all(price, multiplicity, cost, k):
    """Return the best sum of what some k or more records pay above the cost, 0 if there is none above."""
    paid = [one - cost for one, times in zip(price, multiplicity, strict=True) for _ in range(times)]
    return max([0.0, *(sum(some) for size in range(k, len(paid) + 1) for some in combinations(paid, size))])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 3)), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(0, 20),
)
def test_a_cell_is_worth_what_its_best_records_pay_above_its_cost(tuples, k, cost):
    price, multiplicity = np.array([one[0] for one in tuples], float), np.array([one[1] for one in tuples], np.int32)
    member, count, taken = (
        np.arange(len(multiplicity), dtype=np.int32),
        np.zeros(BINS, np.int64),
        np.zeros(len(multiplicity), np.int32),
    )
    profit = cell_profit(member, float(cost), price, multiplicity, k, 0.0, count, taken)
    assert profit == pytest.approx(profit_by_trying_all(price, multiplicity, cost, k), abs=1e-9)
    if profit > 0.0:
        assert taken.sum() >= k
        assert (taken <= multiplicity).all()
        assert taken @ (price - cost) == pytest.approx(profit)


def collected(table, k, ceiling, budget, multiplicity=None):
    """Return the cells that the walk keeps: their tuples (a table's records, each ``multiplicity`` times, else once) and costs."""
    rows, multiplicity = (
        np.ascontiguousarray(table.codes.T),
        np.ones(table.records, np.int32) if multiplicity is None else multiplicity,
    )
    by_column = _by_column(build_levels(table.space, rows, k, 1.6, make_state(0, 2)))
    enumeration, cells = (
        start_enumeration(len(table.columns), table.records),
        make_cell_pool(table.records, 1 << 16, 1 << 12, make_state(0, 3)),
    )
    order = np.argsort(-ceiling, kind="stable")
    ordered, records = by_column.in_order(order), multiplicity[order]
    while enumeration.depth[0] >= 0:
        collect(*ordered, enumeration, records, k, ceiling[order], order, cells, budget)
    assert cells.used[1] == 0
    return cells, multiplicity, by_column


def kept(cells):
    """Return the tuples of each cell in a store and what it costs."""
    return {
        tuple(sorted(cells.member[cells.start[one] : cells.start[one + 1]].tolist())): cells.cost[one]
        for one in range(cells.used[0])
    }


def cells_by_trying_all(by_column, k, ceiling):
    """Return the cheapest cost of every set of tuples that some combination of levels holds in one cell, if worth something."""
    found = {}
    for step in product(*(range(*ends) for ends in zip(by_column.first, by_column.first[1:], strict=False))):
        key, cost = by_column.cell[list(step)].T, by_column.cost[list(step)].sum(0)
        for one in np.unique(key, axis=0):
            inside = np.flatnonzero((key == one).all(1))
            if profit_of(ceiling[inside] - cost[inside[0]], k) > 1e-9:
                found[tuple(inside)] = min(found.get(tuple(inside), np.inf), cost[inside[0]])
    return found


def profit_of(over, k):
    """Return the sum of the k largest and of all further ones above 0."""
    ranked = np.sort(over)[::-1]
    return ranked[:k].sum() + np.maximum(ranked[k:], 0.0).sum() if len(ranked) >= k else 0.0


def useful(ceiling, inside, cost):
    """Return those tuples of a cell that are not short of its cost by more than all others together can pay."""
    over = ceiling[list(inside)] - cost
    return {one for one, more in zip(inside, over, strict=True) if -more < over[over > 0.0].sum()}


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 99), st.sampled_from([1, 50, 10_000]))
def test_the_walk_keeps_what_the_cells_with_a_profit_at_the_ceiling_may_take_and_no_other(table, k, seed, budget):
    ceiling = np.random.default_rng(seed).random(table.records) * float(table.space.weight.sum())
    cells, _, by_column = collected(table, k, ceiling, budget)
    found = kept(cells)
    wanted = cells_by_trying_all(by_column, k, ceiling)
    for inside, cost in wanted.items():
        taken = useful(ceiling, inside, cost)
        assert any(price <= cost + 1e-9 and taken <= set(one) for one, price in found.items())
    for one, price in found.items():
        assert profit_of(ceiling[list(one)] - price, k) > 0.0
        assert useful(ceiling, one, price) == set(one)
        assert any(cost <= price + 1e-9 and set(one) <= set(inside) for inside, cost in wanted.items())


def test_a_full_store_says_so():
    table = coded_table(30, "nnf", 3)
    by_column = _by_column(build_levels(table.space, np.ascontiguousarray(table.codes.T), 2, 1.6, make_state(0, 2)))
    multiplicity, ceiling = np.ones(30, np.int32), np.full(30, 3.0)
    for room, most in ((10, 100), (1000, 2)):
        cells = make_cell_pool(30, room, most, make_state(0, 3))
        enumeration = start_enumeration(3, 30)
        collect(*by_column, enumeration, multiplicity, 2, ceiling, np.arange(30), cells, 1_000_000)
        assert cells.used[1] == 1
        assert cells.used[0] <= most
        assert cells.start[cells.used[0]] <= room


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_prices_stay_below_their_ceiling_and_the_best_prove_what_they_are_said_to(table, k, seed):
    random = np.random.default_rng(seed)
    multiplicity = np.ones(table.records, np.int32)
    dual = make_dual_ascent(random.random(table.records), multiplicity)
    raise_ceilings(dual, 0.3)
    cells, _, _ = collected(table, k, dual.ceiling, 10_000)
    before = ascend(cells, dual, k, float(table.records), 1)
    bound = ascend(cells, dual, k, float(table.records), 30)
    assert bound >= before
    assert (dual.best <= dual.ceiling).all()
    worths = (
        profit_of(dual.best[cells.member[cells.start[one] : cells.start[one + 1]]] - cells.cost[one], k)
        for one in range(cells.used[0])
    )
    assert bound == pytest.approx(dual.best.sum() - sum(max(0.0, profit) for profit in worths))


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 99), st.floats(0.0, 4.0))
def test_every_opened_cell_gets_k_records_that_lie_in_it(table, k, seed, allowed):
    dual = make_dual_ascent(np.random.default_rng(seed).random(table.records), np.ones(table.records, np.int32))
    raise_ceilings(dual, 0.5)
    cells, _, _ = collected(table, k, dual.ceiling, 10_000)
    label = np.full(table.records, -1, np.int32)
    groups = open_cells(cells, dual, k, allowed, np.arange(table.records + 1), np.arange(table.records), label)
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
    found = group_by_prices(table, distinct_tuples(table.codes), k, paid, PricingParams(), 0, lambda *_: None, Stop())
    whole = table.records * float(table.space.weight.sum())
    assert found.bound / whole <= reference_optimize.least_loss(table, k) + 1e-9


def bound_without(part, table):
    """Return what the optimizer proves without one of its parts."""
    method = shoal.Optimize(params=replace(EFFORTS["balanced"], without=(part,) if part else ()))
    return method.run(table, Task(k=5)).details["lower_bound"]


@pytest.mark.compiled
def test_prices_prove_more_than_the_cheapest_cell_of_each_record():
    table = coded_table(400, "nnnff", 5)
    assert bound_without("pricing", table) * 1.05 < bound_without("", table)


def test_the_higher_bound_counts_where_prices_prove_less_than_the_cheapest_cells():
    table = coded_table(77, "ff", 496638, missing=True)
    assert bound_without("pricing", table) <= bound_without("", table)


@pytest.mark.compiled
def test_a_walk_that_may_not_look_often_enough_gives_nothing():
    table = coded_table(200, "nnff", 5)
    paid = np.ones(200)
    known = (table, distinct_tuples(table.codes), 5, paid)
    assert group_by_prices(*known, PricingParams(visits=1), 0, lambda *_: None, Stop()) is None
    assert group_by_prices(*known, PricingParams(), 0, lambda *_: None, Stop(deadline=0.0)) is None
    assert group_by_prices(*known, PricingParams(), 0, lambda *_: None, Stop()) is not None
