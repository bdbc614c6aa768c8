from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.encoding import encode
from shoal.frames import Frame
from shoal.kernels.chance import make_state
from shoal.kernels.optimise_evict import narrow_groups
from shoal.kernels.optimise_groups import make_groups, total_cost
from shoal.kernels.optimise_moves import dissolve_groups, sweep
from shoal.kernels.optimise_prices import make_climb
from shoal.kernels.optimise_regions import load_groups
from shoal.kernels.optimise_reopen import (
    choose_offer,
    find_offers,
    groups_around,
    loosen,
    make_holding,
    make_loose,
    regroup_by_offers,
    reopen_cells,
    transpose,
    worth_in_order,
)
from shoal.methods.optimise_prices import _offers
from tests.kernels.test_optimise import loaded, recount
from tests.kernels.test_optimise_prices import collected, tables_of_trees, worth_of

trees = tables_of_trees(8, 40)


def offered(table, k, seed):
    """Return offers at random prices; every record is a tuple of its own."""
    price = np.random.default_rng(seed).random(table.records) * float(table.space.weight.sum())
    cells, many, _ = collected(table, k, price + 1.0, 10_000)
    return _offers(cells, make_climb(price, many), np.arange(table.records, dtype=np.int32), k, 0.5 * k)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), unique=True, max_size=6), min_size=1, max_size=8))
