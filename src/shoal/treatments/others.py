"""Treatments of categories and dates, and leaving a column out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from shoal.arrays import LongArray
from shoal.errors import DataError
from shoal.frames import encode_dictionary
from shoal.treatments.base import Surroundings, Treatment, fill_rows, present_rows
from shoal.treatments.randomness import draw_integers
from shoal.validation import check_float, check_int, wrong

_MOST_DAYS = 36_525


@dataclass(frozen=True)
class Pram(Treatment):
    """Replace values at random, the post-randomization method (Gouweleeuw et al. 1998).

    Parameters
    ----------
    keep
        The chance that a value stays. Otherwise one is drawn from the column's own values, so that how often each
        occurs is the same on average (invariant PRAM), and counts can still be trusted.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "team": ["red", "blue", "red", "blue"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["team"], treat={"team": shoal.Pram(0.8)})
    >>> set(result.data["team"]) <= {"red", "blue"}
    True
    """

    keep: float = 0.8

    name: ClassVar[str] = "pram"
    technique: ClassVar[str] = "randomization: post-randomization of categories"
    remains: ClassVar[str] = (
        "A value seen is the true one with at least the chance that values are kept; rare values can still point at people."
    )

    def __post_init__(self) -> None:
        check_float("Pram", "keep", self.keep, least=0.0, most=1.0)

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:
        """Return the randomized values."""
        if pa.types.is_nested(column.type):
            raise DataError(f"The treatment Pram of {name!r} needs single values. Got nested ones.")
        rows = present_rows(column)
        values = column.take(pa.array(rows)).combine_chunks()
        stays = around.random.uniform(len(rows)) < self.keep
        drawn = draw_integers(around.random, max(len(rows), 1), len(rows))
        return fill_rows(column, rows, values.take(pa.array(np.where(stays, np.arange(len(rows)), drawn))))

    def describe(self) -> str:
        """Return what is done."""
        return f"keeps each value with chance {self.keep:.3g} and otherwise shows one drawn from the column"


@dataclass(frozen=True)
class ShiftDates(Treatment):
    """Shift dates by a random number of days, the same for all dates of a person, so that intervals stay.

    Parameters
    ----------
    days
        The largest shift, to either side.
    person
        Column that identifies the person of a row. Without it each row has its own shift. Columns that are shifted
        by the same number of days for the same persons are shifted together, so that the time between them stays.

    Examples
    --------
    >>> import shoal
    >>> from datetime import date
    >>> people = {"age": [20, 21, 40, 41], "visit": [date(2024, 3, day) for day in (1, 2, 3, 4)]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["visit"], treat={"visit": shoal.ShiftDates(30)})
    >>> max(abs(new - old).days for old, new in zip(people["visit"], result.data["visit"])) <= 30
    True
    """

    days: int
    person: str | None = None

    name: ClassVar[str] = "shift-dates"
    technique: ClassVar[str] = "randomization: noise addition"
    remains: ClassVar[str] = "The intervals between a person's dates are unchanged and may be as telling as the dates."

    def __post_init__(self) -> None:
        check_int("ShiftDates", "days", self.days, least=1, most=_MOST_DAYS)
        if self.person is not None and not isinstance(self.person, str):
            raise wrong("ShiftDates", "person", "the name of a column", self.person)

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:
        """Return the shifted dates."""
        kind = column.type
        if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            raise DataError(f"The treatment ShiftDates of {name!r} needs dates. Got other values.")
        rows = present_rows(column)
        days = self._shifts(len(column), around)[rows]
        narrow = pa.types.is_date32(kind)
        ticks = np.asarray(column.take(pa.array(rows)).cast(pa.int32() if narrow else pa.int64())).astype(np.int64)
        shifted = pa.array(ticks + days * _day_ticks(kind))
        return fill_rows(column, rows, (shifted.cast(pa.int32()) if narrow else shifted).cast(kind))

    def _shifts(self, rows: int, around: Surroundings) -> LongArray:
        """Return the shift of each row in days, drawn once for all columns treated alike."""
        key = (self.days, self.person)
        if key not in around.shared:
            person = np.arange(rows) if self.person is None else _numbered(around.column_of(self.person))
            drawn = draw_integers(around.random, 2 * self.days + 1, int(person.max(initial=-1)) + 1) - self.days
            around.shared[key] = drawn[person]
        shifts: LongArray = around.shared[key]
        return shifts

    def describe(self) -> str:
        """Return what is done."""
        whose = "row" if self.person is None else "person"
        return f"is shifted by up to {self.days} days, each {whose} by its own number"


def _day_ticks(kind: pa.DataType) -> int:
    if pa.types.is_date32(kind):
        return 1
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    return 86_400 * {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[unit]


def _numbered(column: pa.ChunkedArray) -> LongArray:
    """Return a number for each row's person; a row without one is a person by itself."""
    encoded = encode_dictionary(column)
    known = len(encoded.dictionary)
    number = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    unknown = number < 0
    number[unknown] = known + np.arange(int(unknown.sum()))
    return number


@dataclass(frozen=True)
class Drop(Treatment):
    """Leave the column out of the release; models still protect it if it is sensitive.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "cost": [103, 1_250, 487, 90_311]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["cost"], treat={"cost": shoal.Drop()})
    >>> list(result.data)
    ['age']
    """

    name: ClassVar[str] = "drop"
    technique: ClassVar[str] = "suppression: masking of an attribute"
    remains: ClassVar[str] = "Nothing: the column is not released."

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:  # noqa: ARG002
        """Return the column as it is; the code that assembles the release leaves it out."""
        return column

    def describe(self) -> str:
        """Return what is done."""
        return "is left out"
