from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.space.bits import count_bits, holds_code
from shoal.kernels.space.space import (
    add_record,
    column_cost,
    cost_table,
    cover_groups,
    empty_cover,
    find_node,
    group_cost,
    join,
    range_cost,
    set_cost,
    union_cost,
)
from tests.kernels.spaces import Interval, Tree, Values, build_space

EXAMPLE_3 = Tree(("leaf", (("leaf", "leaf", "leaf"), (("leaf", "leaf"), "leaf"))))
"""The hierarchy of Xu et al. (2006), example 3: root{a, N{P{b,c,d}, Q{R{e,f}, g}}}."""

trees = st.recursive(st.just("leaf"), lambda node: st.lists(node, min_size=1, max_size=3).map(tuple), max_leaves=12)
columns = st.one_of(
    st.builds(
        Interval,
        st.sets(st.integers(-50, 50), min_size=1, max_size=9).map(lambda numbers: tuple(map(float, sorted(numbers)))),
        st.booleans(),
    ),
    st.builds(Values, st.integers(1, 140), st.booleans()),
    st.builds(Tree, trees.filter(lambda tree: tree != "leaf"), st.booleans()),
)


@st.composite
def grouped_tables(draw):
    """Return columns, weights, codes (m, n), labels and the number of groups, none of them empty."""
    chosen = draw(st.lists(columns, min_size=1, max_size=4))
    weights = [draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for _ in chosen]
    groups = draw(st.integers(1, 4))
    records = draw(st.integers(groups, 12))
    labels = draw(st.permutations([i % groups for i in range(records)]))
    codes = [
        draw(st.lists(st.integers(0, column.cardinality - 1), min_size=records, max_size=records)) for column in chosen
    ]
    return chosen, weights, np.array(codes, np.int32), np.array(labels, np.int32), groups


def naive_costs(chosen, codes, members):
    return [column.cost(codes[i, members].tolist()) for i, column in enumerate(chosen)]


@pytest.mark.parametrize(("letters", "cost"), [("de", 6 / 7), ("ad", 1.0), ("bc", 3 / 7), ("ef", 2 / 7), ("c", 0.0)])
def test_a_node_costs_what_the_paper_says(letters, cost):
    codes = ["abcdefg".index(letter) for letter in letters]
    assert range_cost(build_space([EXAMPLE_3]), 0, min(codes), max(codes)) == pytest.approx(cost, abs=1e-15)
    assert EXAMPLE_3.cost(codes) == pytest.approx(cost, abs=1e-15)


def test_an_interval_costs_its_width_over_the_domain():
    space = build_space([Interval((10.0, 20.0, 50.0, 60.0))])
    assert range_cost(space, 0, 0, 1) == 0.2
    assert range_cost(space, 0, 1, 2) == 0.6
    assert range_cost(space, 0, 0, 3) == 1.0
    assert range_cost(space, 0, 2, 2) == 0.0


@pytest.mark.parametrize(
    "column", [Interval((1.0, 2.0), missing=True), Values(2, missing=True), Tree(("leaf", "leaf"), missing=True)]
)
def test_a_missing_value_costs_nothing_alone_and_everything_when_mixed(column):
    space = build_space([column])
    codes = np.array([[2, 2, 1, 2]], np.int32)
    cover = cover_groups(space, codes, np.array([0, 0, 1, 1], np.int32), 2)
    assert column_cost(space, cover, 0, 0) == 0.0
    assert column_cost(space, cover, 0, 1) == 1.0


def test_a_column_of_one_value_and_missing_ones_divides_by_nothing():
    space = build_space([Interval((5.0,), missing=True)])
    assert range_cost(space, 0, 0, 0) == 0.0
    assert range_cost(space, 0, 0, 1) == 1.0


def test_a_group_of_one_record_in_a_chain_of_single_children_stays_a_leaf():
    space = build_space([Tree(((("leaf",),), ("leaf",)))])
    assert find_node(space, 0, 0, 0) == 0
    assert range_cost(space, 0, 0, 1) == 1.0


@given(st.integers(0, 2**64 - 1))
def test_bits_are_counted(word):
    assert count_bits(np.uint64(word)) == word.bit_count()


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1])
def test_bits_at_the_ends_of_a_word_are_counted(word):
    assert count_bits(np.uint64(word)) == word.bit_count()


