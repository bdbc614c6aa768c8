from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.microaggregation.forest import cut_forest, find_half, grow_forest, order_leaves_first
from shoal.kernels.search.kdtree import build_tree
from shoal.kernels.search.nearest import nearest_table
from tests.kernels.microaggregation.test_mdav import tables
from tests.support import reference_microaggregation as reference


def grow(matrix, k):
    neighbours = nearest_table(build_tree(matrix, 2), matrix, 0, len(matrix), k - 1)
    return grow_forest(neighbours, np.arange(len(matrix)), k)


def limit(k):
    return max(2 * k - 1, 3 * k - 5)


@given(tables(), st.integers(2, 6))
def test_every_record_points_where_the_plain_forest_points(matrix, k):
    k = min(k, len(matrix))
    _, edges = reference.forest_trees(matrix.tolist(), k)
    target = grow(matrix, k)
    assert {i: int(j) for i, j in enumerate(target) if j >= 0} == edges


@given(tables(), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_any_order_of_records_and_neighbours_gives_the_edges_of_the_plain_forest(matrix, k, seed):
    k, random = min(k, len(matrix)), np.random.default_rng(seed)
    near = nearest_table(build_tree(matrix, 2), matrix, 0, len(matrix), k - 1)
    drawn, order = random.permuted(near, axis=1), random.permutation(len(matrix))
    _, edges = reference.forest_trees(matrix.tolist(), k, order.tolist(), drawn.tolist())
    target = grow_forest(drawn, order, k)
    assert {i: int(j) for i, j in enumerate(target) if j >= 0} == edges
    sizes = np.bincount(cut_forest(target, k))
    assert k <= sizes.min()
    assert sizes.max() <= limit(k)


@given(tables(), st.integers(2, 6))
def test_trees_within_the_limit_are_groups_and_larger_ones_are_cut(matrix, k):
    k = min(k, len(matrix))
    trees, _ = reference.forest_trees(matrix.tolist(), k)
    labels = cut_forest(grow(matrix, k), k)
    assert set(labels.tolist()) == set(range(labels.max() + 1))
    for tree in trees:
        inside = labels[sorted(tree)]
        sizes = np.bincount(inside)[np.unique(inside)]
        assert sizes.sum() == len(tree)  # no group mixes trees
        assert len(sizes) == 1 or len(tree) > limit(k)
        assert k <= sizes.min()
        assert sizes.max() <= limit(k)


@st.composite
def random_trees(draw, least, most):
    """Targets of one tree: record 0 is the root, each other points to an earlier one."""
    n = draw(st.integers(least, most))
    return np.array([-1, *[draw(st.integers(0, i - 1)) for i in range(1, n)]], np.int64)


@settings(deadline=None)
@given(st.integers(2, 9), st.data())
def test_any_tree_is_cut_into_groups_of_k_to_the_limit(k, data):
    target = data.draw(random_trees(k, 12 * k))
    sizes = np.bincount(cut_forest(target, k))
    assert k <= sizes.min()
    assert sizes.max() <= limit(k)


@given(st.integers(2, 9), st.data())
def test_any_tree_just_above_the_limit_falls_into_two_parts_of_k(k, data):
    target = data.draw(random_trees(limit(k) + 1, max(3 * k, limit(k) + 1)))
    side = find_half(order_leaves_first(target), target, k)
    assert k <= side.sum() <= len(target) - k


@settings(deadline=None, max_examples=40)
@given(tables(most=11, columns=2), st.integers(2, 4))
def test_the_loss_never_exceeds_the_proven_ratio_to_the_optimum(matrix, k):
    rows = matrix.tolist()
    found = reference.loss(rows, cut_forest(grow(matrix, k), k).tolist())
    least, _ = reference.optimum(rows, k)
    assert found <= (2 * k - 1) * limit(k) ** 2 * least + 1e-9


def test_a_star_of_many_records_is_packed_in_linear_time():
    target = np.full(300_000, 7, np.int64)
    target[7] = -1
    sizes = np.bincount(cut_forest(target, 4))
    assert sizes.min() == 4
    assert sizes.max() <= limit(4)
