"""The condition of a query on a coded column: an interval of numbers, or codes."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from shoal.encoding import CodedColumn
from shoal.errors import ParameterError
from shoal.metrics.queries import Condition
from shoal.validation import nearest_hint


def interval_asked(column: CodedColumn, condition: Condition) -> tuple[float, float]:
    """Return both ends of the numbers that a condition asks for."""
    if len(condition.values) > 1:
        raise ParameterError(
            f"A query asks for several values of {column.name!r}, which is released as ranges.",
            hint=f"ask for a range: {column.name} 30..50",
        )
    ends = condition.values * 2 or (condition.low, condition.high)
    low = _position_of(column, ends[0]) if ends[0] else -np.inf
    high = _position_of(column, ends[1]) if ends[1] else np.inf
    if low > high:
        raise ParameterError(f"A query asks for a range of {column.name!r} whose low end is above its high end.")
    return low, high


def _position_of(column: CodedColumn, text: str) -> float:
    """Return the number that an end of a range stands for in a column."""
    try:
        if column.ordinal:
            return float(column.texts.index(text))
        if pa.types.is_temporal(column.original_type):
            moment = pa.scalar(text).cast(column.values.type)
            return float(moment.cast(pa.int32() if moment.type.bit_width == 32 else pa.int64()).as_py() - column.origin)
        return float(text) if column.origin == 0 else float(Decimal(text) - column.origin)
    except (ValueError, InvalidOperation, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ParameterError(
            f"A query asks for {text!r} in the column {column.name!r}, which is none of its kind of value.",
            hint="numbers are written 30 or 2.5, dates 2024-12-31, ordered categories as in the order given.",
        ) from None


def codes_asked(column: CodedColumn, condition: Condition) -> list[int]:
    """Return the codes that a condition on a category asks for, those below a node among them."""
    if not condition.values:
        raise ParameterError(
            f"A query asks for a range of {column.name!r}, which has no order.",
            hint=f"ask for values: {column.name} in {{a, b}}",
        )
    codes: list[int] = []
    for value in condition.values:
        if value in column.texts:
            codes.append(column.texts.index(value))
        elif column.hierarchy is not None and value in column.hierarchy.labels:
            codes.extend(_leaves_below(column, value))
        else:
            raise ParameterError(
                f"A query asks for {value!r}, which is not a value of the column {column.name!r}.",
                hint=nearest_hint(value, column.texts),
            )
    return codes


def _leaves_below(column: CodedColumn, label: str) -> range:
    """Return the codes of the leaves below the hierarchy node with a label."""
    tree = column.hierarchy
    assert tree is not None  # noqa: S101
    node = tree.labels.index(label)
    return range(int(tree.low[node]), int(tree.high[node]) + 1)
