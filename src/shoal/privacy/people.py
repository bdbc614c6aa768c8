"""Lists of people: where each stands among the codes of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.encoding import CodedColumn, encode, exact_numbers
from shoal.errors import ColumnError
from shoal.frames import Frame, to_frame
from shoal.hierarchy.texts import match_texts
from shoal.io.files import open_table
from shoal.kernels.measuring.matching import Points
from shoal.kernels.space.tuples import distinct_tuples

if TYPE_CHECKING:
    from shoal.kernels.measuring.matching import Points


def open_people(people: Any) -> Frame:
    """Return a list of people given as a table or as the path of a file."""
    return open_table(people) if isinstance(people, (str, Path)) else to_frame(people)


def place_people(frame: Frame, columns: Sequence[CodedColumn]) -> IntArray:
    """Return each person's value in each column as a doubled code; odd or -1 where the table has no such value."""
    absent = [column.name for column in columns if column.name not in frame.names]
    if absent:
        raise ColumnError(f"The list of people has no column {', '.join(map(repr, absent))}.")
    placed = np.empty((len(columns), frame.records), np.int32)
    for row, column in enumerate(columns):
        placed[row] = _place_numbers(frame, column) if column.measured else _place_texts(frame, column)
    return placed


def _place_numbers(frame: Frame, column: CodedColumn) -> IntArray:
    values = frame.typed(column.name)
    dated = pa.types.is_temporal(column.original_type)
    if dated and pa.types.is_temporal(values.type):
        values = values.cast(column.original_type, safe=False)
    theirs = encode(
        Frame(pa.table({column.name: values})), [column.name], kinds={column.name: "date" if dated else "numeric"}
    )
    own, other = exact_numbers(column.values), exact_numbers(theirs.columns[0].values)
    place = np.searchsorted(own, other)
    exact = own[np.minimum(place, len(own) - 1)] == other if len(own) else np.zeros(len(other), np.bool_)
    doubled = np.where(exact, 2 * place, 2 * place - 1)
    placed: IntArray = np.append(doubled, _missing_place(column)).astype(np.int32)[theirs.codes[0]]
    return placed


def _place_texts(frame: Frame, column: CodedColumn) -> IntArray:
    theirs = encode(frame, [column.name], kinds={column.name: "nominal"})
    texts = theirs.columns[0].texts
    if column.hierarchy is not None:
        code = column.hierarchy.leaf_codes(texts)
    else:
        code = np.array(match_texts(column.texts, texts), np.int32)
    doubled = np.where(code < 0, -1, 2 * code)
    placed: IntArray = np.append(doubled, _missing_place(column)).astype(np.int32)[theirs.codes[0]]
    return placed


def _missing_place(column: CodedColumn) -> int:
    return 2 * column.missing if column.has_missing else -1


def gather_points(lists: Sequence[IntArray]) -> Points:
    """Put lists of placed people into the form the kernels search."""
    values, weights, orders, ranked = [], [], [], []
    begin = [0]
    for placed in lists:
        tuples = distinct_tuples(placed + 1)
        value = np.ascontiguousarray(placed[:, tuples.first])
        order = np.argsort(value, axis=1, kind="stable")
        values.append(value)
        weights.append(tuples.size)
        orders.append(order + begin[-1])
        ranked.append(np.take_along_axis(value, order, axis=1))
        begin.append(begin[-1] + value.shape[1])
    return Points(
        np.ascontiguousarray(np.hstack(values)),
        np.concatenate(weights),
        np.array(begin, np.int64),
        np.ascontiguousarray(np.hstack(orders).astype(np.int32)),
        np.ascontiguousarray(np.hstack(ranked)),
    )


def no_points(columns: int) -> Points:
    """Return no list at all."""
    none = np.zeros((columns, 0), np.int32)
    nobody: LongArray = np.zeros(0, np.int64)
    return Points(none, nobody, np.zeros(1, np.int64), none, none)
