"""Counts beside the cells, as a recipient uses them."""

from __future__ import annotations

import json
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import shoal
import shoal_reader
from shoal.errors import ShoalWarning
from shoal_reader import DictionaryWarning, ReleaseError

KNOWN = ["age", "income", "town", "job", "born"]


def people(records=400):
    rng = np.random.default_rng(7)
    age = rng.integers(20, 70, records)
    return pd.DataFrame(
        {
            "age": age,
            "income": np.round(rng.lognormal(7, 0.5, records), 2),
            "town": rng.choice(["a", "b", "c", "d"], records, p=[0.6, 0.2, 0.15, 0.05]),
            "job": rng.choice(["nurse", "clerk", "pilot", "baker"], records, p=[0.5, 0.3, 0.15, 0.05]),
            "born": pd.Timestamp("2024-01-01") - pd.to_timedelta(age * 365, unit="D"),
            "hours": rng.integers(10, 40, records) + age // 10,
        }
    )


def release(folder, counts, table=None, **given):
    """Return the original table in the order of the release, and the release as it is read."""
    table = people() if table is None else table
    base = {"k": 5, "quasi_identifiers": KNOWN, "keep": ["hours"], "effort": "fast", "derived": "warn"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        made = shoal.anonymize(table, counts=counts, hierarchies={"job": "flat"}, **base | given)
        path = made.save(folder / "release.csv", shuffle=False)
    return table, shoal_reader.read(path)


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    return release(tmp_path_factory.mktemp("groups"), "groups")


def group_of(read):
    cells = read.text()[KNOWN].astype(str).agg("|".join, axis=1)
    return pd.factorize(cells)[0]


def test_completions_have_exactly_the_values_of_each_group(grouped):
    table, read = grouped
    groups = group_of(read)
    for drawn in read.complete(m=2, seed=1):
        for name in ("age", "town", "job", "born"):
            for group in np.unique(groups):
                here = groups == group
                assert Counter(drawn[name][here].astype(str)) == Counter(table[name][here].astype(str)), name


def test_records_of_a_group_exchange_their_values(grouped):
    one, other = grouped[1].complete(m=2, seed=1)
    assert not one["age"].equals(other["age"])


def test_shares_cross_tables_and_designs_follow_the_counts_of_groups(grouped):
    table, read = grouped
    shares = read.shares("town")
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.allclose(shares.sum(), table["town"].value_counts().reindex(shares.columns))
    expected = read.crosstab("town", "job").sum(axis=1)
    assert np.allclose(expected, table["town"].value_counts().reindex(expected.index))
    design = read.expected("hours ~ age + town").regressors
    assert design["age"].mean() == pytest.approx(table["age"].mean())
    assert design["town[T.b]"].sum() == pytest.approx((table["town"] == "b").sum())
    assert read.mean("age") == pytest.approx(table["age"].mean())
    assert read.mean("income") == pytest.approx(table["income"].mean())


def test_bounds_are_the_lowest_and_highest_counted_values_and_cells_stay(grouped, tmp_path):
    table, read = grouped
    groups = group_of(read)
    bounds = read.bounds("age")
    ages = table["age"].groupby(groups)
    assert (bounds["low"] == ages.transform("min")).all()
    assert (bounds["high"] == ages.transform("max")).all()
    assert read.text()["age"].tolist() == release(tmp_path, None)[1].text()["age"].tolist()


def test_counts_of_columns_calibrate_shares(tmp_path):
    table, read = release(tmp_path, "columns")
    plain = shoal_reader.read(pd.read_csv(tmp_path / "release.csv", dtype=object), _without_counts(tmp_path))
    for name in ("town", "job"):  # counts are told in multiples of five
        assert (read.shares(name).sum() - table[name].value_counts()).abs().max() < 3
    off = [(one.shares("town").sum() - table["town"].value_counts()).abs().sum() for one in (read, plain)]
    assert off[0] < off[1]
    assert abs(read.mean("age") - table["age"].mean()) < 1
    drawn = read.complete(m=1, seed=1)[0]
    bounds = read.bounds("age")
    assert ((bounds["low"] <= drawn["age"]) & (drawn["age"] <= bounds["high"])).all()


def _without_counts(folder):
    told = json.loads((folder / "release.datapackage.json").read_text())
    for field in told["resources"][0]["schema"]["fields"]:
        field["shoal"].pop("counts", None)
    return told


def test_missing_values_and_trees_are_counted(tmp_path):
    table = people()
    table["town"] = table["town"].mask(table.index % 7 == 0)
    tree = {"*": {"care": ["nurse"], "other": ["clerk", "pilot", "baker"]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        made = shoal.anonymize(
            table, k=5, quasi_identifiers=KNOWN, keep=["hours"], effort="fast", derived="warn", counts="groups",
            hierarchies={"job": shoal.Hierarchy.from_dict(tree)},
        )  # fmt: skip
        read = shoal_reader.read(made.save(tmp_path / "release.csv", shuffle=False))
    drawn = read.complete(m=1, seed=2)[0]
    assert Counter(drawn["job"]) == Counter(table["job"])
    assert len(read.level("job")) == len(table)
    assert drawn["town"].isin(["a", "b", "c", "d"]).sum() >= table["town"].notna().sum()


def test_a_file_with_counts_that_is_not_there_is_missed_and_can_be_named(tmp_path):
    release(tmp_path, "groups")
    groups = (tmp_path / "release.groups.csv").rename(tmp_path / "elsewhere.csv")
    with pytest.warns(DictionaryWarning, match="release.groups.csv"):
        read = shoal_reader.read(tmp_path / "release.csv")
    assert read.column("age").counted is None
    assert shoal_reader.read(tmp_path / "release.csv", groups=groups).column("age").counted is not None


@pytest.mark.parametrize("change", ["a count", "a line", "a row", "a value", "no JSON"])
def test_counts_that_do_not_belong_to_the_rows_are_refused(tmp_path, change):
    release(tmp_path, "groups")
    groups, rows = tmp_path / "release.groups.csv", tmp_path / "release.csv"
    text = groups.read_text("utf-8")
    if change == "a count":
        groups.write_text(text.replace(", 1]", ", 2]", 1), "utf-8")
    elif change == "a line":
        groups.write_text(text.rsplit("\n", 2)[0] + "\n", "utf-8")
    elif change == "a row":
        rows.write_text(rows.read_text("utf-8").rsplit("\n", 2)[0] + "\n", "utf-8")
    elif change == "a value":
        table = pd.read_csv(groups, dtype=object)
        place = table.index[table["age"].str.startswith("[")][0]
        pairs = json.loads(table.at[place, "counts of age"])
        pairs[0][0] = "3"
        table.at[place, "counts of age"] = json.dumps(pairs)
        table.to_csv(groups, index=False)
    else:
        groups.write_text(text.replace('[["', "[[", 1), "utf-8")
    with pytest.raises(ReleaseError, match=r"do not add up|outside its cell"):
        shoal_reader.read(rows)
