"""Identifiers by their values: real forms with right check digits are found, the same with a wrong digit and plain numbers are not."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from shoal.frames import to_frame
from shoal.inspection import find_identifiers, inspect_table
from shoal.inspection.hipaa import RULES, safe_harbor
from tests.cli.conftest import shoal

__all__ = ["shoal"]  # a fixture
PUBLISHED = {
    "IBAN": ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "FR1420041010050500013M02606"],
    "credit card number": [
        "4111 1111 1111 1111",
        "5555-5555-5555-4444",
        "3782 822463 10005",
        "3530111333300000",
        "3056 930902 5904",
    ],
    "social security number (US)": ["219-09-9999", "078-05-1120"],
    "number of the NHS (GB)": ["943 476 5919", "9876543210"],
    "social security number (FR)": ["2 55 08 14 168 025 38", "180126955222380"],
    "tax number (DE)": ["86 095 742 719", "47036892816", "65929970489"],
    "AHV number (CH)": ["756.9217.0769.85", "756.1234.5678.97"],
    "codice fiscale (IT)": ["RSSMRA85T10A562S", "MRTMTT91D08F205J"],
    "DNI or NIE (ES)": ["12345678Z", "X1234567L"],
    "CPF (BR)": ["111.444.777-35", "529.982.247-25"],
    "PESEL (PL)": ["44051401359", "02070803628"],
    "personal number (SE)": ["811218-9876", "19811218-9876"],
    "citizen service number (NL)": ["111222333", "123456782"],
    "vehicle identification number": ["1M8GDM9AXKP042788", "11111111111111111"],
    "e-mail address": ["ada@example.org", "b.o+c@mail.example.co.uk"],
    "web address": ["https://example.org/a?b=1", "www.example.org/people"],
    "IP address": ["192.168.0.1", "2001:db8:0:0:0:ff00:42:8329"],
    "MAC address": ["00:1B:44:11:3A:B7", "00-1b-44-11-3a-b8"],
    "telephone number": ["+49 30 901820", "(555) 123-4567", "0171 234 5678", "+33 2 44 09 81 99", "555-123-4567 x89"],
    "pair of coordinates": ["48.85837, 2.29448", "-33.85678;151.21529"],
    "street address": ["221 Baker Street", "Hauptstraße 12", "10, rue de la Paix"],
    "number plate": ["B-MW 1234", "AB12 CDE", "AB-123-CD", "1234 BCD"],
    "name of a person": ["Ada Miller", "García López, María", "Karl-Heinz Schmidt", "Mary"],
}
WRITTEN = {
    "record number": "see MRN 0048213 of last year",
    "date of birth": "patient born on 12.03.1951 in Ulm",
    "age over 89": "a 93-year-old woman",
    "name of a person": "referred by Mary Johnson today",
}
CHECKED = [
    name
    for name in PUBLISHED
    if name
    not in {
        "social security number (US)",
        "e-mail address",
        "web address",
        "IP address",
        "MAC address",
        "telephone number",
        "pair of coordinates",
        "street address",
        "number plate",
        "name of a person",
    }
]


def found_in(values):
    found = find_identifiers(to_frame({"x": values}))
    return [(one.format, one.inside) for one in found]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_examples_are_found_as_whole_cells(name):
    assert found_in(PUBLISHED[name]) == [(name, False)]


def wrong(text):
    """Return a text with its last digit one off."""
    place = max(place for place, sign in enumerate(text) if sign.isdigit())
    return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]


@pytest.mark.parametrize("name", CHECKED)
def test_a_wrong_digit_is_none(name):
    assert (name, False) not in found_in([wrong(text) for text in PUBLISHED[name]])


@pytest.mark.parametrize(
    "name",
    [
        "IBAN",
        "credit card number",
        "social security number (US)",
        "e-mail address",
        "web address",
        "telephone number",
        "street address",
        "codice fiscale (IT)",
    ],
)
def test_identifiers_are_found_inside_sentences(name):
    texts = [f"the patient came back, {text} is what was written down" for text in PUBLISHED[name]]
    assert (name, True) in found_in([*texts, *(f"nothing of note on day {day}" for day in range(60))])


@pytest.mark.parametrize("text", ["078-05-1120", "756.9217.0769.85", "192.168.100.201"])
def test_what_is_one_kind_of_number_is_not_a_telephone_number_too(text):
    found = found_in([f"the clerk wrote {text} on the form", *(f"nothing of note on day {day}" for day in range(60))])
    assert len(found) == 1


@pytest.mark.parametrize("name", WRITTEN)
def test_what_has_no_check_digit_is_found_in_what_is_written(name):
    assert found_in([WRITTEN[name], *(f"nothing of note on day {day}" for day in range(60))]) == [(name, True)]


def test_values_decide_where_the_name_says_nothing():
    table = {
        "x1": [f"p{place}@example.org" for place in range(40)] * 2,
        "x2": ["Mary Smith", "John Jones", "Linda Brown", "Peter Miller", "Susan Davis"] * 16,
        "x3": ["Robert", "Mary", "Linda", "Karl", "Ana", "Jose", "Marie", "Pedro", "Anna", "Hans"] * 8,
        "town": ["Jackson", "Lincoln", "Madison", "Austin", "Houston", "Tyler", "Logan", "Dallas", "Aurora", "Paris"]
        * 8,
        "code": [111222333 + 0 * place for place in range(80)],
    }
    roles = {one.name: (one.role, one.reason) for one in inspect_table(to_frame(table)).columns}
    assert roles["x1"] == ("identifier", "values: e-mail address")
    assert roles["x3"] == ("identifier", "values: name of a person")
    assert roles["x2"][0] != "identifier"  # five values are too few to tell
    assert roles["town"][0] == "quasi-identifier"
    assert roles["code"][0] != "identifier"


@pytest.mark.parametrize("sign", [".", "-", "/", " "])
def test_dates_are_no_telephone_numbers(sign):
    days = [sign.join((f"{1 + day % 28:02}", f"{1 + day % 12:02}", str(1940 + day))) for day in range(70)]
    assert found_in(days) == []
    assert found_in([f"seen on {day} again" for day in days]) == []


def test_ordinary_numbers_and_texts_hold_no_identifiers():
    random = np.random.default_rng(0)
    table = {
        "income": random.integers(1_000, 99_999, 2000),
        "account size": random.integers(10**8, 10**9, 2000),
        "nine digits": random.integers(10**8, 10**9, 2000).astype(str),
        "ten digits": random.integers(10**9, 10**10, 2000).astype(str),
        "eleven digits": random.integers(10**10, 10**11, 2000).astype(str),
        "date": [f"20{year:02}-0{month}-1{day}" for year, month, day in random.integers(1, 9, (2000, 3))],
        "code": [
            f"{letter}{number:02}.{rest}"
            for letter, number, rest in zip(
                random.choice(list("ABC"), 2000), random.integers(0, 99, 2000), random.integers(0, 9, 2000), strict=True
            )
        ],
        "version": [f"{a}.{b}" for a, b in random.integers(0, 20, (2000, 2))],
        "sentence": ["the patient was seen again after 12 weeks and 3 days"] * 2000,
    }
    assert find_identifiers(to_frame(table)) == []


@pytest.mark.parametrize("values", [["black", "white", "other"], ["black", "white"], ["Mary", "John", "Paul", "12"]])
def test_a_few_words_that_are_names_too_are_not_called_names(values):
    assert found_in(values * 20) == []


def test_no_value_leaves_a_finding():
    text = json.dumps([vars(one) for one in find_identifiers(to_frame({"x": PUBLISHED["IBAN"]}))])
    assert "3704" not in text


# --- HIPAA -------------------------------------------------------------------------------------------------------

N = 200
_RANDOM = np.random.default_rng(1)
HOSPITAL = {
    "patient_name": [f"Person {place}" for place in range(N)],
    "zip": [f"{code:05}" for code in _RANDOM.integers(0, 99_999, N)],
    "birth_date": pa.array(_RANDOM.integers(-14_000, 14_000, N).astype(np.int32), pa.date32()),
    "admission_date": pa.array(_RANDOM.integers(17_000, 18_000, N).astype(np.int32), pa.date32()),
    "age": _RANDOM.integers(20, 104, N),
    "phone": [f"555-{place:03}-{place * 7 % 10_000:04}" for place in range(N)],
    "fax": [f"555-{place:03}-{place * 9 % 10_000:04}" for place in range(N)],
    "contact": [f"p{place}@example.org" for place in range(N)],
    "number": [f"{100 + place}-09-{1000 + place}" for place in range(N)],
    "mrn": [f"M{place:06}" for place in range(N)],
    "member_id": [f"H{place:06}" for place in range(N)],
    "account": [f"{10**9 + place}" for place in range(N)],
    "license": [f"L{place:06}" for place in range(N)],
    "plate": [f"AB-{place:04}" for place in range(N)],
    "device_serial": [f"D{place:06}" for place in range(N)],
    "homepage": [f"https://example.org/{place}" for place in range(N)],
    "ip": [f"10.0.{place // 250}.{place % 250}" for place in range(N)],
    "fingerprint": [f"{place:064x}" for place in range(N)],
    "photo": [bytes([place % 256]) * 4 for place in range(N)],
    "code": [f"X-{place * 7919 % 100_003:05}" for place in range(N)],
    "sex": _RANDOM.choice(["f", "m"], N),
    "race": _RANDOM.choice(["a", "b", "c"], N),
    "state": _RANDOM.choice(["NY", "CA", "TX"], N),
    "diagnosis": _RANDOM.choice(["flu", "asthma", "fracture"], N),
}


def test_there_are_eighteen_rules_and_each_finds_its_column():
    assert [one.letter for one in RULES] == list("ABCDEFGHIJKLMNOPQR")
    found = safe_harbor(to_frame(pa.table(HOSPITAL)))
    assert {one.letter for one in found.findings if one.columns} == set("ABCDEFGHIJKLMNOPQR")
    untouched = {"sex", "race", "state", "diagnosis"}
    assert set(found.actions) == set(HOSPITAL) - untouched
    assert {name for name, action in found.actions.items() if action != "remove"} == {
        "birth_date",
        "admission_date",
        "age",
    }


def test_a_table_without_identifiers_meets_the_rules():
    table = {
        "sex": ["f", "m"] * 50,
        "state": ["NY", "CA"] * 50,
        "year": [2001, 2002] * 50,
        "age": [30, 88] * 50,
        "number_of_visits": [1, 2] * 50,
    }
    assert safe_harbor(to_frame(table)).actions == {}


def test_the_printed_command_makes_a_release_that_meets_the_rules(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = {name: values for name, values in HOSPITAL.items() if name != "photo"}
    pacsv.write_csv(pa.table(plain), tmp_path / "hospital.csv")
    told = shoal("inspect", "hospital.csv", "--rules", "hipaa-safe-harbor", "--json").json
    assert len(told["rules"]) == 18
    run = shoal(*told["command"][1:], "--method", "mondrian")
    assert run.code == 0, run.err
    from shoal.io.files import open_table

    released = open_table(tmp_path / "release.csv")
    assert safe_harbor(released).actions.keys() <= {"birth_date", "admission_date"}
    assert max(released.typed("age").to_pylist()) == 90
    for name in ("birth_date", "admission_date"):
        assert {str(day)[4:] for day in released.typed(name).to_pylist()} == {"-01-01"}
    shown = shoal("inspect", "hospital.csv", "--rules", "hipaa-safe-harbor")
    assert shlex.join(told["command"]) in shown.out.replace("\n", " ")
