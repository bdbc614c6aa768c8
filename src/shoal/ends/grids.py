"""Round numbers and dates: which there are around a range, and how they are written.

A grid knows the steps a column's ends can move by, from fine to coarse, and moves ends outwards to the next multiple.
Numbers go by 1, 2 and 5 times a power of ten, dates by days, months, quarters and years, times by the clock.
All is reckoned in the exact numbers of the column: integers, floats, or counts of a decimal's last digit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, FloatArray, IntArray
from shoal.encoding import CodedColumn, exact_numbers, value_texts
from shoal.hierarchy import value_text
from shoal.hierarchy.texts import TICKS

_DIGITS = (1, 2, 5)
_SAFE = 2**60
"""Integers up to here can be moved by a step without leaving 64 bits."""
_FINEST = 1e15
"""Floats hold no more multiples of a step than this exactly."""
_MOST_EXPONENT = 290
_DAY = 86_400
_MONTH = 30.436875 * _DAY
"""Seconds of a mean month."""
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""The years 1 to 9999, in days since 1970: further dates cannot be written."""


class Step(NamedTuple):
    """How far an end can move: a number of digits, of seconds, or of calendar months."""

    name: str
    size: float
    """In the column's own numbers, a mean one for months."""
    digits: int = 0
    exponent: int = 0
    months: int = 0


class Grid(ABC):
    """The steps of one column."""

    whole = False
    """Whether ranges hold whole numbers, and so end before the next multiple: [20-24], [25-29]."""

    def __init__(self, column: CodedColumn) -> None:
        self.kind = column.values.type
        self.exact = self.scaled(exact_numbers(column.values))

    def scaled(self, numbers: AnyArray) -> AnyArray:
        """Return numbers as this grid reckons with them."""
        return numbers

    def numbers(self, ends: AnyArray) -> AnyArray:
        """Return ends as exact numbers of the column."""
        return ends

    def positions(self, ends: AnyArray, origin: int) -> FloatArray:
        """Return ends on the scale of the column's positions."""
        return np.asarray([float(end - origin) for end in ends.tolist()] if origin else ends, np.float64)

    @abstractmethod
    def steps(self, finest: float, coarsest: float) -> list[Step]:
        """Return the steps up to ``coarsest``, from fine to coarse; one of them at least is not above ``finest``, if there is one.

        Every range of the column has then the step that fits it, however near to each other values are that no cell shows.
        """

    @abstractmethod
    def outwards(self, low: AnyArray, high: AnyArray, step: Step) -> tuple[AnyArray, AnyArray]:
        """Return ends moved outwards to multiples of a step; those that cannot move stay."""

    @abstractmethod
    def texts(self, ends: AnyArray) -> list[str]:
        """Return ends as they are written."""

    def move(self, low: AnyArray, high: AnyArray, steps: list[Step], which: IntArray) -> tuple[AnyArray, AnyArray]:
        """Move each range by its own step; -1 leaves it as it is."""
        low, high = low.copy(), high.copy()
        for number in np.unique(which[which >= 0]).tolist():
            chosen = which == number
            low[chosen], high[chosen] = self.outwards(low[chosen], high[chosen], steps[number])
        return low, high


def number_step(size: Any) -> Step:
    """Return a number of the user's own as a step."""
    number = Decimal(value_text(size))
    digits = number.as_tuple()
    whole = int("".join(map(str, digits.digits)))
    return Step(value_text(number), float(number), whole, int(digits.exponent))


def _decimal_steps(finest: float, coarsest: float) -> list[Step]:
    """Return 1, 2 and 5 times the powers of ten up to ``coarsest``, from the power of ten that is not above ``finest``."""
    if not (0 < finest <= coarsest < np.inf):
        return []
    first = max(int(np.floor(np.log10(finest))), -_MOST_EXPONENT)
    last = min(int(np.floor(np.log10(coarsest))), _MOST_EXPONENT)
    powers = [number_step(Decimal(digit).scaleb(power)) for power in range(first, last + 1) for digit in _DIGITS]
    return [step for step in powers if step.size <= coarsest]


class FloatGrid(Grid):
    """Floats, moved to multiples that print without stray digits."""

    def steps(self, finest: float, coarsest: float) -> list[Step]:
        """Return powers of ten and their 2 and 5 times, as far down as is asked for."""
        return _decimal_steps(finest, coarsest)

    def outwards(self, low: AnyArray, high: AnyArray, step: Step) -> tuple[AnyArray, AnyArray]:
        """Move outwards; the quotient of two whole numbers prints as short as it is."""
        return _float_floor(low, step), -_float_floor(-high, step) + 0.0

    def texts(self, ends: AnyArray) -> list[str]:
        """Return numbers as values are written."""
        return [value_text(end) for end in ends.tolist()]


