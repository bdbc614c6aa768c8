"""The interface of treatments: how cells change, what that is called, and what can still be found afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, FloatArray
from shoal.encoding import is_ordered
from shoal.errors import DataError, ParameterError
from shoal.frames.canonical import value_type
from shoal.treatments.randomness import Randomness


class Surroundings(NamedTuple):
    """What a treatment may look at besides its own column."""

    random: Randomness
    column_of: Callable[[str], pa.ChunkedArray]
    """Returns another column of the table."""
    shared: dict[Any, Any]
    """What equal treatments of several columns have in common, such as one shift for all dates of a person."""


@dataclass(frozen=True)
class Treatment(ABC):
    """A change of the cells of a kept or sensitive column. Its parameters are the fields of the dataclass."""

    name: ClassVar[str]
    """The name in recipes and on the command line."""
    technique: ClassVar[str]
    """The class and technique in the words of ISO/IEC 20889:2018."""
    remains: ClassVar[str]
    """What an intruder still finds, in one sentence."""

    @abstractmethod
    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:
        """Return the treated column, missing values where they were; ``name`` is for messages."""

    @abstractmethod
    def describe(self) -> str:
        """Return the end of a sentence that begins with the column's name and says what is done to it."""

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, for a recipe."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = {one.name: values[one.name] for one in fields(self) if values[one.name] != one.default}
        return {key: value for key, value in changed.items() if value is not None}


def check_either(treatment: str, hint: str, **given: object) -> None:
    """Refuse a treatment that was given none or both of two parameters."""
    left_out = [value is None for value in given.values()]
    if sum(left_out) != 1:
        first, second = given
        got = "neither" if all(left_out) else "both"
        raise ParameterError(f"{treatment} needs either {first!r} or {second!r}. Got {got}.", hint=hint)


# --- columns as arrays -------------------------------------------------------------------------------------------


def present_numbers(treatment: str, name: str, column: pa.ChunkedArray) -> tuple[AnyArray, FloatArray]:
    """Return the rows of a column that hold a number, and these numbers; refuse a column of other values."""
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise DataError(f"The treatment {treatment} of {name!r} needs numbers. Got {_kind_word(kind)}.")
    rows = present_rows(column)
    return rows, np.asarray(column.take(pa.array(rows)).cast(pa.float64(), safe=False), np.float64)


def fill_numbers(column: pa.ChunkedArray, rows: AnyArray, numbers: FloatArray) -> pa.ChunkedArray:
    """Return a column with ``numbers``, as values of its type, at ``rows`` and missing values elsewhere."""
    return fill_rows(column, rows, back_to_type(numbers, column.type))


def need_order(treatment: str, name: str, column: pa.ChunkedArray) -> None:
    """Refuse a column whose values are not ordered."""
    if not is_ordered(column.type):
        raise DataError(f"The treatment {treatment} of {name!r} needs numbers or dates. Got {_kind_word(column.type)}.")


def _kind_word(kind: pa.DataType) -> str:
    kind = value_type(kind)
    if pa.types.is_temporal(kind):
        return "dates or times"
    return {"bool": "truth values", "string": "text", "large_string": "text"}.get(str(kind), "another kind of values")


def present_rows(column: pa.ChunkedArray) -> AnyArray:
    """Return the rows that hold a value."""
    return np.flatnonzero(np.asarray(column.is_valid()))


def back_to_type(numbers: FloatArray, kind: pa.DataType) -> pa.Array:
    """Return numbers as values of a type: whole ones if the type has no others, within its bounds."""
    if pa.types.is_integer(kind):
        bounds = np.iinfo(kind.to_pandas_dtype())
        whole = [min(max(round(one), bounds.min), bounds.max) for one in numbers.tolist()]
        return pa.array(whole, kind)
    if pa.types.is_decimal(kind):
        return pa.array(np.round(numbers, kind.scale)).cast(pa.decimal128(38, kind.scale)).cast(kind, safe=False)
    return pa.array(numbers, pa.float64()).cast(kind)


def fill_rows(column: pa.ChunkedArray, rows: AnyArray, values: pa.Array) -> pa.ChunkedArray:
    """Return a column with ``values`` at ``rows`` and missing values elsewhere."""
    place = np.full(len(column), -1, np.int64)
    place[rows] = np.arange(len(rows))
    indices = pa.array(place, mask=place < 0)
    return pa.chunked_array([values.take(indices)])
