"""Changing a hierarchy, and the values it meets."""

from __future__ import annotations

from datetime import date

import pytest

from shoal.errors import HierarchyError
from shoal.hierarchy import Hierarchy
from shoal.io.files import open_table
from shoal.web import trees
from shoal.web.jobs import tasks
from shoal.web.stored import store

JOBS = {"*": {"care": ["nurse", "midwife"], "kitchen": ["cook"], "office": ["clerk", "typist"]}}


@pytest.fixture
def tree():
    return Hierarchy.from_dict(JOBS)


def test_a_value_is_moved_and_a_group_left_empty_goes(tree):
    changed = trees.move(tree, ["cook"], "care")
    assert changed.path("cook") == ("cook", "care", "*")
    assert "kitchen" not in changed.labels
    assert tree.path("cook") == ("cook", "kitchen", "*")


def test_a_group_cannot_go_below_itself_nor_anything_below_a_value(tree):
    with pytest.raises(HierarchyError):
        trees.move(tree, ["nurse"], "cook")
    nested = trees.merge(tree, ["care", "kitchen"], "house")
    with pytest.raises(HierarchyError, match="lies below"):
        trees.move(nested, ["house"], "care")


def test_nodes_are_put_together_below_the_closest_group_above_them(tree):
    assert trees.merge(tree, ["care", "kitchen"], "house").path("cook") == ("cook", "kitchen", "house", "*")
    assert trees.merge(tree, ["nurse", "midwife"], "at beds").path("nurse") == ("nurse", "at beds", "care", "*")
    assert trees.merge(tree, ["nurse", "cook"], "both").path("cook") == ("cook", "both", "*")


@pytest.mark.parametrize(
    ("labels", "name"), [(["nurse"], "one"), (["nurse", "cook"], "office"), (["nurse", "cook"], " ")]
)
def test_a_group_of_one_and_a_name_that_is_taken_are_refused(tree, labels, name):
    with pytest.raises(HierarchyError):
        trees.merge(tree, labels, name)


def test_a_group_is_renamed_and_dissolved_but_a_value_is_neither(tree):
    assert trees.rename(tree, "care", "health").path("nurse") == ("nurse", "health", "*")
    assert trees.dissolve(tree, "care").path("nurse") == ("nurse", "*")
    with pytest.raises(HierarchyError):
        trees.rename(tree, "nurse", "sister")
    for label in ("nurse", "*"):
        with pytest.raises(HierarchyError):
            trees.dissolve(tree, label)


def test_values_without_a_place_go_below_the_top(tree):
    changed = trees.add(tree, ["locum", "sous-chef"])
    assert changed.path("locum") == ("locum", "*")
    assert changed.path("nurse") == tree.path("nurse")


def test_records_are_counted_at_every_node_and_level(tree):
    counts = {"nurse": 5, "midwife": 1, "cook": 2, "stranger": 9}
    sums = trees.count_nodes(tree, counts)
    assert (sums["*"], sums["care"], sums["office"], sums["nurse"]) == (8, 6, 0, 5)
    levels = trees.level_counts(tree, counts)
    assert levels[1] == [("care", 6), ("kitchen", 2), ("office", 0)]
    assert levels[2] == [("*", 8)]


def test_values_are_counted_and_read_as_a_hierarchy_meets_them(tmp_path):
    (tmp_path / "people.csv").write_text("born;cost\n01.03.2024;1,5\n01.03.2024;2,5\nNA;2,5\n02.03.2024;\n")
    stored = store(open_table(tmp_path / "people.csv"), tmp_path / "rows.arrow")

    def tell(*_):
        """Nobody listens."""

    assert tasks.count_values(tell, table=stored, column="born") == {"01.03.2024": 2, "NA": 1, "02.03.2024": 1}
    meanings = tasks.read_values(tell, table=stored, column="born")
    assert meanings == {"01.03.2024": date(2024, 3, 1), "NA": None, "02.03.2024": date(2024, 3, 2)}
    assert tasks.read_values(tell, table=stored, column="cost") == {"1,5": 1.5, "2,5": 2.5}


def test_people_are_counted_where_a_column_names_them(tmp_path):
    """The first person has two rows, alike in sex: rows are never alone there, but the person is."""
    (tmp_path / "people.csv").write_text("who,sex,age\na,F,30\na,F,31\nb,M,30\nc,M,31\n")
    stored = store(open_table(tmp_path / "people.csv"), tmp_path / "rows.arrow")
    heard = []

    def tell(_, part):
        heard.append(part)

    rows = tasks.count_people(tell, table=stored, columns=["sex", "age"])
    assert (rows["people"], rows["unique"], rows["without"]) == (4, 4, {"sex": 0, "age": 0})
    people = tasks.count_people(tell, table=stored, columns=["sex", "age"], person="who")
    assert (people["people"], people["unique"], people["without"]) == (3, 3, {"sex": 0, "age": 1})
    assert {tuple(one["columns"]): one["unique"] for one in people["sets"]} == {
        ("sex",): 1, ("age",): 0, ("sex", "age"): 3,
    }  # fmt: skip
    assert people["alone"] == {"who": 3, "sex": 1, "age": 0}  # of every column, also of those nobody is asked about
    assert heard[0]["sets"] is None
    assert rows["alone"] is None  # the values that occur once are known already
