"""Lists of people, located among the codes of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, IntArray, LongArray
from shoal.encoding import CodedColumn, encode, exact_numbers
from shoal.errors import ColumnError
from shoal.frames import Frame, to_frame
from shoal.hierarchy.texts import match_texts
from shoal.io.files import open_table
from shoal.kernels.measuring.matching import Points
from shoal.kernels.space.tuples import distinct_tuples
from shoal.validation import nearest_hint


def open_people(people: Any) -> Frame:
    """Return a list of people given as a table or as the path of a file."""
    return open_table(people) if isinstance(people, (str, Path)) else to_frame(people)


@dataclass(frozen=True)
class Placed:
    """Where each person of a list is among the codes of a table."""

    codes: IntArray
    """Each person's value in each column as a doubled code; odd or -1 if the table has no such value."""
    numbers: Mapping[int, tuple[AnyArray, IntArray]]
    """Columns of numbers and dates, by row: the exact numbers of the list, and the place of each person's among them (-1: missing)."""

    def among(self, row: int, ends: AnyArray) -> IntArray:
        """Return where the people are in a column whose ends moved: at 2 (i + 1) on end i, at an odd number between two ends."""
        numbers, own = self.numbers[row]
        place = np.searchsorted(ends, numbers)
        exact = ends[np.minimum(place, len(ends) - 1)] == numbers
        doubled = np.append(2 * place + 1 + exact, -1)[own]
        missing = np.where(self.codes[row] < 0, -1, 2 * (len(ends) + 2))
        return np.where(own < 0, missing, doubled).astype(np.int32)


def place_people(frame: Frame, columns: Sequence[CodedColumn]) -> Placed:
    """Return where the people of a list are among the codes of a table."""
    absent = [column.name for column in columns if column.name not in frame.names]
    if absent:
        raise ColumnError(
            f"The list of people has no column {', '.join(map(repr, absent))}.",
            hint=nearest_hint(absent[0], frame.names),
        )
    codes, numbers = np.empty((len(columns), frame.records), np.int32), {}
    for row, column in enumerate(columns):
        if column.measured:
            codes[row], numbers[row] = _place_numbers(frame, column)
        else:
            codes[row] = _place_texts(frame, column)
    return Placed(codes, numbers)


def _place_numbers(frame: Frame, column: CodedColumn) -> tuple[IntArray, tuple[AnyArray, IntArray]]:
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
    return placed, (other, np.where(theirs.codes[0] < len(other), theirs.codes[0], -1).astype(np.int32))


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
