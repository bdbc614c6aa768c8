"""Releases of files of SPSS, Stata and SAS: what the programs that open them see."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import shoal
from shoal.errors import DataError, NotationNotice
from shoal.io.files import open_batches, open_table, write_table
from shoal.io.spss_stata_sas_names import fitting_names

KNOWN = ["age", "sex", "land"]
REFUSED, UNKNOWN = 999_997.0, 999_998.0
TITLES = {"age": "Alter", "sex": "Geschlecht", "income": "Einkommen", "land": "Bundesland"}
LANDS = {"BY": "Bayern", "NW": "Nordrhein-Westfalen", "SN": "Sachsen"}


@pytest.fixture(scope="module")
def people():
    """A survey of 120 people; some refused to tell their income."""
    rng, n = np.random.default_rng(3), 120
    born = [dt.date(1950, 1, 1) + dt.timedelta(days=int(days)) for days in rng.integers(0, 15_000, n)]
    income = rng.integers(1_000, 5_000, n).astype(float)
    income[::10], income[5::10] = REFUSED, UNKNOWN
    return pd.DataFrame({
        "age": rng.integers(20, 80, n).astype(float), "sex": rng.integers(1, 3, n).astype(float), "land": rng.choice(list(LANDS), n),
        "income": income, "agree": rng.integers(1, 6, n).astype(float), "weight": rng.random(n).round(3), "born": born,
        "state": rng.choice(list(LANDS), n),
    })  # fmt: skip


@pytest.fixture(scope="module")
def spss(people, tmp_path_factory):
    """The survey as a file of SPSS, released."""
    path = tmp_path_factory.mktemp("spss") / "survey.sav"
    pyreadstat.write_sav(
        people,
        path,
        column_labels=TITLES,
        variable_value_labels={
            "sex": {1.0: "Mann", 2.0: "Frau"},
            "land": LANDS,
            "state": LANDS,
            "income": {REFUSED: "verweigert", UNKNOWN: "weiss nicht"},
            "agree": {1.0: "gar nicht", 5.0: "voll"},
        },
        missing_ranges={"income": [{"lo": REFUSED, "hi": 999_999.0}]},
        variable_measure={"income": "scale", "agree": "ordinal"},
        variable_format={"weight": "F8.3", "born": "EDATE10"},
    )
    return released(path)


@pytest.fixture(scope="module")
def stata(people, tmp_path_factory):
    """The survey as a file of Stata, whose missing codes are letters, released."""
    path = tmp_path_factory.mktemp("stata") / "survey.dta"
    letters = {REFUSED: "a", UNKNOWN: "b"}
    table = people.assign(income=[letters.get(value, value) for value in people["income"]])
    pyreadstat.write_dta(
        table,
        path,
        variable_value_labels={"income": {"a": "verweigert", "b": "weiss nicht"}, "sex": {1: "Mann", 2: "Frau"}},
        missing_user_values={"income": ["a", "b"]},
        variable_format={"born": "%tdDD.NN.CCYY"},
    )
    return released(path)


def released(path: Path):
    keep = ["income", "agree", "weight", "born", "state"]
    return shoal.anonymize(path, k=5, quasi_identifiers=KNOWN, keep=keep, method="mondrian")


def true_incomes(people):
    return sorted(people["income"][people["income"] < REFUSED])


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "xpt"])
@pytest.mark.parametrize("program", ["spss", "stata"])
def test_codes_for_missing_are_missing_where_a_format_has_no_such_codes(request, people, tmp_path, program, ending):
    path = request.getfixturevalue(program).save(tmp_path / f"release.{ending}")
    income = open_table(path).typed("income").to_pylist()
    assert sorted(value for value in income if value is not None) == true_incomes(people)
    assert income.count(None) == 24


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_codes_for_missing_are_written_and_described_on_request(spss, people, tmp_path, ending):
    path = spss.save(tmp_path / f"release.{ending}", missing_codes=True)
    table = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    assert sorted(table["income"]) == sorted(people["income"])
    release = shoal.read_release(path)
    assert sorted(release.table["income"].dropna()) == true_incomes(people)
    field = release.dictionary.fields["income"]
    assert field.labels == {"999997": "verweigert", "999998": "weiss nicht"}
    assert field.missing == ("", "999997", "999998")


def test_spss_keeps_what_the_kept_columns_had(spss, tmp_path):
    table, meta = pyreadstat.read_sav(spss.save(tmp_path / "release.sav"), user_missing=True)
    assert set(table["income"]) >= {REFUSED, UNKNOWN}
    assert meta.missing_ranges["income"] == [{"lo": REFUSED, "hi": 999_999.0}]
    assert meta.variable_value_labels["income"] == {REFUSED: "verweigert", UNKNOWN: "weiss nicht"}
    assert meta.variable_value_labels["state"] == LANDS
    assert {name: meta.variable_measure[name] for name in ("income", "agree")} == {
        "income": "scale",
        "agree": "ordinal",
    }
    assert meta.original_variable_types["weight"] == "F8.3"
    assert meta.original_variable_types["born"] == "EDATE10"


def test_recoded_columns_keep_their_title_but_no_labels_of_codes(spss, tmp_path):
    table, meta = pyreadstat.read_sav(spss.save(tmp_path / "release.sav"))
    assert {name: meta.column_names_to_labels[name] for name in KNOWN} == {name: TITLES[name] for name in KNOWN}
    assert not set(KNOWN) & set(meta.variable_value_labels)
    assert any("Bayern" in cell for cell in table["land"])
    assert meta.variable_measure["age"] == "ordinal"
    assert meta.variable_measure["land"] == "nominal"


def test_an_empty_cell_of_a_recoded_column_is_missing_in_spss(spss, tmp_path):
    _, meta = pyreadstat.read_sav(spss.save(tmp_path / "release.sav"), user_missing=True)
    assert all(meta.missing_ranges[name] == [{"lo": "", "hi": ""}] for name in KNOWN)


def test_zsav_is_compressed(spss, tmp_path):
    plain, packed = (spss.save(tmp_path / f"release.{ending}") for ending in ("sav", "zsav"))
    assert packed.read_bytes()[:4] == b"$FL3"
    assert packed.stat().st_size < plain.stat().st_size


def test_letters_of_stata_stay(stata, tmp_path):
    table, meta = pyreadstat.read_dta(stata.save(tmp_path / "release.dta"), user_missing=True)
    assert meta.missing_user_values == {"income": ["a", "b"]}
    assert meta.variable_value_labels["income"] == {"a": "verweigert", "b": "weiss nicht"}
    assert (table["income"] == "a").sum() == (table["income"] == "b").sum() == 12
    assert meta.original_variable_types["born"] == "%tdDD.NN.CCYY"


def test_codes_of_spss_become_letters_of_stata(spss, tmp_path):
    table, meta = pyreadstat.read_dta(spss.save(tmp_path / "release.dta"), user_missing=True)
    assert meta.variable_value_labels["income"] == {"a": "verweigert", "b": "weiss nicht"}
    assert (table["income"] == "a").sum() == 12
    assert pyreadstat.read_dta(tmp_path / "release.dta")[0]["income"].max() < REFUSED


def test_letters_of_stata_become_codes_of_spss(stata, people, tmp_path):
    path = stata.save(tmp_path / "release.sav")
    assert sorted(pyreadstat.read_sav(path)[0]["income"].dropna()) == true_incomes(people)
    table, meta = pyreadstat.read_sav(path, user_missing=True)
    assert table["income"].notna().all()
    assert sorted(meta.variable_value_labels["income"].values()) == ["verweigert", "weiss nicht"]


def test_dates_of_stata_are_dates_in_whatever_form_they_are_shown(stata, people):
    assert sorted(stata.data.column("born").to_pylist()) == sorted(people["born"])


def test_labelled_columns_are_all_text_or_all_codes(spss, tmp_path):
    text = pd.read_csv(spss.save(tmp_path / "text.csv"))
    codes = pd.read_csv(spss.save(tmp_path / "codes.csv", labels="codes"), dtype=str)
    assert set(text["state"]) == set(LANDS.values())
    assert set(codes["state"]) == set(LANDS)
    assert {sign for cell in codes["sex"] for sign in cell if sign not in "{}, *"} == {"1", "2"}
    assert sorted(pyreadstat.read_sav(spss.save(tmp_path / "text.sav", labels="text"))[0]["state"]) == sorted(
        text["state"]
    )


def test_names_that_a_format_lacks_are_adapted_and_told(tmp_path):
    table = {"Kosten €": [1.5, 2.5] * 10, "if": ["a", "b"] * 10, "marital-status": ["x", "y"] * 10}
    result = shoal.anonymize(
        table, k=5, quasi_identifiers=["marital-status"], keep=["Kosten €", "if"], method="mondrian"
    )
    for ending, names in {
        "sav": ["Kosten", "if", "marital_status"],
        "dta": ["Kosten", "if_", "marital_status"],
        "xpt": ["Kosten", "if", "marital_"],
    }.items():
        with pytest.warns(NotationNotice, match=r"'Kosten €' is 'Kosten'"):
            path = result.save(tmp_path / f"release.{ending}")
        assert open_table(path).names == names
        told = shoal.read_release(pd.DataFrame(columns=names), tmp_path / f"release.{ending}.datapackage.json")
        assert list(told.dictionary.fields) == names
    meta = pyreadstat.read_sav(tmp_path / "release.sav")[1]
    assert meta.column_names_to_labels["Kosten"] == "Kosten €"


def test_adapted_names_differ_from_each_other_and_from_all_others():
    assert fitting_names(["a b", "a-b", "A_b", "1", "€"], ".sav") == {
        "a b": "a_b_2",
        "a-b": "a_b_3",
        "1": "v1",
        "€": "column",
    }
    assert fitting_names(["education_years", "education_place", "Größe"], ".xpt") == {
        "education_years": "educatio",
        "education_place": "educat_2",
        "Größe": "Grosse",
    }
    assert fitting_names(["long", "str12", "ok"], ".dta") == {"long": "long_", "str12": "str12_"}
    assert fitting_names(["x" * 70], ".sav") == {"x" * 70: "x" * 64}


def test_xpt_is_version_5_unless_version_8_is_named(tmp_path):
    result = shoal.anonymize(
        {"age": [1, 2, 3, 4] * 5, "note": ["a"] * 20}, k=5, quasi_identifiers=["age"], keep=["note"], method="mondrian"
    )
    table = pd.read_sas(result.save(tmp_path / "release.xpt"), format="xport", encoding="utf-8")
    assert list(table.columns) == ["age", "note"]
    assert b"LIBV8" in result.save(tmp_path / "release.v8xpt").read_bytes()[:80]


@pytest.mark.parametrize(
    ("values", "ending", "says"),
    [
        ([[1, 2]], "sav", r"cannot hold the column 'odd': its cells are of type list"),
        ([2**60], "dta", r"cannot hold the column 'odd': it holds whole numbers of more than 15 digits"),
        (["x" * 300], "xpt", r"cannot hold the column 'odd': it holds text of more than 200 bytes"),
    ],
)
def test_a_column_that_a_format_lacks_is_named_with_the_reason(tmp_path, values, ending, says):
    frame = shoal.frames.to_frame({"plain": [1], "odd": values})
    with pytest.raises(DataError, match=says):
        write_table(frame.table, tmp_path / f"t.{ending}", frame)


@pytest.mark.parametrize("program", ["sav", "dta"])
def test_a_stream_knows_codes_for_missing_and_labels_too(people, tmp_path, monkeypatch, program):
    """Whatever the first rows hold: numbers with halves, codes without labels and values at all may come later."""
    monkeypatch.setattr("shoal.io.spss_stata_sas.BATCH_ROWS", 50)
    late = people.assign(half=[None] * 60 + [1.0] * 59 + [1.5], sex=[1.0] * 119 + [2.0], part=[1.0] * 119 + [3.0])
    labels = {"sex": {1.0: "Mann", 2.0: "Frau"}, "part": {1.0: "one"}, "income": {REFUSED: "verweigert"}}
    path = tmp_path / f"survey.{program}"
    if program == "sav":
        missing = {"income": [{"lo": REFUSED, "hi": 999_999.0}]}
        pyreadstat.write_sav(late, path, variable_value_labels=labels, missing_ranges=missing)
    else:
        late["income"] = [{REFUSED: "a", UNKNOWN: "b"}.get(value, value) for value in late["income"]]
        whole = {
            name: {int(code): text for code, text in one.items()} for name, one in labels.items() if name != "income"
        }
        pyreadstat.write_dta(late, path, variable_value_labels=whole, missing_user_values={"income": ["a", "b"]})
    streamed = open_batches(path).read_all()
    settled = open_table(path)
    for name in settled.names:
        assert streamed.column(name).to_pylist() == settled.typed(name).to_pylist(), name
    assert streamed.column("sex").to_pylist()[-1] == "Frau"
    assert streamed.column("half").to_pylist()[-1] == 1.5
