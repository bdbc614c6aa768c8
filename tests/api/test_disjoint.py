"""Columns whose released cells are one partition of their values."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import pandas as pd
import pytest

import shoal
import shoal_reader
from shoal.cells.parse import parse_cell
from shoal.errors import ColumnError, ParameterError
from shoal.learning.partitions import round_parts
from tests.fuzz.interference import Given

KNOWN = ["age", "job", "town", "born"]
TOWNS = shoal.Hierarchy.from_dict(
    {"*": {"North": ["Aa", "Ab", "Ac"], "South": {"Coast": ["Ba", "Bb"], "Hills": ["Bc"]}}}
)


@pytest.fixture(scope="module")
def people():
    rng, n = np.random.default_rng(2), 400
    return pd.DataFrame({
        "age": rng.integers(18, 90, n), "job": rng.choice([f"job {one:02}" for one in range(30)], n, p=np.arange(30, 0, -1) / 465),
        "town": rng.choice(list(TOWNS.leaves), n), "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(one)) for one in rng.integers(0, 9_000, n)],
        "hours": rng.integers(10, 60, n),
    })  # fmt: skip


def release(table, cells, known=("age", "job"), **more):
    choices = {"hierarchies": {"town": TOWNS}} if "town" in known else {}
    table = table[[*known, "hours"]]
    return shoal.anonymize(
        table, k=4, quasi_identifiers=list(known), keep=["hours"], effort="fast", cells=cells, **choices | more
    )


def stands_for(cell, values):
    found = parse_cell(cell)
    if found.form == "range":
        low, high = found.values
        return (
            {one for one in values if float(low) <= float(one) <= float(high)}
            if low.isdigit()
            else {one for one in values if low <= str(one) <= high}
        )
    return set(found.values)


@pytest.mark.parametrize("name", ["age", "job", "born"])
def test_cells_are_equal_or_have_nothing_in_common(people, name):
    result = release(people, {name: "disjoint"}, sorted({name, "age", "job"}))
    values = set(people[name].astype(str))
    cells = [stands_for(cell, values) for cell in set(result.data[name]) - {"*"}]
    assert len(cells) > 1
    assert all(not one & other for one, other in itertools.combinations(cells, 2))
    free = release(people, None, sorted({name, "age", "job"}))
    assert len(set(result.data[name])) < len(set(free.data[name]))
    assert result.audit.k >= 4


def test_no_more_cells_than_allowed_and_the_ends_of_ranges_touch(people):
    result = release(people, {"age": shoal.Disjoint(most=4)})
    cells = sorted(set(result.data["age"]) - {"*"})
    assert 2 <= len(cells) <= 4
    ends = [tuple(map(int, cell.strip("[]").split("-"))) for cell in cells]
    assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(ends))


def test_a_hierarchy_of_the_column_is_cut_once(people):
    result = release(people, {"town": "disjoint"}, ("town", "age"))
    cells = set(result.data["town"]) - {"*"}
    below = [set(TOWNS.leaves_below(cell)) for cell in cells]
    assert all(not one & other for one, other in itertools.combinations(below, 2))


def test_several_columns_part_their_values_together(people):
    result = release(people, {"age": shoal.Disjoint(5), "job": "disjoint"})
    assert len(set(result.data["age"]) - {"*"}) <= 5
    members = [parse_cell(cell).values for cell in set(result.data["job"]) - {"*"}]
    assert len({one for part in members for one in part}) == sum(map(len, members))


def test_a_missing_value_is_a_part_of_its_own(people):
    table = people.assign(job=people["job"].where(people["job"] != "job 00"))
    cells = set(release(table, {"job": "disjoint"}).data["job"].astype(object).where(lambda one: one.notna(), None))
    assert not any("None" in str(cell) for cell in cells if cell)
    assert {"*", None} & cells


@pytest.mark.parametrize("method", ["mondrian", "k-member", "bottom-up", "top-down", "sbca"])
def test_every_method_that_finds_groups_honours_them(people, method):
    result = release(people.head(150), {"age": shoal.Disjoint(most=3)}, method=method)
    assert len(set(result.data["age"]) - {"*"}) <= 3


def test_the_partition_that_loses_least_is_taken(people):
    best = release(people, {"job": "disjoint"}).metrics["ncp"]
    assert best <= min(release(people, {"job": shoal.Disjoint(most)}).metrics["ncp"] for most in (2, 4)) + 1e-9


def test_the_order_of_rows_decides_nothing(people):
    again = people.sample(frac=1, random_state=1)
    cells = {"age": "disjoint", "job": "disjoint"}
    assert set(release(people, cells).data["job"]) == set(release(again, cells).data["job"])


def test_a_recipient_has_factors(people, tmp_path):
    result = release(people, {"age": shoal.Disjoint(4), "job": shoal.Disjoint(6)})
    path = result.save(tmp_path / "release.csv")
    found = shoal_reader.read(path)
    assert found.dictionary.fields["age"].form == "ranges"
    assert found.dictionary.fields["job"].form == "sets"
    assert len(set(map(str, found.table["age"]))) <= 5
    assert sorted(found.text()["job"]) == sorted(result.data["job"])


def test_a_recipe_keeps_them(people, tmp_path):
    maker = shoal.Anonymizer(
        k=4,
        quasi_identifiers=["age", "job"],
        keep=["hours"],
        cells={"age": shoal.Disjoint(most=4), "job": "disjoint"},
        effort="fast",
    )
    again = shoal.Anonymizer.load(maker.save(tmp_path / "recipe.toml"))
    assert again.cells == maker.cells == {"age": shoal.Disjoint(4), "job": shoal.Disjoint()}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"cells": {"age": "apart"}}, "must be 'disjoint' or shoal.Disjoint"),
        ({"cells": {"age": {"most": 1}}}, "'most'"),
        ({"cells": {"age": "disjoint"}, "widen": 0.1}, "cannot be widened"),
        ({"cells": {"age": "disjoint"}, "method": "bug"}, "recodes a value alike everywhere"),
        ({"cells": {"age": "disjoint"}, "release": "representatives"}, "is for releases with ranges"),
    ],
)
def test_what_has_no_disjoint_cells_is_refused(given, says):
    with pytest.raises(ParameterError, match=says):
        shoal.Anonymizer(k=4, quasi_identifiers=["age"], **given)


def test_a_column_that_is_not_recoded_or_has_one_value_is_refused(people):
    with pytest.raises(ColumnError, match="hours"):
        shoal.Anonymizer(k=4, quasi_identifiers=["age"], cells={"hours": "disjoint"})
    with pytest.raises(ParameterError, match="fewer than two values"):
        release(people.assign(job="smith"), {"job": "disjoint"})


def test_streams_refuse_them(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(ParameterError, match="disjoint cells"):
        shoal.anonymize(
            tmp_path / "people.csv",
            k=4,
            quasi_identifiers=["age"],
            cells={"age": "disjoint"},
            engine="stream",
            others="drop",
        )


def test_ranges_end_at_round_numbers_where_no_value_lies():
    assert round_parts([("17", "28"), ("31", "43"), ("52", "91")]) == [("10", "29"), ("30", "49"), ("50", "99")]
    assert round_parts([("0.25", "0.5"), ("0.75", "2.25")]) == [("0.00", "0.69"), ("0.70", "2.99")]
    assert round_parts([("2020-01-01", "2020-02-01"), ("2020-02-03", "2020-03-01")]) == [
        ("2020-01-01", "2020-02-01"),
        ("2020-02-03", "2020-03-01"),
    ]


@pytest.mark.parametrize(("age", "job"), [(999, "zz"), (870, "yy")])
def test_no_cell_shows_a_value_that_only_a_withheld_record_has(tmp_path, age, job):
    rng, n = np.random.default_rng(1), 300
    table = pd.DataFrame({
        "age": rng.integers(18, 70, n), "sex": rng.choice(list("FM"), n), "job": rng.choice(list("abcdefghij"), n),
        "hours": rng.integers(10, 60, n), "ill": ["no"] * 200 + ["yes"] * 100,
    })  # fmt: skip
    table.loc[n] = [age, "X", job, 5, "no"]
    result = shoal.anonymize(
        table, k=5, quasi_identifiers=["age", "sex", "job"], keep=["hours"], sensitive=["ill"],
        models=[shoal.LDiversity(2)], method=shoal.SBCA(rest="suppress"), max_suppression=0.05,
        hierarchies={"sex": "flat"}, cells={"age": "disjoint", "job": shoal.Disjoint(most=3)},
    )  # fmt: skip
    assert result.groups[n] == -1
    result.save(tmp_path / "release.csv")
    for name in ("release.csv", "release.datapackage.json"):
        text = (tmp_path / name).read_text()
        assert job not in text
        assert str(age) not in text
        assert f"{age // 10}9]" not in text  # its round end
    known = set(table["age"][result.groups >= 0].astype(str))
    cells = [stands_for(cell, known) for cell in set(result.data["age"]) - {"*"}]
    assert set().union(*cells) <= known
    assert all(not one & other for one, other in itertools.combinations(cells, 2))


@pytest.mark.filterwarnings("ignore::shoal.errors.NotationNotice")
@pytest.mark.parametrize("hidden", ["999", "20"])
def test_a_number_in_two_writings_has_one_cell(hidden):
    ages = [str(20 + row // 10) for row in range(60)] + [hidden, f"{hidden}.0"]
    ages[0] = "20.0"
    labels = (*(row // 10 for row in range(60)), -1, -1)
    result = shoal.anonymize(
        pd.DataFrame({"age": ages}), k=5, quasi_identifiers=["age"], method=Given(labels), max_suppression=0.1,
        cells={"age": "disjoint"},
    )  # fmt: skip
    assert len(set(result.data["age"][:10])) == 1
    assert not any("999" in cell for cell in result.data["age"])
