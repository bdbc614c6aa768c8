"""Tables of weights by age, sex and season, from the rows of ``_clinic``."""

from __future__ import annotations

from shoal.datasets import _clinic as clinic
from shoal.datasets._draw import ramp

SEXES = ("female", "male")
JOB_NAMES = (*clinic.STATUSES, *(job.name for job in clinic.JOBS))
_THOUSAND = 1000


def job_chances() -> list[list[int]]:
    """Return one row of weights over ``JOB_NAMES`` for each age and sex (row ``2 * age + sex``)."""
    statuses = [ramp(knots, clinic.AGES) for knots in clinic.STATUSES.values()]
    return [
        _job_row([status[age] for status in statuses], age, sex) for age in clinic.AGES for sex in range(len(SEXES))
    ]


def _job_row(statuses: list[int], age: int, sex: int) -> list[int]:
    weights = [(job.women, job.men)[sex] if age >= job.youngest else 0 for job in clinic.JOBS]
    at_work = (_THOUSAND - sum(statuses)) * _THOUSAND
    return [status * _THOUSAND for status in statuses] + [
        at_work * weight // max(1, sum(weights)) for weight in weights
    ]


def diagnosis_chances() -> list[list[int]]:
    """Return one row of weights over the diagnoses for each age, sex and season (row ``4 * age + 2 * sex + winter``)."""
    columns = [_diagnosis_column(diagnosis) for diagnosis in clinic.DIAGNOSES]
    return [list(row) for row in zip(*columns, strict=True)]


def _diagnosis_column(diagnosis: clinic.Diagnosis) -> list[int]:
    knots = dict(zip(clinic.KNOTS, (_THOUSAND * weight for weight in diagnosis.at_ages), strict=True))
    by_age = ramp(knots, clinic.AGES)
    return [
        weight * share * season if diagnosis.youngest <= age <= diagnosis.oldest else 0
        for age, weight in enumerate(by_age)
        for share in (diagnosis.women, diagnosis.men)
        for season in (100, diagnosis.winter)
    ]
