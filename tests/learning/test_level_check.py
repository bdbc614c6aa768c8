"""What each level of a hierarchy would leave of a column."""

from __future__ import annotations

import numpy as np

from shoal.hierarchy import Hierarchy
from shoal.learning.level_check import check_tree

TREE = Hierarchy.from_dict(
    {"health": ["nurse", "doctor"], "craft": {"metal": ["smith"], "wood": ["joiner"]}, "rest": ["clown"]}
)


def codes(**records):
    return np.repeat([TREE.leaves.index(name) for name in records], list(records.values())).astype(np.int32)


def test_each_level_says_its_groups_and_the_people_in_the_smallest():
    checked = check_tree(TREE, codes(nurse=6, doctor=4, smith=3, joiner=9), k=5)
    assert [one.groups for one in checked.levels] == [4, 3, 2, 1]
    assert [one.smallest for one in checked.levels] == [3, 3, 10, 22]
    assert [one.below for one in checked.levels] == [7, 3, 0, 0]
    assert checked.levels[3].values == 5


def test_what_will_always_be_suppressed_is_counted():
    remarks = " ".join(check_tree(TREE, codes(nurse=6, smith=2, joiner=1, clown=4), k=5).remarks)
    assert "3 of the values that occur (7 people) will always be suppressed" in remarks
    assert "3 values have fewer than 5 people" in remarks
    assert "suppressed" not in " ".join(check_tree(TREE, codes(nurse=6, smith=4, joiner=1), k=5).remarks)


def test_levels_that_say_nothing_and_that_one_group_fills_are_named():
    remarks = check_tree(TREE, codes(nurse=97, smith=1, joiner=2), k=2).remarks
    assert "Level 1 says the same as level 0 of every value that occurs: leave it out." in remarks
    assert "Level 1 is unbalanced: one of its 3 groups holds 97% of the people." in remarks
    assert any("3 groups have a single group or value below" in one for one in remarks)


def test_a_balanced_hierarchy_of_frequent_values_gets_no_remark():
    tree = Hierarchy.from_dict({"a": ["x", "y"], "b": ["z", "w"]})
    assert check_tree(tree, np.repeat([0, 1, 2, 3], 10).astype(np.int32), k=5).remarks == ()


def test_people_are_counted_and_missing_values_left_out():
    person = np.array([0] * 6 + [1] * 4 + [2] * 3 + [3], np.int32)
    coded = np.append(codes(nurse=6, doctor=4, smith=3), TREE.n_leaves).astype(np.int32)
    levels = check_tree(TREE, coded, k=2, person=person).levels
    assert [one.smallest for one in levels] == [1, 1, 1, 3]
    assert levels[-1].largest == 1.0


def test_a_column_of_missing_values_only_has_no_groups():
    assert [one.groups for one in check_tree(TREE, np.full(3, TREE.n_leaves, np.int32), k=2).levels] == [0, 0, 0, 0]
