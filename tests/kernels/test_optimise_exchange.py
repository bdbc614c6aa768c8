from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.chance import make_state
from shoal.kernels.optimise_chains import (
    LONGEST,
    exchange,
    find_source,
    make_journal,
    make_trail,
    pull,
    undo,
)
from shoal.kernels.optimise_estimate import estimate, find_sources, make_sources, weigh_open
from shoal.kernels.optimise_exchange import exchange_cells, exchange_region
from shoal.kernels.optimise_groups import ENDLESS
from shoal.kernels.optimise_offers import loosen, make_loose, transpose
from shoal.kernels.optimise_play import Play, cells_of_groups, enter, label_play, make_play, open_cell
from shoal.kernels.optimise_regions import load_groups, make_regions
from tests.kernels.test_optimise import recount
from tests.kernels.test_optimise_prices import tables_of_trees
from tests.kernels.test_optimise_reopen import inside, offered_by_chance

trees = tables_of_trees(10, 60)


def opened_by_chance(table, offers, k, seed):
    """Return labels of groups that fill cells on offer, as far as these hold k records left; the others are in groups of their own."""
    random, label, used = np.random.default_rng(seed), np.full(table.records, -1, np.int32), 0
    for cell in random.permutation(len(offers.cost)):
        free = np.flatnonzero((label < 0) & np.isin(offers.tuple_of, inside(offers, cell)))
        if len(free) >= k:
            label[free[: random.integers(k, 2 * k)]] = used
            used += 1
    rest = np.flatnonzero(label < 0)
    if len(rest) < k:  # they make room for themselves in a group that is taken apart
        rest = np.flatnonzero((label < 0) | (label == used - 1))
    for part in np.array_split(rest, max(len(rest) // k, 1)):
        label[part] = used
        used += 1
    return np.unique(label, return_inverse=True)[1].astype(np.int32)


def played(table, k, seed):
    """Return a play on groups opened by chance, and the groups."""
    offers = offered_by_chance(table, k, seed)
    label = opened_by_chance(table, offers, k, seed)
    groups = load_groups(table.space, np.ascontiguousarray(table.codes.T), label, int(label.max()) + 1, 2 * k)
    return make_play(offers, groups, offers.tuple_of, k), groups, offers


def holds(play, cell):
    """Return the tuples of a cell of a play."""
    return set(play.member[play.start[cell] : play.start[cell + 1]].tolist())


def open_cells_of(play, one):
    """Return the open cells of a tuple, as the play knows them."""
    return set(play.opened[play.begin[one] : play.begin[one] + play.opens[one]].tolist())


def state_of(play):
    """Return all that an exchange may change, in a form that does not depend on the order of lists."""
    opened = [frozenset(open_cells_of(play, one)) for one in range(len(play.opens))]
    return play.label.tolist(), play.size.tolist(), opened


def total_of(play):
    return float(play.cost @ play.size)


def check_play(play, k):
    """Check that lists, sizes and open cells of a play agree, and that each record is in a cell that holds it."""
    for cell in range(len(play.size)):
        record, found = play.first[cell], []
        while record >= 0:
            found.append(int(record))
            assert play.later[record] < 0 or play.earlier[play.later[record]] == record
            record = play.later[record]
        assert sorted(found) == np.flatnonzero(play.label == cell).tolist()
        assert len(found) == play.size[cell]
        assert len(found) == 0 or len(found) >= k
        assert set(play.tuple_of[found].tolist()) <= holds(play, cell)
    for one in range(len(play.opens)):
        expected = {cell for cell in np.flatnonzero(play.size).tolist() if one in holds(play, cell)}
        assert open_cells_of(play, one) == expected
        assert play.opens[one] == len(expected)


def feeders(play, cell):
    """Return the open cells that have a record which a cell holds."""
    mine = holds(play, cell)
    return {int(label) for one, label in zip(play.tuple_of, play.label, strict=True) if label >= 0 and one in mine}


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_groups_take_part_that_fill_a_cell_on_offer(table, k, seed):
    play, groups, offers = played(table, k, seed)
    check_play(play, k)
    filled = cells_of_groups(groups, offers.tuple_of, play.begin, play.cell, play.cost)
    for group in range(len(groups.size)):
        mine = set(offers.tuple_of[groups.label == group].tolist())
        fitting = [
            c for c in range(len(play.cost)) if mine <= holds(play, c) and play.cost[c] <= groups.cost[group] + 1e-9
        ]
        assert filled[group] in fitting if fitting else filled[group] == -1
    assert (play.label == filled[groups.label]).all()


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_a_chain_leads_from_the_nearest_cells_that_can_spare_a_record_or_from_the_one_wanted(table, k, seed):
    play, _, _ = played(table, k, seed)
    trail, random = make_trail(len(play.cost)), np.random.default_rng(seed)
    for cell in random.permutation(len(play.cost))[:6]:
        near, seen, spare = {int(cell)}, {int(cell)}, set()
        for _ in range(LONGEST):
            near = set().union(*(feeders(play, one) for one in near)) - seen
            seen |= near
            spare = {one for one in near if play.size[one] > k}
            if spare:
                break
        source = find_source(play, trail, cell, -1, k)
        if not spare:
            assert source == -1
            continue
        assert source in spare
        assert play.cost[source] == max(play.cost[one] for one in spare)
        assert find_source(play, trail, cell, source, k) == source
        size, total, journal = play.size.copy(), total_of(play), make_journal(table.records, k)
        rise = pull(play, trail, journal, source, cell)
        assert rise == pytest.approx(play.cost[cell] - play.cost[source])
        assert total_of(play) == pytest.approx(total + rise)
        size[source] -= 1
        size[cell] += 1
        assert play.size.tolist() == size.tolist()
        assert journal.moves[0] <= LONGEST
        for record in journal.record[: journal.moves[0]]:
            assert play.tuple_of[record] in holds(play, play.label[record])
        break


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_an_exchange_costs_what_it_says_and_can_be_undone(table, k, seed):
    play, _, _ = played(table, k, seed)
    closed_cells = np.flatnonzero(play.size == 0)
    if not closed_cells.size or not play.size.any():
        return
    random = np.random.default_rng(seed)
    trail, journal = make_trail(len(play.cost)), make_journal(table.records, k)
    for _ in range(5):
        opened = int(random.choice(np.flatnonzero(play.size == 0)))
        closed = int(random.choice(np.append(np.flatnonzero(play.size), -1)))
        before, total = state_of(play), total_of(play)
        change = exchange(play, trail, journal, opened, closed, k, 5.0)
        assert change == ENDLESS or total_of(play) == pytest.approx(total + change)
        if change < ENDLESS and random.random() < 0.5:
            assert play.size[opened] >= k
            assert closed < 0 or play.size[closed] == 0
            journal.moves[0] = 0
            check_play(play, k)
        else:
            undo(play, journal, opened, closed)
            assert state_of(play) == before
            check_play(play, k)
        if (play.size > 0).all():
            break


def reached_from(play, root):
    """Return the open cells to which a chain of any length leads from a cell."""
    reached = {root}
    while True:
        more = {
            cell
            for record in np.flatnonzero(np.isin(play.label, list(reached)))
            for cell in open_cells_of(play, play.tuple_of[record])
        }
        if more <= reached:
            return reached
        reached |= more


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_a_record_that_leaves_saves_what_the_dearest_cell_costs_that_can_spare_one_for_it(table, k, seed):
    play, _, _ = played(table, k, seed)
    sources = make_sources(play)
    weigh_open(play, sources, make_trail(len(play.cost)).queue, k)
    reached = {root: reached_from(play, root) for root in np.flatnonzero(play.size > k).tolist()}
    for cell in np.flatnonzero(play.size).tolist():
        costs = [play.cost[root] for root, cells in reached.items() if cell in cells]
        if costs:
            assert sources.worth[cell] == max(costs)
            assert cell in reached[sources.spare[cell]]
        else:
            assert sources.spare[cell] == -1


def estimate_plainly(play, sources, cell, closed, k):
    """Return what an exchange would save, from a list of all records that could fill the cell."""
    mine, near = holds(play, cell), feeders(play, cell)
    saved, values = 0.0, []
    for record in np.flatnonzero(play.label == closed) if closed >= 0 else []:
        others = open_cells_of(play, play.tuple_of[record]) - {closed}
        reach = play.tuple_of[record] in mine or bool(others & near)
        if not others and not reach:
            return -ENDLESS
        paid = min((play.cost[other] for other in others), default=2.0 * play.cost[closed] + play.cost[cell])
        saved += play.cost[closed] - paid
        if reach:
            values.append((paid - play.cost[cell], None))
    for record in range(len(play.label)):
        other = play.label[record]
        if other >= 0 and other != closed and play.tuple_of[record] in mine:
            root = int(sources.spare[other])
            if root >= 0 and root != closed:
                values.append((sources.worth[other] - play.cost[cell], root))
    values.sort(key=lambda pair: -pair[0])
    filled, taken = 0, {}
    for value, root in values:
        if root is not None and taken.get(root, 0) >= play.size[root] - k:
            continue
        if value <= 0.0 and filled >= k:
            break
        if root is not None:
            taken[root] = taken.get(root, 0) + 1
        saved += value
        filled += 1
    return saved if filled >= k else -ENDLESS


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_the_estimate_lets_a_cell_take_the_records_that_save_most(table, k, seed):
    play, _, _ = played(table, k, seed)
    sources, random = make_sources(play), np.random.default_rng(seed)
    weigh_open(play, sources, make_trail(len(play.cost)).queue, k)
    if not play.size.any():
        return
    for cell in random.permutation(np.flatnonzero(play.size == 0))[:5]:
        count = find_sources(play, sources, cell)
        assert set(sources.cell[:count].tolist()) == feeders(play, cell)
        for closed in (-1, *random.choice(np.flatnonzero(play.size), 3)):
            found = estimate(play, sources, cell, count, int(closed), k)
            assert found == pytest.approx(estimate_plainly(play, sources, cell, int(closed), k))


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99), st.sampled_from([0.0, 0.5]))
def test_after_every_exchange_the_kept_total_is_that_of_a_recount_and_falls_where_it_is_cold(table, k, seed, heat):
    play, groups, _ = played(table, k, seed)
    state, label = make_state(seed, 1), groups.label.copy()
    for tries in (1, 5, 50):
        before = total_of(play)
        fall = exchange_cells(play, k, tries, 0.2, heat, state)
        assert fall >= -1e-9 or heat > 0.0
        assert total_of(play) == pytest.approx(before - fall, abs=1e-9)
        check_play(play, k)
    label_play(play, label, k)
    sizes = np.bincount(label)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k
    resting = play.label < 0
    for group in np.unique(groups.label[resting]):
        assert len(set(label[groups.label == group].tolist())) == 1
    rest = sum(groups.cost[group] * groups.size[group] for group in np.unique(groups.label[resting]))
    assert recount(table, label) <= total_of(play) + rest + 1e-9


