"""Releases of every kind of column are read as what they are: with the dictionary, and from the cells alone."""

from __future__ import annotations

import datetime as dt
import gzip
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import shoal_reader
from shoal_reader import DictionaryWarning, ReleaseError
from tests.reader.releases import released

N = 60
RNG = np.random.default_rng(7)
JOBS = Path(__file__).parent / "jobs.csv"
ORIGINAL = pd.DataFrame(
    {
        "age": RNG.integers(-5, 90, N),
        "cost": RNG.normal(0, 100, N).round(2),
        "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(one)) for one in RNG.integers(0, 20_000, N)],
        "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 10**9, N), unit="s"),
        "town": RNG.choice(["Ulm", "*", "{x}", "00123", "Köln", 'a "b", c'], N),
        "job": RNG.choice(["nurse", "medic", "smith", "a, b"], N),
        "grade": RNG.choice(["low", "mid to high", "high"], N),
        "member": RNG.random(N) < 0.5,
        "hours": RNG.integers(10, 60, N),
    }
)
QUASI = [name for name in ORIGINAL if name != "hours"]
CHOICES = {
    "quasi_identifiers": QUASI,
    "hierarchies": {"job": str(JOBS)},
    "kinds": {"grade": ["low", "mid to high", "high"]},
}


@pytest.fixture(scope="module", params=["mondrian", "optimize"])
def both(request, tmp_path_factory):
    effort = {"effort": "fast"} if request.param == "optimize" else {}
    return released(ORIGINAL, tmp_path_factory.mktemp("release"), method=request.param, k=4, **CHOICES, **effort)


def test_every_original_value_lies_in_its_cell(both):
    _, release = both
    for name in ("age", "cost"):
        bounds = release.bounds(name)
        assert (bounds["low"] <= ORIGINAL[name]).all()
        assert (ORIGINAL[name] <= bounds["high"]).all()
    for name in ("born", "seen"):
        bounds, original = release.bounds(name), pd.to_datetime(ORIGINAL[name])
        assert (bounds["low"] <= original).all()
        assert (original <= bounds["high"]).all()
    for name in ("town", "job", "grade", "member"):
        shares = release.shares(name)
        values = ORIGINAL[name].map(lambda one: str(one).lower() if isinstance(one, bool) else one)
        any_value = release.text()[name] == "*"
        assert all(any_value[row] or shares.at[row, value] > 0 for row, value in values.items())


def test_every_cell_is_written_again_as_it_was_released(both):
    result, release = both
    again = release.text()
    for name in QUASI:
        assert again[name].tolist() == result.released.column(name).to_pylist()
    assert again["hours"].tolist() == ORIGINAL["hours"].tolist()


def test_columns_have_the_types_of_an_analyst(both):
    _, release = both
    table = release.table
    assert isinstance(table["age"].dtype, pd.IntervalDtype)
    assert table["age"].dtype.closed == "both"
    assert table["born"].dtype.subtype.kind == "M"
    assert table["seen"].dtype.subtype.kind == "M"
    assert all(isinstance(one, tuple) for one in table["town"])
    assert all(isinstance(one, tuple) for one in table["grade"])
    assert table["job"].cat.ordered
    order = [one for one in ("*", "care", "nurse", "medic", "[30-39]", "smith", "a, b") if one in set(table["job"])]
    assert table["job"].cat.categories.tolist() == order
    assert table["hours"].dtype.kind == "i"
    assert table.columns.tolist() == [*QUASI, "hours"]


def test_values_of_an_ordered_column_come_in_their_order(both):
    _, release = both
    assert release.shares("grade").columns.tolist() == ["low", "mid to high", "high"]
    place = ["low", "mid to high", "high"].index
    assert all(list(one) == sorted(one, key=place) for one in release.table["grade"])


def test_midpoints_and_shares_are_the_middle(both):
    _, release = both
    bounds = release.bounds("age")
    assert release.midpoints()["age"].tolist() == ((bounds["low"] + bounds["high"]) / 2).tolist()
    assert np.allclose(release.shares("town").sum(axis=1), 1)


