import datetime as dt
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shoal import datasets
from shoal.datasets import _clinic
from shoal.errors import ParameterError
from tests.datasets.fingerprints import fingerprint

TEXT, DAY = pa.string(), pa.date32()
PATIENT_COLUMNS = {
    "name": TEXT,
    "birth_date": DAY,
    "sex": TEXT,
    "zip": TEXT,
    "job": TEXT,
    "admission_date": DAY,
    "diagnosis": TEXT,
    "cost": pa.float64(),
}
VOTER_COLUMNS = {
    "name": TEXT,
    "birth_date": DAY,
    "sex": TEXT,
    "zip": TEXT,
    "town": TEXT,
    "party": TEXT,
    "registered": DAY,
}
LIST_DAY = dt.date(2025, 1, 1)


@pytest.fixture(scope="module")
def register():
    return datasets.hospital()


@pytest.fixture(scope="module")
def patients(register):
    """The records as dicts, with the age in full years on admission."""
    rows = register.patients.to_pylist()
    return [row | {"age": full_years(row["birth_date"], row["admission_date"])} for row in rows]


def full_years(born, seen):
    return seen.year - born.year - ((seen.month, seen.day) < (born.month, born.day))


def ages(patients, column, value):
    return [row["age"] for row in patients if row[column] == value]


def test_patients_and_voters_have_the_columns_promised(register):
    assert {field.name: field.type for field in register.patients.schema} == PATIENT_COLUMNS
    assert {field.name: field.type for field in register.voters.schema} == VOTER_COLUMNS
    assert register.patients.num_rows == 10_000
    assert all(column.null_count == 0 for column in [*register.patients.columns, *register.voters.columns])


def test_its_repr_says_how_many_people_there_are():
    small = datasets.hospital(1)
    assert repr(small) == f"Hospital(1 patients, {small.voters.num_rows} voters)"


def test_a_seed_gives_the_same_tables_everywhere():
    made = datasets.hospital(200, seed=3)
    assert fingerprint(made.patients) == "af9ff13432feb3bd"
    assert fingerprint(made.voters) == "347ac664c4d76535"
    assert fingerprint(datasets.hospital(200, seed=4).patients) != "af9ff13432feb3bd"


def test_only_women_are_pregnant_and_only_men_have_prostate_cancer(patients):
    sexes = {name: {row["sex"] for row in patients if row["diagnosis"] == name} for name in diagnosis_names()}
    assert sexes["pregnancy and birth"] == sexes["miscarriage"] == sexes["breast cancer"] == {"female"}
    assert sexes["prostate cancer"] == {"male"}
    assert sexes["pneumonia"] == {"female", "male"}


def diagnosis_names():
    return [diagnosis.name for diagnosis in _clinic.DIAGNOSES]


def test_every_diagnosis_keeps_to_its_ages(patients):
    for diagnosis in _clinic.DIAGNOSES:
        found = ages(patients, "diagnosis", diagnosis.name)
        assert found
        assert diagnosis.youngest <= min(found)
        assert max(found) <= diagnosis.oldest


def test_dementia_is_of_the_old_and_asthma_of_the_young(patients):
    middle = np.median([row["age"] for row in patients])
    assert np.median(ages(patients, "diagnosis", "dementia")) > middle + 15
    assert np.median(ages(patients, "diagnosis", "asthma")) < middle - 15


def test_jobs_fit_the_age(patients):
    assert min(ages(patients, "job", "retired")) >= 58
    assert max(ages(patients, "job", "pre-school child")) <= 5
    assert min(ages(patients, "job", "pupil")) >= 6
    assert max(ages(patients, "job", "pupil")) <= 19
    assert min(ages(patients, "job", "physician")) >= 27
    assert all(row["job"] == "retired" for row in patients if row["age"] >= 80)


def test_jobs_depend_on_sex(patients):
    sexes = Counter(row["sex"] for row in patients if row["job"] == "nurse")
    assert sexes["female"] > 3 * sexes["male"]


def test_influenza_comes_in_winter(patients):
    winter = np.mean([row["admission_date"].month in {12, 1, 2, 3} for row in patients])
    influenza = [row["admission_date"].month in {12, 1, 2, 3} for row in patients if row["diagnosis"] == "influenza"]
    assert np.mean(influenza) > winter + 0.1


