"""The hierarchy that is suggested for a column."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import shoal
from shoal.errors import HierarchyError
from shoal.hierarchy import Hierarchy

NOON = datetime(2024, 3, 1, 12)  # noqa: DTZ001 - a column of local times has no zone


@pytest.mark.parametrize("day", [date(2024, 3, 1), NOON])
def test_dates_get_months_years_and_decades(day):
    assert Hierarchy.suggest([day]).path(day)[1:] == ("2024-03", "2024", "2020s", "*")


def test_values_stand_in_it_as_in_the_table_and_missing_ones_below_the_top():
    tree = Hierarchy.suggest({"01.03.2024": date(2024, 3, 1), "NA": None})
    assert tree.path("01.03.2024") == ("01.03.2024", "2024-03", "2024", "2020s", "*")
    assert tree.path("NA") == ("NA", "*")
    numbers = Hierarchy.suggest({"1.234,5": 1234.5, "1.238,0": 1238.0, "1234,50": 1234.5})
    assert numbers.path("1.234,5")[1:] == numbers.path("1234,50")[1:]
    assert Hierarchy.suggest({"NA": None}).path("NA") == ("NA", "*")


def test_numbers_get_round_widths():
    assert Hierarchy.suggest(pa.array(range(18, 90))).path("37") == ("37", "[35-39]", "[30-39]", "[20-39]", "*")
    assert Hierarchy.suggest([0.5, 0.75, 1.5]).levels == 5
    assert Hierarchy.suggest([7]).leaves == ("7",)
    assert Hierarchy.suggest([Decimal("0.5"), Decimal("10.5")]).path("0.5")[1] == "[0.5-0.9]"


def test_a_text_of_the_table_that_reads_like_an_interval_of_one_number_stays_a_value():
    tree = Hierarchy.suggest({"7": 7, "7,0": 7.0, "27": 27})  # a span of 20: the smallest width is 1
    assert tree.path("7")[1:] == tree.path("7,0")[1:] == ("[6-7]", "[4-7]", "*")


def test_codes_of_one_length_get_prefixes():
    path = ("40213", "4021*", "402**", "40***", "4****", "*")
    assert Hierarchy.suggest(["40213", "40217"]).path("40213") == path


@pytest.mark.parametrize(
    "values",
    [["red", "blue"], [True, False], ["1", "23"], ["nurse", 7], [math.inf, 2.0], [10**400, 3]],
    ids=["words", "truth", "lengths", "mixed", "infinite", "beyond floats"],
)
def test_all_else_stays_flat(values):
    tree = Hierarchy.suggest(values)
    assert (tree.levels, tree.n_leaves) == (2, 2)


def test_no_values_give_no_hierarchy():
    with pytest.raises(HierarchyError, match="has no values"):
        Hierarchy.suggest([None, math.nan])


def people(n=60):
    random = np.random.default_rng(5)
    return {
        "age": random.integers(20, 70, n),
        "zip": random.choice(["40213", "40217", "51107", "51109"], n),
        "born": random.choice(["01.03.1990", "12.03.1990", "05.11.2001", "NA"], n),
        "ill": random.choice(["flu", "gout"], n),
    }


@pytest.mark.filterwarnings("ignore::shoal.errors.NotationNotice")
def test_every_quasi_identifier_gets_one_with_auto_and_single_columns_by_name():
    known = ["age", "zip", "born"]
    result = shoal.anonymize(
        people(), k=5, quasi_identifiers=known, sensitive=["ill"], method="datafly", hierarchies="auto"
    )
    assert [column.hierarchy is not None for column in result.coded.columns] == [True] * 3
    assert result.coded.columns[2].tree.path("01.03.1990")[1:3] == ("1990-03", "1990")
    one = shoal.anonymize(
        people(), k=5, quasi_identifiers=["age", "zip"], keep=["born"], sensitive=["ill"], method="mondrian",
        hierarchies={"zip": "suggest"},
    )  # fmt: skip
    assert [column.hierarchy is not None for column in one.coded.columns] == [False, True]


def test_a_column_with_a_kind_is_left_to_it():
    recipe = shoal.Anonymizer(k=2, quasi_identifiers=["a", "b"], kinds={"b": ["low", "high"]}, hierarchies="auto")
    assert recipe.hierarchies == {"a": "auto"}


def test_a_recipe_and_a_streamed_release_know_it(tmp_path):
    pyarrow.csv.write_csv(pa.table(people(300)).select(["age", "zip"]), tmp_path / "people.csv")
    maker = shoal.Anonymizer(k=5, quasi_identifiers=["age", "zip"], hierarchies="auto", method="mondrian")
    maker.save(tmp_path / "recipe.toml")
    again = shoal.Anonymizer.load(tmp_path / "recipe.toml")
    assert again.hierarchies == {"age": "auto", "zip": "auto"}
    whole = again.fit(tmp_path / "people.csv").result_
    streamed = shoal.Anonymizer.load(tmp_path / "recipe.toml", engine="stream").fit(tmp_path / "people.csv").result_
    assert sorted(whole.released.to_pylist(), key=str) == sorted(streamed.data.to_pylist(), key=str)
    path = whole.save(tmp_path / "release.csv")
    assert shoal.verify(path, original=tmp_path / "people.csv").met
