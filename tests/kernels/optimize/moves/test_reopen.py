from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.encoding import encode
from shoal.frames import Frame
from shoal.kernels.common.random_state import draw_below, make_state
from shoal.kernels.optimize.cells.candidates import (
    MOST_TRIED,
    Opening,
    bucket_by_tuple,
    choose_cell,
    find_holding_cells,
    make_holding,
    make_ungrouped,
    regroup_by_candidates,
)
from shoal.kernels.optimize.cells.dual_ascent import make_dual_ascent
from shoal.kernels.optimize.cells.reduced_cost import profit_in_order
from shoal.kernels.optimize.moves.evict import evict_from_groups
from shoal.kernels.optimize.moves.relocate_swap import dissolve_groups, sweep
from shoal.kernels.optimize.moves.reopen import overlapping_groups, reopen_cells, reopen_region
from shoal.kernels.optimize.state.groups import make_groups, total_cost
from shoal.kernels.optimize.state.regions import load_groups, make_regions
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.optimize.pricing import make_candidates
from tests.kernels.optimize.cells.test_dual_ascent import collected, profit_of, tables_of_trees
from tests.kernels.optimize.groups import check_groups, loaded, recount

trees = tables_of_trees(8, 60)


def candidates_of(table, k, price_of):
    """Return candidate cells at dual prices that ``price_of`` makes for a number of tuples."""
    tuples = distinct_tuples(table.codes)
    multiplicity, price = tuples.size.astype(np.int32), price_of(len(tuples.size))
    cells, _, _ = collected(table.take(tuples.first), k, price + 1.0, 10_000, multiplicity)
    return make_candidates(cells, make_dual_ascent(price, multiplicity), tuples.label, k, 0.5 * k)


def candidates_by_chance(table, k, seed):
    """Return offers at random prices."""
    random, most = np.random.default_rng(seed), float(table.space.weight.sum())
    return candidates_of(table, k, lambda tuples: random.random(tuples) * most)


def inside(candidates, cell):
    """Return the tuples of a cell."""
    return candidates.tuples.item[candidates.tuples.start[cell] : candidates.tuples.start[cell + 1]]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), min_size=1, max_size=8),
    st.integers(1, 6),
    st.integers(0, 20),
)
def test_in_order_of_prices_a_cell_is_worth_what_its_best_records_pay_above_its_cost(tuples, k, cost):
    tuples.sort(reverse=True)
    price, left = np.array([one[0] for one in tuples], float), np.array([one[1] for one in tuples], np.int32)
    profit, taken = profit_in_order(np.arange(len(left), dtype=np.int32), float(cost), price, left, k)
    if left.sum() < k:
        assert profit == -np.inf
        return
    paid = np.repeat(price, left) - cost
    assert profit == pytest.approx(profit_of(paid, k))
    assert taken >= k
    assert paid[:taken].sum() == pytest.approx(profit)


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 99))
def test_offers_are_the_cells_that_lack_little_with_their_tuples_by_falling_price(table, k, seed):
    candidates = candidates_by_chance(table, k, seed)
    multiplicity = np.bincount(candidates.tuple_of)
    assert (np.diff(candidates.price) <= 0.0).all()
    for cell, cost in enumerate(candidates.cost):
        member = inside(candidates, cell)
        assert (np.diff(member) > 0).all()
        profit = profit_of(np.repeat(candidates.price[member], multiplicity[member]) - cost, k)
        assert candidates.profit[cell] == pytest.approx(profit, abs=1e-9)
        assert profit > -0.5 * k
    for one, ends in enumerate(pairwise(candidates.cells.start)):
        assert all(one in inside(candidates, cell) for cell in candidates.cells.item[slice(*ends)])
    assert len(candidates.cells.item) == len(candidates.tuples.item)


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 99))
def test_the_worthiest_of_a_few_cells_is_chosen(table, k, seed):
    candidates = candidates_by_chance(table, k, seed)
    for one, ends in enumerate(pairwise(candidates.cells.start)):
        cells, state = candidates.cells.item[slice(*ends)], make_state(seed, one)
        chosen = choose_cell(candidates.cells, candidates.profit, one, make_state(seed, one))
        looked_at = [cells[draw_below(state, len(cells))] for _ in range(min(MOST_TRIED, len(cells)))]
        assert chosen == (max(looked_at, key=lambda cell: candidates.profit[cell]) if looked_at else -1)


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_the_groups_around_a_cell_are_those_that_have_most_of_what_it_takes(table, k, seed):
    candidates, groups = candidates_by_chance(table, k, seed), loaded(table, k, seed)
    held = make_ungrouped(len(candidates.price), table.records)
    bucket_by_tuple(held, candidates.tuple_of, np.arange(table.records, dtype=np.int32))
    shared, met, near = (np.zeros(len(groups.size), np.int64) for _ in range(3))
    for cell, cost in enumerate(candidates.cost):
        counts, taken = np.zeros(len(groups.size), np.int64), 0
        for one in inside(candidates, cell):
            if taken < k or candidates.price[one] > cost:
                counts += np.bincount(groups.label[candidates.tuple_of == one], minlength=len(counts))
                taken = counts.sum()
        count = overlapping_groups(groups, candidates, cell, k, held, shared, met, near[:2])
        assert counts[near[:count]].tolist() == sorted(counts[counts > 0], reverse=True)[:2]
        assert not shared.any()


