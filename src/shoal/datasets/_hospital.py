"""A hospital's register and a voter list of the same region, both invented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import LongArray
from shoal.datasets import _clinic as clinic
from shoal.datasets import _places as places
from shoal.datasets._chances import JOB_NAMES, SEXES, diagnosis_chances, job_chances
from shoal.datasets._draw import Draws, check_size, scaled, worded
from shoal.datasets._people import Makeup, People, chosen, dates, draw_people, joined, personal_columns
from shoal.datasets._words import PARTIES, PARTY_WEIGHTS
from shoal.hierarchy import Hierarchy

if TYPE_CHECKING:
    import pyarrow as pa

_DAYS_TO_VOTE = 18 * 1461 // 4 + 1  # the eighteenth birthday is never later
_LISTED_PER_HUNDRED = 60
_COST_SPREAD = 0.55
_FIRST_DAY = np.datetime64("2023-01-01", "D")
_DAY_AFTER = np.datetime64("2025-01-01", "D")
_LIST_DAY = int(_DAY_AFTER.astype(np.int64))
_PATIENTS = Makeup(clinic.PATIENT_AGES, clinic.PATIENT_WOMEN)
_VOTERS = Makeup(clinic.VOTER_AGES, clinic.VOTER_WOMEN)


@dataclass(frozen=True, eq=False, repr=False)
class Hospital:
    """What :func:`hospital` returns.

    Attributes
    ----------
    patients
        One record a patient: name, birth_date, sex, zip, job, admission_date, diagnosis, cost.
    voters
        A public list to link it with: name, birth_date, sex, zip, town, party, registered.
    hierarchies
        A hierarchy for each of birth_date, sex, zip, job, admission_date and diagnosis.
    truth
        For each patient the row of the same person in ``voters``, -1 if there is none. It is known only because
        everything here is invented; it serves to measure attacks.

    Examples
    --------
    >>> import shoal
    >>> shoal.datasets.hospital(500).voters.column_names[:3]
    ['name', 'birth_date', 'sex']
    """

    patients: pa.Table
    voters: pa.Table
    hierarchies: dict[str, Hierarchy]
    truth: LongArray

    def __repr__(self) -> str:
        return f"Hospital({self.patients.num_rows:,} patients, {self.voters.num_rows:,} voters)"


def hospital(n: int = 10_000, seed: int = 0) -> Hospital:
    """Make a register of ``n`` hospital patients and a voter list to link it with.

    Towns are few and large or many and small; jobs depend on age and sex, diagnoses on age, sex and season, the cost
    on diagnosis and age. About 60 % of the patients of voting age are on the voter list, among ``n`` other people.

    Parameters
    ----------
    n
        The number of patients.
    seed
        Equal seeds give equal tables, on every machine.

    Examples
    --------
    >>> import shoal.datasets
    >>> register = shoal.datasets.hospital(1_000)
    >>> register.patients.num_rows
    1000
    """
    n, seed = check_size("hospital", n, seed)
    draws = Draws(seed)
    admitted = _admission_days(draws, n)
    people = draw_people(draws, "patient", admitted, _PATIENTS)
    others = draw_people(draws, "other", np.full(n, _LIST_DAY), _VOTERS)
    patients = _patient_table(draws, people, admitted)
    listed, truth = _enlist(draws, people, others)
    voters = _voter_table(draws, listed)
    return Hospital(patients, voters, _hierarchies(patients, voters), truth)


def _admission_days(draws: Draws, n: int) -> LongArray:
    """Draw days of two years, by weekday and month."""
    calendar = np.arange(_FIRST_DAY, _DAY_AFTER).astype(np.int64)
    weekday = (calendar + 3) % 7  # 1970-01-01 was a Thursday
    weights = np.array(clinic.WEEKDAYS)[weekday] * np.array(clinic.MONTHS)[_months(calendar) - 1]
    return calendar[draws.choose("admission_date", n, weights.tolist())]


def _months(days: LongArray) -> LongArray:
    """Return the month, 1 to 12, of days counted from 1970-01-01."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12 + 1


