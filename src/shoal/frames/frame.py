"""Tables in, tables out: the only module that knows dataframe libraries.

Everything is turned into one ``pyarrow.Table`` on the way in and back into the kind that came on the way out.
A pandas index never travels along: original row numbers in a release would undo it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import IntArray, LongArray
from shoal.errors import ColumnError, DataError, MissingExtraError, NotationNotice, warn
from shoal.frames.canonical import as_whole, canonical, encode_dictionary, is_text, value_type
from shoal.frames.compact import compact
from shoal.frames.user_table import UserTable, as_pandas, unwrap
from shoal.notation import (
    AS_IS,
    Notation,
    Reading,
    ValueLabels,
    code_for_missing,
    decimal_mark,
    in_plain_notation,
    understand,
)
from shoal.notation.marks import CODES

__all__ = ["Frame", "FrameKind", "Layout", "check_names", "encode_dictionary", "is_text", "require", "to_frame"]

_SAY = "kinds, decimal, thousands, date_format or missing"
FrameKind = Literal["arrow", "pandas", "polars", "duckdb"]


class Layout(NamedTuple):
    """How a text file is laid out."""

    separator: str
    encoding: str


@dataclass(frozen=True)
class Frame:
    """A table in Arrow form that remembers what it was."""

    table: pa.Table
    kind: FrameKind = "arrow"
    untyped: bool = False
    """All columns are text because they come from a text file."""
    notation: Notation = field(default_factory=Notation)
    """How values are written, as far as the user says it."""
    notes: tuple[str, ...] = ()
    """What reading the table met that its user should know, as sentences."""
    labels: Mapping[str, ValueLabels] = field(default_factory=dict)
    """What codes stand for, in columns of statistics files."""
    layout: Layout | None = None
    """How the text file was laid out that the table comes from."""
    announced: bool = False
    """A notice about how its text is understood has been given."""
    types_found: frozenset[str] = frozenset()
    """Columns whose type was found from all their values, because the file does not say it: whether numbers are whole, or text is among them."""
    native: UserTable | None = field(default=None, compare=False, repr=False)
    """The table as its user holds it, of which kept columns are taken by row."""

    @property
    def names(self) -> list[str]:
        """The column names."""
        return list(self.table.column_names)

    @property
    def records(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    def typed(self, name: str) -> pa.ChunkedArray:
        """Return a column with the type its values have: the text ``"39"`` is the number 39, ``"00123"`` stays text."""
        column = self.labelled(name)
        if not is_text(column.type):
            return _without_codes(column, self.notation)
        reading = self.reading(name)
        if reading.values is None:
            return column
        return pa.chunked_array([reading.values.take(encode_dictionary(column).indices)])

    def settle(self) -> Frame:
        """Return the frame with every column in the type its values have, so that a part of its rows means the same."""
        table = pa.table({name: self.typed(name) for name in self.names})
        return replace(self, table=table, notation=AS_IS, untyped=False)

    def cells(self, name: str) -> pa.ChunkedArray:
        """Return a column as it is, except the marks that the user names as missing values."""
        column = self.labelled(name)
        if not self.notation.missing:
            return column
        if not is_text(column.type):
            return _without_codes(column, self.notation)
        encoded = encode_dictionary(column)
        named = pc.is_in(pc.utf8_trim_whitespace(encoded.dictionary), pa.array(self.notation.missing))
        texts = pc.if_else(named, pa.scalar(None, encoded.dictionary.type), encoded.dictionary)
        return pa.chunked_array([texts.take(encoded.indices)])

    def labelled(self, name: str) -> pa.ChunkedArray:
        """Return a column of a statistics file with labels for codes and without codes for missing values."""
        column = self.table.column(name)
        return self.labels[name].apply(column) if name in self.labels else column

    def tell(self, names: Sequence[str]) -> Frame:
        """Give one notice of how the text in columns is understood, because a misread column makes a wrong release."""
        readings = [f"{name} as {words}" for name, words in self.understood(names).items()]
        understood = [f"Understood {'; '.join(readings)}. If this is wrong, say so with {_SAY}."] if readings else []
        if not self.announced and (self.notes or understood):
            warn(" ".join([*self.notes, *understood]), NotationNotice)
        return replace(self, announced=True)

    def understood(self, names: Sequence[str]) -> dict[str, str]:
        """Return in words how columns are read, for those whose type or plain notation does not already say it."""
        words = {name: self._words(name) for name in names}
        return {name: text for name, text in words.items() if text}

    def _words(self, name: str) -> str:
        column = self.table.column(name)
        if not is_text(column.type):
            codes = _missing_codes(column, self.notation)
            return f"{', '.join(f'{code:g}' for code in codes)} as missing" if codes else ""
        reading = self.reading(name)
        missing = f"{', '.join(repr(mark) for mark in reading.marks)} as missing" if reading.marks else ""
        if reading.choices:
            return f"text, though it could be numbers or dates written with {' or '.join(reading.choices)}"
        plain = reading.kind == "text" or (self.untyped and not reading.form and not reading.assumed)
        return missing if plain else ", ".join(filter(None, (reading.words, missing)))

    def reading(self, name: str) -> Reading:
        """Return what the texts of a column mean; a column that is not text, or a category of a frame, is what it is."""
        if name not in self._readings:
            column = self.table.column(name)
            category = name in self.labels or (pa.types.is_dictionary(column.type) and not self.untyped)
            self._readings[name] = (
                understand(_distinct_texts(column), self.notation, lambda: self._decimal)
                if is_text(column.type) and not category
                else Reading()
            )
        return self._readings[name]

    @cached_property
    def _readings(self) -> dict[str, Reading]:
        return {}

    @cached_property
    def _decimal(self) -> str | None:
        """The decimal mark that the text columns prove, if all that prove one prove the same."""
        texts = (self.table.column(name) for name in self.names if is_text(self.table.column(name).type))
        marks = {decimal_mark(_distinct_texts(column), self.notation) for column in texts} - {None}
        return marks.pop() if len(marks) == 1 else None

    def plain(self, name: str) -> pa.ChunkedArray:
        """Return a column as it is; numbers and dates in text are written with decimal points and in the ISO form."""
        column, reading = self.table.column(name), self.reading(name)
        if not reading.form:
            return column
        encoded = encode_dictionary(column)
        texts = in_plain_notation(encoded.dictionary.cast(pa.string()), reading)
        return pa.chunked_array([texts.take(encoded.indices)])

    def own(self, name: str) -> pa.ChunkedArray:
        """Return a column with the type its user gave it; a text file's numbers are numbers."""
        if self.untyped:
            return self.typed(name)
        given = None if self.native is None else self.native.table
        return given.column(name) if isinstance(given, pa.Table) else self.table.column(name)

    def select(self, names: Sequence[str]) -> Frame:
        """Return the frame with only the columns ``names``."""
        return replace(self, table=self.table.select(list(names)))

    def passed(self, name: str, rows: IntArray | LongArray) -> pa.ChunkedArray:
        """Return some rows of a column, without anything else that its memory holds; labels stand for codes that have them.

        A type that was found from all values of the table is found again from these rows, so that it says nothing about others.
        """
        values = None if self.native is None else self.native.untyped_values(name, np.asarray(rows, np.int64))
        if values is None:
            return self.as_shown(name, compact(self.labelled(name).take(pa.array(rows))))
        return canonical(pa.chunked_array([_as_arrow(name, values)]))

    def as_shown(self, name: str, rows: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return some rows of a column in the type that they show, if that of the column was found from all rows."""
        if name not in self.types_found:
            return rows
        numbers_in_text = is_text(rows.type) and name not in self.labels
        alone = Frame(pa.table({name: rows}), untyped=numbers_in_text, notation=self.notation)
        return as_whole(alone.own(name))

    def at(self, rows: IntArray | LongArray) -> Frame:
        """Return some rows of the frame."""
        return replace(self, table=self.table.take(pa.array(rows)), native=None)

    def release(self, released: pa.Table, recoded: Sequence[str], rows: LongArray) -> Any:
        """Return a release in the kind of table that came: ``recoded`` columns from Arrow, all others its own ``rows``."""
        if self.native is None:
            return self.restore(released)
        return self.native.release(released.select(list(recoded)), released.column_names, rows)

    def restore(self, table: pa.Table) -> Any:
        """Return ``table`` as the kind of frame this one was."""
        if self.kind == "pandas":
            return as_pandas(table)
        if self.kind == "polars":
            import polars as pl  # noqa: PLC0415

            return pl.from_arrow(table)
        if self.kind == "duckdb":
            import duckdb  # noqa: PLC0415

            return duckdb.from_arrow(table)
        return table


def to_frame(data: Any, roles: Sequence[str] = ()) -> Frame:
    """Take a pandas, polars, pyarrow or duckdb table, a dict of columns, a list of rows, or what speaks the Arrow capsule.

    A level of a pandas index that ``roles`` names is a column; no other part of an index is data.
    """
    if isinstance(data, Frame):
        return data
    native = unwrap(data, roles)
    table, kind = _to_arrow(native.table)
    check_names(table.column_names)
    return Frame(_canonical_types(table), "duckdb" if native.wrapping == "duckdb" else kind, native=native)


def _to_arrow(table: Any) -> tuple[pa.Table, FrameKind]:
    if isinstance(table, pa.Table):
        return table, "arrow"
    if isinstance(table, Mapping):
        check_names(list(table))
        return pa.table({name: _as_arrow(name, _values(name, column)) for name, column in table.items()}), "arrow"
    if isinstance(table, list):
        names = dict.fromkeys(name for row in table for name in row)
        return pa.table({name: _as_arrow(name, [row.get(name) for row in table]) for name in names}), "arrow"
    if type(table).__module__.startswith("polars"):
        return _from_polars(table), "polars"
    return _from_pandas(table), "pandas"


def _values(name: str, column: Any) -> list[Any]:
    """Return the values of a column in a dict."""
    if not isinstance(column, Iterable) or isinstance(column, (str, bytes)):
        raise DataError(
            f"The column {name!r} must be a list of values. Got {type(column).__name__} instead.",
            hint="a dict is a table if each of its values is a column.",
        )
    return list(column)


def _as_arrow(name: str, values: list[Any]) -> pa.Array:
    """Return Python values as a column; values of one type that Arrow does not know are read as text."""
    try:
        return pa.array(values, from_pandas=True)
    except UnicodeError:
        raise DataError(
            f"The column {name!r} holds text that is not valid Unicode.", hint="correct its encoding."
        ) from None
    except (pa.ArrowException, OverflowError):
        if len({type(value) for value in values if value is not None}) == 1:
            return pa.array([None if value is None else str(value) for value in values], pa.string())
        raise DataError(
            f"The column {name!r} mixes values of different types and cannot be read.",
            hint=f"make it text: data[{name!r}] = data[{name!r}].astype(str)",
        ) from None


def _from_polars(data: Any) -> pa.Table:
    if not hasattr(data, "schema"):
        raise DataError(
            f"The table must have columns. Got a polars {type(data).__name__}.",
            hint="pass a DataFrame, for example series.to_frame().",
        )
    objects = [name for name, kind in data.schema.items() if str(kind) == "Object"]  # Arrow would get their addresses
    table = data.drop(objects).to_arrow()
    texts = {name: _as_arrow(name, data.get_column(name).to_list()) for name in objects}
    return pa.table({name: texts[name] if name in texts else table.column(name) for name in data.columns})


def is_nested(kind: pa.DataType) -> bool:
    """Return whether the cells of a column are not single readable values: lists, records, maps or bytes."""
    kind = value_type(kind)
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return bool(pa.types.is_nested(kind) or pa.types.is_interval(kind) or any(is_kind(kind) for is_kind in binary))


def refuse_nested(frame: Frame, names: Sequence[str]) -> None:
    """Refuse columns whose cells are not single readable values."""
    for name in names:
        kind = frame.table.schema.field(name).type
        if is_nested(kind):
            raise DataError(
                f"The column {name!r} holds cells of type {str(kind)[:40]}, which are not single readable values.",
                hint="make text or numbers of them, or take the column apart.",
            )


def check_names(names: Sequence[str]) -> None:
    """Refuse column names that are empty or occur twice."""
    seen: set[str] = set()
    for name in names:
        if not name:
            raise ColumnError("A column of the table has no name. Give every column a name.")
        if name in seen:
            raise ColumnError(f"The table has two columns named {name!r}. Give every column a name of its own.")
        seen.add(name)


def _from_pandas(data: Any) -> pa.Table:
    if not hasattr(data, "columns"):
        raise DataError(
            f"The table must have columns. Got a pandas {type(data).__name__}.",
            hint="pass a DataFrame, for example series.to_frame().",
        )
    for name in data.columns:
        if not isinstance(name, str):
            raise ColumnError(
                f"Column names must be text. Got one of type {type(name).__name__}.",
                hint="data.columns = data.columns.map(str)",
            )
    check_names(list(data.columns))
    pa.table({}).to_pandas()  # pyarrow looks for pandas once; if it was not to be seen then, it looks again
    columns = {}
    for name in data.columns:
        try:
            columns[name] = pa.chunked_array([pa.Array.from_pandas(data[name])])
        except (pa.ArrowException, OverflowError, UnicodeError):
            columns[name] = pa.chunked_array([_as_arrow(name, data[name].tolist())])
    return pa.table(columns).replace_schema_metadata(None)


def _canonical_types(table: pa.Table) -> pa.Table:
    columns = {name: canonical(table.column(name)) for name in table.column_names}
    return pa.table(columns) if columns else table


def _distinct_texts(column: pa.ChunkedArray) -> pa.Array:
    return encode_dictionary(column).dictionary.cast(pa.string())


def _without_codes(column: pa.ChunkedArray, notation: Notation) -> pa.ChunkedArray:
    """Return a column of numbers with null where a number stands for a missing value, such as -99."""
    for code in _missing_codes(column, notation):
        column = pc.if_else(pc.equal(column, code), pa.scalar(None, column.type), column)
    return column


def _missing_codes(column: pa.ChunkedArray, notation: Notation) -> list[float]:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return []
    if notation.missing is None and pc.min(column).as_py() not in CODES:  # a code is the only negative number
        return []
    distinct = pc.unique(column)
    return [code for code in code_for_missing(distinct, notation) if pc.any(pc.equal(distinct, code)).as_py()]


def require(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package, or say in one sentence how to get it."""
    import importlib  # noqa: PLC0415

    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingExtraError(package, extra, purpose) from None
