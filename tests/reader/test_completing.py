"""Completed tables lie in their cells, cover their sets, keep what was kept, and follow associations that the cells show."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
import shoal_reader
from shoal_reader import ReleaseError, completing
from tests.reader.releases import released
from tests.reader.test_reading import CHOICES, ORIGINAL, QUASI


@pytest.fixture(scope="module")
def release():
    return released(ORIGINAL, k=4, **CHOICES)[1]


@pytest.fixture(scope="module")
def tables(release):
    return release.complete(m=4, seed=1)


def test_every_value_lies_in_its_cell(release, tables):
    for table in tables:
        assert table.columns.tolist() == list(release.names)
        for name in ("age", "cost", "born", "seen"):
            bounds = release.bounds(name)
            assert (bounds["low"] <= table[name]).all()
            assert (table[name] <= bounds["high"]).all()
        for name in ("town", "job", "grade", "member"):
            shares = release.shares(name)
            assert all(
                shares.at[row, str(value).lower() if name == "member" else value] > 0
                for row, value in table[name].items()
            )


def test_every_member_of_a_set_is_borne_by_somebody_of_its_group(release, tables):
    cells = release.text().astype(str)
    groups = cells.groupby([cells[name] for name in QUASI], sort=False).ngroup()
    members = release.table["town"]
    checked = 0
    for table in tables:
        for group, rows in groups.groupby(groups).groups.items():
            if cells.at[rows[0], "town"] != "*":
                checked += 1
                assert set(table.loc[rows, "town"]) == set(members[rows[0]]), group
    assert checked > 4


def test_kept_columns_stay_and_types_are_those_of_the_original(release, tables):
    for table in tables:
        assert table["hours"].equals(release.kept["hours"])
        assert table["age"].dtype.kind == "i"
        assert table["cost"].dtype.kind == "f"
        assert table["born"].dtype.kind == "M"
        assert table["member"].dtype.kind == "b"


def test_a_seed_decides_the_tables_and_tables_differ(release, tables):
    again = release.complete(m=4, seed=1)
    assert all(one.equals(two) for one, two in zip(tables, again, strict=True))
    assert not tables[0].equals(tables[1])
    assert not release.complete(m=1, seed=2)[0].equals(tables[0])


def test_missing_values_stay_missing():
    cells = pd.DataFrame({"age": ["[20-29]", None, "40"] * 4, "town": ["{a, b}", "a", None] * 4})
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(cells)
    (table,) = release.complete(m=1, seed=0)
    assert table["age"].isna().tolist() == [False, True, False] * 4
    assert table["town"].isna().tolist() == [False, False, True] * 4


def test_associations_with_kept_columns_come_through():
    rng = np.random.default_rng(3)
    n = 800
    job, age = rng.choice(["cook", "medic", "smith"], n, p=[0.6, 0.3, 0.1]), rng.integers(20, 60, n)
    pay = 100.0 + 40 * (job == "medic") + age + rng.normal(0, 5, n)
    original = pd.DataFrame({"age": age, "job": job, "town": rng.choice(list("uvwxyz"), n), "pay": pay.round(2)})
    _, release = released(
        original,
        quasi_identifiers=["age", "job", "town"],
        method="optimize",
        effort="fast",
        k=8,
        weights={"job": 0.3, "age": 3, "town": 3},
    )

    def gap(jobs):
        means = original["pay"].groupby(np.asarray(jobs)).mean()
        return means["medic"] - means["cook"]

    draw = completing.AnchoredDraw(release, np.random.default_rng(0))
    part = draw.parts[1]
    assert 0.2 < part.open.size / n < 0.9
    uniform = [gap(part.values(completing._pick(part.share[part.which], draw.rng), draw.rng)) for _ in range(5)]
    completed = [gap(table["job"]) for table in release.complete(m=5, seed=0)]
    true = gap(original["job"])
    assert abs(np.mean(completed) - true) < 0.5 * abs(np.mean(uniform) - true)


def test_a_column_of_many_values_is_drawn_without_a_model(monkeypatch):
    monkeypatch.setattr(completing, "MOST_VALUES", 3)
    release = released(ORIGINAL, k=4, **CHOICES)[1]
    (table,) = release.complete(m=1, seed=0)
    assert all(release.shares("town").at[row, value] > 0 for row, value in table["town"].items())


def test_a_release_without_anything_to_complete_stays():
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(pd.DataFrame({"age": [1, 2]}))
    assert release.complete(m=2, seed=0)[1]["age"].tolist() == [1, 2]


def test_what_cannot_be_completed_is_refused(release, monkeypatch):
    with pytest.raises(ReleaseError, match="at least 1"):
        release.complete(m=0)
    typical = {
        "resources": [
            {
                "schema": {
                    "fields": [
                        {
                            "name": "age",
                            "shoal": {"role": "quasi-identifier", "form": "representatives", "kind": "integer"},
                        }
                    ]
                }
            }
        ]
    }
    with pytest.raises(ReleaseError, match="typical values"):
        shoal_reader.read(pd.DataFrame({"age": ["34"]}), typical).complete()
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    with pytest.raises(ReleaseError, match="need scipy"):
        release.complete()


def test_shoal_offers_the_reader():
    assert shoal.read_release is shoal_reader.read
