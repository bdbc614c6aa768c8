"""Releases in every format that R reads, opened by R: kept columns are equal cell by cell."""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

import shoal

PROGRAM = Path(__file__).with_name("read_release.R")
LANDS = ["BY", "NW", "SN"]


@pytest.fixture(scope="module", autouse=True)
def _r():
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed; make test installs it where it can")
    found = subprocess.run(["Rscript", "-e", "library(haven); library(readr)"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("the packages haven and readr of R are not installed; make test installs them where it can")


def read_by_r(path, tmp_path):
    """Return the rows that R sees, and what it knows of each column."""
    out = tmp_path / "seen.tsv"
    run = subprocess.run(
        ["Rscript", str(PROGRAM), str(path), str(out)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert run.returncode == 0, run.stderr
    with out.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    told = {line.split("\t")[0]: line.rstrip("\n").split("\t")[1:] for line in run.stdout.splitlines()}
    return rows, told


def people():
    ages = [20 + row % 40 for row in range(60)]
    return pd.DataFrame({
        "nr": range(1, 61), "age": ages, "zip": [f"{row:05}" for row in range(60)],
        "cost": [round(100 / (row + 3), 3) for row in range(60)], "seen": [dt.date(2020, 1, 1) + dt.timedelta(days=row) for row in range(60)],
        "at": [pd.Timestamp("2020-01-01 03:04:05") + pd.Timedelta(hours=row) for row in range(60)],
        "note": [['Müller, "Q"', "ß € 日本", "plain", "a\nb"][row % 4] for row in range(60)],
        "score": [None if row % 7 == 0 else row / 4 for row in range(60)],
    })  # fmt: skip


KEPT = ["nr", "zip", "cost", "seen", "at", "note", "score"]


def as_shown(value):
    """Return a value as the test compares it: numbers as numbers, whatever their digits."""
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, (int, float)):
        return float(value)
    return str(value)


def as_read(text, like):
    return float(text) if isinstance(like, float) and text else text


@pytest.mark.filterwarnings("ignore::shoal.errors.PrivacyWarning")
@pytest.mark.parametrize("ending", ["csv", "tsv", "sav", "zsav", "dta", "xpt", "v8xpt"])
def test_kept_columns_are_equal_cell_by_cell(tmp_path, ending):
    table = people()
    result = shoal.anonymize(table, k=5, quasi_identifiers=["age"], keep=KEPT, method="mondrian", derived="warn")
    rows, _ = read_by_r(result.save(tmp_path / f"release.{ending}", shuffle=False), tmp_path)
    assert len(rows) == len(table)
    for name in KEPT:
        expected = [as_shown(value) for value in table[name].tolist()]
        assert [as_read(row[name], like) for row, like in zip(rows, expected, strict=True)] == expected, name
    assert all(re.fullmatch(r"\[\d+-\d+\]|\d+", row["age"]) for row in rows)


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    path = tmp_path_factory.mktemp("survey") / "survey.sav"
    table = pd.DataFrame(
        {"age": [20.0 + row % 40 for row in range(60)], "income": [1_000.0 + row for row in range(60)]}
    )
    table.loc[::6, "income"] = 99_997.0
    pyreadstat.write_sav(
        table,
        path,
        column_labels={"age": "Alter", "income": "Einkommen"},
        variable_value_labels={"income": {99_997.0: "verweigert"}},
        missing_ranges={"income": [99_997.0]},
    )
    return shoal.anonymize(path, k=5, quasi_identifiers=["age"], keep=["income"], method="mondrian")


def test_codes_for_missing_labels_and_titles_are_those_of_each_program(survey, tmp_path):
    spss, told = read_by_r(survey.save(tmp_path / "release.sav"), tmp_path)
    assert told["income"] == ["Einkommen", "verweigert", "99997"]
    assert told["age"][:2] == ["Alter", ""]
    assert sum(row["income"] == "99997" for row in spss) == 10
    stata, told = read_by_r(survey.save(tmp_path / "release.dta"), tmp_path)
    assert told["income"][:2] == ["Einkommen", "verweigert"]
    assert sum(row["income"] == ".a" for row in stata) == 10
    text, _ = read_by_r(survey.save(tmp_path / "release.csv"), tmp_path)
    assert sum(row["income"] == "" for row in text) == 10


def test_the_regression_of_the_how_to_runs(tmp_path):
    table = {
        "age": [20 + row % 40 for row in range(80)],
        "sex": ["female" if row % 27 == 0 else "male" for row in range(80)],
        "cost": [100 + 3 * (row % 40) + row % 7 for row in range(80)],
    }
    result = shoal.anonymize(
        table, k=5, quasi_identifiers=["age", "sex"], keep=["cost"], method="mondrian", derived="warn"
    )
    result.save(tmp_path / "release.csv", cells="columns")
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "analyse-with-r.md").read_text("utf-8")
    code = next(block for block in re.findall(r"```r\n(.*?)```", page, re.DOTALL) if "read_csv" in block)
    run = subprocess.run(["Rscript", "-e", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert re.search(r"age_mid +\d", run.stdout)