def test_admissions_fill_two_years_and_are_rarer_on_weekends(patients):
    days = Counter(row["admission_date"].weekday() for row in patients)
    assert max(days[5], days[6]) < min(days[day] for day in range(5))
    assert {row["admission_date"].year for row in patients} == {2023, 2024}


def test_costs_are_cents_and_depend_on_the_diagnosis(patients):
    cost = {name: [row["cost"] for row in patients if row["diagnosis"] == name] for name in ("concussion", "sepsis")}
    assert np.median(cost["sepsis"]) > 4 * np.median(cost["concussion"])
    assert all(row["cost"] == round(row["cost"], 2) > 0 for row in patients)


def test_patients_are_older_than_other_voters(register, patients):
    grown = [row["age"] for row in patients if row["age"] >= 18]
    others = np.setdiff1d(np.arange(register.voters.num_rows), register.truth)
    born = register.voters["birth_date"].take(others).to_pylist()
    assert np.mean(grown) > np.mean([full_years(day, LIST_DAY) for day in born]) + 5


def test_few_towns_are_large_and_many_small(register):
    sizes = sorted(Counter(register.voters["town"].to_pylist()).values(), reverse=True)
    assert len(sizes) > 200
    assert sum(sizes[:10]) > 0.4 * sum(sizes)
    assert sum(sizes[100:]) < 0.2 * sum(sizes)


def test_a_postal_code_is_five_digits_of_one_town_and_may_begin_with_zero(register):
    pairs = set(zip(register.voters["zip"].to_pylist(), register.voters["town"].to_pylist(), strict=True))
    codes = {code for code, _ in pairs}
    assert len(pairs) == len(codes)
    assert all(len(code) == 5 and code.isdigit() for code in codes)
    assert {code.startswith("0") for code in codes} == {True, False}


def test_birth_date_sex_and_zip_single_out_most_patients(register):
    groups = register.patients.group_by(["birth_date", "sex", "zip"]).aggregate([([], "count_all")])
    assert pc.sum(pc.equal(groups["count_all"], 1)).as_py() > 0.8 * register.patients.num_rows


def test_about_six_in_ten_grown_up_patients_are_voters(register):
    grown = np.array([full_years(day, LIST_DAY) >= 18 for day in register.patients["birth_date"].to_pylist()])
    assert np.mean(register.truth[grown] >= 0) == pytest.approx(0.6, abs=0.02)
    assert (register.truth[~grown] == -1).all()
    assert register.voters.num_rows == 10_000 + np.count_nonzero(register.truth >= 0)


def test_voters_are_of_age_when_they_register_and_registered_when_listed(register):
    for born, registered in zip(
        *(register.voters[name].to_pylist() for name in ("birth_date", "registered")), strict=True
    ):
        assert full_years(born, registered) >= 18
        assert registered <= LIST_DAY


def test_the_truth_names_the_same_person_in_both_tables(register):
    linked = np.flatnonzero(register.truth >= 0)
    assert len(set(register.truth[linked].tolist())) == len(linked)
    for name in ("name", "birth_date", "sex", "zip"):
        assert (
            register.patients[name].take(linked).to_pylist()
            == register.voters[name].take(register.truth[linked]).to_pylist()
        )


def test_the_voter_list_is_not_in_the_order_of_the_register(register):
    linked = register.truth[register.truth >= 0]
    assert abs(np.corrcoef(linked, np.arange(len(linked)))[0, 1]) < 0.05


def test_the_hierarchies_have_every_value_as_a_leaf(register):
    assert set(register.hierarchies) == {"birth_date", "sex", "zip", "job", "admission_date", "diagnosis"}
    for table in (register.patients, register.voters):
        for name in set(register.hierarchies) & set(table.column_names):
            values = {str(value) for value in pc.unique(table[name]).to_pylist()}
            assert values <= set(register.hierarchies[name].leaves), name


@pytest.mark.parametrize("n", [0, -1, 2.0, None, "10"])
def test_a_size_that_is_no_positive_int_is_refused(n):
    with pytest.raises(ParameterError, match="'n' parameter of hospital"):
        datasets.hospital(n)


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_a_seed_that_is_no_int_is_refused(seed):
    with pytest.raises(ParameterError, match="'seed' parameter of hospital"):
        datasets.hospital(10, seed)
