from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.common.lists import Lists, transpose
from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimise.cells.candidates import Opening, bucket_by_tuple, make_ungrouped
from shoal.kernels.optimise.groups import ENDLESS
from shoal.kernels.optimise.operators.assignment import (
    Assignment,
    cells_of_groups,
    enter,
    label_assignment,
    make_assignment,
    open_cell,
)
from shoal.kernels.optimise.operators.chains import (
    MOST_MOVES,
    exchange,
    find_source,
    make_exchange_journal,
    make_trail,
    pull,
    undo,
)
from shoal.kernels.optimise.operators.exchange import exchange_cells, exchange_region
from shoal.kernels.optimise.operators.exchange_estimate import estimate, find_sources, find_spare_cells, make_sources
from shoal.kernels.optimise.regions import load_groups, make_regions
from tests.kernels.optimise.groups import recount
from tests.kernels.optimise.operators.test_reopen import candidates_by_chance, inside
from tests.kernels.optimise.pricing.test_dual_ascent import tables_of_trees

trees = tables_of_trees(10, 60)


def opened_by_chance(table, candidates, k, seed):
    """Return labels of groups that fill cells on offer, as far as these hold k records left; the others are in groups of their own."""
    random, label, used = np.random.default_rng(seed), np.full(table.records, -1, np.int32), 0
    for cell in random.permutation(len(candidates.cost)):
        free = np.flatnonzero((label < 0) & np.isin(candidates.tuple_of, inside(candidates, cell)))
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
    candidates = candidates_by_chance(table, k, seed)
    label = opened_by_chance(table, candidates, k, seed)
    groups = load_groups(table.space, np.ascontiguousarray(table.codes.T), label, int(label.max()) + 1, 2 * k)
    return make_assignment(candidates, groups, candidates.tuple_of, k), groups, candidates


def holds(assigned, cell):
    """Return the tuples of a cell of a play."""
    return set(assigned.tuples.item[assigned.tuples.start[cell] : assigned.tuples.start[cell + 1]].tolist())


def open_cells_of(assigned, one):
    """Return the open cells of a tuple, as the play knows them."""
    return set(assigned.opened[assigned.cells.start[one] : assigned.cells.start[one] + assigned.opens[one]].tolist())


def state_of(assigned):
    """Return all that an exchange may change, in a form that does not depend on the order of lists."""
    opened = [frozenset(open_cells_of(assigned, one)) for one in range(len(assigned.opens))]
    return assigned.label.tolist(), assigned.size.tolist(), opened


def total_of(assigned):
    return float(assigned.cost @ assigned.size)


def check_play(assigned, k):
    """Check that lists, sizes and open cells of a play agree, and that each record is in a cell that holds it."""
    for cell in range(len(assigned.size)):
        record, found = assigned.first[cell], []
        while record >= 0:
            found.append(int(record))
            assert assigned.later[record] < 0 or assigned.earlier[assigned.later[record]] == record
            record = assigned.later[record]
        assert sorted(found) == np.flatnonzero(assigned.label == cell).tolist()
        assert len(found) == assigned.size[cell]
        assert len(found) == 0 or len(found) >= k
        assert set(assigned.tuple_of[found].tolist()) <= holds(assigned, cell)
    for one in range(len(assigned.opens)):
        expected = {cell for cell in np.flatnonzero(assigned.size).tolist() if one in holds(assigned, cell)}
        assert open_cells_of(assigned, one) == expected
        assert assigned.opens[one] == len(expected)


