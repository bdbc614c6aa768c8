"""The small tables that the papers print to explain themselves."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal import attacks

PATIENTS = pa.table(  # Zhong 2012, "Records Linkage Risk"
    {
        "dob": ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"],
        "gender": ["Male", "Female", "Male", "Male", "Female", "Female"],
        "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
        "disease": ["Heart Disease", "Hepatitis", "Bronchitis", "Broken Arm", "Flu", "Hang Nail"],
    }
)
VOTERS = pa.table(
    {
        "name": ["Beth", "Carol", "Dan", "Andre", "Ellen"],
        "dob": ["1/10/81", "10/1/44", "2/21/84", "1/21/76", "4/19/72"],
        "gender": ["Female", "Female", "Male", "Male", "Female"],
        "zip": ["55410", "90210", "02174", "53715", "02237"],
    }
)
THREE_ANONYMOUS = pa.table(  # ... and "Example: 3-anonymity"
    {
        "dob": ["76", "76-86", "76", "76", "76-86", "76-86"],
        "gender": ["Male", "Female", "Male", "Male", "Female", "Female"],
        "zip": ["537**"] * 6,
    }
)
HOSPITAL = pa.table(  # Sarrafi Aghdam, Sonehara 2016, figure 1
    {"age": [35, 45, 20, 25], "sex": ["Male", "Male", "Female", "Male"], "zip": ["2370", "2410", "5490", "5410"]}
)
REGISTERED = pa.table(
    {"age": [35, 40, 35, 35], "sex": ["Male", "Female", "Male", "Female"], "zip": ["7415", "7942", "2370", "6578"]}
)
TWO_ANONYMOUS = pa.table(  # figure 2
    {
        "age": ["35~45", "35~45", "20~25", "20~25"],
        "sex": ["Male", "Male", "Male, Female", "Male, Female"],
        "zip": ["2***", "2***", "54**", "54**"],
    }
)


@pytest.mark.parametrize(("released", "k"), [(THREE_ANONYMOUS, 3), (TWO_ANONYMOUS, 2)])
def test_the_printed_releases_have_the_k_they_are_said_to_have(released, k):
    assert shoal.audit(released, quasi_identifiers=released.column_names).k == k


@pytest.mark.parametrize(("table", "people"), [(PATIENTS, VOTERS), (HOSPITAL, REGISTERED)], ids=["Andre", "Joey"])
def test_a_list_of_voters_names_one_patient_and_none_of_a_release(table, people):
    on = [name for name in people.column_names if name != "name"]
    before = attacks.linkage(table, table, on, known=people).figures
    assert (before["named_outright"], before["named_rightly"]) == (1, 1)
    kinds = {name: "nominal" for name in on if name != "age"}
    result = shoal.anonymize(table.select(on), k=2, quasi_identifiers=on, kinds=kinds)
    assert attacks.linkage(table, result, on, known=people).figures["named_outright"] == 0


def test_zhongs_mondrian_has_groups_of_up_to_two_k_less_one():
    table = shoal.datasets.uniform(1_000, 2, low=1, high=10_000)
    labels = shoal.anonymize(table, k=10, quasi_identifiers=["A1", "A2"], method=shoal.Mondrian(strict=False)).groups
    sizes = {labels.tolist().count(group) for group in set(labels.tolist())}
    assert 10 <= min(sizes) <= max(sizes) <= 19
