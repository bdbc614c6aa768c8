"""What the texts of a column are recognized as, and the tree that follows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchy import Hierarchy
from tests.hierarchy import pictures
from tests.hierarchy.columns import ADULT_EDUCATION, FIFTEEN, OTHERS

COLUMNS = FIFTEEN | OTHERS


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_comes_out_as_a_person_would_draw_it(name):
    values, one, groups = COLUMNS[name]
    assert Hierarchy.suggest(values).path(one) == (one, *groups, "*")


@pytest.mark.parametrize("name", COLUMNS)
def test_the_order_of_the_rows_does_not_matter_and_no_value_is_lost(name):
    values, *_ = COLUMNS[name]
    tree, turned = Hierarchy.suggest(values), Hierarchy.suggest(values[::-1])
    assert sorted(tree.leaves) == sorted(Hierarchy.flat(values).leaves)
    assert {leaf: tree.path(leaf) for leaf in tree.leaves} == {leaf: turned.path(leaf) for leaf in tree.leaves}


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["65+", "<18", "18-24", "25-34"], ("<18", "18-24", "25-34", "65+")),
        (["oft", "nie", "immer", "selten"], ("nie", "selten", "oft", "immer")),
        (["10+", "2", "1"], ("1", "2", "10+")),
        (["Apr 2024", "Dec 2023", "Mar 2024"], ("Dec 2023", "Mar 2024", "Apr 2024")),
        (["B", "A+", "C-"], ("C-", "B", "A+")),
        (["3rd", "1st", "2nd"], ("1st", "2nd", "3rd")),
        (["XL", "S", "xxs"], ("xxs", "S", "XL")),
        (["Sunday", "Monday", "Friday"], ("Monday", "Friday", "Sunday")),
        (ADULT_EDUCATION[::-1], tuple(ADULT_EDUCATION)),
        (["three or more", "two", "none", "one"], ("none", "one", "two", "three or more")),
        (["drei und mehr", "zwei", "eins"], ("eins", "zwei", "drei und mehr")),
        (["10+ years", "2 years", "< 1 year", "1 year"], ("< 1 year", "1 year", "2 years", "10+ years")),
        (["1 month", "2 weeks", "90 min", "1 h", "3 Tage"], ("1 h", "90 min", "3 Tage", "2 weeks", "1 month")),
        (["P1Y", "P6M", "P1DT12H", "PT30M"], ("PT30M", "P1DT12H", "P6M", "P1Y")),
        (["24 months", "6 months", "18 months"], ("6 months", "18 months", "24 months")),
        (["20k-50k", "<20k", "50k+"], ("<20k", "20k-50k", "50k+")),
        (["Excellent", "fair", "Very  good", "poor"], ("poor", "fair", "Very  good", "Excellent")),
    ],
)
def test_texts_with_an_order_are_put_in_it(values, order):
    reading = Hierarchy.suggest(values).reading
    assert reading is not None
    assert reading.order == order


@pytest.mark.parametrize(
    "values",
    [
        ["red", "green", "blue"],
        ["A", "B", "AB", "O"],  # groups of blood
        ["more or less", "red or more", "green or more"],
        ["A", "B", "C", "D"],
        ["A", "B"],
        ["10-30", "20-40", "30-50"],  # they overlap
        ["Smith", "Jones", "Miller", "Meier"],
        ["yes", "no"],
        ["N/A", "-", "?"],
        ["low", "high"],  # two words are no scale
        ["black/white", "yes", "no", "up", "down"],
    ],
)
def test_what_says_nothing_stays_flat(values):
    tree = Hierarchy.suggest(values)
    assert tree.levels == 2
    assert tree.reading is None


def test_what_was_not_recognized_is_named_and_stands_below_the_root():
    tree = Hierarchy.suggest(["Germany", "France", "Peru", "Chile", "China", "Atlantis"])
    assert tree.reading is not None
    assert tree.reading.unknown == ("Atlantis",)
    assert round(tree.reading.share, 3) == 0.833
    assert tree.path("Atlantis") == ("Atlantis", "*")
    assert Hierarchy.suggest(["Germany", "France", "Atlantis"]).reading is None  # too few


def test_a_text_outside_a_scale_takes_its_order_away_but_not_the_tree():
    reading = Hierarchy.suggest(["0-9", "10-19", "20-29", "30-39", "40-49", "50+", "unknown"]).reading
    assert reading is not None
    assert reading.order == ()
    assert reading.unknown == ("unknown",)


def test_case_accents_dots_and_signs_do_not_matter():
    tree = Hierarchy.suggest(["U.S.A.", "cote d'ivoire", "ÖSTERREICH", "Türkiye", "viet-nam"])
    assert tree.path("ÖSTERREICH")[1:] == ("Western Europe", "Europe", "*")
    assert tree.reading is not None
    assert tree.reading.unknown == ()


def test_codes_stay_codes_and_their_titles_are_told():
    tree = Hierarchy.suggest(["E11.9", "E11.2", "I10", "J45.9"])
    assert tree.reading is not None
    assert tree.reading.titles["E00-E90"] == "Endocrine, nutritional and metabolic diseases"
    assert tree.reading.titles["E11.9"] == "Type 2 diabetes mellitus without complications"
    assert Hierarchy.suggest(["DE", "FR", "IT"]).reading.titles == {"DE": "Germany", "FR": "France", "IT": "Italy"}


def test_the_name_of_a_column_explains_codes_that_nothing_else_explains():
    codes = {"2221": 2221, "2212": 2212, "5120": 5120}
    assert Hierarchy.suggest(codes, "ISCO").path("2221") == ("2221", "222*", "22**", "2***", "*")
    assert Hierarchy.suggest(codes, "cost").reading is None
    assert Hierarchy.suggest(["01.11", "47.11", "47.19"], "nace").path("47.11")[1:] == (
        "47.1*",
        "47.*",
        "section G",
        "*",
    )


def test_no_group_is_called_like_a_value():
    for values in (
        ["a", "a/*", "a/b", "a/c"],
        ["C1*", "C12", "C13", "C1"],
        ["Europe", "Norway", "Sweden", "Italy", "France"],
    ):
        assert sorted(Hierarchy.suggest(values).leaves) == sorted(values)


def test_skewed_numbers_get_steps_of_their_own_with_open_ends():
    random = np.random.default_rng(1)
    numbers = np.unique(np.round(random.lognormal(10, 1, 3000), 2))
    tree = Hierarchy.suggest(numbers)
    parts = tree.children("*")
    assert parts[0].startswith("below ")
    assert parts[-1].endswith(" or more")
    finest = {tree.path(leaf)[1] for leaf in tree.leaves}
    assert len(finest) == 16
    assert max(tree.size(label) for label in finest) < 1.5 * tree.n_leaves / 16
    assert f"{numbers.max():g}" not in " ".join(finest)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=12, unique=True))
def test_any_texts_get_a_tree_with_exactly_these_leaves(values):
    texts = [value for value in values if value.strip() and value != "*"]
    if texts:
        assert sorted(Hierarchy.suggest(texts).leaves) == sorted(texts)


@given(
    st.lists(
        st.one_of(
            st.from_regex(r"[0-9]{1,3}-[0-9]{1,3}", fullmatch=True),
            st.from_regex(r"[A-Z][0-9]{2}(\.[0-9])?", fullmatch=True),
            st.from_regex(r"(a|b)/(a|b)(/(a|b))?", fullmatch=True),
            st.from_regex(r"[0-9]{1,2}:[0-9]{2}", fullmatch=True),
            st.from_regex(r"-?[0-9]{1,2}\.[0-9], -?[0-9]{1,3}\.[0-9]", fullmatch=True),
        ),
        min_size=1,
        max_size=20,
        unique=True,
    )
)
def test_texts_that_look_like_something_get_a_tree_with_exactly_these_leaves(values):
    assert sorted(Hierarchy.suggest(values).leaves) == sorted(values)


@pytest.mark.parametrize(
    "form", ["{:07d}x", "a{:d}", "{:d}/{:d}", "10.{:d}.0.1", "user{:d}@x{:d}.org", "word{:d} word"]
)
def test_a_column_of_many_values_keeps_them_all(form):
    values = [
        form.format(number, number % 997) if form.count("{") > 1 else form.format(number) for number in range(5000)
    ]
    assert Hierarchy.suggest(values).n_leaves == len(values)


def test_what_was_recognized_travels_with_the_tree():
    tree = Hierarchy.suggest(["Chile", "Peru"])
    again = pickle.loads(pickle.dumps(tree))  # noqa: S301
    assert again.reading == tree.reading
    assert tree.weighted({"Peru": 2.0}).reading == tree.reading
    assert again == tree


def test_the_trees_on_the_page_are_those_that_are_suggested():
    if not pictures.PAGE.exists():
        pytest.skip("does not apply: the pages are not here")
    assert pictures.page() == pictures.PAGE.read_text("utf-8")


def test_the_page_shows_ten_trees():
    assert len(pictures.SHOWN) == 10