def test_transposed_lists_name_the_lists_of_each_member_in_order(lists):
    start = np.concatenate(([0], np.cumsum([len(one) for one in lists])))
    begin, found = transpose(start, np.array([one for some in lists for one in some], np.int32), 10)
    for member, ends in enumerate(pairwise(begin)):
        assert found[slice(*ends)].tolist() == [number for number, one in enumerate(lists) if member in one]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), min_size=1, max_size=8),
    st.integers(1, 6),
    st.integers(0, 20),
)
def test_in_order_of_prices_a_cell_is_worth_what_its_best_records_pay_above_its_cost(tuples, k, cost):
    tuples.sort(reverse=True)
    price, left = np.array([one[0] for one in tuples], float), np.array([one[1] for one in tuples], np.int32)
    worth, taken = worth_in_order(np.arange(len(left), dtype=np.int32), float(cost), price, left, k)
    if left.sum() < k:
        assert worth == -np.inf
        return
    paid = np.repeat(price, left) - cost
    assert worth == pytest.approx(worth_of(paid, k))
    assert taken >= k
    assert paid[:taken].sum() == pytest.approx(worth)


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(1, 4), st.integers(0, 99))
def test_offers_are_the_cells_that_lack_little_with_their_tuples_by_falling_price(table, k, seed):
    offers = offered(table, k, seed)
    assert (np.diff(offers.price) <= 0.0).all()
    for cell, ends in enumerate(pairwise(offers.start)):
        member = offers.member[slice(*ends)]
        assert (np.diff(member) > 0).all()
        worth = worth_of(offers.price[member] - offers.cost[cell], k)
        assert offers.worth[cell] == pytest.approx(worth, abs=1e-9)
        assert worth > -0.5 * k
    for one, ends in enumerate(pairwise(offers.first)):
        cells = offers.cell[slice(*ends)]
        assert all(one in offers.member[offers.start[cell] : offers.start[cell + 1]] for cell in cells)
        chosen = choose_offer(offers, one, make_state(seed, 0))
        assert chosen in cells if len(cells) else chosen == -1
    assert len(offers.cell) == len(offers.member)


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_the_groups_around_a_cell_are_those_that_have_most_of_what_it_takes(table, k, seed):
    offers, groups = offered(table, k, seed), loaded(table, k, seed)
    held = make_loose(table.records, table.records)
    loosen(held, offers.tuple_of, np.arange(table.records, dtype=np.int32))
    shared, met, near = (np.zeros(len(groups.size), np.int64) for _ in range(3))
    record_of = np.argsort(offers.tuple_of)
    for cell, ends in enumerate(pairwise(offers.start)):
        member = offers.member[slice(*ends)]
        wanted = record_of[member[: max(k, int((offers.price[member] > offers.cost[cell]).sum()))]]
        counts = np.bincount(groups.label[wanted], minlength=len(groups.size))
        count = groups_around(groups, offers, cell, k, held, shared, met, near[:2])
        assert counts[near[:count]].tolist() == sorted(counts[counts > 0], reverse=True)[:2]
        assert not shared.any()


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_loose_records_find_all_cells_that_hold_k_of_them_and_the_forced_one_is_opened_first(table, k, seed):
    offers, random = offered(table, k, seed), np.random.default_rng(seed)
    pool = np.flatnonzero(random.random(table.records) < 0.6).astype(np.int32)
    loose = make_loose(table.records, table.records)
    holding, tuples = make_holding(len(offers.cost)), loosen(loose, offers.tuple_of, pool)
    start, member = find_offers(offers, loose, holding, tuples, k)
    free = set(offers.tuple_of[pool].tolist())
    wanted = {}
    for cell, ends in enumerate(pairwise(offers.start)):
        inside = [one for one in offers.member[slice(*ends)].tolist() if one in free]
        if len(inside) >= k:
            wanted[cell] = inside
    found = {int(holding.seen[place]): member[slice(*ends)].tolist() for place, ends in enumerate(pairwise(start))}
    assert found == wanted
    if not wanted:
        return
    forced = int(random.choice(list(wanted)))
    trial = make_groups(table.space, np.ascontiguousarray(table.codes.T), table.records // k + 1, 2 * k)
    used, cost = regroup_by_offers(table.space, offers, loose, holding, trial, tuples, k, np.inf, 0.0, forced)
    assert used >= 1
    assert set(offers.tuple_of[trial.member[0, : trial.size[0]]].tolist()) <= set(wanted[forced])
    assert trial.size[:used].min() >= k
    assert cost == pytest.approx(total_cost(trial))
    assert loose.left.sum() == len(pool) - trial.size[:used].sum()
    assert (holding.place == -1).all()
    assert not holding.records.any()


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99), st.sampled_from([0.0, 0.7]))
def test_after_every_reopening_the_kept_total_is_that_of_a_recount_and_hardly_higher(table, k, seed, heat):
    offers, groups, state = offered(table, k, seed), loaded(table, k, seed), make_state(seed, 1)
    before = total_cost(groups)
    for tries in (1, 1, 1, 20):
        fall = reopen_cells(table.space, offers, offers.tuple_of, groups, k, tries, 1.0, heat, state)
        after = total_cost(groups)
        assert fall >= -(heat + 1e-8) * tries
        assert after == pytest.approx(before - fall, abs=1e-9)
        assert after == pytest.approx(recount(table, groups.label), abs=1e-9)
        before = after
        sizes = np.bincount(groups.label, minlength=len(groups.size))
        assert sizes.tolist() == groups.size.tolist()
        assert sizes[sizes > 0].min() >= k
        assert sizes.max() <= 2 * k
        for record, group in enumerate(groups.label):
            assert groups.member[group, groups.place[record]] == record


def test_a_cell_takes_the_place_of_groups_that_no_single_step_can_leave():
    """Groups by the first column lose the dear second one; on the way to groups by the second both are lost."""
    kinds = pa.table({"cheap": list("aabbaabb"), "dear": list("cdcdcdcd")})
    table = encode(
        Frame(kinds), ["cheap", "dear"], hierarchies={"cheap": "flat", "dear": "flat"}, weights={"dear": 2.0}
    )
    rows = np.ascontiguousarray(table.codes.T)
    groups, state = load_groups(table.space, rows, np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int32), 2, 8), make_state(0, 0)
    assert sweep(table.space, groups, 4, 3, 0.0, state) == 0.0
    assert dissolve_groups(table.space, groups) == 0.0
    assert narrow_groups(table.space, groups, 4, state) == 0.0
    price = np.full(8, 1.0)
    cells, many, _ = collected(table, 4, price + 1.0, 10_000)
    offers = _offers(cells, make_climb(price, many), np.arange(8, dtype=np.int32), 4, 1.0)
    assert reopen_cells(table.space, offers, offers.tuple_of, groups, 4, 20, 1.0, 0.0, state) == pytest.approx(8.0)
    assert len(set(zip(groups.label.tolist(), rows[:, 1].tolist(), strict=True))) == 2
