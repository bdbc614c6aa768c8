"""What differs between kinds of columns, said once more in the plainest Python: for every range and code of small columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shoal.kernels.space.bits import holds_code
from shoal.kernels.space.kinds import (
    add_value,
    covers_code,
    has_members,
    has_order,
    has_tree,
    has_value,
    lacks_value,
    leaves_part,
    may_cover,
    note_value,
    ordered_columns,
    shown_range,
    shows_all,
    shows_code,
    tree_columns,
)
from shoal.kernels.space.space import pair_cost, released_cost
from tests.kernels.spaces import Interval, Tree, Values, build_space

NUMBERS = Interval((1.0, 2.0, 4.0, 8.0, 9.0), missing=True)
NODES = Tree((("leaf", "leaf"), (("leaf", "leaf"), "leaf")), missing=True)
"""Leaves 0 and 1; 2 and 3, with 4 beside them; a missing value, 5, below the root."""
SETS = Values(70, missing=True)
COLUMNS = [NUMBERS, NODES, SETS]
SPACE = build_space(COLUMNS)
CODES = [range(6), range(6), (0, 1, 63, 64, 69, 70)]
NODE_OF = [{0}, {1}, {2}, {3}, {4}, {5}, {0, 1}, {2, 3}, {2, 3, 4}, {0, 1, 2, 3, 4, 5}]
"""The leaves below each node, small nodes first."""
CHILDREN = {(0, 1): [{0}, {1}], (2, 3): [{2}, {3}], (2, 4): [{2, 3}, {4}], (0, 5): [{0, 1}, {2, 3, 4}, {5}]}


def cells():
    """Yield the column, the codes present, and their words, for all pairs of codes."""
    for column, codes in enumerate(CODES):
        for low, high in itertools.combinations_with_replacement(codes, 2):
            words = np.zeros(SPACE.word_start[-1], np.uint64)
            present = {low, high}
            for code in present:
                add_value(SPACE, words, column, code)
            yield column, low, high, present, words


def node_above(low, high):
    return next(leaves for leaves in NODE_OF if {low, high} <= leaves)


def shown(column, low, high, present):
    if COLUMNS[column] is NUMBERS:
        return set(range(low, high + 1))
    return node_above(low, high) if COLUMNS[column] is NODES else present


def test_each_kind_has_one_property_in_kernels_and_in_python():
    asked = [[bool(has(kind)) for has in (has_order, has_tree, has_members)] for kind in SPACE.kind]
    assert asked == [[True, False, False], [False, True, False], [False, False, True]]
    assert ordered_columns(SPACE).tolist() == [True, False, False]
    assert tree_columns(SPACE).tolist() == [False, True, False]


def test_only_sets_keep_values():
    words, alone = np.zeros(SPACE.word_start[-1], np.uint64), np.zeros(SPACE.word_start[-1], np.uint64)
    assert [note_value(SPACE, words, alone, column, 3) for column in (0, 1, 2)] == [0, 0, 1]
    assert [has_value(SPACE, alone, column, 3) for column in (0, 1, 2)] == [False, False, True]
    assert [lacks_value(SPACE, words, column, 4) for column in (0, 1, 2)] == [False, False, True]
    assert note_value(SPACE, words, alone, 2, 3) == 0
    assert has_value(SPACE, words, 2, 3)
    assert not has_value(SPACE, alone, 2, 3)  # two records have it now
    assert add_value(SPACE, words, 2, 3) == 0
    assert add_value(SPACE, words, 2, 70) == 1
    assert holds_code(words, 0, 70)


def test_a_cell_covers_its_set_or_what_is_between_its_ends():
    for column, low, high, present, words in cells():
        covered = present if COLUMNS[column] is SETS else set(range(low, high + 1))
        found = {code for code in CODES[column] if covers_code(SPACE, words, column, low, high, code)}
        assert found == covered & set(CODES[column])
        for first, last in itertools.combinations_with_replacement(CODES[column], 2):
            possible = bool(covered & set(range(first, last + 1))) or (COLUMNS[column] is SETS and first < last)
            assert may_cover(SPACE, words, column, low, high, first, last) == possible


def test_a_cell_shows_its_range_its_set_or_all_leaves_of_its_node():
    for column, low, high, present, words in cells():
        all_shown = shown(column, low, high, present)
        found = {code for code in CODES[column] if shows_code(SPACE, words, column, low, high, code)}
        assert found == all_shown & set(CODES[column])
        assert shown_range(SPACE, column, low, high) == (min(all_shown), max(all_shown))
        mixed = low < high == COLUMNS[column].cardinality - 1
        assert shows_all(SPACE, column, low, high) == (mixed or all_shown == NODE_OF[-1])


@pytest.mark.parametrize("above", [False, True])
def test_a_part_is_a_child_a_side_of_a_range_or_a_set_without_a_value(above):
    for column, low, high, present, _ in cells():
        inside = sorted(shown(column, low, high, present))
        for witness, code in itertools.product(inside, inside) if low < high else ():
            if COLUMNS[column] is NUMBERS:
                gone = code < witness if above else code > witness
            elif COLUMNS[column] is SETS:
                gone = code == witness
            else:
                children = CHILDREN[(inside[0], inside[-1])]
                gone = not any({code, witness} <= child for child in children)
            assert leaves_part(SPACE, column, low, high, witness, above, code) == gone


def test_what_is_released_costs_what_its_codes_do():
    for column, low, high, present, _ in cells():
        cost = released_cost(SPACE, column, low, high, len(present))
        assert cost == pytest.approx(COLUMNS[column].cost(sorted(present)), abs=1e-15)
        assert pair_cost(SPACE, column, high, low) == cost
