"""Hierarchies learned from the data, and what they must not tell."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.errors import DataError, ParameterError
from shoal.hierarchy import Hierarchy
from shoal.learning import LEARNED
from shoal.learning.grow import Known, grow_tree
from shoal.learning.node_names import name_node

COLOURS = ["red", "crimson", "blue", "azure", "green", "lime"]


def people(n=300, seed=3, rare=()):
    """Return people whose colours meet in pairs, because each pair has its own pay; ``rare`` are added once each."""
    random = np.random.default_rng(seed)
    colour = random.choice(COLOURS, n)
    pay = [10 * (COLOURS.index(one) // 2) for one in colour]
    town = random.choice(["here", "there", "elsewhere"], n)
    table = pd.DataFrame({"colour": colour, "pay": pay, "town": town, "ill": random.choice(["flu", "gout"], n)})
    some = pd.DataFrame({"colour": list(rare), "pay": 10, "town": "here", "ill": "flu"})
    return pd.concat([table, some], ignore_index=True)


def learn(table, k=20, **choices):
    return shoal.learn_hierarchies(table, k=k, quasi_identifiers=["colour", "pay", "town"], effort="fast", **choices)[
        "colour"
    ]


def test_values_that_meet_stand_together():
    tree = learn(people())
    assert {tree.common_ancestor(pair) for pair in (COLOURS[:2], COLOURS[2:4], COLOURS[4:])} == {
        tree.path(one)[1] for one in COLOURS
    }
    assert all(len(tree.leaves_below(tree.path(one)[1])) == 2 for one in COLOURS)


def test_the_tree_says_that_it_was_learned():
    reading = learn(people()).reading
    assert reading is not None
    assert reading.learned
    assert reading.what == LEARNED


def test_no_rare_value_has_a_place_or_a_name_of_its_own():
    rare = ["mauve", "ochre", "teal"]
    tree = learn(people(rare=rare))
    pool = {tree.path(one)[1] for one in rare}
    assert pool == {"other values"}
    assert len(tree.leaves_below("other values")) > len(rare)  # the next rarest is with them, so that k people are
    inner = tree.labels[tree.n_leaves :]
    assert not [label for label in inner for one in rare if one in label]


def test_which_of_the_rare_values_somebody_has_changes_nothing():
    one = people(rare=["mauve", "ochre", "teal"])
    other = one.copy()
    other.loc[other.colour.isin(["mauve", "ochre", "teal"]), "colour"] = ["teal", "mauve", "ochre"]
    first, second = learn(one), learn(other)
    assert {leaf: first.path(leaf) for leaf in first.leaves} == {leaf: second.path(leaf) for leaf in second.leaves}


def test_with_whom_rare_values_meet_changes_nothing_in_what_is_merged():
    codes = np.array([0] * 30 + [1] * 30 + [2] * 30 + [3] * 2 + [4] * 2, np.int32)
    labels = np.repeat(np.arange(6), 16)[: len(codes)].astype(np.int32)
    flat = Hierarchy.flat(["a", "b", "c", "x", "y"])
    count = np.bincount(codes, minlength=6)

    def grown(groups):
        return grow_tree(Known(flat), 10, lambda leaves: int(count[leaves].sum()), count, [groups], codes)

    swapped = labels.copy()
    x, y = np.flatnonzero(codes == 3), np.flatnonzero(codes == 4)
    swapped[x], swapped[y] = labels[y], labels[x]
    assert grown(labels) == grown(swapped)
    pool = grown(labels).path("x")[1]
    assert pool == grown(labels).path("y")[1] == "other values"


def test_people_are_counted_where_they_have_several_records():
    table = people(rare=["mauve"] * 40)
    table["who"] = [*range(len(table) - 40), *[0] * 40]  # one person has all of a colour
    assert "other values" in learn(table, person="who").labels
    assert "other values" not in learn(table).labels


def test_known_groups_and_orders_are_kept():
    random = np.random.default_rng(1)
    countries = ["Norway", "Sweden", "France", "Germany", "Peru", "Chile", "Brazil", "Kenya", "Japan", "China"]
    bands = ["<20", "20-29", "30-39", "40-49", "50-59", "60+"]
    table = pd.DataFrame({"land": random.choice(countries, 600), "age": random.choice(bands, 600)})
    trees = shoal.learn_hierarchies(table, k=10, quasi_identifiers=["land", "age"], effort="fast")
    lines = [trees["age"].leaves_below(label) for label in trees["age"].labels]
    assert all(tuple(bands[bands.index(run[0]) : bands.index(run[0]) + len(run)]) == run for run in lines)
    assert "learned from the data" in trees["age"].reading.what
    assert trees["age"].reading.what.startswith("bands of numbers")
    if trees["land"].reading.groups and "countries" in trees["land"].reading.what:
        assert set(trees["land"].leaves_below("Europe")) == {"Norway", "Sweden", "France", "Germany"}


def test_the_order_of_the_rows_does_not_matter():
    table = people()
    turned = table.sample(frac=1, random_state=1)
    one, other = learn(table), learn(turned)
    assert {leaf: one.path(leaf) for leaf in one.leaves} == {leaf: other.path(leaf) for leaf in other.leaves}


def test_sensitive_columns_are_not_looked_at():
    table = people()
    shuffled = table.assign(ill=table.ill.sample(frac=1, random_state=2).to_numpy())
    known = {
        "k": 20,
        "quasi_identifiers": ["colour", "pay", "town"],
        "sensitive": ["ill"],
        "hierarchies": "auto",
        "effort": "fast",
    }
    one, other = (shoal.anonymize(each, **known).coded.columns[0].tree for each in (table, shuffled))
    assert one == other


def test_auto_takes_ranges_for_numbers_and_a_learned_tree_for_categories():
    known = {
        "k": 20,
        "quasi_identifiers": ["colour", "pay"],
        "keep": ["ill", "town"],
        "hierarchies": "auto",
        "effort": "fast",
    }
    result = shoal.anonymize(people(), **known)
    colour, pay = result.coded.columns
    assert pay.hierarchy is None
    assert colour.tree.reading.learned
    assert result.recipe.hierarchies == {"colour": "(object)"}
    cells = set(result.data["colour"]) - {"*"}
    assert cells <= set(colour.tree.labels)
    assert not [cell for cell in cells if cell in colour.tree.leaves and (people()["colour"] == cell).sum() < 20]


def test_a_global_method_gets_a_suggested_tree_for_each_column():
    known = {"k": 20, "quasi_identifiers": ["colour", "pay"], "keep": ["ill", "town"], "hierarchies": "auto"}
    result = shoal.anonymize(people(), method="datafly", **known)
    assert all(column.hierarchy is not None for column in result.coded.columns)
    assert result.recipe.hierarchies == {"colour": "suggest", "pay": "suggest"}


def test_what_must_be_learned_is_refused_where_records_come_one_after_the_other(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    recipe = shoal.Anonymizer(
        k=20,
        quasi_identifiers=["colour", "pay"],
        keep=["ill", "town"],
        hierarchies="auto",
        engine="stream",
        effort="fast",
    )
    with pytest.raises(ParameterError, match="must be learned from all records"):
        recipe.fit(tmp_path / "people.csv")


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ParameterError, match="must hold quasi-identifiers"):
        learn(people(), columns=["ill"])
    with pytest.raises(DataError, match="fewer than k"):
        learn(people(5))
    with pytest.raises(ParameterError, match="'k' parameter"):
        learn(people(), k=1)


def test_a_table_without_categories_has_nothing_to_learn():
    assert shoal.learn_hierarchies({"age": [1, 2, 3]}, k=2, quasi_identifiers=["age"]) == {}


def test_missing_values_have_no_place_in_the_tree():
    table = people()
    table.loc[:40, "colour"] = None
    assert sorted(learn(table).leaves) == sorted(COLOURS)


@pytest.mark.parametrize(
    ("values", "hidden", "others", "label"),
    [
        (["Married-civ-spouse", "Married-AF-spouse"], 0, ["Widowed"], "Married-*"),
        (["Married-civ-spouse", "Married-AF-spouse"], 0, ["Married-other"], "Married-civ-spouse, Married-AF-spouse"),
        (
            ["Married-civ-spouse", "Married-AF-spouse"],
            1,
            ["Widowed"],
            "Married-civ-spouse, Married-AF-spouse and 1 more",
        ),
        (["a", "b", "c", "d", "e"], 0, [], "a, b, c, d and 1 more"),
        (["x" * 50, "y" * 50], 2, [], "x" * 50 + " and 3 more"),
        ([], 3, ["a"], "other values"),
    ],
)
def test_a_node_is_named_by_what_its_values_have_in_common_or_by_a_list(values, hidden, others, label):
    taken: set[str] = set()
    assert name_node(values, hidden, others, taken) == label
    assert name_node(values, hidden, others, taken) == f"{label} (2)"