def feeders(assigned, cell):
    """Return the open cells that have a record which a cell holds."""
    mine = holds(assigned, cell)
    return {
        int(label) for one, label in zip(assigned.tuple_of, assigned.label, strict=True) if label >= 0 and one in mine
    }


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_groups_take_part_that_fill_a_cell_on_offer(table, k, seed):
    assigned, groups, candidates = played(table, k, seed)
    check_play(assigned, k)
    filled = cells_of_groups(groups, candidates.tuple_of, assigned.cells, assigned.cost)
    for group in range(len(groups.size)):
        mine = set(candidates.tuple_of[groups.label == group].tolist())
        fitting = [
            c
            for c in range(len(assigned.cost))
            if mine <= holds(assigned, c) and assigned.cost[c] <= groups.cost[group] + 1e-9
        ]
        assert filled[group] in fitting if fitting else filled[group] == -1
    assert (assigned.label == filled[groups.label]).all()


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_a_chain_leads_from_the_nearest_cells_that_can_spare_a_record_or_from_the_one_wanted(table, k, seed):
    assigned, _, _ = played(table, k, seed)
    trail, random = make_trail(len(assigned.cost)), np.random.default_rng(seed)
    for cell in random.permutation(len(assigned.cost))[:6]:
        near, seen, spare = {int(cell)}, {int(cell)}, set()
        for _ in range(MOST_MOVES):
            near = set().union(*(feeders(assigned, one) for one in near)) - seen
            seen |= near
            spare = {one for one in near if assigned.size[one] > k}
            if spare:
                break
        source = find_source(assigned, trail, cell, -1, k)
        if not spare:
            assert source == -1
            continue
        assert source in spare
        assert assigned.cost[source] == max(assigned.cost[one] for one in spare)
        assert find_source(assigned, trail, cell, source, k) == source
        size, total, journal = assigned.size.copy(), total_of(assigned), make_exchange_journal(table.records, k)
        rise = pull(assigned, trail, journal, source, cell)
        assert rise == pytest.approx(assigned.cost[cell] - assigned.cost[source])
        assert total_of(assigned) == pytest.approx(total + rise)
        size[source] -= 1
        size[cell] += 1
        assert assigned.size.tolist() == size.tolist()
        assert journal.used[0] <= MOST_MOVES
        for record in journal.record[: journal.used[0]]:
            assert assigned.tuple_of[record] in holds(assigned, assigned.label[record])
        break


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_an_exchange_costs_what_it_says_and_can_be_undone(table, k, seed):
    assigned, _, _ = played(table, k, seed)
    closed_cells = np.flatnonzero(assigned.size == 0)
    if not closed_cells.size or not assigned.size.any():
        return
    random = np.random.default_rng(seed)
    trail, journal = make_trail(len(assigned.cost)), make_exchange_journal(table.records, k)
    for _ in range(5):
        opened = int(random.choice(np.flatnonzero(assigned.size == 0)))
        closed = int(random.choice(np.append(np.flatnonzero(assigned.size), -1)))
        before, total = state_of(assigned), total_of(assigned)
        change = exchange(assigned, trail, journal, opened, closed, k, 5.0)
        assert change == ENDLESS or total_of(assigned) == pytest.approx(total + change)
        if change < ENDLESS and random.random() < 0.5:
            assert assigned.size[opened] >= k
            assert closed < 0 or assigned.size[closed] == 0
            journal.used[0] = 0
            check_play(assigned, k)
        else:
            undo(assigned, journal, opened, closed)
            assert state_of(assigned) == before
            check_play(assigned, k)
        if (assigned.size > 0).all():
            break


def reached_from(assigned, root):
    """Return the open cells to which a chain of any length leads from a cell."""
    reached = {root}
    while True:
        more = {
            cell
            for record in np.flatnonzero(np.isin(assigned.label, list(reached)))
            for cell in open_cells_of(assigned, assigned.tuple_of[record])
        }
        if more <= reached:
            return reached
        reached |= more


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99))
def test_a_record_that_leaves_saves_what_the_dearest_cell_costs_that_can_spare_one_for_it(table, k, seed):
    assigned, _, _ = played(table, k, seed)
    sources = make_sources(assigned)
    find_spare_cells(assigned, sources, make_trail(len(assigned.cost)).queue, k)
    reached = {root: reached_from(assigned, root) for root in np.flatnonzero(assigned.size > k).tolist()}
    for cell in np.flatnonzero(assigned.size).tolist():
        costs = [assigned.cost[root] for root, cells in reached.items() if cell in cells]
        if costs:
            assert sources.saving[cell] == max(costs)
            assert cell in reached[sources.spare[cell]]
        else:
            assert sources.spare[cell] == -1