def test_levels_of_a_tree_are_labels_where_the_cell_is_fine_enough(both):
    _, release = both
    levels = release.level("job")
    assert list(levels) == ["job_1", "job_2"]
    for cell, first, second in zip(release.table["job"], levels["job_1"], levels["job_2"], strict=True):
        assert (cell == "*") == pd.isna(first)
        if cell in {"nurse", "medic", "smith", "a, b"}:
            assert second == cell
            assert first == ("care" if cell in {"nurse", "medic"} else "[30-39]")
    with pytest.raises(ReleaseError, match="levels 0 to 2"):
        release.level("job", 3)
    with pytest.raises(ReleaseError, match="has no tree"):
        release.level("town")


def test_parquet_carries_the_dictionary_inside(both, tmp_path):
    result, release = both
    with warnings.catch_warnings(action="ignore"):
        result.save(tmp_path / "release.parquet", shuffle=False)
    assert [one.name for one in tmp_path.iterdir()] == ["release.parquet"]
    again = shoal_reader.read(tmp_path / "release.parquet")
    assert again.unknown == release.unknown
    for name in QUASI:
        assert again.text()[name].tolist() == release.text()[name].tolist()
    assert again.table["hours"].tolist() == ORIGINAL["hours"].tolist()


def test_without_a_dictionary_the_cells_alone_are_read_and_the_rest_is_said(both, tmp_path):
    result, release = both
    path = tmp_path / "alone.csv.gz"
    with gzip.open(path, "wb") as out:
        result.released.to_pandas().to_csv(out, index=False)
    with pytest.warns(DictionaryWarning, match="no dictionary"):
        alone = shoal_reader.read(path)
    for name in ("age", "cost", "born"):
        assert alone.bounds(name).equals(release.bounds(name))
    assert any("job: which values are below a label is unknown" in one for one in alone.unknown)
    assert any("grade: the order" in one for one in alone.unknown) or alone.column("grade").told.form == "sets"
    assert any("'*'" in one for one in alone.unknown) == any("*" in set(alone.text()[name]) for name in alone.coarsened)
    assert all("'*'" in one for one in release.unknown)


def test_codes_with_leading_zeros_stay_text_and_numbers_become_numbers(tmp_path):
    path = tmp_path / "r.csv"
    text = "age,zip,cost,day,note,dead\n[20-29],00123,1.5,2020-01-31,x,true\n*,00456,,2020-02-01,,false\n"
    path.write_text(text, encoding="utf-8")
    with pytest.warns(DictionaryWarning):
        table = shoal_reader.read(path).table
    assert table["zip"].tolist() == ["00123", "00456"]
    assert table["cost"].tolist()[0] == 1.5
    assert np.isnan(table["cost"].tolist()[1])
    assert table["day"].dtype.kind == "M"
    assert table["dead"].tolist() == [True, False]
    assert table["age"].tolist() == [pd.Interval(20, 29, "both")] * 2  # the only ends that are known


def test_a_partial_tree_is_told():
    own = shoal.Hierarchy.from_csv(JOBS)
    _, release = released(ORIGINAL, k=4, quasi_identifiers=["age", "job"], hierarchies={"job": own})
    assert any("its tree is partial" in one for one in release.unknown)


