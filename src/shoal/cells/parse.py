"""Released texts, read: what a cell stands for, and the exact number behind each end of a range.

Nothing here knows how cells are written or how values are coded, so that a release can be checked by it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.encoding import value_texts
from shoal.errors import DataError
from shoal.frames.canonical import encode_dictionary, is_period, period_ordinal

_NUMBER_RANGE = re.compile(r"\[(\d+(?:[.,]\d+)?)-(\d+(?:[.,]\d+)?)\]")
_TEXT_RANGE = re.compile(r'\[("(?:[^"\\]|\\.)*"|.+?) to ("(?:[^"\\]|\\.)*"|.+)\]', re.DOTALL)
_HALF_OPEN = re.compile(r'\[[^"]*[\[)]')
_CLOSED = re.compile(r'\[[^"]*,[^"]*\]')
_SET_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,"{}]+?)\s*(,|$)', re.DOTALL)
_DURATION = re.compile(r"(-?)(\d+) days(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?")
_FRACTION = re.compile(r"(\d\d:\d\d:\d\d)\.(\d{1,9})")
_PARTS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Cell:
    """What a released text stands for."""

    form: Literal["value", "range", "set", "any", "missing"]
    values: tuple[str, ...] = ()
    """The value or label; both ends; the members."""


def parse_cell(text: str | None) -> Cell:
    """Read one released text."""
    if text is None:
        return Cell("missing")
    if text == "*":
        return Cell("any")
    if text.startswith("["):
        return Cell("value", (text,)) if _is_foreign(text) else _parse_range(text)
    if text.startswith("{"):
        return _parse_set(text)
    return Cell("value", (_unquote(text),))


def _is_foreign(text: str) -> bool:
    """Return whether a text is an interval as other tools write it, such as [20, 30) or [20, 30]: a label, and no range."""
    if _HALF_OPEN.fullmatch(text):
        return True
    return bool(_CLOSED.fullmatch(text)) and " to " not in text and not _NUMBER_RANGE.fullmatch(text)


def _unquote(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        raise _unreadable("value") from None
    if not isinstance(value, str):
        raise _unreadable("value")
    return value


def _parse_range(text: str) -> Cell:
    match = _NUMBER_RANGE.fullmatch(text) or _TEXT_RANGE.fullmatch(text)
    if match is None:
        raise _unreadable("range")
    return Cell("range", (_unquote(match[1]), _unquote(match[2])))


def _parse_set(text: str) -> Cell:
    if not text.endswith("}"):
        raise _unreadable("set")
    body, members, place = text[1:-1], [], 0
    while True:
        match = _SET_ITEM.match(body, place)
        if match is None:
            raise _unreadable("set")
        members.append(_unquote(match[1]))
        place = match.end()
        if match[2] != ",":
            return Cell("set", tuple(members))


def _unreadable(form: str) -> DataError:
    return DataError(
        f"A released {form} is not well formed.",
        hint="released texts look like 30, [24-30], [-5 to 3], {a, b} or *; quote other text as in JSON.",
    )


def parse_column(column: pa.Array | pa.ChunkedArray) -> tuple[IntArray, list[Cell]]:
    """Read a released column: for each record the number of its form, and the forms."""
    encoded = encode_dictionary(column)
    cells = [parse_cell(text) for text in value_texts(encoded.dictionary).to_pylist()]
    if encoded.indices.null_count:
        cells.append(Cell("missing"))
    indices = encoded.indices.fill_null(len(cells) - 1) if encoded.indices.null_count else encoded.indices
    return np.asarray(indices).astype(np.int32), cells


# --- one value ---------------------------------------------------------------------------------------------------


def read_number(text: str, kind: pa.DataType) -> Any:
    """Return the exact number a text stands for in a column of numbers, dates, times, durations or periods.

    A released text file may have a decimal comma; marks between thousands are never released. Dates are days, moments and durations are counted in the unit of the type, as Arrow stores them. Text that
    does not belong to the type raises a ValueError.
    """
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_floating(kind):
        return float(text.replace(",", "."))
    if pa.types.is_decimal(kind):
        return _decimal(text.replace(",", "."))
    if is_period(kind):
        return period_ordinal(text, kind)
    if pa.types.is_date(kind):
        days = date.fromisoformat(text).toordinal() - _EPOCH.toordinal()
        return days if pa.types.is_date32(kind) else days * 86_400_000
    if pa.types.is_duration(kind):
        return _read_duration(text, _PARTS[kind.unit])
    return _read_clock(text, _PARTS[kind.unit], is_time=bool(pa.types.is_time(kind)))


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError from None


def _read_clock(text: str, parts: int, *, is_time: bool) -> int:
    """Return a moment or a time of day; the fraction is read separately, because Python stops at microseconds."""
    fraction = _FRACTION.search(text)
    whole = _FRACTION.sub(r"\1", text)
    if is_time:
        clock = time.fromisoformat(whole)
        seconds = clock.hour * 3600 + clock.minute * 60 + clock.second
    else:
        moment = datetime.fromisoformat(whole)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
        seconds = since.days * 86_400 + since.seconds
    return seconds * parts + _fraction(fraction[2] if fraction else "", parts)


def _fraction(digits: str, parts: int) -> int:
    return int(digits.ljust(9, "0")) * parts // 1_000_000_000


def _read_duration(text: str, parts: int) -> int:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError
    sign, days, hours, minutes, seconds, digits = match.groups()
    whole = int(days) * 86_400 + int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    ticks = whole * parts + _fraction(digits or "", parts)
    return -ticks if sign else ticks
