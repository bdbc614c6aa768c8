from __future__ import annotations

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.kernels import merge_split as kernels
from shoal.kernels.search.record_tree import (
    build_tree,
    cost_with_box,
    cost_with_record,
    count_free,
    nearest_record,
    new_frontier,
)
from shoal.kernels.space.space import cover_groups
from shoal.methods.base import Task
from shoal.methods.merge_split import MergeSplit
from tests.kernels.spaces import Interval, Values
from tests.methods.coded import coded_table, coded_tables, run_in_chunks
from tests.support import reference_merge_split


@settings(deadline=None, max_examples=300)
@given(coded_tables(), st.booleans())
def test_the_kernel_groups_as_the_plain_reference_does(drawn, grow):
    columns, weights, codes, k = drawn
    found = MergeSplit(grow=grow).run(coded_table(columns, weights, codes), Task(k=k))
    assert found.labels.tolist() == reference_merge_split.group(columns, weights, codes, k, grow=grow)


@settings(deadline=None)
@given(coded_tables(), st.integers(1, 4), st.integers(1, 4))
def test_the_kernel_weighs_loss_against_privacy_as_the_plain_reference_does(drawn, utility, privacy):
    columns, weights, codes, k = drawn
    found = MergeSplit(utility=utility, privacy=privacy).run(coded_table(columns, weights, codes), Task(k=k))
    plain = reference_merge_split.group(columns, weights, codes, k, utility=utility, privacy=privacy)
    assert found.labels.tolist() == plain


def test_a_larger_weight_of_utility_narrows_groups_and_one_of_privacy_lets_them_grow():
    random = np.random.default_rng(0)
    codes = np.stack([random.integers(0, 200, 400), random.integers(0, 200, 400)]).astype(np.int32)
    table = coded_table([Interval(tuple(range(200)))] * 2, [1.0, 1.0], codes)
    mean_size = [
        400 / (MergeSplit(utility=utility, privacy=privacy).run(table, Task(k=10)).labels.max() + 1)
        for utility, privacy in ((8, 1), (1, 1), (1, 8))
    ]
    assert mean_size == sorted(mean_size)
    assert mean_size[0] < mean_size[1] < mean_size[2]


@settings(deadline=None)
@given(coded_tables())
def test_no_group_is_larger_than_what_grows_and_what_is_left_together(drawn):
    columns, weights, codes, k = drawn
    sizes = np.bincount(MergeSplit().run(coded_table(columns, weights, codes), Task(k=k)).labels)
    assert sizes.max() <= 3 * k - 2


@settings(deadline=None)
@given(coded_tables())
def test_groups_that_do_not_grow_end_at_k_until_the_rest_joins_them(drawn):
    columns, weights, codes, k = drawn
    sizes = np.bincount(MergeSplit(grow=False).run(coded_table(columns, weights, codes), Task(k=k)).labels)
    assert len(sizes) == len(codes[0]) // k
    assert sizes.min() >= k


@settings(deadline=None)
@given(coded_tables())
def test_it_ends_with_groups_of_k_and_no_record_split_more_than_k_times(drawn):
    columns, weights, codes, k = drawn
    table = coded_table(columns, weights, codes)
    merge = kernels.start(table.space, table.codes, k, 1, 1)
    tree = build_tree(table.space, table.codes, np.arange(table.records, dtype=np.int32))
    rounds = 0
    while not kernels.run(table.space, table.codes, merge, tree, k, 2 * k - 1, 1):
        rounds += 1
        assert merge.counts[0] == (merge.label < 0).sum() <= table.records - k * rounds
    kernels.place_rest(table.space, table.codes, merge)
    assert rounds < table.records // k or rounds == merge.counts[1] - 1
    assert np.bincount(merge.label).min() >= k
    assert merge.splits.max() <= k
    assert merge.cover.size[: merge.counts[1]].tolist() == np.bincount(merge.label).tolist()


def test_merge_split_passes_every_common_check():
    shoal.testing.check_method(MergeSplit())
    shoal.testing.check_method(MergeSplit(grow=False))


def far_member(split_before):
    """Return a group of four, one of them far away, after splitting at k = 3."""
    table = coded_table([Interval((0.0, 1.0, 2.0, 90.0, 100.0))], [1.0], [[0, 1, 2, 3, 4]])
    merge = kernels.start(table.space, table.codes, 3, 1, 1)
    tree = build_tree(table.space, table.codes, np.arange(5, dtype=np.int32))
    for record in (0, 1, 2, 3):
        kernels.leave(merge, tree, record)
        kernels.add_record(table.space, merge.cover, 0, table.codes, record)
    merge.splits[3] = split_before
    members = np.array([0, 1, 2, 3], np.int32)
    return kernels.split(table.space, table.codes, merge, tree, 0, 3, members).tolist(), merge, tree