def estimate_plainly(assigned, sources, cell, closed, k):
    """Return what an exchange would save, from a list of all records that could fill the cell."""
    mine, near = holds(assigned, cell), feeders(assigned, cell)
    saved, values = 0.0, []
    for record in np.flatnonzero(assigned.label == closed) if closed >= 0 else []:
        others = open_cells_of(assigned, assigned.tuple_of[record]) - {closed}
        reach = assigned.tuple_of[record] in mine or bool(others & near)
        if not others and not reach:
            return -ENDLESS
        paid = min(
            (assigned.cost[other] for other in others), default=2.0 * assigned.cost[closed] + assigned.cost[cell]
        )
        saved += assigned.cost[closed] - paid
        if reach:
            values.append((paid - assigned.cost[cell], None))
    for record in range(len(assigned.label)):
        other = assigned.label[record]
        if other >= 0 and other != closed and assigned.tuple_of[record] in mine:
            root = int(sources.spare[other])
            if root >= 0 and root != closed:
                values.append((sources.saving[other] - assigned.cost[cell], root))
    values.sort(key=lambda pair: -pair[0])
    filled, taken = 0, {}
    for value, root in values:
        if root is not None and taken.get(root, 0) >= assigned.size[root] - k:
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
    assigned, _, _ = played(table, k, seed)
    sources, random = make_sources(assigned), np.random.default_rng(seed)
    find_spare_cells(assigned, sources, make_trail(len(assigned.cost)).queue, k)
    if not assigned.size.any():
        return
    for cell in random.permutation(np.flatnonzero(assigned.size == 0))[:5]:
        count = find_sources(assigned, sources, cell)
        assert set(sources.cell[:count].tolist()) == feeders(assigned, cell)
        for closed in (-1, *random.choice(np.flatnonzero(assigned.size), 3)):
            found = estimate(assigned, sources, cell, count, int(closed), k)
            assert found == pytest.approx(estimate_plainly(assigned, sources, cell, int(closed), k))


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(2, 4), st.integers(0, 99), st.sampled_from([0.0, 0.5]))
def test_after_every_exchange_the_kept_total_is_that_of_a_recount_and_falls_where_it_is_cold(
    table, k, seed, temperature
):
    assigned, groups, _ = played(table, k, seed)
    state, label = make_state(seed, 1), groups.label.copy()
    for tries in (1, 5, 50):
        before = total_of(assigned)
        fall = exchange_cells(assigned, k, tries, 0.2, temperature, state).gained
        assert fall >= -1e-9 or temperature > 0.0
        assert total_of(assigned) == pytest.approx(before - fall, abs=1e-9)
        check_play(assigned, k)
    label_assignment(assigned, label, k)
    sizes = np.bincount(label)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k
    resting = assigned.label < 0
    for group in np.unique(groups.label[resting]):
        assert len(set(label[groups.label == group].tolist())) == 1
    rest = sum(groups.cost[group] * groups.size[group] for group in np.unique(groups.label[resting]))
    assert recount(table, label) <= total_of(assigned) + rest + 1e-9


@settings(max_examples=30, deadline=None)
@given(tables_of_trees(40, 80), st.integers(2, 4), st.integers(0, 99))
def test_exchanging_in_a_region_leaves_all_other_regions_alone(table, k, seed):
    candidates = candidates_by_chance(table, k, seed)
    label = opened_by_chance(table, candidates, k, seed)
    rows, space, before = np.ascontiguousarray(table.codes.T), table.space, label.copy()
    regions = make_regions(space, rows, label, int(label.max()) + 1, 8 * k, seed)
    exchange_region(space, rows, label, regions, 0, Opening(candidates, k, 20.0, 0.2, 0.0, seed))
    own = np.zeros(table.records, bool)
    own[regions.record[: regions.start[1]]] = True
    assert (label[~own] == before[~own]).all()
    assert np.bincount(label[own])[np.unique(label[own])].min() >= k
    part = table.take(np.flatnonzero(own).astype(np.int32))
    mine, old = (np.unique(some[own], return_inverse=True)[1].astype(np.int32) for some in (label, before))
    assert recount(part, mine) <= recount(part, old) + 1e-9


def test_a_chain_fills_a_cell_with_what_another_one_empties_though_they_share_no_record():
    """The cells hold tuples 0 and 1, 1 and 2, and 2 alone; two records of tuple 1 are in the first, two of tuple 2 in the second."""
    tuples = Lists(np.array([0, 2, 4, 5]), np.array([0, 1, 1, 2, 2], np.int32))
    tuple_of, records = np.array([1, 1, 2, 2], np.int32), 4
    held = make_ungrouped(3, records)
    bucket_by_tuple(held, tuple_of, np.arange(records, dtype=np.int32))
    none = [np.full(size, -1, np.int32) for size in (records, 3, records, records)]
    assigned = Assignment(
        tuples,
        np.array([1.0, 0.5, 0.0]),
        np.zeros(3),
        transpose(tuples, 3),
        np.zeros(5, np.int32),
        np.zeros(3, np.int32),
        tuple_of,
        held.head,
        held.after,
        *none,
        np.zeros(3, np.int32),
    )
    for record, own in enumerate((0, 0, 1, 1)):
        enter(assigned, own, record)
    for own in (0, 1):
        open_cell(assigned, own)
    assert exchange_cells(assigned, 2, 50, 0.1, 0.0, make_state(0, 0)).gained == pytest.approx(2.0)
    assert assigned.label.tolist() == [1, 1, 2, 2]
    check_play(assigned, 2)
