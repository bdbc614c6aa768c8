"""Dates and times as people write them, named by the formats of ``strftime``."""

from __future__ import annotations

import re
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from shoal.validation import wrong

_FIELDS = {
    "%Y": ("year", "[0-9]{4}"),
    "%y": ("short_year", "[0-9]{2}"),
    "%m": ("month", "[0-9]{1,2}"),
    "%b": ("month_name", "[A-Za-z]{3}"),
    "%B": ("month_name", "[A-Za-z]{3,9}"),
    "%d": ("day", "[0-9]{1,2}"),
    "%H": ("hour", "[0-9]{1,2}"),
    "%I": ("half_day_hour", "[0-9]{1,2}"),
    "%M": ("minute", "[0-9]{2}"),
    "%S": ("second", "[0-9]{2}"),
    "%f": ("fraction", "[0-9]{1,6}"),
    "%p": ("half_day", "[AaPp][Mm]"),
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y",
         "%d-%b-%Y", "%d %b %Y", "%d%b%Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y",
         "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")  # fmt: skip
_HOURS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
FORMATS = (*_DAYS, *(f"{day} {hour}" for day in _DAYS for hour in _HOURS), *(f"%Y-%m-%dT{hour}" for hour in _HOURS[:3]))
TIMES = _HOURS
_ISO_DAY = "%Y-%m-%d"
_ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:?[0-9]{2})$"
ZONED = "%Y-%m-%dT%H:%M:%S%z"
_CENTURY_TURNS = 69
"""A two-digit year from here on lies in the 1900s, a smaller one in the 2000s (POSIX)."""


def check_format(owner: str, text: str) -> None:
    """Refuse a format that names no day and no hour, or holds something unknown."""
    unknown = [part for part in re.findall("%.?", text) if part not in _FIELDS]
    if unknown or "%" not in text:
        hint = "for example %d.%m.%Y for 30.04.1992, or %m/%d/%Y for 04/30/1992."
        raise wrong(owner, "date_format", f"made of {', '.join(_FIELDS)}", text, hint)


@cache
def _pattern(form: str) -> str:
    parts = re.split("(%.)", form)
    return "^" + "".join(f"(?P<{_FIELDS[part][0]}>{_FIELDS[part][1]})" if part in _FIELDS else re.escape(part) for part in parts) + "$"  # fmt: skip


@cache
def _signs(form: str) -> frozenset[str]:
    """Return the characters that every text written so has."""
    return frozenset("".join(re.split("%.", form)))


def date_forms(texts: pa.Array, formats: tuple[str, ...]) -> list[str]:
    """Return the formats in which every text is a valid date or time."""
    first = texts[: min(len(texts), 20)].to_pylist()
    # most formats have a sign that the first text has not, which is seen sooner than a hundred patterns are compiled
    near = [form for form in formats if not first or _signs(form) <= set(first[0])]
    likely = [form for form in near if all(re.match(_pattern(form), text) for text in first)]
    return [form for form in likely if read_dates(texts, form) is not None]


def read_dates(texts: pa.Array, form: str) -> pa.Array | None:
    """Return texts as dates, time stamps or times of day; None if one of them is not written so or does not exist."""
    if form == ZONED:
        return _read_zoned(texts)
    found = pc.extract_regex(texts, _pattern(form))
    if found.null_count:
        return None
    fields = {field.name: found.field(index) for index, field in enumerate(found.type)}
    try:
        return _combine(fields)
    except pa.ArrowInvalid:  # for example 30 February, or the thirteenth month
        return None


def _read_zoned(texts: pa.Array) -> pa.Array | None:
    if not pc.all(pc.match_substring_regex(texts, _ZONED)).as_py():
        return None
    try:
        return texts.cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:
        return None


def _combine(fields: dict[str, pa.Array]) -> pa.Array:
    """Return the values that fields of text stand for, by way of the ISO form, which Arrow checks."""
    has_hours = bool({"hour", "half_day_hour"} & set(fields))
    has_days = bool({"year", "short_year"} & set(fields))
    day = _iso_day(fields) if has_days else pa.array(["1970-01-01"] * len(next(iter(fields.values()))))
    if not has_hours:
        return day.cast(pa.date32())
    stamp = pc.binary_join_element_wise(day, _iso_hour(fields), " ").cast(pa.timestamp("us"))
    return stamp if has_days else stamp.cast(pa.time64("us"))


def _iso_day(fields: dict[str, pa.Array]) -> pa.Array:
    year = fields["year"] if "year" in fields else _long_year(fields["short_year"])
    month = _two_digits(fields["month"]) if "month" in fields else _month_number(fields["month_name"])
    return pc.binary_join_element_wise(year, month, _two_digits(fields["day"]), "-")


def _long_year(short: pa.Array) -> pa.Array:
    number = short.cast(pa.int32())
    turned = pc.if_else(pc.greater_equal(number, _CENTURY_TURNS), 1900, 2000)
    return pc.add(number, turned.cast(pa.int32())).cast(pa.string())


def _month_number(names: pa.Array) -> pa.Array:
    short = pc.utf8_slice_codeunits(pc.utf8_lower(names), 0, 3)
    place = pc.index_in(short, pa.array(_MONTHS))
    if place.null_count:
        raise pa.ArrowInvalid("no month")
    return _two_digits(pc.add(place, 1).cast(pa.string()))


def _two_digits(texts: pa.Array) -> pa.Array:
    return pc.utf8_lpad(texts, 2, "0")


def _iso_hour(fields: dict[str, pa.Array]) -> pa.Array:
    hour = fields["hour"] if "hour" in fields else _hour_of_day(fields["half_day_hour"], fields.get("half_day"))
    second = fields.get("second", pa.array(["00"] * len(hour)))
    whole = pc.binary_join_element_wise(_two_digits(hour), fields["minute"], second, ":")
    return pc.binary_join_element_wise(whole, fields["fraction"], ".") if "fraction" in fields else whole


def _hour_of_day(hour: pa.Array, half: pa.Array | None) -> pa.Array:
    """Return the hour from 0 to 23 of one from 1 to 12 and AM or PM."""
    number = hour.cast(pa.int32())
    if half is None or pc.any(pc.or_(pc.less(number, 1), pc.greater(number, 12))).as_py():
        raise pa.ArrowInvalid("no hour of a half day")
    after_noon = pc.equal(pc.utf8_lower(half), "pm")
    number = pc.if_else(pc.equal(number, 12), 0, number)
    return pc.if_else(after_noon, pc.add(number, 12), number).cast(pa.string())
