"""The user's own table: what is passed on unchanged is taken from it by row, never rebuilt.

A column that went through Arrow and back may lose its type (a period, an ordered category, an integer with holes).
So a release gets its recoded columns from Arrow and all others from the table that came, in the library it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import LongArray
from shoal.errors import DataError
from shoal.frames.compact import compact, compact_table

_USUAL = {"string_view": pa.string(), "binary_view": pa.binary()}
"""Layouts that Arrow cannot take rows of, by what is taken instead."""
_CALLS = ("to_pyarrow_table", "to_pyarrow", "to_arrow", "to_polars", "to_pandas")
"""Calls by which other tables turn into one that is taken."""


@dataclass(frozen=True)
class UserTable:
    """A table as its user holds it."""

    table: Any
    """A frame of which narwhals can take rows, a dict of columns, or a list of rows."""
    wrapping: Literal["none", "narwhals", "duckdb", "records"] = "none"
    given: Any = None
    """The DuckDB relation it was, whose connection the release goes back to."""
    index: tuple[str, ...] = ()
    """Levels of a pandas index that have a role, and so are columns until the release."""

    def release(self, recoded: pa.Table, names: Sequence[str], rows: LongArray) -> Any:
        """Return ``rows`` of the columns ``names``, those in ``recoded`` from there."""
        if isinstance(self.table, Mapping):
            columns = {name: self._column(recoded, name, rows) for name in names}
            return _as_records(columns) if self.wrapping == "records" else columns
        if isinstance(self.table, list):
            values = [self._column(recoded, name, rows) for name in names]
            return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
        return self._rewrap(self._taken(recoded, names, rows))

    def _column(self, recoded: pa.Table, name: str, rows: LongArray) -> Any:
        if name in recoded.column_names:
            return recoded.column(name).to_pylist()
        if isinstance(self.table, list):
            return [self.table[row].get(name) for row in rows.tolist()]
        column = self.table[name]
        return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]

    def untyped_values(self, name: str, rows: LongArray) -> list[Any] | None:
        """Return rows of a column whose type follows from its values; None if the table gives it one."""
        if isinstance(self.table, list):
            return [self.table[row].get(name) for row in rows.tolist()]
        if isinstance(self.table, Mapping):
            column = self.table[name]
            typed = isinstance(getattr(column, "dtype", object), np.dtype) and column.dtype != object
            return None if typed else [column[row] for row in rows.tolist()]
        if isinstance(self.table, pa.Table):
            return None
        column = self.table[name]
        if str(getattr(column, "dtype", "")) not in {"object", "Object"}:
            return None
        return list((column.iloc if hasattr(column, "iloc") else column)[rows])

    def _taken(self, recoded: pa.Table, names: Sequence[str], rows: LongArray) -> Any:
        import narwhals as nw  # noqa: PLC0415  (loaded when a release is handed out)

        own = nw.from_native(self.table, eager_only=True)
        passed = [name for name in names if name not in recoded.column_names]
        made = (
            nw.from_native(as_pandas(recoded), eager_only=True)
            if own.implementation.is_pandas()
            else nw.from_arrow(recoded, backend=own.implementation)
        )
        if not passed:
            return made.select(*names)
        # a pandas index numbers the original rows: it must not travel along
        taken = nw.from_native(_compacted(nw.maybe_reset_index(own.select(*passed)[rows]).to_native()), eager_only=True)
        return nw.concat([taken, made], how="horizontal").select(*names)

    def _rewrap(self, taken: Any) -> Any:
        if self.wrapping == "narwhals":
            return taken
        table = taken.to_native()
        if self.wrapping == "duckdb":
            return _as_relation(self.given, table)
        levels = [name for name in self.index if name in table.columns] if self.index else []
        return table.set_index(levels) if levels else table


def _as_records(columns: Mapping[str, Any]) -> Any:
    """Return columns as a record array; one with missing values holds objects."""
    arrays = {
        name: one if isinstance(one, np.ndarray) else np.array(one, object if None in one else None)
        for name, one in columns.items()
    }
    records = np.empty(len(next(iter(arrays.values()))), [(name, one.dtype) for name, one in arrays.items()])
    for name, one in arrays.items():
        records[name] = one
    return records.view(np.recarray)


# --- rows that were taken, without what their columns carry besides them --------------------------------------------


def _compacted(taken: Any) -> Any:
    """Return a frame whose columns hold its own rows and nothing else; see ``shoal.frames.compact``."""
    if isinstance(taken, pa.Table):
        return compact_table(taken)
    origin = type(taken).__module__.split(".")[0]
    if origin == "pandas":
        return _compacted_pandas(taken)
    return _compacted_polars(taken) if origin == "polars" else taken


def _compacted_pandas(taken: Any) -> Any:
    import pandas as pd  # noqa: PLC0415

    fresh = pd.DataFrame({name: _compacted_series(taken[name]) for name in taken.columns}, index=taken.index)
    fresh.attrs = {}
    return fresh


def _compacted_series(series: Any) -> Any:
    """Return a series of pandas without unused categories, and with nothing below its missing values."""
    import pandas as pd  # noqa: PLC0415

    if isinstance(series.dtype, pd.CategoricalDtype):
        used = series.cat.remove_unused_categories()
        if used.cat.ordered:
            return used
        return used.cat.set_categories(sorted(used.cat.categories, key=lambda one: (type(one).__name__, one)))
    if isinstance(series.dtype, pd.ArrowDtype):
        values = compact(pa.chunked_array(pa.array(series.array)))
        return pd.Series(pd.arrays.ArrowExtensionArray(values), index=series.index)
    if isinstance(series.dtype, pd.api.extensions.ExtensionDtype) and series.isna().any():
        return series.dropna().reindex(series.index)
    return series


def _compacted_polars(taken: Any) -> Any:
    """Return a polars frame with the categories of its rows alone, and with nothing below its missing values."""
    return taken.with_columns(
        [_compacted_column(taken.get_column(name)) for name in taken.columns if str(taken.schema[name]) != "Object"]
    )


def _compacted_column(column: Any) -> Any:
    import polars as pl  # noqa: PLC0415

    if isinstance(column.dtype, pl.Enum):
        used = set(column.drop_nulls().cast(pl.String).to_list())
        kept = [one for one in column.dtype.categories.to_list() if one in used]
        return column.cast(pl.String).cast(pl.Enum(kept))
    if isinstance(column.dtype, pl.Categorical):
        texts = column.cast(pl.String)
        both = pl.concat([texts.drop_nulls().unique().sort(), texts]).cast(pl.Categorical)
        return both.slice(len(both) - len(texts)).rename(column.name)
    if not column.null_count():
        return column
    array = column.to_arrow(compat_level=pl.CompatLevel.oldest())  # plain text instead of views of it
    return pl.Series(column.name, compact(pa.chunked_array([array])), dtype=column.dtype)


def as_pandas(table: pa.Table) -> Any:
    """Return a table as a pandas frame without loss: pandas' own types if they hold the values, else Arrow's."""
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame({name: _as_series(table.column(name)) for name in table.column_names})


def _as_series(column: pa.ChunkedArray) -> Any:
    import pandas as pd  # noqa: PLC0415

    kind = column.type
    if pa.types.is_integer(kind) and column.null_count:  # as floats they would end at 2^53
        width = f"{'UInt' if str(kind).startswith('u') else 'Int'}{kind.bit_width}"
        return column.to_pandas(types_mapper=lambda _: pd.api.types.pandas_dtype(width))
    try:
        return column.to_pandas()
    except pa.ArrowInvalid:  # such as a time of day with nanoseconds
        return column.to_pandas(types_mapper=pd.ArrowDtype)


def _as_relation(given: Any, released: pa.Table) -> Any:  # noqa: ARG001  (DuckDB finds the table by the name of this argument)
    """Return a table as a relation on the connection of another."""
    return given.query("shoal_source", "select * from released")


def unwrap(data: Any, roles: Sequence[str] = ()) -> UserTable:
    """Return the user's own table, ready for rows to be taken from it; levels of an index in ``roles`` become columns."""
    if isinstance(data, type):
        raise DataError(f"The table must be a table, not the class of one. Got {data.__name__}.")
    if hasattr(data, "to_native") and hasattr(data, "implementation"):  # narwhals
        eager = data.collect() if hasattr(data, "collect") else data
        return replace(unwrap(eager.to_native(), roles), wrapping="narwhals")
    origin = type(data).__module__.split(".")[0]
    if origin in {"duckdb", "_duckdb"}:
        return UserTable(_with_usual_layouts(pa.table(data)), "duckdb", data)
    if isinstance(data, pa.RecordBatch):
        return UserTable(_with_usual_layouts(pa.Table.from_batches([data])))
    if origin == "polars" and hasattr(data, "collect"):
        return UserTable(_collected(data))
    if origin == "pandas" and hasattr(data, "index"):
        known = getattr(data, "columns", ())
        levels = tuple(name for name in data.index.names if name in roles and name not in known)
        return UserTable(data.reset_index(level=list(levels)) if levels else data, index=levels)
    if isinstance(data, np.ndarray) and data.dtype.names:
        return UserTable({name: data[name] for name in data.dtype.names}, "records")
    if isinstance(data, Mapping) and any(
        hasattr(one, "column_names") or hasattr(one, "columns") for one in data.values()
    ):
        raise DataError(
            f"A {type(data).__name__} of several tables is not taken as one.",
            hint="pass one of them, as data[name]; to release them together, put them into one table first.",
        )
    if isinstance(data, pa.Table):
        return UserTable(_with_usual_layouts(data))
    if isinstance(data, Mapping) or origin == "polars" or _is_rows(data):
        return UserTable(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return UserTable(_from_capsule(data))
    raise _no_table(data)


def _with_usual_layouts(table: pa.Table) -> pa.Table:
    """Return a table with the layouts that Arrow can take rows of: plain text and bytes for views, plain values for runs."""
    for place, field in enumerate(table.schema):
        plain = _USUAL.get(str(field.type))
        column = table.column(place)
        if plain is not None:
            table = table.set_column(place, field.name, column.cast(plain))
        elif pa.types.is_run_end_encoded(field.type):
            runs = [pc.run_end_decode(chunk) for chunk in column.chunks]
            table = table.set_column(place, field.name, pa.chunked_array(runs, field.type.value_type))
    return table


def _collected(data: Any) -> Any:
    """Return a lazy polars table worked out."""
    from polars.exceptions import PolarsError  # noqa: PLC0415

    try:
        return data.collect()
    except PolarsError as fault:  # its text may hold values
        raise DataError(
            f"The lazy polars table cannot be collected ({type(fault).__name__}).", hint="collect it first to see why."
        ) from None


def _from_capsule(data: Any) -> pa.Table:
    try:
        return _with_usual_layouts(pa.table(data))
    except (pa.ArrowException, TypeError, ValueError):
        raise DataError(
            f"The table must have columns. Got a value of type {type(data).__name__}.", hint="pass a table."
        ) from None


def _is_rows(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(row, Mapping) for row in data)


def _no_table(data: Any) -> DataError:
    kind = type(data).__name__
    call = next((call for call in _CALLS if hasattr(data, call)), None)
    if call is not None:
        return DataError(f"A {kind} is not taken as it is.", hint=f"pass the table as data.{call}().")
    return DataError(
        f"The table must be a pandas, polars or pyarrow table, a dict of columns or speak the Arrow capsule. Got {kind}.",
        hint="read a file with shoal.read_table(path), or turn the object into a dataframe first.",
    )
