"""Texts that have an order: bands of numbers, scales of words, months and quarters of a year, lengths of time."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from shoal.hierarchy.durations import read_durations
from shoal.hierarchy.halves import halving_groups, run_name
from shoal.knowledge.days import read_calendar_names
from shoal.knowledge.reading import Reading, enough, make_reading
from shoal.knowledge.scales import SCHOOL_GROUPS, SCHOOL_PARTS, SCHOOLING, read_scale, read_schooling

_NUMBER = r"\d{1,3}(?:[,'  ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_MEASURE = (
    r"(?:%|€|£|\$|kg|cm|km|years?|yrs?|y|jahre?|ans|años|anni|months?|monate?|mois|days?|tage?|eur|usd)?(?:\s+old)?"
)
_UNIT = r"(?P<{0}>[kKmM]?)\s*" + _MEASURE
_MONEY = r"(?:[€£$]\s*)?"
_LOW, _HIGH = (rf"{_MONEY}(?P<{name}>{_NUMBER})\s*{_UNIT.format(name[0])}" for name in ("low", "high"))
_TO = r"\s*(?:-|–|—|\.\.\.?|…|to|bis|à|a|until|/)\s*"
_RANGE = re.compile(rf"(?:between\s+)?{_LOW}(?:{_TO}|\s+and\s+){_HIGH}", re.IGNORECASE)
_BRACKETS = re.compile(rf"(?P<open>[\[(\]])\s*{_LOW}\s*[,;:–-]\s*{_HIGH}\s*(?P<close>[\])\[])", re.IGNORECASE)
_BELOW = re.compile(
    rf"(?:<\s*=?|≤|under|below|less than|fewer than|up to|unter|bis|bis zu|weniger als|moins de|jusqu'à|menos de|hasta|meno di|fino a)\s*{_HIGH}"
    rf"|{_HIGH.replace('<high>', '<high2>').replace('<h>', '<h2>')}\s*(?:or|and|und|oder|et|ou|y|o)\s+(?:less|under|below|younger|fewer|weniger|jünger|darunter|moins|menos|meno)",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"(?:>\s*=?|≥|over|above|more than|from|at least|über|ab|mehr als|mindestens|plus de|más de|oltre|da)\s*{_LOW}"
    rf"|{_LOW.replace('<low>', '<low2>').replace('<l>', '<l2>')}\s*(?:(?:\+|plus)\s*{_MEASURE}|(?:or|and|und|oder|et|ou|y|o)\s+(?:more|over|above|older|up|mehr|älter|darüber|plus|más|più|oltre))",
    re.IGNORECASE,
)
_ONE = re.compile(rf"{_LOW}", re.IGNORECASE)
_SCALE_OF = {"k": 1e3, "m": 1e6}


_BANDS = "bands of numbers"
SCHOOL_LEVELS = "levels of schooling"
_CALENDAR = ("months of years", "quarters of years")


class Band(NamedTuple):
    """A band of numbers as a text states it."""

    low: float
    high: float
    text: str
    ends: tuple[str, str]
    """Both ends as they are written, blank at an open end."""


def read_order(texts: Sequence[str]) -> Reading | None:
    """Return what order the texts of a column have; None if they have none."""
    for read in (_read_months, _read_bands, _read_school_levels, _read_words, read_durations):
        found = read(texts)
        if found is not None:
            return found
    return None


# --- bands -------------------------------------------------------------------------------------------------------


def _read_bands(texts: Sequence[str]) -> Reading | None:
    """Read ``34-38``, ``65+``, ``<5``, ``[0, 10)``, ``5 or more``, single numbers between them allowed."""
    bands = sorted(band for text in texts if (band := _band(text)) is not None)
    real = sum(band.low != band.high for band in bands)
    if not real or not enough(len(bands), texts, 3) or not _are_apart(bands):
        return None
    by_text = {band.text: band for band in bands}
    order = [band.text for band in bands]
    groups = halving_groups(order, lambda first, last: _joined(by_text[first], by_text[last]))
    if set(order) & {label for above in groups.values() for label in above}:
        return None
    return make_reading(_BANDS, texts, groups, order=order)


def _band(text: str) -> Band | None:
    bare = text.strip()
    if match := _RANGE.fullmatch(bare) or _BRACKETS.fullmatch(bare):
        part = match.groupdict()
        unit = part["l"] or part["h"]
        low, high = _value(part["low"], unit), _value(part["high"], part["h"])
        return Band(low, high, text, (part["low"] + part["l"], part["high"] + part["h"])) if low <= high else None
    if match := _BELOW.fullmatch(bare):
        part = match.groupdict()
        number, unit = part["high"] or part["high2"], part["h"] or part["h2"] or ""
        return Band(float("-inf"), _value(number, unit), text, ("", number + unit))
    if match := _ABOVE.fullmatch(bare):
        part = match.groupdict()
        number, unit = part["low"] or part["low2"], part["l"] or part["l2"] or ""
        return Band(_value(number, unit), float("inf"), text, (number + unit, ""))
    if match := _ONE.fullmatch(bare):
        number = _value(match["low"], match["l"])
        return Band(number, number, text, (match["low"] + match["l"],) * 2)
    return None


def _value(number: str, unit: str) -> float:
    return float(re.sub(r"[,'  ](?=\d{3})", "", number)) * _SCALE_OF.get(unit.lower(), 1.0)


def _are_apart(bands: Sequence[Band]) -> bool:
    """Return whether no two bands overlap; they may share an end."""
    pairs = itertools.pairwise(bands)
    return all(one.high <= two.low and (one.low, one.high) != (two.low, two.high) for one, two in pairs)


def _joined(first: Band, last: Band) -> str:
    """Return the label of all bands from the first to the last."""
    low, high = first.ends[0], last.ends[1]
    if not low:
        return f"up to {high}"
    return f"{low}-{high}" if high else f"{low} or more"


# --- words -------------------------------------------------------------------------------------------------------


def _read_words(texts: Sequence[str]) -> Reading | None:
    """Read answers, grades, sizes, numbers as words."""
    scale = read_scale(texts)
    if scale is None:
        return None
    name, ranks = scale
    order = sorted(texts, key=lambda text: (ranks[text], text))
    return make_reading(name, texts, halving_groups(order, run_name), order=order)


def _read_school_levels(texts: Sequence[str]) -> Reading | None:
    """Read levels of schooling, in groups as a person would draw them."""
    levels = read_schooling(texts)
    if levels is None:
        return None
    rank = {level: number for number, level in enumerate(SCHOOLING)}
    order = sorted(levels, key=lambda text: (rank[levels[text]], text))
    part = {level: name for name, members in SCHOOL_PARTS.items() for level in members}
    group = {level: name for name, members in SCHOOL_GROUPS.items() for level in members}
    named = {text: [part.get(level, ""), group[level]] for text, level in levels.items()}
    size: dict[str, int] = {}
    for labels in named.values():
        for label in labels:
            size[label] = size.get(label, 0) + 1
    # a part with one text in it, or with all of its group, says nothing
    groups = {
        text: tuple(label for label in labels if label and (label == labels[1] or 1 < size[label] < size[labels[1]]))
        for text, labels in named.items()
    }
    return make_reading(SCHOOL_LEVELS, texts, groups, order=order)


# --- months and quarters -----------------------------------------------------------------------------------------

_MONTH_NAMES = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar janvier enero gennaio", "feb february februar février febrero febbraio fév",
            "mar march märz mär mars marzo", "apr april avril abril aprile avr", "may mai mayo maggio",
            "jun june juni juin junio giugno", "jul july juli juillet julio luglio juil",
            "aug august août agosto ago", "sep sept september septembre septiembre settembre",
            "oct october oktober okt octobre octubre ottobre", "nov november novembre noviembre",
            "dec december dezember dez décembre diciembre dicembre déc",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
"""The number of each month by its name and short names."""
_YEAR = r"(?P<year>1[5-9]\d\d|2[01]\d\d)"
_MONTH = r"(?P<month>0?[1-9]|1[0-2])"
_MONTHS = tuple(
    re.compile(form)
    for form in (
        rf"{_YEAR}[-/.]{_MONTH}",
        rf"{_MONTH}[-/.]{_YEAR}",
        rf"{_YEAR}-?[Mm]{_MONTH}",
        rf"{_YEAR}(?P<month>0[1-9]|1[0-2])",
    )
)
_NAMED_MONTH = re.compile(
    rf"(?P<name>[^\W\d_]+)\.?[ \-/]{_YEAR}|{_YEAR.replace('year', 'year2')}[ \-/](?P<name2>[^\W\d_]+)\.?"
)
_QUARTERS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_YEAR}[-/ ]?[QT]\s?(?P<q>[1-4])",
        rf"[QT]\s?(?P<q>[1-4])[-/ ]?{_YEAR}",
        rf"(?P<q>[1-4])\.?\s?(?:Quartal|trimestre|quarter)\s?{_YEAR}",
    )
)


MOST_ORDERED = 1000
"""A column of more different texts is not looked at for an order: scales and bands are short."""


def text_order(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the order of all texts of a column, from the least to the greatest; empty if they have none."""
    if not 2 < len(texts) <= MOST_ORDERED:
        return ()
    found = read_order(texts) or read_calendar_names(texts)
    return () if found is None else found.order


