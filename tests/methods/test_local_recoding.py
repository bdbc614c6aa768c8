from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cells.recode import released_cover
from shoal.encoding import encode
from shoal.frames import Frame
from shoal.methods.base import Grouping, Task
from shoal.methods.local_recoding import BottomUp, TopDown, group_bottom_up, group_top_down, total_cost
from shoal.metrics import Outcome, measure
from tests.kernels.space.test_space import columns
from tests.kernels.spaces import Interval, Tree, Values, build_space
from tests.support import reference_local_recoding as reference

FIGURE_1 = pa.table({"age": [24, 25, 30, 30, 32, 32], "zip": [53712, 53711, 53711, 53711, 53712, 53713]})
EXAMPLE_1 = pa.table({"x": [10, 20, 20, 50, 50, 60], "y": [70, 60, 50, 20, 15, 10]})
METHODS = ["bottom-up", "top-down"]


@st.composite
def tables(draw, most=24):
    """Return columns, weights, records with many equals among them, and k."""
    chosen = draw(st.lists(columns, min_size=1, max_size=4))
    weights = [draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for _ in chosen]
    record = st.tuples(*[st.integers(0, column.cardinality - 1) for column in chosen])
    distinct = draw(st.lists(record, min_size=1, max_size=most))
    records = draw(st.lists(st.sampled_from(distinct), min_size=2, max_size=most))
    return chosen, weights, records, draw(st.integers(2, min(6, len(records))))


def coded(records):
    return np.ascontiguousarray(np.array(records, np.int32).T)


def top_down_in_order(space, codes, k, **named):
    return group_top_down(space, codes, k, np.arange(codes.shape[1], dtype=np.int32), **named)


def groups_of(result):
    """Return the groups as sets of row numbers."""
    return {frozenset(np.flatnonzero(result.groups == group).tolist()) for group in set(result.groups.tolist())}


# --- equal to the reference --------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(tables(), st.booleans(), st.booleans())
def test_bottom_up_groups_as_the_plain_reference_does(table, increase, split):
    chosen, weights, records, k = table
    labels = group_bottom_up(build_space(chosen, weights), coded(records), k, increase=increase, split=split)
    assert labels.tolist() == reference.bottom_up(chosen, weights, records, k, increase=increase, split=split)