class WholeFloatGrid(FloatGrid):
    """Floats of a column whose released ranges all end at whole numbers, moved as integers are.

    A fraction that only a withheld record has, or one inside a range, makes a column of integers one of floats. Ends must not show it.
    """

    whole = True

    def steps(self, finest: float, coarsest: float) -> list[Step]:
        """Return the steps that are whole numbers."""
        return [step for step in super().steps(finest, coarsest) if step.exponent >= 0]

    def outwards(self, low: AnyArray, high: AnyArray, step: Step) -> tuple[AnyArray, AnyArray]:
        """Move outwards, up to the whole number before the next multiple; a step of the user's own may be a fraction."""
        if step.exponent < 0:
            return super().outwards(low, high, step)
        return _float_floor(low, step), _float_floor(high, step) + (step.size - 1)


def _float_floor(values: FloatArray, step: Step) -> FloatArray:
    """Return the largest multiple of a step that is not above each value, or the value if floats have none."""
    power = 10.0 ** abs(step.exponent)
    with np.errstate(over="ignore", invalid="ignore"):
        count = np.floor(values * power / step.digits if step.exponent < 0 else values / (step.digits * power))
        for _ in range(2):  # the division may have rounded up to the next multiple
            end = _multiple(count, step, power)
            count = np.where(end > values, count - 1, count)
        end = _multiple(count, step, power)
    fits = np.isfinite(end) & (end <= values) & (np.abs(count) < _FINEST)
    return np.asarray(np.where(fits, end + 0.0, values), np.float64)


def _multiple(count: FloatArray, step: Step, power: float) -> FloatArray:
    return np.asarray(count * step.digits / power if step.exponent < 0 else count * (step.digits * power), np.float64)


