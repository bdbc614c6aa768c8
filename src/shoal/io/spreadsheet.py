"""Text cells that a spreadsheet takes for formulas when it opens a CSV file.

A cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return is run, not shown; numbers such as
``-5`` are none of these. An apostrophe before it makes a spreadsheet show it as text.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from shoal.frames.canonical import value_type

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
_MADE_SAFE = r"^('+[=+\-@\t\r])"


def formula_columns(table: pa.Table) -> dict[str, int]:
    """Return how many cells of each column, its name included, a spreadsheet would run as formulas."""
    found = {name: _count(table.column(name)) + _count_texts([name]) for name in table.column_names}
    return {name: cells for name, cells in found.items() if cells}


def without_formulas(table: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before every formula, and before what looks like a formula made so."""
    columns = [_safe(table.column(name)) for name in table.column_names]
    return pa.table(columns, names=[_safe(pa.array([name]))[0].as_py() for name in table.column_names])


def _texts(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array | None:
    """Return a column as plain text, None if it holds none."""
    kind = value_type(column.type)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    return column.cast(kind)


def _is_formula(texts: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    starts, number = (pc.match_substring_regex(texts, pattern) for pattern in (_FORMULA, _NUMBER))
    return pc.and_(starts, pc.invert(number))


def _count(column: pa.ChunkedArray | pa.Array) -> int:
    texts = _texts(column)
    return 0 if texts is None else int(pc.sum(_is_formula(texts)).as_py() or 0)


def _count_texts(texts: Iterable[str]) -> int:
    return _count(pa.array(list(texts), pa.string()))


def _safe(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    texts = _texts(column)
    if texts is None:
        return column
    marked = pc.or_(_is_formula(texts), pc.match_substring_regex(texts, _MADE_SAFE))
    return pc.if_else(marked, pc.binary_join_element_wise("'", texts, ""), texts)
