"""A column of a sample as the search for formulas sees it: numbers, codes and the step of which its numbers are multiples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.encoding import value_texts
from shoal.frames import Frame, is_nested
from shoal.frames.canonical import encode_dictionary

_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_MOST_DECIMALS = 6
_NEARLY = 1e-6
_LARGEST_WHOLE = 2.0**52
LARGEST = 1e100
"""Formulas leave out larger numbers, whose squares and products would overflow."""


@dataclass(frozen=True)
class Column:
    """One column of a sample."""

    name: str
    codes: IntArray
    """The number of each record's value; -1 if it is missing."""
    values: pa.Array
    """The distinct values, by number."""

    @property
    def is_date(self) -> bool:
        """Whether the values are dates or times with a date."""
        return bool(pa.types.is_date(self.values.type) or pa.types.is_timestamp(self.values.type))

    @property
    def is_text(self) -> bool:
        """Whether the values are text."""
        return bool(pa.types.is_string(self.values.type))

    @cached_property
    def texts(self) -> list[str]:
        """The distinct values as text."""
        return [str(text) for text in value_texts(self.values).to_pylist()]

    @cached_property
    def distinct_numbers(self) -> FloatArray | None:
        """The distinct values as numbers (dates in days), or None if they are categories."""
        return _as_numbers(self.values)

    @cached_property
    def numbers(self) -> FloatArray | None:
        """The values as numbers (dates in days), NaN if missing or too large; None if they are categories."""
        distinct = self.distinct_numbers
        return None if distinct is None else self.spread(np.where(np.abs(distinct) < LARGEST, distinct, np.nan))

    def spread(self, distinct: FloatArray) -> FloatArray:
        """Return for each record what belongs to its value, NaN if the value is missing."""
        return np.append(distinct, np.nan)[self.codes]

    @cached_property
    def step(self) -> float:
        """The largest number of which all values are multiples (after a shift); 0 if there is none."""
        return 0.0 if self.distinct_numbers is None else step_of(self.distinct_numbers)

    @cached_property
    def known(self) -> int:
        """How many records have a value."""
        return int((self.codes >= 0).sum())


def read_column(frame: Frame, name: str, rows: LongArray | None = None) -> Column | None:
    """Return a column in some rows of a table; None if its cells are not single values."""
    if is_nested(frame.table.schema.field(name).type):
        return None
    column = frame.typed(name)
    encoded = encode_dictionary(column if rows is None else column.take(pa.array(rows)))
    return Column(name, np.asarray(encoded.indices.fill_null(-1)).astype(np.int32), encoded.dictionary)


def _as_numbers(values: pa.Array) -> FloatArray | None:
    kind = values.type
    if pa.types.is_floating(kind) and kind.bit_width < 64:  # 0.1 of 32 bits is meant as 0.1
        return np.asarray(values.cast(pa.string()).cast(pa.float64()), np.float64)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(values.cast(pa.float64(), safe=False), np.float64)
    if pa.types.is_date(kind):
        return np.asarray(values.cast(pa.date32()).cast(pa.int32()), np.float64)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return np.asarray(values.cast(pa.int64()), np.float64) / numbers_per_day(kind)
    return None


def numbers_per_day(kind: pa.DataType) -> int:
    """Return how many of a type's numbers are one of a column's: ticks of a day for instants, 1 for all others."""
    timed = pa.types.is_timestamp(kind) or pa.types.is_duration(kind)
    return _DAY[kind.unit] if timed else 86_400_000 if pa.types.is_date64(kind) else 1


def step_of(values: FloatArray) -> float:
    """Return the largest number of which the differences of values are multiples; 0 if they have more than six decimals."""
    finite = np.unique(values[np.isfinite(values)])
    if len(finite) < 2:
        return 0.0
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = finite * 10.0**decimals
        whole = np.rint(scaled)
        if np.abs(whole).max() > _LARGEST_WHOLE:
            return 0.0
        if (np.abs(scaled - whole) <= _NEARLY).all():
            return float(np.gcd.reduce((whole - whole[0]).astype(np.int64))) / 10.0**decimals
    return 0.0


def date_parts(column: Column) -> dict[str, Column]:
    """Return the parts of dates by which others may be grouped: year, quarter, month of a year, month, weekday."""
    values = column.values
    year, month = pc.year(values), pc.month(values)
    together = pc.add(pc.multiply(year, 12), month)
    quarters = pc.add(pc.multiply(year, 4), pc.quarter(values))
    parts = {
        "year": year,
        "quarter": quarters,
        "month and year": together,
        "month": month,
        "weekday": pc.day_of_week(values),
    }
    return {word: _regrouped(column, f"{word} of {column.name}", part) for word, part in parts.items()}


def _regrouped(column: Column, name: str, part: pa.Array) -> Column:
    """Return a column whose values are parts of another's."""
    encoded = part.dictionary_encode()
    number = np.asarray(encoded.indices).astype(np.int32)
    return Column(name, np.append(number, -1)[column.codes].astype(np.int32), encoded.dictionary)
