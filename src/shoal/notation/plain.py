"""Texts in the plain notation: decimal points, nothing between thousands, ISO dates."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.notation.dates import read_dates
from shoal.notation.numbers import tidy
from shoal.notation.read import Reading


def in_plain_notation(texts: pa.Array, reading: Reading) -> pa.Array:
    """Return texts of a column that was read so in the plain notation; digits, and marks for a missing value, stay."""
    if not reading.form or reading.kind == "text":
        return texts
    clean = tidy(texts)
    stays = pc.fill_null(pc.is_in(clean, pa.array(reading.marks, pa.string())), fill_value=False)
    if reading.kind in {"whole number", "number"}:
        plain = _without_marks(clean, reading)
    else:
        dates = read_dates(clean.filter(pc.invert(stays)).drop_null(), reading.form)
        if dates is None:
            return texts
        place = pc.subtract(pc.cumulative_sum(pc.and_(pc.invert(stays), clean.is_valid()).cast(pa.int64())), 1)
        plain = _iso(dates).take(pc.if_else(stays, pa.scalar(None, pa.int64()), place))
    return pc.if_else(stays, texts, plain)


def _without_marks(texts: pa.Array, reading: Reading) -> pa.Array:
    if reading.thousands:
        texts = pc.replace_substring(texts, reading.thousands, "")
    return pc.replace_substring(texts, ",", ".") if reading.decimal == "," else texts


def _iso(dates: pa.Array) -> pa.Array:
    """Return dates and time stamps as text, without a fraction of a second that is nothing."""
    return pc.replace_substring_regex(dates.cast(pa.string()), r"\.0+$", "")
