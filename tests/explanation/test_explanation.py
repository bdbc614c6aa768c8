"""Why a cell is as coarse as it is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.encoding.kinds import SETS
from shoal.errors import ColumnError, ParameterError
from shoal.explanation import join_costs
from shoal.frames import to_frame
from shoal.kernels.space.space import cost_table, cover_groups
from tests.support.tables import coded_tables

PEOPLE = {
    "name": [f"p{number}" for number in range(8)],
    "age": [30, 31, 32, 40, 60, 61, 62, 63],
    "zip": ["1111", "1112", "1113", "1211", "2111", "2111", "2111", "2111"],
    "ill": ["flu"] * 8,
}
KNOWN = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"], "identifiers": ["name"]}


@pytest.fixture(scope="module")
def result():
    """Two groups of four: ages 30 to 40 with zip codes 1***, ages 60 to 63 with zip code 2111."""
    zips = shoal.Hierarchy.from_prefixes(PEOPLE["zip"], [3, 1, 0])
    made = shoal.anonymize(pa.table(PEOPLE), k=4, hierarchies={"zip": zips}, method="mondrian", **KNOWN)
    assert made.released.column("zip").to_pylist() == ["1***"] * 4 + ["2111"] * 4
    return made


def test_it_says_how_many_share_the_cell_and_what_one_step_narrower_would_break(result):
    told = result.explain(0, "zip")
    assert (told.released, told.companions, told.narrower, told.left) == ("1***", 3, "111*", 3)
    assert "shares all released values with 3 others" in told.sentences[0]
    assert told.sentences[1] == "1 of the 4 lies outside 111*, so zip shows what all have in common."
    assert told.sentences[2] == "One step narrower (111*) would leave 3 people: below k = 4."


def test_it_says_where_the_table_itself_has_too_few(result):
    told = result.explain(0, "zip")
    assert told.forced_by == "zip"
    assert "In the whole table only 3 people fit 111*" in told.sentences[3]


def test_a_range_gives_up_the_end_away_from_the_person(result):
    assert result.explain(0, "age").narrower == "[30-32]"
    assert result.explain(3, "age").narrower == "[31-40]"


def test_it_names_the_column_that_others_differ_in_and_the_price():
    rows = {"age": [30, 31, 32, 33, 34, 70, 71, 72], "zip": ["1111"] * 3 + ["1112"] * 2 + ["1111"] * 3}
    zips = shoal.Hierarchy.from_prefixes(rows["zip"], [3, 0])
    made = shoal.anonymize(
        pa.table(rows),
        k=4,
        quasi_identifiers=["age", "zip"],
        hierarchies={"zip": zips},
        weights={"age": 9},
        method="mondrian",
    )
    told = made.explain(0, "zip")
    assert made.released.column("age").to_pylist()[0] in {"[30-33]", "[30-34]"}
    assert told.narrower == "1111"
    assert told.forced_by == "age"
    assert told.cost_then > told.cost_now
    assert "[30-70]" in told.sentences[3]


def test_a_cell_that_lost_nothing_says_so(result):
    told = result.explain(5, "zip")
    assert told.narrower is None
    assert "All 4 have the same zip, so nothing of it is lost" in str(told)


def test_columns_that_are_no_quasi_identifiers_say_what_became_of_them(result):
    assert "removed" in str(result.explain(0, "name"))
    assert "unchanged" in str(result.explain(0, "ill"))
    assert result.explain(0, "ill").released == "flu"


def test_unknown_rows_and_columns_are_refused(result):
    with pytest.raises(ParameterError):
        result.explain(8, "zip")
    with pytest.raises(ColumnError):
        result.explain(0, "zipp")


def test_a_withheld_record_says_so():
    rows = {"age": [1, 1, 1, 1, 99]}
    tree = shoal.Hierarchy.flat([1, 99])
    made = shoal.anonymize(
        pa.table(rows),
        k=2,
        quasi_identifiers=["age"],
        hierarchies={"age": tree},
        method="incognito",
        max_suppression=0.2,
    )
    assert made.suppressed == 1
    assert "withheld" in str(made.explain(4, "age"))
    assert made.explain(4, "age").released is None


def test_a_model_that_forbids_the_step_is_named():
    rows = {"age": [1, 1, 2, 2], "ill": ["flu", "flu", "cold", "cold"]}
    made = shoal.anonymize(
        pa.table(rows),
        k=2,
        quasi_identifiers=["age"],
        sensitive=["ill"],
        models=[shoal.LDiversity(2)],
        method="mondrian",
    )
    assert "at least 2 different sensitive values" in str(made.explain(0, "age"))


def test_the_last_sentence_tells_how_far_the_release_is_from_what_is_possible():
    rows = {"age": list(range(20)), "zip": [f"z{number % 4}" for number in range(20)]}
    made = shoal.anonymize(pa.table(rows), k=4, quasi_identifiers=["age", "zip"], effort="fast")
    told = made.explain(0, "age")
    assert told.loss == made.metrics["ncp"]
    assert told.sentences[-1].startswith("The whole release loses")
    assert ("No release with k = 4 can lose less than" in told.sentences[-1]) == (told.lower_bound is not None)


def test_no_name_of_anybody_is_told(result):
    told = " ".join(str(result.explain(row, column)) for row in range(8) for column in PEOPLE if column != "name")
    assert not any(name in told for name in PEOPLE["name"])


@given(table=coded_tables(), seed=st.integers(0, 1000))
def test_joining_a_code_costs_what_the_cover_of_the_group_and_it_costs(table, seed):
    """The table of costs is that of the kernel, asked one group at a time."""
    random = np.random.default_rng(seed)
    group = random.choice(table.records, random.integers(1, table.records + 1), replace=False)
    other = int(random.integers(table.records))
    labels = np.full(table.records, -1, np.int32)
    labels[[*group, other]] = 0
    expected = cost_table(table.space, cover_groups(table.space, table.codes, labels, 1))[:, 0]
    for place in range(len(table.columns)):
        present = np.unique(table.codes[place][group]).astype(np.int64)
        assert join_costs(table, place, present)[table.codes[place][other]] == pytest.approx(expected[place])


def test_people_are_counted_not_their_records():
    """Five people, the first with four records: one step narrower keeps six records, but of three people only."""
    rows = {
        "who": ["a", "a", "a", "a", "b", "c", "d", "e"],
        "age": [30, 30, 31, 31, 31, 31, 40, 40],
        "cost": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "house": ["x", "x", "x", "x", "x", "y", "y", "z"],
    }
    told = {"quasi_identifiers": ["age"], "keep": ["cost"], "person": "who", "method": "mondrian", "ends": "exact"}
    made = shoal.anonymize(pa.table(rows), k=4, treat={"cost": shoal.Round(5)}, identifiers=["house"], **told)
    found = made.explain(0, "age")
    assert (found.released, found.companions, found.left) == ("[30-40]", 4, 3)
    assert found.sentences[2] == "One step narrower ([30-31]) would leave 3 people: below k = 4."
    assert "In the whole table only 3 people fit" in found.sentences[3]
    assert made.explain(0, "cost").sentences == ("cost is not a quasi-identifier; it is rounded to multiples of 5.",)
    assert made.explain(0, "who").sentences == ("who identifies the person a record belongs to, so it is removed.",)
    homes = shoal.anonymize(pa.table(rows), k=3, household="house", identifiers=["who"], **{**told, "person": None})
    assert "would leave 2 households: below k = 3." in homes.explain(0, "age").sentences[2]


def test_nothing_joins_missing_values_where_there_is_no_other():
    table = encode(to_frame(pa.table({"town": pa.array([None, None], pa.string())})), ["town"])
    assert table.columns[0].kind is SETS
    assert join_costs(table, 0, np.array([0])).tolist() == [0.0]