@given(grouped_tables())
def test_a_cover_is_the_smallest_box_with_the_sets_of_values(table):
    chosen, weights, codes, labels, groups = table
    space = build_space(chosen, weights)
    cover = cover_groups(space, codes, labels, groups)
    for group in range(groups):
        members = labels == group
        assert cover.size[group] == members.sum()
        assert cover.low[:, group].tolist() == codes[:, members].min(axis=1).tolist()
        assert cover.high[:, group].tolist() == codes[:, members].max(axis=1).tolist()
        for i, column in enumerate(chosen):
            if isinstance(column, Values):
                held = {c for c in range(column.cardinality) if holds_code(cover.words[group], space.word_start[i], c)}
                assert held == set(codes[i, members].tolist())


@given(grouped_tables())
def test_costs_equal_the_plain_ones(table):
    chosen, weights, codes, labels, groups = table
    space = build_space(chosen, weights)
    cover = cover_groups(space, codes, labels, groups)
    costs = cost_table(space, cover)
    assert costs.shape == (len(chosen), groups)
    for group in range(groups):
        plain = naive_costs(chosen, codes, labels == group)
        assert costs[:, group].tolist() == plain
        assert group_cost(space, cover, group) == pytest.approx(np.dot(weights, plain), abs=1e-12)


@given(grouped_tables())
@settings(max_examples=60)
def test_a_union_costs_what_the_joined_group_costs(table):
    chosen, weights, codes, labels, groups = table
    space = build_space(chosen, weights)
    cover = cover_groups(space, codes, labels, groups)
    for a in range(groups):
        for b in range(groups):
            plain = np.dot(weights, naive_costs(chosen, codes, (labels == a) | (labels == b)))
            assert union_cost(space, cover, a, b) == pytest.approx(plain, abs=1e-12)


@given(grouped_tables())
def test_joining_groups_one_after_the_other_covers_the_whole_table(table):
    chosen, weights, codes, labels, groups = table
    space = build_space(chosen, weights)
    cover = cover_groups(space, codes, labels, groups)
    for group in range(1, groups):
        join(space, cover, 0, group)
    whole = cover_groups(space, codes, np.zeros_like(labels), 1)
    assert cover.size[0] == whole.size[0] == len(labels)
    assert cover.low[:, 0].tolist() == whole.low[:, 0].tolist()
    assert cover.high[:, 0].tolist() == whole.high[:, 0].tolist()
    assert cover.words[0].tolist() == whole.words[0].tolist()


def test_an_empty_group_takes_the_cover_of_the_group_it_joins():
    space = build_space([Interval((1.0, 2.0, 3.0)), Values(70)])
    cover = empty_cover(space, 2)
    add_record(space, cover, 1, np.array([[2], [69]], np.int32), 0)
    join(space, cover, 0, 1)
    assert cover.low[:, 0].tolist() == cover.high[:, 0].tolist() == [2, 69]
    assert cover.size.tolist() == [1, 1]


def test_joining_an_empty_group_changes_nothing():
    space = build_space([Interval((1.0, 2.0, 3.0)), Values(70)])
    cover = empty_cover(space, 2)
    add_record(space, cover, 1, np.array([[2], [69]], np.int32), 0)
    join(space, cover, 1, 0)
    assert cover.low[:, 1].tolist() == cover.high[:, 1].tolist() == [2, 69]
    assert cover.size.tolist() == [0, 1]


def test_suppressed_records_are_in_no_cover():
    space = build_space([Interval((1.0, 2.0, 3.0))])
    cover = cover_groups(space, np.array([[0, 1, 2]], np.int32), np.array([0, 0, -1], np.int32), 1)
    assert (cover.low[0, 0], cover.high[0, 0], cover.size[0]) == (0, 1, 2)


def test_a_set_of_one_value_costs_nothing_even_if_it_is_the_missing_one():
    space = build_space([Values(4, missing=True)])
    assert set_cost(space, 0, 1, False) == 0.0
    assert set_cost(space, 0, 1, True) == 0.0
    assert set_cost(space, 0, 3, False) == 0.75