def open_plainly(candidates, holds, left, k, room, allowed, forced):
    """Return the tuples of the groups of cells opened one after the other, the forced one first, then always the worthiest."""
    opened = []
    while True:
        standing = {cell: [one for one in tuples for _ in range(left[one])] for cell, tuples in holds.items()}
        profit = {
            cell: profit_of(candidates.price[some] - candidates.cost[cell], k)
            for cell, some in standing.items()
            if len(some) >= k
        }
        best = max(profit, key=profit.get, default=None) if opened else forced
        if best is None or (opened and profit[best] + allowed <= 0.0):
            return opened
        payers = int((candidates.price[standing[best]] > candidates.cost[best]).sum())
        opened.append(standing[best][: min(max(k, payers), room)])
        for one in opened[-1]:
            left[one] -= 1


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99), st.sampled_from([0.0, 1.5]))
def test_ungrouped_records_find_all_cells_that_hold_k_of_them_and_the_most_profitable_are_opened(
    table, k, seed, allowed
):
    candidates, random = candidates_by_chance(table, k, seed), np.random.default_rng(seed)
    pool = np.flatnonzero(random.random(table.records) < 0.7).astype(np.int32)
    ungrouped, holding = make_ungrouped(len(candidates.price), table.records), make_holding(len(candidates.cost))
    tuples = bucket_by_tuple(ungrouped, candidates.tuple_of, pool)
    held = find_holding_cells(candidates, ungrouped, holding, tuples, k)
    left = np.bincount(candidates.tuple_of[pool], minlength=len(candidates.price))
    holds = {
        cell: inside(candidates, cell)[left[inside(candidates, cell)] > 0].tolist()
        for cell in range(len(candidates.cost))
    }
    holds = {cell: some for cell, some in holds.items() if left[some].sum() >= k}
    found = {
        int(holding.seen[place]): held.item[slice(*ends)].tolist() for place, ends in enumerate(pairwise(held.start))
    }
    assert found == holds
    if not holds:
        return
    forced = int(random.choice(list(holds)))
    holding = make_holding(len(candidates.cost))
    trial = make_groups(table.space, np.ascontiguousarray(table.codes.T), table.records // k + 1, 2 * k)
    used, cost = regroup_by_candidates(
        table.space, candidates, ungrouped, holding, trial, tuples, k, np.inf, allowed, forced
    )
    opened = open_plainly(candidates, found, left, k, 2 * k, allowed, forced)
    assert [sorted(candidates.tuple_of[trial.member[one, : trial.size[one]]].tolist()) for one in range(used)] == [
        sorted(some) for some in opened
    ]
    assert cost == pytest.approx(total_cost(trial))
    assert ungrouped.left.tolist() == left.tolist()
    assert (holding.place == -1).all()
    assert not holding.records.any()
    assert not holding.tuples.any()


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99), st.sampled_from([0.0, 0.7]))
def test_after_every_reopening_the_kept_total_is_that_of_a_recount_and_hardly_higher(table, k, seed, temperature):
    candidates, groups, state = candidates_by_chance(table, k, seed), loaded(table, k, seed), make_state(seed, 1)
    for tries in (1, 1, 1, 20):
        before = total_cost(groups)
        fall = reopen_cells(
            table.space, candidates, candidates.tuple_of, groups, k, tries, 1.0, temperature, state
        ).gained
        assert fall >= -(temperature * float(table.space.weight.sum()) + 1e-8) * tries
        assert total_cost(groups) == pytest.approx(before - fall, abs=1e-9)
        check_groups(table, groups, k)


@settings(max_examples=30, deadline=None)
@given(tables_of_trees(40, 80), st.integers(2, 4), st.integers(0, 99))
def test_reopening_a_region_leaves_all_other_regions_alone(table, k, seed):
    candidates, label = candidates_by_chance(table, k, seed), loaded(table, k, seed).label
    rows, space = np.ascontiguousarray(table.codes.T), table.space
    before, groups = label.copy(), int(label.max()) + 1
    regions = make_regions(space, rows, label, groups, 6 * k, seed)
    reopen_region(space, rows, label, regions, 0, Opening(candidates, k, 5.0, 1.0, 0.0, seed))
    own = np.zeros(table.records, bool)
    own[regions.record[: regions.start[1]]] = True
    assert (label[~own] == before[~own]).all()
    assert np.bincount(label[own])[np.unique(label[own])].min() >= k
    _, mine = np.unique(label[own], return_inverse=True)
    _, old = np.unique(before[own], return_inverse=True)
    part = table.take(np.flatnonzero(own).astype(np.int32))
    assert recount(part, mine.astype(np.int32)) <= recount(part, old.astype(np.int32)) + 1e-9


def test_a_cell_takes_the_place_of_groups_that_no_single_step_can_leave():
    """Groups by the first column lose the expensive second one; on the way to groups by the second both are lost."""
    kinds = pa.table({"cheap": list("aabbaabb"), "expensive": list("cdcdcdcd")})
    table = encode(
        Frame(kinds),
        ["cheap", "expensive"],
        hierarchies={"cheap": "flat", "expensive": "flat"},
        weights={"expensive": 2.0},
    )
    rows = np.ascontiguousarray(table.codes.T)
    groups, state = load_groups(table.space, rows, np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int32), 2, 8), make_state(0, 0)
    assert sweep(table.space, groups, 4, 3, 0.0, state).gained == 0.0
    assert dissolve_groups(table.space, groups).gained == 0.0
    assert evict_from_groups(table.space, groups, 4, state).gained == 0.0
    candidates = candidates_of(table, 4, np.ones)
    assert reopen_cells(
        table.space, candidates, candidates.tuple_of, groups, 4, 20, 1.0, 0.0, state
    ).gained == pytest.approx(8.0)
    assert len(set(zip(groups.label.tolist(), rows[:, 1].tolist(), strict=True))) == 2
