"""From the distinct texts of a column to what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.notation.dates import FORMATS, TIMES, ZONED, date_forms, read_dates
from shoal.notation.marks import marked, missing_code
from shoal.notation.numbers import PLAIN, NumberForm, number_forms, read_numbers, tidy
from shoal.notation.settings import Notation

Kind = Literal["text", "whole number", "number", "date", "time stamp", "time of day"]
_PLAIN_DATES = {"%Y-%m-%d", ZONED, *(form for form in FORMATS if form.startswith(("%Y-%m-%dT", "%Y-%m-%d ")))}


@dataclass(frozen=True)
class Reading:
    """What the texts of a column mean."""

    kind: Kind = "text"
    values: pa.Array | None = None
    """The value of each distinct text, missing if it is a mark; None: the texts themselves."""
    form: str = ""
    """How the values are written, in words or as a date format; empty if it is the plain way of machines."""
    decimal: str = ""
    """The decimal mark, of numbers that have one."""
    thousands: str = ""
    """The mark between thousands that numbers may have."""
    marks: tuple[str, ...] = ()
    """The texts that stand for a missing value."""
    choices: tuple[str, ...] = ()
    """The options of which the user must choose one, because the texts can be read in more than one way."""
    assumed: bool = False
    """Whether a decimal point is assumed: ``1.234`` could be a thousand too, and no other column shows which is meant."""

    @property
    def words(self) -> str:
        """The reading in words, such as ``numbers with decimal comma``."""
        plural = {"time of day": "times of day", "text": "text"}.get(self.kind, f"{self.kind}s")
        if self.assumed:
            return f"{plural} with an assumed decimal point"
        if not self.form:
            return plural
        return f"{plural} written {self.form}" if "%" in self.form else f"{plural} with {self.form}"


def understand(texts: pa.Array, notation: Notation, table_decimal: Callable[[], str | None] = lambda: None) -> Reading:
    """Return how the distinct texts of a column are to be read.

    ``table_decimal`` is asked if a column alone does not show whether ``1.234`` is a thousand or not quite one and a quarter:
    it returns the decimal mark that the other columns of the table use.
    """
    if not notation.detect:
        return Reading()
    clean = tidy(texts)
    none = _missing(clean, notation)
    values = clean.filter(pc.invert(none))
    if len(values) == 0:
        return _named_only(texts, none, notation)
    found = _read_dates(values, notation) or _read_numbers(values, notation, table_decimal)
    if found is None or found.values is None:
        return _named_only(texts, none, notation, found.choices if found else ())
    whole = found.values.take(_places(none))
    marks = tuple(clean.filter(none).to_pylist())
    if found.kind in {"whole number", "number"} and notation.missing is None:
        whole, marks = _without_code(whole, marks)
    return replace(found, values=whole, marks=marks)


def _missing(texts: pa.Array, notation: Notation) -> pa.Array:
    """Return which texts stand for no value: those the user names, or the words everybody uses."""
    if notation.missing is None:
        return marked(texts)
    return pc.is_in(texts, pa.array(notation.missing, pa.string()))


def _named_only(texts: pa.Array, none: pa.Array, notation: Notation, choices: tuple[str, ...] = ()) -> Reading:
    """Return the reading of a column that stays text: only marks the user names are missing there (NA is Namibia too)."""
    if not notation.missing or not pc.any(none).as_py():
        return Reading(choices=choices)
    values = pc.if_else(none, pa.scalar(None, pa.string()), texts)
    return Reading("text", values, marks=tuple(texts.filter(none).to_pylist()), choices=choices)


def _places(none: pa.Array) -> pa.Array:
    """Return for each text its place among those that are values, missing for a mark."""
    kept = pc.invert(none)
    place = pc.subtract(pc.cumulative_sum(kept.cast(pa.int64())), 1)
    return pc.if_else(kept, place, pa.scalar(None, pa.int64()))


def _read_dates(texts: pa.Array, notation: Notation) -> Reading | None:
    forms = date_forms(texts, notation.date_formats)[:1] or date_forms(texts, (*FORMATS, *TIMES))
    if not forms:
        values = read_dates(texts, ZONED)
        return None if values is None else Reading("time stamp", values)
    named = forms[0] in notation.date_formats
    if not named and (len(forms) > 1 or "%y" in forms[0]):
        return Reading(choices=tuple(forms))
    values = read_dates(texts, forms[0])
    kind = _date_kind(values.type) if values is not None else "text"
    return Reading(kind, values, "" if forms[0] in _PLAIN_DATES or kind == "time of day" else forms[0])


def _date_kind(kind: pa.DataType) -> Kind:
    if pa.types.is_date(kind):
        return "date"
    return "time of day" if pa.types.is_time(kind) else "time stamp"


def _read_numbers(texts: pa.Array, notation: Notation, table_decimal: Callable[[], str | None]) -> Reading | None:
    forms = number_forms(texts, notation)
    if not forms:
        return None
    decimals = _decimals(forms, texts)
    assumed = False
    if len(decimals) > 1:
        shown = table_decimal()
        assumed = shown is None and PLAIN in forms
        wanted = "." if assumed else shown
        if wanted is None:
            return Reading(choices=decimals)
        forms = [form for form in forms if form.decimal == wanted]
    values = read_numbers(texts, forms[0])
    if values is None:
        return None
    kind: Kind = "whole number" if pa.types.is_integer(values.type) else "number"
    form = "" if forms[0] == PLAIN else forms[0].words(whole=kind == "whole number")
    decimal = "" if kind == "whole number" else forms[0].decimal
    return Reading(kind, values, form, decimal, forms[0].thousands, assumed=assumed)


def _decimals(forms: list[NumberForm], texts: pa.Array) -> tuple[str, ...]:
    """Return the decimal marks the texts allow; one of them if the texts hold neither."""
    if not pc.any(pc.match_substring_regex(texts, "[.,]")).as_py():
        return (forms[0].decimal,)
    return tuple(sorted({form.decimal for form in forms}))


def decimal_mark(texts: pa.Array, notation: Notation) -> str | None:
    """Return the decimal mark the texts of a column prove: the only one in which they are numbers."""
    clean = tidy(texts)
    values = clean.filter(pc.invert(_missing(clean, notation)))
    if len(values) == 0 or not pc.any(pc.match_substring_regex(values, "[.,]")).as_py():
        return None
    decimals = {form.decimal for form in number_forms(values, notation)}
    return decimals.pop() if len(decimals) == 1 else None


def _without_code(values: pa.Array, marks: tuple[str, ...]) -> tuple[pa.Array, tuple[str, ...]]:
    code = missing_code(values)
    if code is None:
        return values, marks
    kept = pc.not_equal(values, pa.scalar(code, values.type))
    return pc.if_else(kept, values, pa.scalar(None, values.type)), (*marks, str(code))


def code_for_missing(values: pa.Array, notation: Notation) -> list[float]:
    """Return the numbers among distinct ones that stand for a missing value: named by the user, or the usual code."""
    if notation.missing is None:
        code = missing_code(values)
        return [] if code is None else [float(code)]
    named = []
    for mark in notation.missing:
        try:
            named.append(float(mark))
        except ValueError:
            continue
    return named
