"""The text by which a data value is matched with a leaf."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from shoal.errors import ParameterError


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
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time.min else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def is_missing(value: Any) -> bool:
    """Tell whether a data value stands for "not known" (None, NaN, NaT, NA)."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def distinct_values(values: Iterable[Any]) -> list[Any]:
    """Return the values of a column that are not missing, each once, in the order they appear."""
    # a text is iterable too, and a table gives its column names: neither is a column
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping)) or hasattr(values, "columns"):
        raise ParameterError(
            f"The values of a hierarchy must be a column or a list. Got {type(values).__name__} instead.",
            hint='such as table["zip"]',
        )
    return [value for value in dict.fromkeys(_plain_values(values)) if not is_missing(value)]


def _plain_values(values: Any) -> Iterable[Any]:
    """Return Python values from an Arrow, pandas or polars column, an array, or any iterable."""
    found: Iterable[Any] = values
    if isinstance(values, np.ndarray):
        # datetime64[ns] would turn into plain integers
        found = (values.astype("datetime64[us]") if values.dtype.kind == "M" else values).ravel().tolist()
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
