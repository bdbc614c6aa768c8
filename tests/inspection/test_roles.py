"""Roles guessed from names: real column names of public tables and of forms in nine languages."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from shoal.inspection import UNSURE, guess_role, words_of
from shoal.inspection.roles import is_coded_category

RECORDS = 1000
with (Path(__file__).parent / "column_names.csv").open(encoding="utf-8") as lines:
    NAMES = list(csv.DictReader(lines, delimiter=";"))


def guess(row):
    distinct = RECORDS if row["role"] == "identifier" else 40
    return guess_role(row["name"], row["type"], distinct, RECORDS)


def test_the_list_is_long_and_names_each_column_of_a_table_once():
    assert len(NAMES) >= 250
    assert len({(row["name"], row["table"]) for row in NAMES}) == len(NAMES)


def test_nine_of_ten_roles_are_guessed():
    hits = sum(guess(row)[0] == row["role"] for row in NAMES)
    assert hits / len(NAMES) >= 0.95, f"{hits} of {len(NAMES)}"


def test_no_quasi_identifier_or_sensitive_column_is_said_to_be_harmless():
    told = {row["name"]: guess(row) for row in NAMES if row["role"] in {"quasi-identifier", "sensitive"}}
    assert [name for name, (role, why) in told.items() if role == "other" and why != UNSURE] == []


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("age_at_diagnosis", "quasi-identifier"),
        ("tumour_size", "sensitive"),
        ("wage", "sensitive"),
        ("language", "quasi-identifier"),
        ("GeburtsJahr", "quasi-identifier"),
        ("ORT", "quasi-identifier"),
    ],
)
def test_a_word_counts_only_where_it_stands(name, role):
    assert guess_role(name, "text", 40, RECORDS)[0] == role


@pytest.mark.parametrize("name", ["time", "futime"])
def test_a_span_of_time_is_no_identifier(name):
    assert guess_role(name, "whole number", 400, RECORDS)[0] == "other"


def test_words_are_found_in_every_way_to_write_them():
    for name in ("birthDate", "birth_date", "BIRTH-DATE", "Birth Date"):
        assert words_of(name) == ["birth", "date"]
    assert words_of("Größe") == ["grosse"]
    assert words_of("płeć") == ["plec"]


@pytest.mark.parametrize(
    ("name", "distinct", "nominal"),
    [
        ("religion", 6, True),
        ("region", 17, True),
        ("x", 2, True),
        ("age", 6, False),
        ("children", 40, False),
        ("children", 5, False),
        ("education_num", 16, False),
        ("occupation", 12, True),
        ("hours_of_work", 12, False),
        ("x", 6, False),
    ],
)
def test_codes_for_categories_are_told_from_quantities(name, distinct, nominal):
    assert is_coded_category(name, "whole number", distinct) is nominal
    assert not is_coded_category(name, "number", distinct)
