from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimize.cells.candidates import Opening
from shoal.kernels.optimize.cells.dual_ascent import cell_profits
from shoal.kernels.optimize.cells.neighbourhood import PricedTuples
from shoal.kernels.optimize.cells.reduced_cost import keep_first, make_cell_pool
from shoal.kernels.optimize.cells.variants import vary_all
from shoal.kernels.optimize.moves.reopen import reopen_region
from shoal.kernels.optimize.starts.cut import complete
from shoal.kernels.optimize.state.regions import make_regions, renumber
from shoal.kernels.space.space import cost_table, cover_groups
from shoal.kernels.space.tuples import distinct_rows, distinct_tuples
from shoal.methods.base import Task
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimize.candidates import Variants
from tests.kernels.optimize.cells.test_dual_ascent import kept, profit_of
from tests.kernels.optimize.groups import recount
from tests.support.reference import cell_cost
from tests.support.tables import coded_table, coded_tables


def span(table, row, codes):
    """Return all codes that a released cell of a column stands for."""
    column = table.columns[row]
    if column.kind.name == "set" or len(codes) == 1:
        return codes
    if column.kind.ordered or column.missing in codes:
        return set(range(min(codes), max(codes) + 1)) if column.kind.ordered else set(range(column.cardinality))
    tree = column.hierarchy
    leaves = [tree.leaves[code] for code in codes]
    node = tree.common_ancestor(leaves)
    if node == tree.common_ancestor(tree.leaves):  # a missing value hangs below the root
        return set(range(column.cardinality))
    return {code for code, leaf in enumerate(tree.leaves) if tree.common_ancestor([*leaves, leaf]) == node}


def doubling(steps):
    """Return the first, second, fourth of some steps and so on."""
    return [steps[number] for number in range(len(steps)) if (number + 1) & number == 0]


def variants_of(table, row, inside, near):
    """Return the sets of codes that a column of a cell may have instead; ``near`` are codes of tuples outside in it only."""
    kind = table.columns[row].kind.name
    if kind == "set":
        return [inside - {code} for code in inside if len(inside) > 1] + [inside | {code} for code in near]
    if kind == "interval":
        there = sorted(inside)
        less = doubling([set(there[drop:]) for drop in range(1, len(there))])
        less += doubling([set(there[:-drop]) for drop in range(1, len(there))])
        below = sorted((code for code in near if code < there[0]), reverse=True)
        above = sorted(code for code in near if code > there[-1])
        more = doubling([inside | set(below[:take]) for take in range(1, len(below) + 1)])
        return less + more + doubling([inside | set(above[:take]) for take in range(1, len(above) + 1)])
    found = []
    if len(inside) > 1:
        spans = [span(table, row, {one, other}) for one in inside for other in inside]
        whole = span(table, row, inside)
        smaller = [frozenset(one & inside) for one in spans if one != whole] + [frozenset({one}) for one in inside]
        found = [set(one) for one in set(smaller) if not any(one < other for other in smaller)]
    wider = [span(table, row, inside | {code}) for code in near]
    if wider:
        closest = min(wider, key=lambda one: (cell_cost(table, row, one), len(one)))
        found.append(inside | (closest & near))
    return found


def expected(table, rows, multiplicity, group, price, k, allowed):
    """Return the cell of a group and its variants that hold k records and are worth something, straight from the definition."""
    boxes = [span(table, row, {int(table.codes[row, one]) for one in group}) for row in range(len(table.columns))]
    outside = [[row for row, box in enumerate(boxes) if int(one[row]) not in box] for one in rows]
    costs = [
        table.weights[row] * cell_cost(table, row, {int(table.codes[row, one]) for one in group})
        for row in range(len(boxes))
    ]
    inside = [number for number, columns in enumerate(outside) if not columns]
    wanted = {tuple(inside): sum(costs)}
    for row in range(len(boxes)):
        near = [number for number, columns in enumerate(outside) if columns == [row]]
        codes = [{int(rows[number][row]) for number in some} for some in (inside, near)]
        for variant in variants_of(table, row, *codes):
            member = tuple(sorted(number for number in inside + near if int(rows[number][row]) in variant))
            cost = sum(costs) - costs[row] + table.weights[row] * cell_cost(table, row, variant)
            wanted[member] = min(wanted.get(member, np.inf), cost)
    return {
        member: cost
        for member, cost in wanted.items()
        if multiplicity[list(member)].sum() >= k
        and profit_of(np.repeat(price[list(member)] - cost, multiplicity[list(member)]), k) + allowed > 0.0
    }