def _patient_table(draws: Draws, people: People, admitted: LongArray) -> Any:
    import pyarrow as pa

    body = 2 * people.age + people.sex
    winter = np.isin(_months(admitted), clinic.WINTER_MONTHS).astype(np.int64)
    diagnosis = draws.choose_by("diagnosis", 2 * body + winter, diagnosis_chances())
    return pa.table(
        {
            **personal_columns(people),
            "job": worded(draws.choose_by("job", body, job_chances()), JOB_NAMES),
            "admission_date": dates(admitted),
            "diagnosis": worded(diagnosis, [entry.name for entry in clinic.DIAGNOSES]),
            "cost": pa.array(_costs(draws, diagnosis, people.age)),
        }
    )


def _costs(draws: Draws, diagnosis: LongArray, age: LongArray) -> Any:
    """Draw costs about the diagnosis' own; people of a hundred cost half as much again, because they stay longer."""
    usual = np.array([100 * entry.cost for entry in clinic.DIAGNOSES], dtype=np.int64)[diagnosis]
    cents = usual * (200 + age) // 200 * draws.lognormal_millionths("cost", len(age), _COST_SPREAD) // 1_000_000
    return cents / 100


def _enlist(draws: Draws, people: People, others: People) -> tuple[People, LongArray]:
    """Put some grown-up patients and all the others on one list in random order; say where each patient is."""
    grown = people.born + _DAYS_TO_VOTE <= _LIST_DAY
    listed = np.flatnonzero(grown & (draws.integers("listed", len(grown), 1, 100) <= _LISTED_PER_HUNDRED))
    everyone = joined(chosen(people, listed), others)
    order = draws.order("list order", len(everyone.age))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    truth = np.full(len(grown), -1, dtype=np.int64)
    truth[listed] = place[: len(listed)]
    return chosen(everyone, order), truth


def _voter_table(draws: Draws, people: People) -> Any:
    import pyarrow as pa

    n = len(people.age)
    eligible = people.born + _DAYS_TO_VOTE
    registered = eligible + scaled(draws.bits("registered", n), _LIST_DAY - eligible + 1)
    return pa.table(
        {
            **personal_columns(people),
            "town": worded(people.home, places.ZIP_TOWNS),
            "party": worded(draws.choose("party", n, PARTY_WEIGHTS), PARTIES),
            "registered": dates(registered),
        }
    )


def _hierarchies(patients: Any, voters: Any) -> dict[str, Hierarchy]:
    import pyarrow as pa
    import pyarrow.compute as pc

    born = pa.chunked_array([*patients["birth_date"].chunks, *voters["birth_date"].chunks])
    admitted = np.arange(_FIRST_DAY, _DAY_AFTER).tolist()
    return {
        "birth_date": Hierarchy.from_dates(sorted(pc.unique(born).to_pylist()), ["day", "month", "year", "decade"]),
        "sex": Hierarchy.flat(SEXES),
        "zip": Hierarchy.from_prefixes(places.ZIPS, [4, 3, 2, 0]),
        "job": Hierarchy.from_dict(_jobs_by_sector()),
        "admission_date": Hierarchy.from_dates(admitted, ["day", "month", "quarter", "year"]),
        "diagnosis": Hierarchy.from_dict(_diagnoses_by_chapter()),
    }


def _jobs_by_sector() -> dict[str, dict[str, list[str]]]:
    sectors: dict[str, dict[str, list[str]]] = {clinic.OUTSIDE: {}}
    for status, field in clinic.STATUS_FIELDS.items():
        sectors[clinic.OUTSIDE].setdefault(field, []).append(status)
    for job in clinic.JOBS:
        sectors.setdefault(job.sector, {}).setdefault(job.field, []).append(job.name)
    return sectors


def _diagnoses_by_chapter() -> dict[str, list[str]]:
    chapters: dict[str, list[str]] = {}
    for diagnosis in clinic.DIAGNOSES:
        chapters.setdefault(diagnosis.chapter, []).append(diagnosis.name)
    return chapters
