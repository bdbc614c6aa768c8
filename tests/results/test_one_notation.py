"""A text file has one notation in all its columns, whatever notation the original has."""

from __future__ import annotations

import gzip
import json
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.attacks.inference import homogeneity
from shoal.errors import NotationNotice, ShoalWarning
from shoal.io.files import open_table

KNOWN = ["geboren", "groesse", "ort"]
GERMAN = re.compile(r"\d,\d|\d\d\.\d\d\.\d{4}|\d\.\d{3},")
"""A decimal comma, a German date, a point between thousands."""


def rows(records=120):
    """Return a table as German offices write it, and what it means."""
    rng = np.random.default_rng(3)
    days = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 20_000, records), unit="D")
    meant = pd.DataFrame(
        {
            "geboren": days,
            "groesse": np.round(rng.uniform(150, 190, records), 1),
            "ort": rng.choice(["A", "B"], records),
            "besuch": pd.Timestamp("2024-07-01 08:30") + pd.to_timedelta(rng.integers(0, 90, records), unit="D"),
            "kosten": np.round(rng.uniform(900, 3_000, records), 2),
            "lohn": np.round(rng.uniform(1_000, 9_000, records)),
            "kennung": [f"{number:04}" for number in range(records)],
        }
    )
    written = meant.assign(
        geboren=meant.geboren.dt.strftime("%d.%m.%Y"),
        groesse=meant.groesse.map("{:.1f}".format).str.replace(".", ","),
        besuch=meant.besuch.dt.strftime("%d.%m.%Y %H:%M"),
        kosten=meant.kosten.map("{:,.2f}".format).str.translate(str.maketrans(",.", ".,")),
        lohn=meant.lohn.map("{:.1f}".format).str.replace(".", ","),
    )
    written.loc[5, "kosten"], meant.loc[5, "kosten"] = "k.A.", np.nan
    return written, meant


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    path = tmp_path_factory.mktemp("german") / "leute.csv"
    rows()[0].to_csv(path, sep=";", index=False)
    return path


def release(data, **more):
    given = {"k": 4, "quasi_identifiers": KNOWN, "keep": ["besuch", "kosten", "lohn", "kennung"], "effort": "fast"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        return shoal.anonymize(data, **given | more)


def text_of(path):
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")


WAYS = [
    ("release.csv", {}, {}),
    ("release.csv.gz", {}, {}),
    ("release.tsv", {}, {}),
    ("release.csv", {}, {"cells": "columns"}),
    ("release.csv", {}, {"cells": "midpoints"}),
    ("release.csv", {"engine": "stream"}, {}),
    ("release.csv", {"treat": {"kosten": shoal.Round(0.5)}}, {}),
    ("release.csv", {"treat": {"lohn": shoal.Pram(keep=0.8)}}, {}),
    ("release.csv", {"ends": "exact", "method": "mondrian"}, {}),
    ("release.csv", {"release": "representatives", "method": "mdav"}, {}),
]


@pytest.mark.parametrize(("name", "given", "shape"), WAYS, ids=str)
def test_every_text_file_has_one_notation(german, tmp_path, name, given, shape):
    path = tmp_path / name
    with pytest.warns(NotationNotice, match="besuch, .*are written with decimal points and ISO dates"):
        release(german, **given).save(path, **shape)
    text = text_of(path)
    assert not GERMAN.search(text), GERMAN.search(text)
    assert re.search(r"2024-0\d-\d\d 08:30", text)
    assert "k.A." in text or "treat" in given
    read = shoal.read_release(path)
    assert read.table["besuch"].dt.year.eq(2024).all()
    assert set(read.table["kennung"]) == set(rows()[1].kennung)
    if not given.get("treat"):
        assert read.table["kosten"].sum() == pytest.approx(rows()[1].kosten.sum())
        assert read.table["lohn"].sum() == rows()[1].lohn.sum()
    assert shoal.verify(path, original=german if not shape else None).met or shape


@pytest.mark.parametrize("name", ["release.csv", "release.tsv", "release.csv.gz"])
def test_what_is_written_is_read_by_everything(german, tmp_path, name):
    result = release(german)
    with pytest.warns(NotationNotice):
        path = result.save(tmp_path / name)
    told = json.loads((tmp_path / "release.datapackage.json").read_text())
    fields = {one["name"]: one for one in told["resources"][0]["schema"]["fields"]}
    assert {one: fields[one]["shoal"]["kind"] for one in ("geboren", "groesse", "besuch", "kosten")} == {
        "geboren": "date",
        "groesse": "number",
        "besuch": "datetime",
        "kosten": "number",
    }
    assert "decimalChar" not in fields["kosten"]
    assert fields["kosten"]["missingValues"] == ["", "k.A."]
    assert shoal.audit(path, quasi_identifiers=KNOWN).k == result.audit.k
    bounds = shoal.read_release(path).bounds("geboren")
    assert bounds.low.min().year in {1929, 1930}
    assert (bounds.low <= bounds.high).all()


@pytest.mark.parametrize("name", ["release.parquet", "release.xlsx", "release.arrow"])
def test_other_formats_hold_values(german, tmp_path, name):
    path = release(german).save(tmp_path / name)
    table = shoal.read_table(path, into="pandas")
    assert pd.api.types.is_numeric_dtype(table["kosten"])
    assert pd.api.types.is_datetime64_any_dtype(table["besuch"])


def test_text_in_a_data_frame_is_written_as_that_of_a_file(tmp_path):
    with pytest.warns(NotationNotice, match="besuch, kosten, lohn are written"):
        path = release(rows()[0]).save(tmp_path / "release.csv")
    assert not GERMAN.search(path.read_text())


def test_a_result_from_a_pickle_writes_the_same_notation(german, tmp_path):
    with pytest.warns(NotationNotice):
        path = pickle.loads(pickle.dumps(release(german))).save(tmp_path / "release.csv")  # noqa: S301
    assert not GERMAN.search(path.read_text())


def test_a_plain_table_keeps_its_texts(tmp_path):
    table = pd.DataFrame({"age": [30, 31, 40, 41] * 5, "sum": ["1.50", "2.00", "-99", "3.10"] * 5})
    table.to_csv(tmp_path / "t.csv", index=False)
    result = release(tmp_path / "t.csv", quasi_identifiers=["age"], keep=["sum"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotationNotice)
        path = result.save(tmp_path / "release.csv")
    assert sorted(pd.read_csv(path, dtype=str)["sum"]) == sorted(table["sum"])


def test_an_attack_finds_sensitive_values_of_a_german_file(german, tmp_path):
    result = release(german, sensitive=["kosten"], keep=[])
    with pytest.warns(NotationNotice):
        path = result.save(tmp_path / "release.csv")
    own, published = open_table(german), open_table(path)
    in_memory = homogeneity(own, result, KNOWN, "kosten")
    from_disk = homogeneity(own, published, KNOWN, "kosten")
    assert from_disk.success.share == in_memory.success.share