class WholeGrid(Grid):
    """Whole numbers: integers, and decimals counted in their last digit."""

    def __init__(self, column: CodedColumn) -> None:
        self.scale = column.values.type.scale if pa.types.is_decimal(column.values.type) else 0
        self.whole = pa.types.is_integer(column.values.type)
        super().__init__(column)

    def scaled(self, numbers: AnyArray) -> AnyArray:
        """Return counts of the last digit, as 64 bits if that is safe."""
        counts = (
            [int(one.scaleb(self.scale)) for one in numbers.tolist()] if numbers.dtype == object else numbers.tolist()
        )
        safe = all(abs(one) <= _SAFE for one in counts)
        return np.array(counts, np.int64) if safe else np.array([*counts, None], object)[:-1]

    def numbers(self, ends: AnyArray) -> AnyArray:
        """Return counts of a decimal's last digit as decimals."""
        if not self.scale:
            return ends
        return np.array([*(Decimal(end).scaleb(-self.scale) for end in ends.tolist()), None], object)[:-1]

    def positions(self, ends: AnyArray, origin: int) -> FloatArray:
        """Return counts as the numbers they stand for."""
        if not self.scale:
            return super().positions(ends, origin)
        return np.array([float(Decimal(end).scaleb(-self.scale) - origin) for end in ends.tolist()], np.float64)

    def steps(self, finest: float, coarsest: float) -> list[Step]:
        """Return the steps that are whole in this column."""
        return [step for step in _decimal_steps(finest, coarsest) if self._count(step)]

    def _count(self, step: Step) -> int:
        """Return a step in counts of the last digit; 0 for one that is none."""
        shift = step.exponent + self.scale
        return step.digits * 10**shift if shift >= 0 else 0

    def outwards(self, low: AnyArray, high: AnyArray, step: Step) -> tuple[AnyArray, AnyArray]:
        """Move outwards; a step that is not a whole count, or beyond all numbers, moves nothing.

        Integers end before the next multiple, so that ranges of one step do not overlap: [20-24], [25-29]. Between two decimals
        there is always another, so that their ranges end at the multiple itself.
        """
        size = self._count(step)
        if not size or (low.dtype != object and size > _SAFE):
            return low, high
        end = -(-high // size) * size if self.scale else (high // size + 1) * size - 1
        return low // size * size, end

    def texts(self, ends: AnyArray) -> list[str]:
        """Return numbers as values are written."""
        if self.scale:
            return [value_text(Decimal(end).scaleb(-self.scale)) for end in ends.tolist()]
        return [str(end) for end in ends.tolist()]


class TimeGrid(Grid):
    """Dates, moments, times of day and durations, counted in the unit of their type."""

    def __init__(self, column: CodedColumn) -> None:
        kind = column.values.type
        self.is_date = bool(pa.types.is_date(kind))
        self.second = _ticks(kind)
        self.calendar = bool(self.is_date or pa.types.is_timestamp(kind))
        super().__init__(column)
        self.known = _time_steps(
            self.second, calendar=self.calendar, days=not pa.types.is_time(kind), whole=self.is_date
        )

    def steps(self, finest: float, coarsest: float) -> list[Step]:  # noqa: ARG002
        """Return the steps of the clock and the calendar, which are few."""
        return [step for step in self.known if step.size <= coarsest]

    def named(self, name: str) -> Step | None:
        """Return the step of a name such as month."""
        return next((step for step in self.known if step.name == name), None)

    def outwards(self, low: AnyArray, high: AnyArray, step: Step) -> tuple[AnyArray, AnyArray]:
        """Move outwards; the last day of a period ends a range of dates, the first moment of the next one of moments."""
        day = 1 if pa.types.is_date32(self.kind) else round(_DAY * self.second)
        if step.months:
            begin = _month_begin(low, day, step.months, 0)
            end = (
                _month_begin(high, day, step.months, 1) - day if self.is_date else _month_above(high, day, step.months)
            )
        else:
            size = max(round(step.size), 1)
            begin = low // size * size
            end = -(-high // size) * size
        if pa.types.is_time(self.kind):  # a day ends before its midnight can be written
            return begin, np.minimum(end, day - 1)
        first, last = (_FIRST_DAY * day, _LAST_DAY * day) if self.calendar else (-_SAFE, _SAFE)
        return np.where(begin < first, low, begin), np.where(end > last, high, end)

    def texts(self, ends: AnyArray) -> list[str]:
        """Return dates and times as values are written."""
        numbers = pa.array(ends.astype(np.int64))
        narrow = pa.types.is_date32(self.kind) or pa.types.is_time32(self.kind)
        return list(value_texts((numbers.cast(pa.int32()) if narrow else numbers).cast(self.kind)).to_pylist())


def _ticks(kind: pa.DataType) -> float:
    """Return how many of a type's ticks make a second."""
    if pa.types.is_date32(kind):
        return 1 / _DAY
    return 1_000 if pa.types.is_date64(kind) else TICKS[kind.unit]


def _time_steps(second: float, *, calendar: bool, days: bool, whole: bool) -> list[Step]:
    clock = [("second", 1), ("10 seconds", 10), ("minute", 60), ("5 minutes", 300), ("10 minutes", 600)]
    clock += [("30 minutes", 1800), ("hour", 3600), ("6 hours", 21_600), ("12 hours", 43_200)]
    named = [] if whole else clock
    named = [*named, ("day", _DAY)] if days else named
    steps = [Step(name, seconds * second) for name, seconds in named]
    if calendar:
        months = {"month": 1, "quarter": 3, "year": 12} | {f"{n} years": 12 * n for n in (2, 5, 10, 20, 50, 100)}
        return [*steps, *(Step(name, number * _MONTH * second, months=number) for name, number in months.items())]
    longer = [(f"{digit * 10**power} days", digit * 10**power) for power in range(5) for digit in _DIGITS]
    return [*steps, *(Step(name, number * _DAY * second) for name, number in (longer[1:] if days else []))]


def _month_begin(ticks: AnyArray, day: int, months: int, later: int) -> AnyArray:
    """Return the first tick of the period of ``months`` that holds each tick, or of one ``later``."""
    number = (ticks // day).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    year_zero = 1970 * 12
    begin = ((number + year_zero) // months + later) * months - year_zero
    return np.asarray(begin.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) * day)


def _month_above(ticks: AnyArray, day: int, months: int) -> AnyArray:
    """Return the first beginning of a period that is not below each tick."""
    begin = _month_begin(ticks, day, months, 0)
    return np.where(begin == ticks, begin, _month_begin(ticks, day, months, 1))


def make_grid(column: CodedColumn, ends: IntArray) -> Grid | None:
    """Return the grid of a column whose released ranges have these ends; None if no value lies between two others, or all are one."""
    kind = column.values.type
    if not column.measured or len(column.values) < 2:
        return None
    if pa.types.is_floating(kind):
        return WholeFloatGrid(column) if _are_whole(exact_numbers(column.values)[ends]) else FloatGrid(column)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return WholeGrid(column)
    return TimeGrid(column) if pa.types.is_temporal(kind) else None


def _are_whole(numbers: FloatArray) -> bool:
    return bool(len(numbers) and (np.abs(numbers) < _FINEST).all() and (numbers == np.floor(numbers)).all())


def step_names(steps: Iterable[Step]) -> str:
    """Return the steps that ends were moved by, as a reader would say it."""
    ordered = sorted(set(steps), key=lambda step: step.size)
    if not ordered:
        return ""
    first, last = ordered[0], ordered[-1]
    if first.digits:
        return f"multiples of {first.name}" if first is last else f"multiples of {first.name} to {last.name}"
    return f"whole steps of a {first.name}" if first is last else f"whole steps of a {first.name} to {last.name}"
