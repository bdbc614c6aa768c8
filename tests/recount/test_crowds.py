"""Who of a list fits the released cells: by the cells alone, and as somebody with the list and a pencil would count."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.errors import ParameterError, PrivacyError
from shoal.frames import to_frame
from shoal.privacy.base import PeoplePromise
from shoal.privacy.population import CrowdRequirement
from shoal.recount.crowds import find_people

ZIPS = shoal.Hierarchy.from_dict(
    {
        "*": {
            "47*": {"4790*": ["47906", "47903"], "4763*": ["47630", "47633"]},
            "48*": {"4897*": ["48973", "48972", "48970"]},
        }
    }
)
NATIONS = shoal.Hierarchy.from_dict(
    {"*": {"America": ["USA", "Canada", "Brazil", "Peru"], "Europe": ["Spain", "Bulgaria", "France"]}}
)
TOWN = {
    "zip": ["47906", "47903", "47906", "47630", "47630", "47633", "48973", "48972", "48970"],
    "age": [35, 59, 42, 18, 22, 63, 33, 47, 52],
    "nation": ["USA", "Canada", "USA", "Brazil", "Brazil", "Peru", "Spain", "Bulgaria", "France"],
}
"""The people of the example of Nergiz, Atzori & Clifton (2007); those of these rows are in the table."""
IN_TABLE = [1, 2, 5, 7, 8]
ROLES = {"quasi_identifiers": ["zip", "age", "nation"], "hierarchies": {"zip": ZIPS, "age": "flat", "nation": NATIONS}}


@pytest.mark.parametrize("method", ["incognito", "datafly", "bug", "optimize", "mondrian"])
def test_the_example_of_the_paper_is_accepted(method):
    table = {name: [values[row] for row in IN_TABLE] for name, values in TOWN.items()}
    model = shoal.DeltaPresence(1 / 2, 2 / 3, TOWN)
    result = shoal.anonymize(table, k=2, models=[model], method=method, **ROLES)
    assert result.audit.people == {"presence_least": 1 / 2, "presence_most": 2 / 3, "left_out": 0}
    assert result.data["nation"] == ["America"] * 3 + ["Europe"] * 2
    with pytest.raises(PrivacyError):
        shoal.anonymize(table, k=2, models=[shoal.DeltaPresence(0.57, 2 / 3, TOWN)], method=method, **ROLES)


def town(seed, n=68):
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.choice(range(20, 60), n), "place": rng.choice(list("abcdef"), n)})


PLACES = shoal.Hierarchy.from_dict({"*": {"N": ["a", "b"], "S": ["c", "d"], "W": ["e", "f"]}})
AGES = shoal.Hierarchy.from_intervals(range(20, 60), [5, 10, 20])


def below(tree, label):
    return set(tree.leaves) if label == "*" else {label} if label in tree.leaves else set(tree.leaves_below(label))


@pytest.mark.parametrize("method", ["incognito", "datafly", "bug"])
def test_a_global_recoding_keeps_a_least_share_by_its_cells(method):
    kept, roles = 0, {"quasi_identifiers": ["age", "place"], "hierarchies": {"age": AGES, "place": PLACES}}
    for seed in range(12):
        people = town(seed)
        table = people.take(pa.array(np.random.default_rng(seed).permutation(68)[:16]))
        for everyone in (True, False):
            model = shoal.DeltaPresence(0.2, 1.0, people, everyone=everyone)
            try:
                result = shoal.anonymize(table, k=3, models=[model], method=method, max_suppression=0.2, **roles)
            except PrivacyError:
                continue
            kept += 1
            cells = [tuple(row.values()) for row in result.released.to_pylist()]
            rows = [(str(row["age"]), row["place"]) for row in people.to_pylist()]
            fits = {
                cell: {
                    n
                    for n, row in enumerate(rows)
                    if row[0] in below(AGES, cell[0]) and row[1] in below(PLACES, cell[1])
                }
                for cell in set(cells)
            }
            shares = [cells.count(cell) / len(who) for cell, who in fits.items()]
            outside = len(rows) - len(set.union(*fits.values()))
            assert min(shares) >= 0.2
            assert not (everyone and outside)
            assert result.audit.people == {
                "presence_least": min(shares),
                "presence_most": max(shares),
                "left_out": outside,
            }
    assert kept >= 6


def test_the_recount_does_not_believe_the_search(monkeypatch):
    people = town(1)
    table = people.slice(0, 16)
    monkeypatch.setattr(
        CrowdRequirement, "failing_as", lambda _self, _labels, groups, _shown: np.zeros(groups, np.bool_)
    )
    monkeypatch.setattr(CrowdRequirement, "failing", lambda _self, _labels, groups: np.zeros(groups, np.bool_))
    for model in (shoal.KMap(30, people), shoal.DeltaPresence(0.0, 0.05, people)):
        with pytest.raises(PrivacyError, match="by the people who fit their released cells"):
            shoal.anonymize(table, k=2, quasi_identifiers=["age", "place"], models=[model], method="mondrian")


def test_a_person_beyond_all_ranges_is_left_out_and_that_is_refused_or_said():
    people = pa.table({"age": [*range(20, 60), 95]})
    table = people.slice(0, 40)
    asked = {"k": 4, "quasi_identifiers": ["age"], "method": "mondrian", "ends": "exact"}
    with pytest.raises(PrivacyError, match="1 people of the population fit no released group"):
        shoal.anonymize(table, models=[shoal.DeltaPresence(0.5, 1.0, people)], **asked)
    weaker = shoal.DeltaPresence(0.5, 1.0, people, everyone=False)
    result = shoal.anonymize(table, models=[weaker], **asked)
    assert result.audit.people["left_out"] == 1
    assert "people who fit no group are known not to be in it" in weaker.describe()
    assert weaker.settings()["everyone"] is False


@pytest.mark.parametrize("method", ["optimize", "mondrian", "k-member"])
def test_boxes_are_widened_until_everybody_between_them_fits_one(method):
    rng = np.random.default_rng(4)
    people = pa.table({"age": [20, 59, *rng.integers(20, 60, 200)], "job": [*"uv", *rng.choice(list("uvw"), 200)]})
    table = pa.concat_tables([people.slice(0, 2), people.slice(60, 80)])
    asked = {"k": 4, "quasi_identifiers": ["age", "job"], "method": method}
    loose = shoal.anonymize(table, models=[shoal.DeltaPresence(0.05, 1.0, people, everyone=False)], **asked)
    strict = shoal.anonymize(table, models=[shoal.DeltaPresence(0.05, 1.0, people)], **asked)
    assert loose.audit.people["left_out"] > 0
    assert strict.audit.people["left_out"] == 0
    assert strict.audit.people["presence_least"] >= 0.05
    assert strict.metrics["ncp"] >= loose.metrics["ncp"]


@pytest.mark.parametrize("change", [{"widen": 0.5}, {"ends": {"age": 10}}, {"ends": "round"}])
def test_wider_cells_go_with_a_least_share_that_holds(change):
    rng = np.random.default_rng(2)
    people = pa.table({"age": rng.integers(20, 60, 300)})
    table = people.slice(0, 90)
    model = shoal.DeltaPresence(0.05, 1.0, people, everyone=False)
    asked = {"k": 5, "quasi_identifiers": ["age"], "method": "mondrian", "models": [model]}
    exact, wider = (shoal.anonymize(table, **asked | given).audit.people for given in ({"ends": "exact"}, change))
    assert 0.05 <= wider["presence_least"] <= exact["presence_least"]


def test_ends_are_rounded_only_as_far_as_a_least_share_allows():
    """Each person between the exact and the round ends lowers the share; the bound lies just below that of exact ends."""
    ages = [*range(22, 58)] * 2
    people = pa.table({"age": [*ages, *[20, 21, 58, 59] * 12]})
    asked = {"k": 12, "quasi_identifiers": ["age"], "method": "mondrian"}
    table = people.slice(0, len(ages))
    exact = shoal.DeltaPresence(1.0, 1.0, people, everyone=False)
    result = shoal.anonymize(table, models=[exact], ends="round", **asked)
    assert result.audit.people["presence_least"] == 1.0
    round_too = shoal.anonymize(table, models=[shoal.DeltaPresence(0.1, 1.0, people)], ends={"age": 5}, **asked)
    assert 0.1 <= round_too.audit.people["presence_least"] < 1.0
    with pytest.raises(PrivacyError, match="by the people who fit"):
        shoal.anonymize(table, models=[exact], ends={"age": 5}, **asked)


def test_ends_that_would_round_past_people_outside_the_table_move_less():
    """Without a model the ends become [1000 to 2000] and the like; ten people with 1,000 would then lower the share of the table."""
    pay = [*range(1003, 1998, 7)]
    table, people = pa.table({"pay": pay}), pa.table({"pay": [*pay, *[1000] * 10]})
    asked = {"k": 20, "quasi_identifiers": ["pay"], "method": "mondrian"}
    free = shoal.anonymize(table, **asked)
    bound = shoal.anonymize(table, models=[shoal.DeltaPresence(1.0, 1.0, people, everyone=False)], **asked)
    least = [min(int(cell[1:].split("-")[0]) for cell in one.data["pay"].to_pylist()) for one in (free, bound)]
    assert least[0] <= 1000 < least[1]
    assert bound.audit.people["presence_least"] == 1.0


def test_each_bound_of_a_promise_is_checked_at_its_boundary():
    coded = encode(to_frame(pa.table({"q": [1, 2]})), ["q"])
    released, label = pa.table({"q": ["1"] * 3 + ["2"] * 2}), np.array([0, 0, 0, 1, 1], np.int32)
    people = to_frame(pa.table({"q": [1] * 6 + [2] * 8}))  # shares 1/2 and 1/4
    for promise, failing in (
        (PeoplePromise(people, fewest=6), 0),
        (PeoplePromise(people, fewest=7), 1),
        (PeoplePromise(people, low=0.25, high=0.5, shares=True), 0),
        (PeoplePromise(people, low=0.26, high=0.5, shares=True), 1),
        (PeoplePromise(people, low=0.25, high=0.49, shares=True), 1),
    ):
        assert find_people(promise, coded.columns, released, label).failing() == failing


def test_a_model_that_counts_who_fits_refuses_representatives():
    for model in (shoal.KMap(5, TOWN), shoal.DeltaPresence(0.0, 0.5, TOWN)):
        with pytest.raises(ParameterError, match="cannot be used with a release of representatives"):
            shoal.Anonymizer(k=2, quasi_identifiers=["age"], models=[model], method="mdav")
    shoal.Anonymizer(k=2, quasi_identifiers=["age"], models=[shoal.KMap(5)], method="mdav", survey_weight="w")


DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=9 * n) for n in range(12)]


@pytest.mark.parametrize(
    ("values", "cells", "covers"),
    [
        ([1, 2, 3, None, 9], ["[1-2]", "3", "*", None], [{1, 2}, {3}, {1, 2, 3, None, 9}, {None}]),
        ([-1.5, 2.0, None], ["[-2 to 2]", "-1.5"], [{-1.5, 2.0}, {-1.5}]),
        (
            ["x", "y", None, "a, b"],
            ['{x, "a, b"}', "y", "*", None],
            [{"x", "a, b"}, {"y"}, {"x", "y", None, "a, b"}, {None}],
        ),
        (DAYS[:4], ["[2020-01-01 to 2020-01-19]", "2020-01-28"], [set(DAYS[:3]), {DAYS[3]}]),
    ],
    ids=["numbers", "floats", "words", "days"],
)
def test_cells_of_every_form_are_looked_up_in_the_list(values, cells, covers):
    own = [one for one in values if one is not None]
    coded = encode(to_frame(pa.table({"q": own})), ["q"])
    people = to_frame(pa.table({"q": values * 3}))
    label = np.arange(len(cells), dtype=np.int32)
    found = find_people(PeoplePromise(people), coded.columns, pa.table({"q": pa.array(cells)}), label)
    assert found.fits.tolist() == [3 * len(one) for one in covers]
    assert found.left_out == 3 * len(set(values) - set.union(*covers))


def test_a_value_that_a_hierarchy_does_not_know_fits_its_root_alone():
    coded = encode(to_frame(pa.table({"q": ["a", "c"]})), ["q"], hierarchies={"q": PLACES})
    people = to_frame(pa.table({"q": ["a", "b", "z", None]}))
    released = pa.table({"q": ["N", "*", "a"]})
    found = find_people(PeoplePromise(people), coded.columns, released, np.arange(3, dtype=np.int32))
    assert found.fits.tolist() == [2, 4, 1]


@pytest.mark.parametrize("label", ["{21, 22}", "[20-29]", "twenties"])
def test_a_label_that_reads_like_a_set_or_a_range_counts_who_is_below_it(label):
    tree = shoal.Hierarchy.from_dict({"*": {label: ["21", "22"], "thirties": ["33", "34"]}})
    people = pa.table({"age": ["21", "22", "33", "34"] * 8})
    given = {"k": 4, "quasi_identifiers": ["age"], "hierarchies": {"age": tree}, "method": "datafly"}
    result = shoal.anonymize(people.slice(0, 12), models=[shoal.KMap(10, people)], **given)
    assert set(result.released.column("age").to_pylist()) == {label, "thirties"}
    assert result.audit.people == {"k_map": 16.0}
