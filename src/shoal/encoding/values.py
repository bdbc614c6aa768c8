"""Values of a column as text, as numbers and as dates."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import AnyArray, FloatArray
from shoal.errors import DataError
from shoal.frames import Frame, encode_dictionary
from shoal.frames.canonical import is_period, period_texts
from shoal.hierarchy import value_text
from shoal.hierarchy.texts import TICKS, duration_text

_CLOCK = re.compile(r"(?:(\S+) )?(\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d{4})?")

_DAY = 86_400
_FIRST_DAY = date.min.toordinal() - date(1970, 1, 1).toordinal()
_END = date.max.toordinal() + 1 - date(1970, 1, 1).toordinal()

_REACH = 256
"""Numbers above 2 to this power, or all below its inverse, are brought back to about 1 before they are squared."""


def value_texts(values: pa.Array) -> pa.Array:
    """Return values as text, the same that hierarchies use: dates in ISO form, 39.0 as ``39``, instants with their zone."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.array([None if value is None else value_text(value) for value in values.to_pylist()], pa.string())
    if is_period(kind):
        return pa.array(period_texts(values), pa.string())
    if pa.types.is_duration(kind):
        second = TICKS[kind.unit]
        ticks = values.cast(pa.int64()).to_pylist()
        return pa.array([None if tick is None else duration_text(tick, second) for tick in ticks], pa.string())
    texts = values.cast(pa.string())
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return pa.array([None if text is None else _clock_text(text) for text in texts.to_pylist()], pa.string())
    return texts


def text_meanings(frame: Frame, column: str, *, codes: bool = False) -> dict[str, Any]:
    """Return what each text of a column means: ``01.03.2024`` a date, ``1.234,5`` a number; None for a missing value.

    ``codes`` says that numbers are codes, such as zip codes: each text then means itself.
    """
    cells = encode_dictionary(frame.cells(column))
    if codes:
        return {text: text for text in map(value_text, cells.dictionary.to_pylist())}
    first = pc.index_in(pa.array(range(len(cells.dictionary)), cells.indices.type), cells.indices)
    meanings = frame.typed(column).take(first)
    return dict(zip(map(value_text, cells.dictionary.to_pylist()), meanings.to_pylist(), strict=True))


def _clock_text(text: str) -> str:
    """Return an instant or a time that Arrow wrote as Python writes it; a midnight without a zone is its date."""
    match = _CLOCK.fullmatch(text)
    if match is None:  # a year that Arrow does not write out
        return text
    day, clock, fraction, zone = match.groups()
    fraction = fraction.rstrip("0") if fraction else ""
    if day and clock == "00:00:00" and not fraction and not zone:
        return str(day)
    begin = f"{day}T" if day else ""
    digits = f".{fraction.ljust(6 if len(fraction) <= 6 else 9, '0')}" if fraction else ""
    offset = "" if not zone else "+00:00" if zone == "Z" else f"{zone[:3]}:{zone[3:]}"
    return f"{begin}{clock}{digits}{offset}"


def refuse_far(name: str, column: pa.ChunkedArray) -> None:
    """Refuse dates and moments outside the years 1 to 9999, which the texts of a release have no form for."""
    kind = column.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)) or getattr(kind, "unit", "") == "ns":
        return  # nanoseconds do not reach so far
    day = 1 if pa.types.is_date32(kind) else _DAY * TICKS["ms" if pa.types.is_date64(kind) else kind.unit]
    zoned = day if pa.types.is_timestamp(kind) and kind.tz else 0  # a zone may be a day ahead or behind
    numbers = column.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    far = pc.or_(pc.less(numbers, _FIRST_DAY * day + zoned), pc.greater_equal(numbers, _END * day - zoned))
    count = pc.sum(far).as_py()
    if count:
        raise DataError(
            f"The column {name!r} holds {count:,} dates outside the years 1 to 9999.",
            hint="they are often marks for a missing value: make them missing, or correct them.",
        )


def is_ordered(kind: pa.DataType) -> bool:
    """Return whether values of this type have distances: numbers, dates, times."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
        or is_period(kind)
    )


def as_numbers(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column the user calls numeric as numbers, or say how many rows are none."""
    if is_ordered(column.type):
        return column
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    return _parse_texts(name, column, pa.float64(), "numeric", "numbers")


def as_dates(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column the user calls dates as dates, or say how many rows are none."""
    if pa.types.is_temporal(column.type):
        return column
    return _parse_texts(name, column, pa.date32(), "date", "dates like 2024-12-31")


def _parse_texts(name: str, column: pa.ChunkedArray, target: pa.DataType, kind: str, wanted: str) -> pa.ChunkedArray:
    encoded = encode_dictionary(column)
    values, faulty = [], []
    for index, text in enumerate(value_texts(encoded.dictionary)):
        try:
            values.append(text.cast(target).as_py())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            values.append(None)
            faulty.append(index)
    if faulty:
        rows = int(np.isin(np.asarray(encoded.indices.fill_null(-1)), faulty).sum())
        raise DataError(
            f"The column {name!r} is given as {kind} and must hold {wanted}. Got other text in {rows} rows.",
            hint="correct these rows, leave them empty, or give the column another kind.",
        )
    parsed = pa.array(values, target)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, parsed).cast(target)])


def exact_numbers(values: pa.Array) -> AnyArray:
    """Return numbers, dates, times or periods without loss: as integers, floats, or decimals (objects)."""
    kind = values.type
    if is_period(kind):
        values = values.storage
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int64())
    if pa.types.is_decimal(kind):
        return np.array([*values.to_pylist(), None], object)[:-1]  # one more, so that numpy never makes numbers of them
    if pa.types.is_floating(kind):
        return np.asarray(values.cast(pa.float64()), np.float64)
    return np.asarray(values.cast(pa.uint64() if pa.types.is_uint64(kind) else pa.int64()))


def positions_of(exact: AnyArray) -> tuple[FloatArray, int]:
    """Return where rising numbers are, as floats, and the number that was taken off all of them first.

    Nothing is taken off if floats tell the numbers apart; else the least of them is, which leaves integers
    beyond 2^53 as far apart as they are.
    """
    position = exact.astype(np.float64)
    if (position[1:] > position[:-1]).all():
        return position, 0
    numbers = exact.tolist()
    least = int(numbers[0])
    return np.array([float(one - least) for one in numbers], np.float64), least


def positions(values: pa.Array | pa.ChunkedArray) -> FloatArray:
    """Return numbers, dates, times or periods as floats; missing as NaN."""
    kind = values.type
    if is_period(kind):
        values = pa.chunked_array([chunk.storage for chunk in _chunks(values)], kind.storage_type)
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int64())
    return np.asarray(values.cast(pa.float64(), safe=False), np.float64)


def _chunks(values: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]


def exponent_beyond_reach(position: FloatArray) -> int:
    """Return the power of two to divide by so that squares of these numbers neither overflow nor vanish; 0 for ordinary ones.

    Dividing by a power of two is exact, so whatever compares distances decides as before.
    """
    exponent = int(np.frexp(np.abs(position).max(initial=0.0))[1])
    return exponent if abs(exponent) > _REACH else 0
