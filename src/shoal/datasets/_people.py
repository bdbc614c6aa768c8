"""People with a name, a birthday, a sex and a home."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import LongArray
from shoal.datasets import _clinic as clinic
from shoal.datasets import _places as places
from shoal.datasets import _words as words
from shoal.datasets._chances import SEXES
from shoal.datasets._draw import Draws, ramp, worded

_FASHION = 20  # a name is given to people born so many places of the list before and after it


class Makeup(NamedTuple):
    """The weight of each age and the women per hundred people of an age, as knots to join."""

    ages: dict[int, int]
    women: dict[int, int]


class People(NamedTuple):
    """People as codes; ``born`` counts days from 1970-01-01."""

    age: LongArray
    sex: LongArray
    born: LongArray
    given: LongArray
    family: LongArray
    home: LongArray


def draw_people(draws: Draws, kind: str, seen: LongArray, makeup: Makeup) -> People:
    """Draw people whose age in full years is that on the day they are seen."""
    n = len(seen)
    age = draws.choose(f"{kind} age", n, ramp(makeup.ages, clinic.AGES))
    shares = [(share, 100 - share) for share in ramp(makeup.women, clinic.AGES)]
    sex = draws.choose_by(f"{kind} sex", age, shares)
    # Full years are at most a day longer than this quotient, so any of 1..364 days more leaves the age as it is.
    born = seen - age * 1461 // 4 - draws.integers(f"{kind} birthday", n, 1, 364)
    family = draws.choose(f"{kind} family", n, [100_000 // (rank + 20) for rank in range(len(words.FAMILY))])
    home = draws.choose(f"{kind} home", n, places.ZIP_WEIGHTS)
    return People(age, sex, born, _given_names(draws, kind, age, sex), family, home)


def _given_names(draws: Draws, kind: str, age: LongArray, sex: LongArray) -> LongArray:
    """Draw names in fashion about the time of birth: the lists run from those of the old to those of the young."""
    last = len(words.GIVEN_FEMALE) - 1
    middle = (clinic.OLDEST - age) * last // clinic.OLDEST
    early, late = (draws.integers(f"{kind} {taste}", len(age), 0, _FASHION) for taste in ("given", "taste"))
    place = np.abs(middle + early + late - _FASHION)
    within = np.where(place > last, 2 * last - place, place)
    return np.asarray(within + sex * (last + 1), dtype=np.int64)


def joined(first: People, second: People) -> People:
    """Return the people of both, the first ones first."""
    return People(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def chosen(people: People, rows: LongArray) -> People:
    """Return the people in the given rows."""
    return People(*(column[rows] for column in people))


def personal_columns(people: People) -> dict[str, Any]:
    """Return the Arrow columns a register and a voter list share."""
    import pyarrow.compute as pc

    given = worded(people.given, words.GIVEN_FEMALE + words.GIVEN_MALE)
    return {
        "name": pc.binary_join_element_wise(given, worded(people.family, words.FAMILY), " "),
        "birth_date": dates(people.born),
        "sex": worded(people.sex, SEXES),
        "zip": worded(people.home, places.ZIPS),
    }


def dates(days: LongArray) -> Any:
    """Return the Arrow date column of days counted from 1970-01-01."""
    import pyarrow as pa

    return pa.array(days.astype(np.int32), type=pa.int32()).cast(pa.date32())
