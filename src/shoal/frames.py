"""Tables in, tables out: the only module that knows dataframe libraries.

Everything is turned into one ``pyarrow.Table`` on the way in and back into the kind that came on the way out.
A pandas index never travels along: original row numbers in a release would undo it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ColumnError, DataError, MissingExtraError

FrameKind = Literal["arrow", "pandas", "polars", "duckdb"]

_INTEGER = r"^-?(0|[1-9][0-9]{0,17})$"
_DECIMAL = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIME_STAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$"


@dataclass(frozen=True)
class Frame:
    """A table in Arrow form that remembers what it was."""

    table: pa.Table
    kind: FrameKind = "arrow"
    untyped: bool = False
    """All columns are text because they come from a text file; ``typed`` decides what they hold."""

    @property
    def names(self) -> list[str]:
        """The column names."""
        return list(self.table.column_names)

    @property
    def records(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    def typed(self, name: str) -> pa.ChunkedArray:
        """Return a column with the type its values have: a text file's ``"39"`` is the number 39, ``"00123"`` is text."""
        column = self.table.column(name)
        return infer_type(column) if self.untyped else column

    def select(self, names: Sequence[str]) -> Frame:
        """Return the frame with only the columns ``names``."""
        return replace(self, table=self.table.select(list(names)))

    def restore(self, table: pa.Table) -> Any:
        """Return ``table`` as the kind of frame this one was."""
        if self.kind == "pandas":
            return table.to_pandas()
        if self.kind == "polars":
            import polars as pl  # noqa: PLC0415

            return pl.from_arrow(table)
        if self.kind == "duckdb":
            import duckdb  # noqa: PLC0415

            return duckdb.from_arrow(table)
        return table


def to_frame(data: Any) -> Frame:
    """Take a pandas, polars, pyarrow or duckdb table, or anything that speaks the Arrow capsule."""
    if isinstance(data, Frame):
        return data
    origin = type(data).__module__.split(".")[0]
    if isinstance(data, pa.Table):
        frame = Frame(data)
    elif isinstance(data, pa.RecordBatch):
        frame = Frame(pa.Table.from_batches([data]))
    elif origin == "pandas":
        frame = Frame(_from_pandas(data), "pandas")
    elif origin == "polars":
        collected = data.collect() if hasattr(data, "collect") else data
        frame = Frame(collected.to_arrow(), "polars")
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        frame = Frame(pa.table(data), "duckdb" if origin in {"duckdb", "_duckdb"} else "arrow")
    else:
        raise DataError(
            f"The table must be a pandas, polars or pyarrow table or speak the Arrow capsule. Got {type(data).__name__}.",
            hint="read a file with shoal.read_table(path), or turn the object into a dataframe first.",
        )
    check_names(frame.names)
    return replace(frame, table=_plain_types(frame.table))


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
    columns = {}
    for name in data.columns:
        try:
            columns[name] = pa.chunked_array([pa.Array.from_pandas(data[name])])
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            raise DataError(
                f"The column {name!r} mixes values of different types and cannot be read.",
                hint=f"make it text: data[{name!r}] = data[{name!r}].astype(str)",
            ) from None
    return pa.table(columns).replace_schema_metadata(None)


def _plain_types(table: pa.Table) -> pa.Table:
    """Return the table with text as ``string`` and dictionaries decoded, whatever wrote it."""
    columns = {name: _plain_column(table.column(name)) for name in table.column_names}
    return pa.table(columns) if columns else table


def _plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind.storage_type)
        kind = column.type
    if pa.types.is_dictionary(kind) and not pa.types.is_string(kind.value_type):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_large_string(kind) or pa.types.is_null(kind) or str(kind) == "string_view":
        return column.cast(pa.string())
    return column


def infer_type(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column as integers, decimals, dates or time stamps where every value is written like one.

    Numbers with leading zeros (``00123``) are codes, not numbers, and stay text.
    """
    encoded = encode_dictionary(column)
    texts = encoded.dictionary
    target = _type_of_texts(texts)
    if target is None:
        return column
    try:
        values = texts.cast(target)
    except pa.ArrowInvalid:  # for example 2023-02-30
        return column
    return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, values).cast(target)])


def _type_of_texts(texts: pa.Array) -> pa.DataType | None:
    if len(texts) == 0:
        return None
    for pattern, kind in (
        (_INTEGER, pa.int64()),
        (_DECIMAL, pa.float64()),
        (_DATE, pa.date32()),
        (_TIME_STAMP, pa.timestamp("us")),
    ):
        if pc.all(pc.match_substring_regex(texts, pattern)).as_py():
            return kind
    return None


def encode_dictionary(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """Return a column as one array of indices into its distinct values; missing values stay missing."""
    if pa.types.is_dictionary(column.type):
        if isinstance(column, pa.ChunkedArray):
            column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
        return column
    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], encoded.type)
    return encoded


def require(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package, or say in one sentence how to get it."""
    import importlib  # noqa: PLC0415

    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingExtraError(package, extra, purpose) from None
