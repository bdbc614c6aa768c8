from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.bottom_up import merge_groups, start_single
from shoal.kernels.common.heap import make_queue
from shoal.kernels.search.group_shape import NOTHING, PLACES, shape_by_rank
from shoal.kernels.search.group_tree import build_tree, remove_group, update_group
from shoal.kernels.search.nearest_group import find_nearest_group
from shoal.kernels.space.range_costs import tabulate_costs
from shoal.kernels.space.space import group_cost, union_cost
from tests.kernels.spaces import Interval, Tree, Values, build_space

COLUMNS = [
    Interval(tuple(float(i) for i in range(30))),
    Tree((("leaf", "leaf"), "leaf", ("leaf", ("leaf", "leaf")))),
    Values(9, missing=True),
    Interval(tuple(float(i * i) for i in range(200)), missing=True),  # more codes than are tabulated
]


def groups_below(shape, node=0):
    """Return the groups below a node, from its first place to its last."""
    found = []
    for below in shape.below[node].tolist():
        if below < 0:
            found.append(~below)
        elif below != NOTHING:
            found += groups_below(shape, below)
    return found


def first_cuts(rank, begin, end):
    """Yield the pieces into which begin..end is cut, the highest rank first (the earliest among equals)."""
    yield begin, end
    if end - begin > 1:
        cut = max(range(begin + 1, end), key=lambda place: (rank[place], -place))
        yield from first_cuts(rank, begin, cut)
        yield from first_cuts(rank, cut, end)


@given(st.lists(st.integers(0, 9), max_size=60), st.randoms(use_true_random=False))
def test_each_node_of_a_shape_holds_one_of_the_pieces_that_were_cut(rank, random):
    order = random.sample(range(len(rank)), len(rank))
    shape = shape_by_rank(np.array(order, np.int32), np.array(rank, np.int32))
    assert groups_below(shape) == order
    pieces = {tuple(order[begin:end]) for begin, end in first_cuts(rank, 0, len(rank))} if rank else {()}
    for node in range(len(shape.parent)):
        assert tuple(groups_below(shape, node)) in pieces
        if node > 0:
            assert shape.parent[node] < node
            assert shape.below[shape.parent[node], shape.place[node]] == node


def test_a_node_holds_as_many_groups_as_it_has_places():
    assert len(shape_by_rank(np.arange(PLACES, dtype=np.int32), np.arange(PLACES, dtype=np.int32)).parent) == 1
    assert len(shape_by_rank(np.arange(PLACES + 1, dtype=np.int32), np.zeros(PLACES + 1, np.int32)).parent) == 2


def nearest_by_a_plain_loop(space, cover, group, increase):
    def penalty(other):
        cost = union_cost(space, cover, group, other)
        if not increase:
            return (cover.size[group] + cover.size[other]) * cost
        return cover.size[group] * cost + cover.size[other] * (cost - group_cost(space, cover, other))

    others = [other for other in range(len(cover.size)) if other != group and cover.size[other] > 0]
    return min(others, key=lambda other: (penalty(other), other))


@pytest.mark.parametrize("increase", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_group_stays_that_of_a_plain_loop_while_groups_are_merged(seed, increase):
    random = np.random.default_rng(seed)
    codes = (random.random((len(COLUMNS), 120)) ** 2 * [[column.cardinality] for column in COLUMNS]).astype(np.int32)
    space = build_space(COLUMNS, [1.0, 0.5, 2.0, 1.0])
    cover, lists = start_single(space, codes)
    shape = shape_by_rank(random.permutation(120).astype(np.int32), random.integers(0, 50, 120, np.int32))
    tree, queue = build_tree(space, cover, shape, for_records=False), make_queue(242)
    costs = tabulate_costs(space)
    for group in random.integers(0, 120, 100):
        if cover.size[group] > 0:
            found, _ = find_nearest_group(space, costs, cover, tree, queue, group, increase)
            assert found == nearest_by_a_plain_loop(space, cover, group, increase)
            merge_groups(space, cover, lists, group, found)
            remove_group(tree, found)
            update_group(space, cover, tree, group)


def test_the_least_increase_may_be_with_a_large_group_near_by_and_the_least_union_with_a_small_one_farther_off():
    space = build_space([Interval(tuple(float(i) for i in range(10)))])
    cover, lists = start_single(space, np.array([[0, 1, 2, 3, 4, 9]], np.int32))
    for record in (1, 2, 3):
        merge_groups(space, cover, lists, 0, record)
    shape = shape_by_rank(np.array([0, 4, 5], np.int32), np.array([0, 1, 2], np.int32))
    tree, costs, queue = build_tree(space, cover, shape, for_records=False), tabulate_costs(space), make_queue(8)
    found, penalty = find_nearest_group(space, costs, cover, tree, queue, 4, increase=True)
    assert found == 0  # one record gets the width 4, four get 1 more
    assert penalty == pytest.approx((4 + 4 * 1) / 9)
    found, penalty = find_nearest_group(space, costs, cover, tree, queue, 4, increase=False)
    assert found == 5  # two records get the width 5, not five the width 4
    assert penalty == pytest.approx(2 * 5 / 9)
