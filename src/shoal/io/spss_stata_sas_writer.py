"""What a file of SPSS, Stata or SAS is given: columns, labels, formats, codes for missing values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.frames.canonical import decoded_table, value_type
from shoal.notation import ValueLabels
from shoal.notation.labels import LETTERS, letter_of_code

WRITERS = {
    ".sav": "write_sav",
    ".zsav": "write_sav",
    ".dta": "write_dta",
    ".xpt": "write_xport",
    ".v8xpt": "write_xport",
}
_SPSS = frozenset({".sav", ".zsav"})
_MOST_EXACT = 1 << 53
"""Numbers in these files are floating-point numbers; whole ones beyond this are not exact."""
_LONGEST = {".sav": 32_767, ".zsav": 32_767, ".dta": 2_000_000_000, ".xpt": 200, ".v8xpt": 32_767}
"""Bytes of a text."""
_LONGEST_MARK = 8
"""Bytes of a text that SPSS takes for a missing value."""
_MOST_MARKS = 3

Labels = Mapping[str, ValueLabels]


def writing_options(table: pa.Table, labels: Labels, suffix: str) -> dict[str, Any]:
    """Return what is said of the columns, as far as the format can hold it."""
    options: dict[str, Any] = {"column_labels": {name: one.title for name, one in labels.items() if one.title}}
    options["variable_format"] = {name: one.form for name, one in labels.items() if _same_program(one.form, suffix)}
    if suffix in _SPSS:
        options |= _spss_options(table, labels)
        options["compress" if suffix == ".zsav" else "row_compress"] = True
    if suffix == ".dta":
        letters = {name: stata_letters(table.column(name), one) for name, one in labels.items()}
        options["missing_user_values"] = {name: list(one.values()) for name, one in letters.items() if one}
        options["variable_value_labels"] = {
            name: found
            for name, one in labels.items()
            if (found := _stata_labels(table.column(name), one, letters[name]))
        }
    given = {name: value for name, value in options.items() if value}
    return given | ({"file_format_version": 5 if suffix == ".xpt" else 8} if "xpt" in suffix else {})


def _spss_options(table: pa.Table, labels: Labels) -> dict[str, Any]:
    numeric = {name for name in labels if not pa.types.is_string(decoded_table(table.select([name])).schema.types[0])}
    return {
        "variable_value_labels": {
            name: fitting
            for name, one in labels.items()
            if (
                fitting := {
                    code: text for code, text in one.labels.items() if isinstance(code, str) != (name in numeric)
                }
            )
        },
        "missing_ranges": {
            name: marks for name, one in labels.items() if (marks := _spss_missing(one, name in numeric))
        },
        "variable_measure": {name: one.measure for name, one in labels.items() if one.measure},
    }


def _spss_missing(one: ValueLabels, numeric: bool) -> list[dict[str, Any]]:
    """Return what SPSS takes for missing: one range and one code, or up to three codes."""
    fits = [pair for pair in one.missing if isinstance(pair[0], str) != numeric]
    if not numeric:
        fits = [pair for pair in fits if len(pair[0].encode()) <= _LONGEST_MARK]
    return [{"lo": low, "hi": high} for low, high in fits[:_MOST_MARKS]]


def _same_program(form: str, suffix: str) -> bool:
    """Return whether a format comes from the program that reads such files."""
    if not form or "xpt" in suffix:
        return False
    return form.startswith("%") == (suffix == ".dta")


# --- Stata: letters for missing values -------------------------------------------------------------------------------


def stata_letters(column: pa.ChunkedArray, one: ValueLabels) -> dict[Any, str]:
    """Return a letter for each code of a column that stands for a missing value; nothing for text, dates and more than 26 codes."""
    kind = value_type(column.type)
    if not one.missing or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return {}
    codes = one.codes_for_missing(column)
    own = {code: letter for code in codes if (letter := letter_of_code(code))}
    free = [letter for letter in LETTERS if letter not in own.values()]
    others = [code for code in codes if code not in own]
    return own | dict(zip(others, free, strict=False)) if len(others) <= len(free) else {}


def _stata_labels(column: pa.ChunkedArray, one: ValueLabels, letters: Mapping[Any, str]) -> dict[Any, str]:
    """Return labels of whole numbers and letters; Stata has none of other values."""
    kind = value_type(column.type)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return {}
    named: dict[Any, str] = {}
    for code, text in one.labels.items():
        if code in letters:
            named[letters[code]] = text
        elif not isinstance(code, str) and float(code).is_integer() and letter_of_code(code) is None:
            named[int(code)] = text
    return named


# --- columns -----------------------------------------------------------------------------------------------------


def written_frame(table: pa.Table, labels: Labels, suffix: str) -> Any:
    """Return a table as pandas, each column in a form that the format can hold; refuse a column that it cannot."""
    plain = decoded_table(table)
    for name in plain.column_names:
        _refuse_unwritable(name, plain.column(name), suffix)
    frame = plain.to_pandas(date_as_object=True)
    for name in plain.column_names:
        column = plain.column(name)
        if pa.types.is_decimal(column.type):
            frame[name] = column.cast(pa.float64()).to_pandas()
        if pa.types.is_timestamp(column.type) and column.type.tz is not None:
            frame[name] = column.cast(pa.timestamp("us")).to_pandas()
    for name, one in labels.items() if suffix == ".dta" else ():
        letters = stata_letters(plain.column(name), one)
        if letters:
            values = plain.column(name).to_pylist()
            frame[name] = [letters.get(value, value) for value in values]
            frame[name] = frame[name].astype(object)
        elif one.missing:
            frame[name] = one.without_missing(plain.column(name)).to_pandas(date_as_object=True)
    return frame


def _refuse_unwritable(name: str, column: pa.ChunkedArray, suffix: str) -> None:
    """Say which column a format cannot hold, and why."""
    kind, reason = column.type, ""
    hint = "write .parquet, or make text of the column."
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_interval(kind) or pa.types.is_duration(kind):
        reason = f"its cells are of type {str(kind)[:40]}"
    elif pa.types.is_integer(kind) and pc.any(pc.greater(pc.abs_checked(column.cast(pa.int64())), _MOST_EXACT)).as_py():
        reason = "it holds whole numbers of more than 15 digits, which would be rounded"
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        longest = pc.max(pc.binary_length(column)).as_py() or 0
        if longest > _LONGEST[suffix]:
            reason = f"it holds text of more than {_LONGEST[suffix]:,} bytes"
            hint = "write .v8xpt, SAS's version 8, or .parquet." if suffix == ".xpt" else "write .parquet."
    if reason:
        raise DataError(f"A {suffix} file cannot hold the column {name!r}: {reason}.", hint=hint)


def explain_unwritten(table: pa.Table, path: Path, suffix: str) -> DataError:
    """Find the first column that cannot be written alone, so that an error can name it."""
    import pyreadstat  # noqa: PLC0415  (an extra)

    for name in table.column_names:
        try:
            getattr(pyreadstat, WRITERS[suffix])(written_frame(table.select([name]), {}, suffix), str(path))
        except Exception:  # noqa: BLE001  (what pyreadstat says may hold values)
            kind = str(decoded_table(table.select([name])).schema.types[0])[:40]
            return DataError(
                f"A {suffix} file cannot hold the column {name!r} of type {kind}.",
                hint="write .parquet, or make text of the column.",
            )
    return DataError(
        f"The labels or formats of the table cannot be written as {suffix}.", hint="write .parquet or .csv."
    )