def ranged_order(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the order in which texts are released as ranges by default: bands, answers, grades, months of years.

    Levels of schooling and names of days are not among them: what lies between two of them is not always meant.
    """
    if not 2 < len(texts) <= MOST_ORDERED:
        return ()
    found = read_order(texts)
    return () if found is None or found.what == SCHOOL_LEVELS else found.order


def is_calendar(reading: Reading) -> bool:
    """Return whether the order is that of time, whose groups are quarters, years and decades."""
    return reading.what in _CALENDAR


def run_name_of(reading: Reading) -> Callable[[str, str], str]:
    """Return how runs of values with an order are called."""
    if reading.what == _BANDS:
        bands = {text: band for text in reading.order if (band := _band(text)) is not None}
        return lambda first, last: _joined(bands[first], bands[last])
    return run_name


def _read_months(texts: Sequence[str]) -> Reading | None:
    """Read months of a year and quarters of a year; both belong to years and decades."""
    kinds: Mapping[str, Callable[[str], tuple[int, int] | None]] = {
        _CALENDAR[0]: _month_of,
        _CALENDAR[1]: _quarter_of,
    }
    for what, place_of in kinds.items():
        places = {text: place for text in texts if (place := place_of(text.strip())) is not None}
        if enough(len(places), texts):
            groups = {text: _above_month(*place, months=place_of is _month_of) for text, place in places.items()}
            order = sorted(places, key=lambda text: (places[text], text))
            labels = {label for above in groups.values() for label in above}
            return None if labels & set(texts) else make_reading(what, texts, groups, order=order)
    return None


def _month_of(text: str) -> tuple[int, int] | None:
    for form in _MONTHS:
        if match := form.fullmatch(text):
            return int(match["year"]), int(match["month"])
    if match := _NAMED_MONTH.fullmatch(text):
        number = _MONTH_NAMES.get((match["name"] or match["name2"]).casefold())
        return None if number is None else (int(match["year"] or match["year2"]), number)
    return None


def _quarter_of(text: str) -> tuple[int, int] | None:
    for form in _QUARTERS:
        if match := form.fullmatch(text):
            return int(match["year"]), int(match["q"])
    return None


def _above_month(year: int, part: int, *, months: bool) -> tuple[str, ...]:
    quarter = (f"{year:04d}-Q{(part + 2) // 3}",) if months else ()
    return (*quarter, f"{year:04d}", f"{year // 10 * 10:04d}s")
