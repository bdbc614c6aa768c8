"""The text by which a data value is matched with a leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from shoal.errors import HierarchyError, ParameterError

TICKS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""Parts of a second by the name of the unit."""


def value_text(value: Any) -> str:
    """Return the text of one data value: 39 and 39.0 are "39", 39.5 is "39.5", a date is its ISO form."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Decimal):
        return _decimal_text(value)
    if isinstance(value, Real):
        return _float_text(value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return _numpy_text(value)
    if isinstance(value, datetime):
        is_date = value.time() == time.min and value.tzinfo is None and not getattr(value, "nanosecond", 0)
        return value.date().isoformat() if is_date else value.isoformat()
    if isinstance(value, timedelta):
        return duration_text(value // timedelta(microseconds=1), TICKS["us"])
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def duration_text(ticks: int, second: int) -> str:
    """Return a duration of ``ticks``, of which ``second`` make a second: 3 days, -2 days 04:00:00, 0 days 00:00:00.25."""
    seconds, fraction = divmod(abs(ticks), second)
    days, seconds = divmod(seconds, 86_400)
    text = f"{'-' if ticks < 0 else ''}{days} days"
    if seconds or fraction:
        text += f" {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{str(second + fraction)[1:].rstrip('0')}" if fraction else text


def _numpy_text(value: np.datetime64 | np.timedelta64) -> str:
    """Return the text of a moment or a duration of numpy, to the nanosecond."""
    if isinstance(value, np.timedelta64):
        return duration_text(int(value.astype("timedelta64[ns]").astype(np.int64)), TICKS["ns"])
    fine = value.astype("datetime64[ns]")
    if fine.astype("datetime64[us]") == fine:
        return value_text(value.astype("datetime64[us]").item())
    return str(fine)


_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")


def match_texts(known: Sequence[str] | Mapping[str, int], texts: Iterable[str]) -> list[int]:
    """Return the place of each text among the known ones, -1 for none; numbers match by number, so 60.0 is 60.

    What is written with leading zeros is not a number but a code. If two known texts are the same number, neither text is read as a number.
    """
    places = known if isinstance(known, Mapping) else {text: place for place, text in enumerate(known)}
    asked = list(texts)
    found = [places.get(text, -1) for text in asked]
    if -1 not in found:
        return found
    numbers: dict[str, int] = {}
    for text, place in places.items():
        number = _number_text(text)
        if number is not None:
            numbers[number] = -1 if number in numbers else place
    return [
        numbers.get(_number_text(text) or "", -1) if place < 0 else place
        for text, place in zip(asked, found, strict=True)
    ]


def _number_text(text: str) -> str | None:
    return _decimal_text(Decimal(text)) if _NUMBER.fullmatch(text) else None


def is_missing(value: Any) -> bool:
    """Return whether a data value stands for "not known" (None, NaN, NaT, NA)."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def refuse_unreadable(wrong: Sequence[str], total: int, what: str, maker: str) -> None:
    """Say how many of the values a hierarchy is made from cannot be read; the values themselves are kept apart."""
    if wrong:
        raise HierarchyError(
            f"{len(wrong):,} of the {total:,} different values are {what}.",
            hint=f"correct them or leave them out; {maker} needs all of one kind",
            values=wrong[:10],
        )


def distinct_values(values: Iterable[Any]) -> list[Any]:
    """Return the values of a column that are not missing, each once, in the order they appear."""
    # a text is iterable too, and a table gives its column names: neither is a column
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping)) or hasattr(values, "columns"):
        raise ParameterError(
            f"The values of a hierarchy must be a column or a list. Got {type(values).__name__} instead.",
            hint='such as table["zip"]',
        )
    try:
        distinct = dict.fromkeys(_plain_values(values))
    except TypeError:  # a list or a dict among them has no hash
        raise ParameterError(
            "The values of a hierarchy must be single values. Got a list or a dict among them.",
            hint="make text or numbers of them.",
        ) from None
    return [value for value in distinct if not is_missing(value)]


def _plain_values(values: Any) -> Iterable[Any]:
    """Return Python values from an Arrow, pandas or polars column, an array, or any iterable."""
    found: Iterable[Any] = values
    if isinstance(values, np.ndarray):
        # as a list, moments and durations to the nanosecond would turn into plain integers
        found = list(values.ravel()) if values.dtype.kind in "mM" else values.ravel().tolist()
    elif hasattr(values, "to_pylist"):  # Arrow
        found = values.unique().to_pylist()
    elif hasattr(values, "drop_duplicates"):  # pandas
        found = values.drop_duplicates().to_list()
    elif hasattr(values, "to_list"):  # polars
        found = values.unique(maintain_order=True).to_list()
    return found


def _float_text(value: Any) -> str:
    number = float(value)
    if number.is_integer():
        return str(int(number))
    # a 32-bit 0.1 is written as 0.1, not as the 64-bit number nearest to it
    return str(value) if isinstance(value, np.floating) else repr(number)


def _decimal_text(value: Decimal) -> str:
    if not value.is_finite():
        return str(value)
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
