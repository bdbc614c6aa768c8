"""The cover check before a release: each cell, read as a recipient would, covers its original value.

The check compares distinct pairs of an original value and a released cell, not rows. Cells are read by
``shoal.cells.parse``, which knows nothing of codes; numbers and moments are compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, BoolArray, LongArray
from shoal.cells.parse import Cell, parse_cell, read_number
from shoal.encoding import CodedColumn, is_ordered, value_texts
from shoal.errors import PrivacyError
from shoal.frames import Frame
from shoal.frames.canonical import encode_dictionary, is_period
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.texts import match_texts


class Pairs(NamedTuple):
    """The distinct pairs of an original value and a released cell; the last of each list is the missing one."""

    values: pa.Array
    cells: list[str | None]
    value: LongArray
    cell: LongArray
    rows: LongArray


def original_values(frame: Frame, column: CodedColumn) -> pa.ChunkedArray:
    """Return a column of the original as its cells are compared with: numbers and dates by what they mean, all else as it is."""
    return frame.typed(column.name) if column.measured else frame.cells(column.name)


def check_cover(column: CodedColumn, original: pa.ChunkedArray, released: pa.ChunkedArray) -> None:
    """Raise unless every released cell of a column covers the original value in its row."""
    pairs = distinct_pairs(original, released)
    _require(column.name, covered_pairs(column, pairs), pairs.rows)


def covered_pairs(column: CodedColumn, pairs: Pairs) -> BoolArray:
    """Return for each pair whether the cell covers the value."""
    whole = np.array([cell == "*" for cell in pairs.cells])[pairs.cell]
    absent_value, absent_cell = pairs.value == len(pairs.values), pairs.cell == len(pairs.cells) - 1
    covered = whole | (absent_value & absent_cell)
    open_pairs = np.flatnonzero(~whole & ~absent_value & ~absent_cell)
    covered[open_pairs] = _covers(column, pairs, open_pairs)
    return np.asarray(covered, np.bool_)


def _require(name: str, good: BoolArray, rows: LongArray) -> None:
    if not good.all():
        raise PrivacyError(
            f"{int(rows[~good].sum())} cells of the column {name!r} would not cover the value they stand for. "
            "Nothing was released.",
            hint="this is an internal error; please report it.",
        )


def distinct_pairs(original: pa.ChunkedArray, released: pa.ChunkedArray) -> Pairs:
    """Return the pairs that occur, with the number of rows of each."""
    values, cells = encode_dictionary(original), encode_dictionary(released)
    width = len(cells.dictionary) + 1
    value = np.asarray(values.indices.fill_null(len(values.dictionary))).astype(np.int64)
    cell = np.asarray(cells.indices.fill_null(width - 1)).astype(np.int64)
    key, rows = np.unique(value * width + cell, return_counts=True)
    return Pairs(values.dictionary, [*cells.dictionary.to_pylist(), None], key // width, key % width, rows)


def _covers(column: CodedColumn, pairs: Pairs, places: LongArray) -> BoolArray:
    """Return for pairs without a missing value whether the cell covers the value."""
    value, cell = pairs.value[places], pairs.cell[places]
    texts = [str(text) for text in pairs.cells[:-1]]
    if column.kind.ordered:
        return _within(column, pairs.values, texts, value, cell)
    own = value_texts(pairs.values).to_pylist()
    holds = _node_test(column.hierarchy, own) if column.hierarchy is not None else _set_test(own)
    known = [(text, parse_cell(text)) for text in texts]
    return np.array([holds(one, *known[other]) for one, other in zip(value.tolist(), cell.tolist(), strict=True)], bool)


# --- ranges ------------------------------------------------------------------------------------------------------


def _within(
    column: CodedColumn, values: pa.Array, texts: Sequence[str], value: LongArray, cell: LongArray
) -> BoolArray:
    ends = [cell_ends(column, text) for text in texts]
    some = next((one for one in ends if one is not None), (0, 0))
    low, high = (_as_array([(some if one is None else one)[end] for one in ends]) for end in (0, 1))
    own, readable = own_numbers(column, values)[value], np.array([one is not None for one in ends], bool)
    return np.asarray(readable[cell] & (low[cell] <= own) & (own <= high[cell]), bool)


def _reader(column: CodedColumn) -> Callable[[str], Any]:
    """Return what makes a number of one end of a range."""
    if column.ordinal:
        return lambda text: match_texts(column.texts, [text])[0]
    return lambda text: read_number(text, column.original_type)


def cell_ends(column: CodedColumn, text: str) -> tuple[Any, Any] | None:
    """Return both ends of a cell of a column with an order, None for one that is not a value and no range of the column."""
    cell, number = parse_cell(text), _reader(column)
    if cell.form not in {"value", "range"}:
        return None
    try:
        return number(cell.values[0]), number(cell.values[-1])
    except ValueError:
        return None


def own_numbers(column: CodedColumn, values: pa.Array) -> AnyArray:
    """Return the exact number of each distinct value of a column of numbers, dates or ordered words."""
    kind = values.type
    if pa.types.is_boolean(kind) and not column.ordinal:
        return np.asarray(values.cast(pa.int8())).astype(np.int64)
    if column.ordinal or not is_ordered(kind):
        return _as_array([_reader(column)(text) for text in value_texts(values).to_pylist()])
    if is_period(kind):
        values = values.storage
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_decimal(kind) or pa.types.is_uint64(kind):
        return _as_array(values.to_pylist())
    return np.asarray(values.cast(pa.float64() if pa.types.is_floating(kind) else pa.int64()))


def _as_array(numbers: list[Any]) -> AnyArray:
    """Return numbers without loss: integers that fit, floats, or Python's own numbers."""
    if all(type(one) is int for one in numbers) and all(-(2**63) <= one < 2**63 for one in numbers):
        return np.array(numbers, np.int64)
    if all(type(one) is float for one in numbers):
        return np.array(numbers, np.float64)
    return np.array([*numbers, None], object)[:-1]


# --- categories --------------------------------------------------------------------------------------------------


def _set_test(own: Sequence[str]) -> Callable[[int, str, Cell], bool]:
    def holds(value: int, _text: str, cell: Cell) -> bool:
        return cell.form in {"value", "set"} and own[value] in cell.values

    return holds


def _node_test(tree: Hierarchy, own: Sequence[str]) -> Callable[[int, str, Cell], bool]:
    """Return whether a label is at or above the leaf of a value; a label like [30-39] may be released as it is."""
    paths: dict[int, tuple[str, ...]] = {}

    def holds(value: int, text: str, cell: Cell) -> bool:
        path = paths.get(value)
        if path is None:
            path = paths[value] = tree.path(own[value])
        if cell.form == "range":
            return text in path and _lies_between(cell.values[0], own[value], cell.values[1])
        if cell.form == "set":
            return text in path and own[value] in cell.values
        return cell.form == "value" and cell.values[0] in path

    return holds


def _lies_between(low: str, text: str, high: str) -> bool:
    """Return whether a number lies between two others; dates in ISO form are in the order of their text."""
    try:
        return float(low) <= float(text) <= float(high)
    except ValueError:
        return low <= text <= high
