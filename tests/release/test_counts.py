"""Counts of exact values beside the cells: made from released records alone, told, written, counted again."""

from __future__ import annotations

import json
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.cells.counted import counts_of
from shoal.errors import DataError, ParameterError, PublicationWarning, ShoalWarning
from shoal.results.counts import check_groups

KNOWN = ["age", "town", "born"]


def people(records=200, seed=2):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9_000, records), unit="D")
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, records),
            "town": rng.choice(["a", "b", "c", "d", "e"], records, p=[0.5, 0.3, 0.15, 0.04, 0.01]),
            "born": days.date,
            "cost": rng.integers(0, 9, records),
            "who": rng.integers(0, records // 2, records),
        }
    )


def release(table, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        base = {"k": 4, "quasi_identifiers": KNOWN, "keep": ["cost"], "effort": "fast"}
        return shoal.anonymize(table, **base | given)


def dictionary(path):
    return json.loads(path.with_name(f"{path.stem}.datapackage.json").read_text("utf-8"))


def test_counts_of_columns_are_multiples_of_k_of_values_that_k_people_have():
    table = people()
    counts = release(table, counts="columns").counts.columns
    for name in KNOWN:
        often = Counter(str(value) for value in table[name])
        told = dict(counts[name].values)
        assert set(told) == {value for value, number in often.items() if number >= 4}
        assert all(number % 4 == 0 and abs(number - often[value]) <= 2 for value, number in told.items())
        rest = sum(number for value, number in often.items() if value not in told)
        assert counts[name].rest % 4 == 0
        assert abs(counts[name].rest - rest) <= 2


def test_values_of_fewer_than_k_persons_are_pooled_however_many_records_they_have():
    table = people()
    table.loc[table["town"] == "c", "who"] = 999
    kept = {"keep": ["cost"], "person": "who", "derived": "warn"}
    assert "c" in dict(release(table, counts="columns", derived="warn").counts.columns["town"].values)
    assert "c" not in dict(release(table, counts="columns", max_suppression=0.3, **kept).counts.columns["town"].values)


@pytest.mark.parametrize("counts", ["columns", "groups"])
def test_withheld_records_are_not_counted(counts):
    table = people()
    table.loc[:2, "town"] = "far away"
    result = release(
        table, counts=counts, quasi_identifiers=["age", "town"], method=shoal.Datafly(at_most_k=False),
        max_suppression=0.2, hierarchies={"town": "flat", "age": "auto"},
    )  # fmt: skip
    assert "far away" in set(table["town"][result.groups < 0])
    kept = table[result.groups >= 0]
    if counts == "columns":
        told = dict(result.counts.columns["town"].values)
        often = Counter(kept["town"])
        assert set(told) == {value for value, number in often.items() if number >= 4}
    else:
        for name in ("age", "town"):
            lines = result.counts.groups.column(counts_of(name)).to_pylist()
            summed = Counter()
            for line in lines:
                summed.update(dict(json.loads(line)))
            assert summed == Counter(str(value) for value in kept[name])


def test_counts_of_groups_are_those_of_the_records_behind_the_cells():
    table = people()
    result = release(table, counts="groups")
    shown = result.data[KNOWN].astype(str).agg("|".join, axis=1)
    lines = result.counts.groups.to_pandas()
    cells = lines[KNOWN].astype(str).agg("|".join, axis=1)
    assert sorted(cells) == sorted(set(shown))
    for name in KNOWN:
        for cell, counts in zip(cells, lines[counts_of(name)], strict=True):
            assert dict(json.loads(counts)) == Counter(str(value) for value in table[name][shown == cell])


def test_a_missing_value_is_counted_as_missing():
    table = people()
    table["town"] = table["town"].mask(table.index < 30)
    columns = release(table, counts="columns").counts.columns["town"]
    assert dict(columns.values)[None] == 32
    lines = release(table, counts="groups").counts.groups.column(counts_of("town")).to_pylist()
    assert sum(count for line in lines for value, count in json.loads(line) if value is None) == 30


def test_groups_have_no_order_of_the_input():
    table = people()
    one, other = (release(part, counts="groups").counts.groups for part in (table, table[::-1].reset_index(drop=True)))
    assert one.equals(other)


@pytest.mark.parametrize(("counts", "words"), [("columns", "in multiples of k"), ("groups", "90 %")])
def test_a_warning_comes_before_anything_is_written_and_audit_and_reports_say_it(tmp_path, counts, words):
    with pytest.warns(PublicationWarning, match=words):
        result = shoal.anonymize(
            people().drop(columns="who"), k=4, quasi_identifiers=KNOWN, keep=["cost"], effort="fast", counts=counts
        )
    assert result.audit.counts == counts
    assert f"counts of exact values released by {counts}" in repr(result.audit)
    assert words in result.report().text(tmp_path / "report.md")
    assert f"by {counts}" in result.report(audience="public").text(tmp_path / "public.md")
    assert release(people()).audit.counts is None


def test_the_dictionary_tells_counts_of_columns_and_stays_a_data_package(tmp_path):
    from frictionless import validate

    path = release(people(), counts="columns").save(tmp_path / "release.csv")
    told = dictionary(path)
    assert told["shoal"]["value_counts"] == "columns"
    (town,) = [one for one in told["resources"][0]["schema"]["fields"] if one["name"] == "town"]
    assert dict(map(tuple, town["shoal"]["counts"]["values"]))["a"] % 4 == 0
    assert validate(str(tmp_path / "release.datapackage.json")).valid
    assert not list(tmp_path.glob("*.groups.csv"))


@pytest.mark.parametrize("name", ["release.csv", "release.csv.gz", "release.parquet", "release.sav"])
def test_counts_of_groups_are_a_second_resource_that_verify_counts(tmp_path, name):
    if name.endswith("sav"):
        pytest.importorskip("pyreadstat")
    path = release(people(), counts="groups").save(tmp_path / name)
    (groups,) = tmp_path.glob("*.groups.csv")
    found = shoal.verify(path)
    assert found.met
    assert "counts" in [one.name for one in found.checks]
    text = groups.read_text("utf-8")
    groups.write_text(text.replace(", 1]", ", 2]", 1), "utf-8")
    assert not shoal.verify(path).met
    groups.unlink()
    assert not shoal.verify(path).met


def test_the_package_with_groups_is_valid(tmp_path):
    from frictionless import validate

    path = release(people(), counts="groups").save(tmp_path / "release.csv")
    report = validate(str(tmp_path / "release.datapackage.json"))
    assert report.valid, report.flatten(["message"])
    assert [one["path"] for one in dictionary(path)["resources"]] == ["release.csv", "release.groups.csv"]


def test_counts_that_are_not_those_of_the_rows_are_not_written():
    result = release(people(), counts="groups")
    check_groups(result.counts.groups, result.released)
    with pytest.raises(DataError, match="do not agree"):
        check_groups(result.counts.groups.slice(1), result.released)
    with pytest.raises(DataError, match="do not agree"):
        check_groups(result.counts.groups, result.released.slice(1))
    name = counts_of("age")
    place = result.counts.groups.column_names.index(name)
    other = [json.dumps([["21", 4]])] * result.counts.groups.num_rows
    with pytest.raises(DataError, match="do not agree"):
        check_groups(result.counts.groups.set_column(place, name, [other]), result.released)


@pytest.mark.parametrize(
    "how", [{"dictionary": False}, {"cells": "columns"}, {"labels": "codes"}, {"spreadsheet_safe": True}], ids=str
)
def test_a_file_that_could_not_tell_them_is_refused(tmp_path, how):
    with pytest.raises(ParameterError, match="Counts are told in the dictionary"):
        release(people(), counts="columns").save(tmp_path / "release.csv", **how)
    assert not list(tmp_path.iterdir())


def test_a_database_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="a table of a database has no dictionary"):
        release(people(), counts="columns").save_to_database(f"sqlite:///{tmp_path}/r.sqlite", "people")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"counts": "rows"}, "counts"),
        ({"counts": "groups", "release": "representatives"}, "Counts belong to ranges"),
        ({"counts": "groups", "models": [shoal.KMap(2, people(300, seed=5)[KNOWN])]}, "fewer fit the counts"),
    ],
    ids=["unknown", "representatives", "population"],
)
def test_what_counts_do_not_go_with_is_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        release(people(), **given)


def test_a_recipe_holds_the_choice(tmp_path):
    anonymizer = shoal.Anonymizer(k=4, quasi_identifiers=KNOWN, counts="groups")
    anonymizer.save(tmp_path / "recipe.toml")
    assert shoal.Anonymizer.load(tmp_path / "recipe.toml").counts == "groups"
