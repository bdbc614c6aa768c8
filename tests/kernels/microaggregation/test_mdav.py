from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.microaggregation.mdav import run_mdav, start_mdav
from shoal.kernels.microaggregation.mdav_generic import run_mixed, start_mixed
from shoal.kernels.microaggregation.v_mdav import join_rest, run_vmdav
from shoal.kernels.search.kdtree import build_tree, remove_record
from shoal.kernels.search.nearest import find_farthest, find_nearest
from tests.kernels.spaces import Tree, Values, build_space
from tests.support import reference_microaggregation as reference

LEAF = 2  # so that small tables have deep trees


@st.composite
def tables(draw, most=40, columns=3):
    """Small tables; whole numbers in a narrow range make ties, fractions make roundings."""
    n, m = draw(st.integers(4, most)), draw(st.integers(1, columns))
    number = draw(st.sampled_from([st.integers(0, 4), st.integers(-50, 50), st.floats(-1e3, 1e3)]))
    rows = draw(st.lists(st.lists(number, min_size=m, max_size=m), min_size=n, max_size=n))
    return np.array(rows, np.float64)


def run_to_end(step, *arguments):
    while not step(*arguments, 2):
        pass


@given(tables(), st.integers(2, 6))
def test_mdav_is_the_plain_one_label_for_label(matrix, k):
    k = min(k, len(matrix))
    state = start_mdav(matrix, LEAF)
    run_to_end(run_mdav, state, k)
    assert state.labels.tolist() == reference.mdav(matrix.tolist(), k)


@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.2, 1.0, 3.0]), st.sampled_from(["nearest", "last"]))
def test_v_mdav_is_the_plain_one_label_for_label(matrix, k, gamma, rest):
    k = min(k, len(matrix))
    state = start_mdav(matrix, LEAF)
    run_to_end(run_vmdav, state, k, gamma)
    assert join_rest(state, rest == "last").tolist() == reference.vmdav(matrix.tolist(), k, gamma, rest)


def test_ranking_anew_while_records_leave_changes_no_label():
    matrix = np.random.default_rng(5).standard_t(1.5, (3_000, 2))
    state = start_mdav(matrix, 16)
    run_to_end(run_mdav, state, 3)
    assert state.labels.tolist() == plain_numpy_mdav(matrix, 3)


def plain_numpy_mdav(matrix, k):
    """The reference with numpy scans, for tables too large for plain Python."""
    labels, total, group = np.full(len(matrix), -1), matrix.sum(axis=0), 0
    total = np.zeros(matrix.shape[1])
    for row in matrix:
        total += row

    def distances(point):
        out = np.zeros(len(matrix))
        for column in range(matrix.shape[1]):
            step = matrix[:, column] - point[column]
            out += step * step
        return out

    def take(record):
        nonlocal group
        far = np.where(labels < 0, distances(matrix[record]), np.inf)
        far[record] = -1
        for member in np.argsort(far, kind="stable")[:k]:
            labels[member] = group
            total[:] -= matrix[member]
        group += 1

    while (left := int((labels < 0).sum())) >= 2 * k:
        record = int(np.argmax(np.where(labels < 0, distances(total / left), -1)))
        take(record)
        if left >= 3 * k:
            take(int(np.argmax(np.where(labels < 0, distances(matrix[record]), -1))))
    labels[labels < 0] = group
    return labels.tolist()


@given(tables(), st.data())
def test_nearest_and_farthest_are_those_of_a_scan_after_removals(matrix, data):
    tree = build_tree(matrix, LEAF)
    gone = data.draw(st.sets(st.integers(0, len(matrix) - 1), max_size=len(matrix) - 2))
    for record in gone:
        remove_record(tree, record)
    left = [i for i in range(len(matrix)) if i not in gone]
    point = matrix[data.draw(st.integers(0, len(matrix) - 1))]
    count = data.draw(st.integers(1, 5))
    key = {i: reference.squared_distance(matrix[i].tolist(), point.tolist()) for i in left}
    nearest = np.full(count, -1)
    found = find_nearest(tree, point, left[0], nearest, np.empty(count))
    assert nearest[:found].tolist() == sorted(left[1:], key=lambda i: (key[i], i))[:count]
    assert find_farthest(tree, point) == max(left, key=lambda i: (key[i], -i))


def test_equal_records_do_not_make_every_search_visit_all_of_them():
    tree = build_tree(np.zeros((200_000, 2)), 16)
    nearest = np.empty(4, np.int64)
    for record in range(2_000):  # 2,000 scans of 200,000 records would take seconds, 2,000 descents take none
        find_nearest(tree, tree.points[0], record, nearest, np.empty(4))
    assert nearest.tolist() == [0, 1, 2, 3]


CATEGORIES = (Values(4), Tree(("leaf", ("leaf", "leaf"), ("leaf", "leaf"))))


@settings(deadline=None)
@given(st.data(), st.integers(2, 5))
def test_mdav_for_mixed_columns_is_the_plain_one_label_for_label(data, k):
    n = data.draw(st.integers(k, 25))
    space = build_space(CATEGORIES)
    numbers = np.array(data.draw(st.lists(st.tuples(st.integers(0, 6)), min_size=n, max_size=n)), np.float64)
    codes = np.array(
        [data.draw(st.lists(st.integers(0, one.cardinality - 1), min_size=n, max_size=n)) for one in CATEGORIES],
        np.int32,
    )
    factor = np.array([1.5, 2.0])
    state = start_mixed(space, numbers, codes, np.arange(2), factor, 5)
    run_to_end(run_mixed, state, k)
    distances = [lambda a, b: float(a != b), lambda a, b: CATEGORIES[1].cost([a, b])]
    expected = reference.mdav_generic(numbers.tolist(), codes.tolist(), factor.tolist(), distances, k)
    assert state.labels.tolist() == expected


@pytest.mark.parametrize("k", [2, 3, 7])
def test_sizes_are_k_but_for_the_last_group(k):
    matrix = np.random.default_rng(k).normal(size=(100, 3))
    state = start_mdav(matrix, 16)
    run_to_end(run_mdav, state, k)
    sizes = np.bincount(state.labels)
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k