def test_the_record_that_spoils_a_group_goes_back_to_the_merge_set():
    members, merge, tree = far_member(split_before=2)
    assert members == [0, 1, 2]
    assert merge.free.tolist() == [False, False, False, True, True]
    assert merge.after[5] == 4
    assert merge.after[4] == 3
    assert merge.splits[3] == 3
    assert tree.box.size[0] == 2


def test_a_record_split_off_k_times_is_not_split_again():
    members, merge, _ = far_member(split_before=3)
    assert members == [0, 1, 2, 3]
    assert merge.counts[0] == 1


def test_the_records_are_swept_from_small_numbers_and_rare_categories():
    columns = [Interval((0.0, 1.0, 2.0, 3.0, 9.0)), Values(2)]
    table = coded_table(columns, [1.0, 1.0], [[2, 1, 0, 3, 4], [0, 0, 0, 0, 1]])
    assert kernels.corner_first(table.space, table.codes).tolist() == [2, 1, 4, 0, 3]


@numba.njit
def all_nearest(space, tree, cover, codes, free):
    """Return cost and record of one nearest record after the other, and what is said when there is none."""
    found = np.empty((free.sum() + 1, 2))
    frontier = new_frontier()
    for i in range(len(found)):
        found[i, 1], found[i, 0] = nearest_record(space, tree, cover, 0, codes, free, frontier)
    return found


@settings(deadline=None)
@given(coded_tables(most=90), st.data())
def test_the_tree_finds_the_record_that_costs_least_and_its_boxes_never_promise_too_little(drawn, data):
    columns, weights, codes, _ = drawn
    table = coded_table(columns, weights, codes)
    labels = np.array(data.draw(st.permutations([0, 0] + [-1] * (table.records - 2))), np.int32)
    cover = cover_groups(table.space, table.codes, labels, 1)
    free = labels < 0
    tree = build_tree(table.space, table.codes, np.arange(table.records, dtype=np.int32))
    for record in np.flatnonzero(~free):
        count_free(tree, record, -1)
    costs = [cost_with_record(table.space, cover, 0, table.codes, record) for record in range(table.records)]
    for node in range(len(tree.begin)):
        inside = tree.record[tree.begin[node] : tree.end[node]]
        assert tree.box.size[node] == free[inside].sum()
        assert all(cost_with_box(table.space, cover, 0, tree.box, node) <= costs[record] for record in inside)
    ranking = sorted((costs[record], record) for record in np.flatnonzero(free))
    assert [tuple(pair) for pair in all_nearest(table.space, tree, cover, table.codes, free)] == [*ranking, (0.0, -1)]


def test_the_result_does_not_depend_on_the_records_order_when_no_two_are_alike():
    rng = np.random.default_rng(3)
    numbers = rng.permutation(200)
    column = Interval(tuple(float(i * i) for i in range(200)))
    labels = MergeSplit().run(coded_table([column], [1.0], [numbers]), Task(k=4)).labels
    shuffle = rng.permutation(200)
    shuffled = MergeSplit().run(coded_table([column], [1.0], [numbers[shuffle]]), Task(k=4)).labels
    assert _parts(labels[shuffle]) == _parts(shuffled)


def _parts(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def test_a_weight_of_zero_makes_a_column_count_for_nothing():
    line = Interval(tuple(map(float, range(8))))
    codes = [list(range(8)), [0, 7, 1, 6, 2, 5, 3, 4]]
    by_first = MergeSplit().run(coded_table([line, line], [1.0, 0.0], codes), Task(k=4)).labels
    by_second = MergeSplit().run(coded_table([line, line], [0.0, 1.0], codes), Task(k=4)).labels
    assert _parts(by_first) == {frozenset({0, 1, 2, 3}), frozenset({4, 5, 6, 7})}
    assert _parts(by_second) == {frozenset({0, 2, 4, 6}), frozenset({1, 3, 5, 7})}


def test_progress_rises_below_one_and_chunks_do_not_change_the_groups(monkeypatch):
    at_once, heard, in_chunks = run_in_chunks(MergeSplit(), monkeypatch)
    assert in_chunks.tolist() == at_once.tolist()
    assert len(heard) > 10
    assert heard == sorted(heard)
    assert 0 < heard[0] < heard[-1] < 1