def test_a_notation_of_another_country_is_read_by_the_dictionary(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("born;size\n[01.03.1931 to 31.12.1958];[159,5-168,5]\n17.07.1924;170,25\n", encoding="utf-8")
    fields = [
        {
            "name": "born",
            "type": "date",
            "format": "%d.%m.%Y",
            "shoal": {"role": "quasi-identifier", "form": "ranges", "kind": "date"},
        },
        {
            "name": "size",
            "type": "number",
            "decimalChar": ",",
            "shoal": {"role": "quasi-identifier", "form": "ranges", "kind": "number"},
        },
    ]
    release = shoal_reader.read(path, {"resources": [{"dialect": {"delimiter": ";"}, "schema": {"fields": fields}}]})
    assert release.bounds("born")["low"].tolist() == [pd.Timestamp("1931-03-01"), pd.Timestamp("1924-07-17")]
    assert release.bounds("size")["high"].tolist() == [168.5, 170.25]


def test_missing_cells_are_missing_everywhere():
    table = pd.DataFrame({"age": ["[20-29]", None, "40"], "town": ["{a, b}", "a", None]})
    with pytest.warns(DictionaryWarning):
        release = shoal_reader.read(table)
    assert release.bounds("age")["low"].isna().tolist() == [False, True, False]
    assert release.table["age"].isna().tolist() == [False, True, False]
    assert release.table["town"].tolist() == [("a", "b"), ("a",), None]
    assert release.shares("town").iloc[2].sum() == 0
    assert release.mean("age") == 32.25
    assert release.text()["town"].tolist() == ["{a, b}", "a", None]


def test_a_kept_column_that_only_begins_like_a_cell_stays_text():
    table = pd.DataFrame({"age": ["[20-29]", "30"], "note": ["[unclosed", "plain"]})
    with pytest.warns(DictionaryWarning):
        release = shoal_reader.read(table)
    assert list(release.coarsened) == ["age"]
    assert release.table["note"].tolist() == ["[unclosed", "plain"]


@pytest.mark.parametrize(
    ("dictionary", "message"),
    [
        ({"resources": []}, "describes no table"),
        ({"resources": [{"schema": {}}]}, "no 'fields'"),
        ({"resources": [{"schema": {"fields": [{"type": "any"}]}}]}, "no 'name'"),
        ({"resources": [{"schema": {"fields": [{"name": "other"}]}}]}, "column 'other' that the release lacks"),
        ({"resources": [{"schema": {"fields": [{"name": "age", "shoal": {"role": "quasi-identifier", "form": "ranges", "kind": "date"}}]}}]}, "not a date"),
    ],
)  # fmt: skip
def test_a_dictionary_of_another_table_is_refused(dictionary, message):
    with pytest.raises(ReleaseError, match=message):
        shoal_reader.read(pd.DataFrame({"age": ["[secret-1 to secret-2]"]}), dictionary)


def test_bad_files_are_refused_in_a_sentence_without_their_cells(tmp_path):
    with pytest.raises(ReleaseError, match="There is no file"):
        shoal_reader.read(tmp_path / "no.csv")
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(ReleaseError, match="not a format"):
        shoal_reader.read(tmp_path / "a.xlsx")
    (tmp_path / "a.parquet").write_bytes(b"secret")
    with pytest.raises(ReleaseError, match="cannot be read as a Parquet"):
        shoal_reader.read(tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "b.datapackage.json").write_text("{", encoding="utf-8")
    with pytest.raises(ReleaseError, match="not JSON"):
        shoal_reader.read(tmp_path / "b.csv")


def test_questions_about_the_wrong_column_are_answered_by_a_sentence(both):
    _, release = both
    with pytest.raises(ReleaseError, match="no column 'agee'"):
        release.bounds("agee")
    with pytest.raises(ReleaseError, match="holds categories"):
        release.bounds("town")
    with pytest.raises(ReleaseError, match="holds numbers or dates"):
        release.shares("age")
    with pytest.raises(ReleaseError, match="not coarsened"):
        release.cells("hours")


def test_the_reader_imports_neither_shoal_nor_numba_nor_pyarrow():
    program = (
        "import sys, shoal_reader;print([one for one in ('shoal', 'numba', 'scipy', 'polars') if one in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


ROWS = st.lists(
    st.tuples(st.integers(-50, 50), st.sampled_from(["x", "y", "{", "*", "a, b"]), st.dates()), min_size=4, max_size=20
)


@settings(max_examples=40)
@given(ROWS, st.booleans())
def test_any_table_comes_back(rows, gaps):
    original = pd.DataFrame(rows, columns=["number", "text", "day"])
    if gaps:
        original["text"] = original["text"].mask(original["text"] == "y")
    with warnings.catch_warnings(action="ignore"):
        result, release = released(original, quasi_identifiers=list(original))
    assert {name: column.to_list() for name, column in release.text().items()} == result.released.to_pydict()
    bounds = release.bounds("number")
    assert ((bounds["low"] <= original["number"]) & (original["number"] <= bounds["high"])).all()
    numbers = original["day"].map(lambda day: day.toordinal() - 719_163)
    column = release.column("day")
    assert (column.low[column.which] <= numbers).all()
    assert (numbers <= column.high[column.which]).all()
    known = original["text"].notna() & (release.text()["text"] != "*")
    shares = release.shares("text")
    assert all(shares.at[row, value] > 0 for row, value in original["text"][known].items())


def test_version_of_the_reader_is_that_of_shoal():
    assert shoal_reader.__version__ == shoal.__version__