@settings(max_examples=30, deadline=None)
@given(tables_of_trees(40, 80), st.integers(2, 4), st.integers(0, 99))
def test_exchanging_in_a_region_leaves_all_other_regions_alone(table, k, seed):
    offers = offered_by_chance(table, k, seed)
    label = opened_by_chance(table, offers, k, seed)
    rows, space, before = np.ascontiguousarray(table.codes.T), table.space, label.copy()
    regions = make_regions(space, rows, label, int(label.max()) + 1, 8 * k, seed)
    exchange_region(space, rows, label, regions, 0, offers, k, 20.0, 0.2, 0.0, seed)
    own = np.zeros(table.records, bool)
    own[regions.record[: regions.start[1]]] = True
    assert (label[~own] == before[~own]).all()
    assert np.bincount(label[own])[np.unique(label[own])].min() >= k
    part = table.take(np.flatnonzero(own).astype(np.int32))
    mine, old = (np.unique(some[own], return_inverse=True)[1].astype(np.int32) for some in (label, before))
    assert recount(part, mine) <= recount(part, old) + 1e-9


def test_a_chain_fills_a_cell_with_what_another_one_empties_though_they_share_no_record():
    """The cells hold tuples 0 and 1, 1 and 2, and 2 alone; two records of tuple 1 are in the first, two of tuple 2 in the second."""
    start, member = np.array([0, 2, 4, 5]), np.array([0, 1, 1, 2, 2], np.int32)
    begin, cell = transpose(start, member, 3)
    tuple_of, records = np.array([1, 1, 2, 2], np.int32), 4
    held = make_loose(3, records)
    loosen(held, tuple_of, np.arange(records, dtype=np.int32))
    none = [np.full(size, -1, np.int32) for size in (records, 3, records, records)]
    play = Play(
        start,
        member,
        np.array([1.0, 0.5, 0.0]),
        np.zeros(3),
        begin,
        cell,
        np.zeros(5, np.int32),
        np.zeros(3, np.int32),
        tuple_of,
        held.head,
        held.after,
        *none,
        np.zeros(3, np.int32),
    )
    for record, own in enumerate((0, 0, 1, 1)):
        enter(play, own, record)
    for own in (0, 1):
        open_cell(play, own)
    assert exchange_cells(play, 2, 50, 0.1, 0.0, make_state(0, 0)) == pytest.approx(2.0)
    assert play.label.tolist() == [1, 1, 2, 2]
    check_play(play, 2)
