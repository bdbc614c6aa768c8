"""Codes and their labels in the columns of a release: which of the two a file shows, and which codes mean that there is no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.notation import ValueLabels

Labelling = Literal["text", "codes"]
"""Whether a file shows the labels of codes, or the codes."""
LABELLINGS = ("text", "codes")


def labelled(column: pa.ChunkedArray, one: ValueLabels, how: Labelling, *, missing_codes: bool) -> pa.ChunkedArray:
    """Return a column of codes as a file shows it; codes for a missing value are missing unless they are asked for."""
    shown = column if missing_codes else one.without_missing(column)
    return one.texts(shown) if how == "text" else shown


def code_text(code: Any) -> str:
    """Return a code as text; whole numbers have no decimal point."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def marks_for_missing(column: pa.ChunkedArray, one: ValueLabels) -> list[str]:
    """Return the codes, or the labels of codes, that a released column shows for a missing value."""
    if not (pa.types.is_string(column.type) and one.labels):
        return [code_text(code) for code in one.codes_for_missing(column)]
    codes = one.codes_for_missing(pa.array(list(one.labels), from_pandas=True))
    named = {one.labels[code] for code in codes} | {code_text(code) for code in codes}
    return sorted(named.intersection(pc.unique(column).to_pylist()))


def labels_in_file(
    labels: Mapping[str, ValueLabels], fields: Mapping[str, Mapping[str, Any]], renamed: Mapping[str, str]
) -> dict[str, ValueLabels]:
    """Return labels by the names that a file has, with the titles of the dictionary; a column that was renamed has its old name as title."""
    found = {}
    for name, field in fields.items():
        one = labels.get(name, ValueLabels())
        title = field.get("title") or one.title or (name if name in renamed else "")
        made = ValueLabels(one.labels, one.missing, title, one.measure, one.form)
        if made != ValueLabels():
            found[renamed.get(name, name)] = made
    return found