@settings(max_examples=150)
@given(tables(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_top_down_groups_as_the_plain_reference_does(table, rounds, random):
    chosen, weights, records, k = table
    order = random.sample(range(len(records)), len(records))
    labels = group_top_down(build_space(chosen, weights), coded(records), k, np.array(order, np.int32), rounds=rounds)
    assert labels.tolist() == reference.top_down(chosen, weights, records, k, order, rounds=rounds)


@pytest.mark.compiled
@pytest.mark.parametrize("skew", [0.0, 2.0])
def test_both_methods_equal_the_reference_where_the_tree_has_many_nodes(skew):
    random = np.random.default_rng(7)
    chosen = [
        Interval(tuple(float(i) for i in range(200))),  # more codes than are tabulated
        Interval(tuple(float(i * i) for i in range(12)), missing=True),
        Tree((("leaf", "leaf"), "leaf", ("leaf", ("leaf", "leaf")))),
        Values(70, missing=True),
        Tree(tuple("leaf" for _ in range(9))),
    ]
    records = [tuple(int(column.cardinality * random.random() ** (1 + skew)) for column in chosen) for _ in range(150)]
    space, weights, order = build_space(chosen), [1.0] * len(chosen), random.permutation(150).astype(np.int32)
    for increase in (True, False):
        assert group_bottom_up(space, coded(records), 4, increase=increase).tolist() == reference.bottom_up(
            chosen, weights, records, 4, increase=increase
        )
    assert group_top_down(space, coded(records), 4, order).tolist() == reference.top_down(
        chosen, weights, records, 4, order.tolist()
    )


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_top_down_equals_the_reference_where_columns_have_too_many_values_for_a_table_of_costs(seed):
    random = np.random.default_rng(seed)
    tall = Tree(tuple(tuple("leaf" for _ in range(size)) for size in (1, 30, 2, 90, 60)), missing=True)
    wide = Interval(tuple(float(i) for i in range(5000)), missing=True)
    chosen = [wide, tall, Values(70, missing=True), Interval(tuple(float(i) for i in range(100))), wide, tall, wide]
    weights = [1.0, 0.5, 1.0, 3.0, 0.0, 1.0, 2.0]
    records = [tuple(int(column.cardinality * random.random() ** 2) for column in chosen) for _ in range(120)]
    order = random.permutation(120).astype(np.int32)
    assert group_top_down(build_space(chosen, weights), coded(records), 3, order).tolist() == reference.top_down(
        chosen, weights, records, 3, order.tolist()
    )


@pytest.mark.parametrize("seed", [31, 75, 289])
def test_top_down_equals_the_reference_where_groups_hold_every_value_but_the_missing_one(seed):
    """A record can then add the missing value only, which costs 1 and not one value more than all."""
    random = np.random.default_rng(seed)
    size, k = int(random.integers(20, 70)), int(random.integers(3, 8))
    kinds = [Values(int(random.integers(1, 4)), missing=True), Interval(tuple(map(float, range(8))))]
    kinds.append(Values(int(random.integers(1, 4)), missing=True))
    weights = [1.0, float(random.choice([0.1, 0.5, 1.0, 3.0])), float(random.choice([0.0, 0.3, 1.0]))]
    rows = np.stack([random.integers(0, kind.cardinality, size) for kind in kinds], 1).astype(np.int32)
    found = top_down_in_order(build_space(kinds, weights), rows.T.copy(), k)
    assert found.tolist() == reference.top_down(kinds, weights, [tuple(row) for row in rows.tolist()], k, range(size))


# --- the paper's examples ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("merge", ["increase", "union"])
def test_bottom_up_returns_the_two_groups_of_examples_1_and_4(merge):
    result = shoal.anonymize(EXAMPLE_1, k=2, quasi_identifiers=["x", "y"], method=BottomUp(merge=merge))
    assert groups_of(result) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert result.audit.k == 3


@pytest.mark.parametrize("merge", ["increase", "union"])
def test_bottom_up_finds_the_better_grouping_of_figure_1(merge):
    result = shoal.anonymize(FIGURE_1, k=3, quasi_identifiers=["age", "zip"], method=BottomUp(merge=merge))
    assert result.metrics["ncp_total"] <= 7.5


def test_top_down_loses_at_most_what_figure_1_shows_whatever_the_order():
    table = encode(Frame(FIGURE_1), ["age", "zip"])
    losses = set()
    for order in itertools.permutations(range(6)):
        labels = group_top_down(table.space, table.codes, 3, np.array(order, np.int32))
        losses.add(measure(Outcome(table, labels, released_cover(table, Grouping(labels)), 3))["ncp_total"])
    assert max(losses) <= 7.5


# --- what they promise -------------------------------------------------------------------------------------------


def random_codes(records, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(0, 16, (4, records), np.int32)


SPACE = build_space([Interval(tuple(float(i) for i in range(16)))] * 4)


@pytest.mark.parametrize("k", [2, 7, 30])
def test_bottom_up_ends_with_sizes_from_k_to_2k_minus_1(k):
    sizes = np.bincount(group_bottom_up(SPACE, random_codes(500), k))
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1


def test_without_split_bottom_up_keeps_groups_of_2k_and_more():
    codes = np.zeros((4, 50), np.int32)
    assert np.bincount(group_bottom_up(SPACE, codes, 5, split=False)).tolist() == [50]
    assert np.bincount(group_bottom_up(SPACE, codes, 5)).tolist() == [5] * 10


@pytest.mark.parametrize("method", [BottomUp(), BottomUp(split=False), TopDown(), TopDown(rounds=6)])
def test_every_group_has_at_least_k_records(method):
    table = pa.table({f"c{i}": row for i, row in enumerate(random_codes(300))})
    result = shoal.anonymize(table, k=6, quasi_identifiers=table.column_names, method=method)
    assert np.bincount(result.groups).min() >= 6


@pytest.mark.parametrize("method", [BottomUp(), BottomUp(split=False), BottomUp(merge="union"), TopDown()], ids=repr)
def test_both_methods_pass_every_common_check(method):
    shoal.testing.check_method(method)


def test_top_down_follows_its_seed():
    table = pa.table({f"c{i}": row for i, row in enumerate(random_codes(300))})
    labels = [
        shoal.anonymize(table, k=6, quasi_identifiers=table.column_names, method="top-down", seed=seed).groups.tolist()
        for seed in (0, 0, 1)
    ]
    assert labels[0] == labels[1]
    assert labels[0] != labels[2]


@pytest.mark.parametrize("method", METHODS)
def test_a_heavy_column_loses_less(method):
    table = pa.table({f"c{i}": row for i, row in enumerate(random_codes(400))})
    even, heavy = (
        shoal.anonymize(table, k=5, quasi_identifiers=table.column_names, method=method, weights=weights)
        for weights in ({}, {"c0": 8})
    )
    assert heavy.metrics["ncp_by_column"]["c0"] < even.metrics["ncp_by_column"]["c0"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weights", [{"x": -1}, {"x": float("nan")}, {"x": float("inf")}, {"x": 0, "y": 0}, {"z": 1}])
def test_weights_that_mean_nothing_are_refused(method, weights):
    with pytest.raises(shoal.ShoalError, match="weights"):
        shoal.anonymize(EXAMPLE_1, k=2, quasi_identifiers=["x", "y"], method=method, weights=weights)


def test_an_unknown_rule_of_merging_is_refused():
    with pytest.raises(shoal.ShoalError, match="'merge' parameter of BottomUp must be one of 'increase', 'union'"):
        BottomUp(merge="least")


def test_top_down_needs_a_round():
    with pytest.raises(shoal.ShoalError, match=r"'rounds' parameter of TopDown must be an int of at least 1. Got 0"):
        TopDown(rounds=0)
    with pytest.raises(shoal.ShoalError, match=r"'tries' parameter of TopDown must be an int of at least 1. Got 0"):
        TopDown(tries=0)


def test_top_down_keeps_the_best_of_its_tries_the_first_of_which_is_a_single_one():
    random = np.random.default_rng(5)
    table = encode(Frame(pa.table({name: random.integers(0, 40, 300) for name in "abc"})), ["a", "b", "c"])
    costs = [total_cost(table, TopDown(tries=tries).run(table, Task(k=5)).labels) for tries in (1, 3, 9)]
    assert costs[0] == total_cost(table, TopDown().run(table, Task(k=5)).labels)
    assert costs == sorted(costs, reverse=True)
    assert costs[2] < costs[0]


@pytest.mark.parametrize("run", [group_bottom_up, top_down_in_order])
def test_an_interrupted_run_says_how_far_it_was(run):
    def press_control_c(fraction, text):
        if fraction > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run(SPACE, random_codes(6000), 5, progress=press_control_c)
    assert any("was interrupted at" in note and "Nothing was released" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("run", [group_bottom_up, top_down_in_order])
def test_progress_never_falls_and_stays_in_0_to_1(run):
    seen = []
    run(SPACE, random_codes(6000), 5, progress=lambda fraction, text: seen.append(fraction))
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert seen[0] >= 0
    assert seen[-1] <= 1
