"""Texts that have an order are released as ranges of it, and sets of them print in it."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.encoding.kinds import NODES, RANGES, SETS
from shoal.frames import Frame

BANDS = ["<18", "18-24", "25-34", "65+"]
ANSWERS = ["Strongly disagree", "Disagree", "Neutral", "Agree"]


def column(values, **choices):
    return encode(Frame(pa.table({"x": values})), ["x"], **choices).columns[0]


@pytest.mark.parametrize(
    "order", [BANDS, ANSWERS, ["1", "2", "10+"], ["C-", "B", "A+"], ["2023-12", "2024-01", "2024-11"]]
)
def test_texts_with_an_order_are_ranges_of_it(order):
    for values in (order[::-1], sorted(order) * 2, [*order, None]):
        coded = column(values)
        assert coded.kind is RANGES
        assert coded.ordinal
        assert coded.texts == order


def test_a_category_of_pandas_is_read_as_its_texts():
    table = pd.DataFrame({"x": pd.Categorical(BANDS[::-1], categories=[*BANDS, "unused"])})
    assert encode(Frame(pa.table(table)), ["x"]).columns[0].texts == BANDS


@pytest.mark.parametrize(
    "values",
    [
        ["red", "green", "blue"],
        ["a", "b", "c", "d"],
        ["low", "high"],
        ["<=50K", ">50K"],
        ["9th", "10th", "HS-grad", "Bachelors"],
        [*BANDS, "not told"],
    ],
)
def test_other_texts_stay_sets(values):
    assert column(values).kind is SETS


def test_what_the_user_says_comes_first():
    assert column(BANDS, kinds={"x": "nominal"}).kind is SETS
    assert column(BANDS, hierarchies={"x": "set"}).kind is SETS
    assert column(BANDS, hierarchies={"x": "flat"}).kind is NODES
    assert column(BANDS, kinds={"x": BANDS[::-1]}).texts == BANDS[::-1]


def test_sets_print_in_the_order_of_their_values():
    assert column(BANDS[::-1], hierarchies={"x": "set"}).texts == BANDS
    assert column(["Sunday", "Monday", "Friday"]).texts == ["Monday", "Friday", "Sunday"]
    assert column(["HS-grad", "9th", "Bachelors"]).texts == ["9th", "HS-grad", "Bachelors"]


def test_a_release_says_ranges_that_cover_its_values_and_is_verified(tmp_path):
    table = pd.DataFrame({"age": BANDS * 6, "says": ANSWERS * 6})
    table.to_csv(tmp_path / "people.csv", index=False)
    known = {"k": 7, "quasi_identifiers": ["age", "says"], "effort": "fast"}
    result = shoal.anonymize(table, **known)
    cells = set(result.data["age"])
    assert cells <= {
        *BANDS,
        "[<18 to 18-24]",
        "[18-24 to 25-34]",
        "[25-34 to 65+]",
        "[<18 to 25-34]",
        "[18-24 to 65+]",
        "[<18 to 65+]",
    }
    assert cells - set(BANDS)
    path = result.save(tmp_path / "release.csv")
    verified = shoal.verify(path, original=tmp_path / "people.csv")
    assert verified.met


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_every_engine_finds_the_same_order(tmp_path, engine):
    pd.DataFrame({"age": BANDS[::-1] * 50}).to_csv(tmp_path / "people.csv", index=False)
    recipe = shoal.Anonymizer(k=60, quasi_identifiers=["age"], engine=engine, method="mondrian")
    cells = set(map(str, recipe.fit(tmp_path / "people.csv").result_.data["age"]))
    assert cells == {"[<18 to 18-24]", "[25-34 to 65+]"}
