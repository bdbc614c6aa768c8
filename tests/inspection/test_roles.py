"""Roles guessed from names: real column names of public tables and of forms in nine languages."""

from __future__ import annotations

import pytest
from benchmarks.roles import guessed, labelled, measure

from shoal.inspection import UNSURE, guess_role, words_of
from shoal.inspection.roles import Numbers, guess, is_coded_category

RECORDS = 1000
NAMES = labelled()


def test_the_list_is_long_and_names_each_column_of_a_table_once():
    assert len(NAMES) >= 600
    assert len({(row["name"], row["table"]) for row in NAMES}) == len(NAMES)


@pytest.mark.parametrize("parts", [("learn",), ("learn", "held", "fresh"), ("real", "held-real")])
def test_roles_are_right_and_found(parts):
    found = measure(parts)
    keys = [found[role] for role in ("identifier", "person", "household", "weight")]
    right, said, real = (sum(each) for each in zip(*keys, strict=True))
    assert right >= 0.95 * said
    assert right >= 0.90 * real
    right, said, real = found["quasi-identifier"]
    assert right >= 0.90 * said
    assert right >= 0.90 * real
    right, said, _ = found["sensitive"]
    assert right >= 0.90 * said


def test_no_column_that_is_not_one_is_called_an_identifier():
    wrong = [
        row["name"] for row in NAMES if guessed(row) == "identifier" and row["role"] not in {"identifier", "person"}
    ]
    assert wrong == []


def test_no_quasi_identifier_or_sensitive_column_is_said_to_be_harmless():
    told = {
        row["name"]: guess_role(row["name"], row["type"], 40, RECORDS)
        for row in NAMES
        if row["role"] in {"quasi-identifier", "sensitive"}
    }
    assert [name for name, (role, why) in told.items() if role == "other" and why != UNSURE] == []


@pytest.mark.parametrize(
    "name",
    [
        "num_phones",
        "months_since_last_visit",
        "mths_since_last_record",
        "NumCompaniesWorked",
        "time_between_appointments_last",
        "PhoneService",
        "n_accounts",
        "days_until_id_expires",
    ],
)
def test_what_is_counted_or_spanned_is_no_identifier(name):
    for distinct in (12, 40) if name == "PhoneService" else (12, 40, RECORDS):
        assert guess_role(name, "whole number", distinct, RECORDS)[0] != "identifier"


@pytest.mark.parametrize("name", ["idcode", "PERSID", "pid", "caseid", "nr", "hhidpn", "patient_id"])
def test_a_key_that_repeats_names_people(name):
    assert guess(name, "whole number", RECORDS // 6, RECORDS).unit == "person"
    assert guess(name, "whole number", RECORDS, RECORDS).unit == ""


@pytest.mark.parametrize("name", ["household_id", "hhid", "HHID", "hid", "SERIALNO"])
def test_a_household_is_no_quasi_identifier(name):
    assert guess(name, "whole number", RECORDS // 3, RECORDS).unit == "household"


@pytest.mark.parametrize(
    ("numbers", "unit"),
    [
        (Numbers(0.2, 1.0, 6.0), "weight"),
        (Numbers(100.0, 3300.0, 90_000.0), "weight"),
        (Numbers(38.0, 74.0, 160.0), ""),
    ],
)
def test_a_weight_weighs_bodies_or_counts_people_by_its_numbers(numbers, unit):
    assert guess("weight", "number", 900, RECORDS, numbers).unit == unit
    assert guess("sampling_weight", "number", 900, RECORDS).unit == "weight"


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
