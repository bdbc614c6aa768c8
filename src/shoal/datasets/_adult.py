"""A census shaped like UCI Adult, of any size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import LongArray
from shoal.datasets import _census as census
from shoal.datasets._draw import Draws, check_size, ramp, worded
from shoal.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class AdultLike:
    """What :func:`adult_like` returns.

    Attributes
    ----------
    table
        One record a person: age, workclass, education-num, marital-status, occupation, race, sex, native-country and
        salary-class.
    hierarchies
        A hierarchy for each column but salary-class.

    Examples
    --------
    >>> import shoal
    >>> shoal.datasets.adult_like(500).table.column_names[:3]
    ['age', 'workclass', 'education-num']
    """

    table: pa.Table
    hierarchies: dict[str, Hierarchy]

    def __repr__(self) -> str:
        return f"AdultLike({self.table.num_rows:,} people)"


def adult_like(n: int = 30_000, seed: int = 0) -> AdultLike:
    """Make a table with the columns, labels and rough skew of UCI Adult, of any size.

    It is generated from weights made up for shoal, with education depending on age, marital status on age and sex,
    occupation on education and sex, workclass on occupation, native country on race, and the salary on education, age
    and marriage. It stands in for the real census if a benchmark needs more records; its figures are its own.

    Parameters
    ----------
    n
        The number of people.
    seed
        Equal seeds give equal tables, on every machine.

    Examples
    --------
    >>> import shoal
    >>> made = shoal.datasets.adult_like(500)
    >>> made.table.num_rows, sorted(made.hierarchies)[:3]
    (500, ['age', 'education-num', 'marital-status'])
    """
    n, seed = check_size("adult_like", n, seed)
    return AdultLike(_table(Draws(seed), n), _hierarchies())


def _table(draws: Draws, n: int) -> Any:
    import pyarrow as pa

    age = census.AGES[0] + draws.choose("age", n, ramp(census.AGE_WEIGHTS, census.AGES))
    age_band = _band(age, census.AGE_BANDS)
    sex = draws.choose("sex", n, census.SEX_WEIGHTS)
    education = 1 + draws.choose_by("education-num", age_band, census.EDUCATION_BY_AGE)
    degree = _band(education, census.EDUCATION_BANDS)
    marital = draws.choose_by("marital-status", 2 * age_band + sex, census.MARITAL_BY_AGE_AND_SEX)
    occupation = draws.choose_by("occupation", 2 * degree + sex, census.OCCUPATION_BY_EDUCATION_AND_SEX)
    race = draws.choose("race", n, census.RACE_WEIGHTS)
    married = (marital < len(census.MARITAL["spouse present"])).astype(np.int64)
    standing = 2 * (degree * (len(census.AGE_BANDS) + 1) + age_band) + married
    return pa.table(
        {
            "age": pa.array(age),
            "workclass": worded(
                draws.choose_by("workclass", occupation, _workclass_weights()), _flat(census.WORKCLASSES)
            ),
            "education-num": pa.array(education),
            "marital-status": worded(marital, _flat(census.MARITAL)),
            "occupation": worded(occupation, _flat(census.OCCUPATIONS)),
            "race": worded(race, census.RACES),
            "sex": worded(sex, census.SEXES),
            "native-country": worded(
                draws.choose_by("native-country", race, _country_weights()), _flat(census.COUNTRIES)
            ),
            "salary-class": worded(draws.choose_by("salary-class", standing, _income_weights()), census.INCOMES),
        }
    )


def _band(values: LongArray, ends: Sequence[int]) -> LongArray:
    """Return the number of band ends at or below each value."""
    return np.searchsorted(np.array(ends), values, side="right").astype(np.int64)


def _flat(groups: Mapping[str, Sequence[str]]) -> list[str]:
    return list(chain.from_iterable(groups.values()))


def _workclass_weights() -> list[tuple[int, ...]]:
    rows = census.WORKCLASS_BY_OCCUPATION
    return [rows.get(occupation, rows[""]) for occupation in _flat(census.OCCUPATIONS)]


def _country_weights() -> list[list[int]]:
    return [[native * 100, *_foreign_weights(shares)] for native, shares in census.BIRTHPLACES_BY_RACE]


def _foreign_weights(shares: Mapping[str, int]) -> list[int]:
    """Share the weight of each region among its countries, where it falls with the place in the list."""
    weights: list[int] = []
    for region, countries in census.COUNTRIES.items():
        falling = [1000 // place for place, country in enumerate(countries, start=1) if country != census.HOME]
        weights += [shares[region] * 100 * weight // sum(falling) for weight in falling]
    return weights


def _income_weights() -> list[tuple[int, int]]:
    """Return one row for each education band, age band and whether a spouse is present."""
    shares = [share for row in census.RICH_BY_EDUCATION_AND_AGE for rich in row for share in (rich, 10 * rich)]
    return [(10_000 - share, share) for share in shares]


def _hierarchies() -> dict[str, Hierarchy]:
    return {
        "age": Hierarchy.from_intervals(census.AGES, [5, 10, 20]),
        "workclass": Hierarchy.from_dict(census.WORKCLASSES),
        "education-num": Hierarchy.from_intervals(range(1, 17), [2, 4, 8], origin=1),
        "marital-status": Hierarchy.from_dict(census.MARITAL),
        "occupation": Hierarchy.from_dict(census.OCCUPATIONS),
        "race": Hierarchy.flat(census.RACES),
        "sex": Hierarchy.flat(census.SEXES),
        "native-country": Hierarchy.from_dict(census.COUNTRIES),
    }