@settings(max_examples=300, deadline=None)
@given(coded_tables(least=4), st.integers(1, 4), st.integers(0, 99), st.sampled_from([0.3, 100.0]))
def test_the_cell_of_a_group_and_those_that_differ_in_one_column_are_kept_if_worth_something(table, k, seed, allowed):
    random, tuples = np.random.default_rng(seed), distinct_tuples(table.codes)
    rows, multiplicity = distinct_rows(table.codes, tuples)
    price = random.random(len(multiplicity)) * float(table.space.weight.sum())
    label = np.where(random.random(table.records) < 0.3, 0, -1).astype(np.int32)
    label[random.integers(table.records)] = 0
    cells = make_cell_pool(len(multiplicity), 1 << 16, 1 << 12, make_state(0, 3))
    vary_all(
        table.space,
        cover_groups(table.space, table.codes, label, 1),
        0,
        1,
        PricedTuples(rows, multiplicity, price, k, allowed),
        cells,
    )
    wanted = expected(table, rows, multiplicity, np.flatnonzero(label == 0), price, k, allowed)
    assert kept(cells).keys() == wanted.keys()
    assert all(cost == pytest.approx(wanted[member], abs=1e-9) for member, cost in kept(cells).items())


def looked_at(first, budget, most):
    """Return where a look at six groups ends that begins at ``first``, and the cells it keeps, in a store for so many."""
    table = coded_table(60, "iss", 3)
    rows, multiplicity = np.ascontiguousarray(table.codes.T), np.ones(60, np.int32)
    label = np.repeat(np.arange(6), 10).astype(np.int32)
    cells = make_cell_pool(60, 1 << 16, most, make_state(0, 3))
    cover = cover_groups(table.space, table.codes, label, 6)
    return vary_all(
        table.space, cover, first, budget, PricedTuples(rows, multiplicity, np.zeros(60), 2, 100.0), cells
    ), cells


def test_a_look_goes_on_where_the_one_before_came_to_an_end():
    after, every = looked_at(0, 1 << 30, 1 << 12)
    assert after == 0
    first, found = 0, {}
    for _ in range(6):  # a budget for one group at a time
        after, cells = looked_at(first, 1, 1 << 12)
        assert after == (first + 1) % 6
        found |= kept(cells)
        first = after
    assert found == kept(every)
    assert looked_at(6, 1, 1 << 12)[0] == 1  # there were more groups before
    after, full = looked_at(4, 1 << 30, 5)
    assert (after, full.used.tolist()) == (5, [5, 1])


def test_the_first_cells_of_an_order_are_kept_while_there_is_room():
    cells, some = make_cell_pool(9, 100, 10, make_state(0, 3)), make_cell_pool(9, 100, 10, make_state(0, 3))
    cells.start[:4], cells.member[:9], cells.cost[:3], cells.used[0] = [0, 4, 6, 9], range(9), [0.1, 0.2, 0.3], 3
    keep_first(cells, np.array([2, 0, 1]), 7, some)
    assert kept(some) == {(6, 7, 8): 0.3, (0, 1, 2, 3): 0.1}


@pytest.mark.parametrize("columns", ["iss", "nif", "ii"])
def test_the_worthiest_cells_are_remembered_from_look_to_look(columns):
    table, k, allowed = coded_table(200, columns, 4), 5, 2.0
    variants = Variants(table, distinct_tuples(table.codes), k, 0, remembered=150)
    label = np.random.default_rng(0).permutation(np.arange(200) // 10).astype(np.int32)
    candidates = variants.learn(label, 20, np.full(200, 0.5 * len(columns)))
    assert len(candidates.cost) > 0
    before, profit = list(kept(variants.cells)), cell_profits(variants.cells, variants.dual, k, allowed)
    variants.forget(variants.dual, allowed)
    room, wanted = 150, set()
    for cell in np.argsort(-profit, kind="stable"):
        room -= len(before[cell])
        if room < 0:
            break
        wanted.add(before[cell])
    assert set(kept(variants.cells)) == wanted < set(before)


@settings(max_examples=60, deadline=None)
@given(coded_tables(least=20, most=90), st.integers(2, 4), st.integers(0, 99))
def test_opening_learned_cells_never_raises_the_loss_where_it_is_cold(table, k, seed):
    label = Mondrian().run(table, Task(k=k)).labels.copy()
    space, rows = table.space, np.ascontiguousarray(table.codes.T)
    groups = complete(space, rows, label, int(label.max()) + 1, k)
    variants = Variants(table, distinct_tuples(table.codes), k, seed)
    cost = space.weight @ cost_table(space, cover_groups(space, table.codes, label, groups))
    candidates = variants.learn(label, groups, cost[label])
    regions, paid = make_regions(space, rows, label, groups, 20 * k, seed), float(cost[label].mean())
    before = recount(table, label)
    for region in range(len(regions.start) - 1):
        reopen_region(space, rows, label, regions, region, Opening(candidates, k, 20.0, paid, 0.0, seed))
    renumber(label)
    assert np.bincount(label).min() >= k
    assert recount(table, label) <= before + 1e-9
