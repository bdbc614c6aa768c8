"""What a source of tables is: one class a format or kind of store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from shoal.errors import FileError
from shoal.frames import Frame
from shoal.io.location import Location
from shoal.notation import Notation

BATCH_ROWS = 1 << 16
"""Rows of a batch where the source leaves the choice."""


@dataclass(frozen=True)
class ReadOptions:
    """How a table is to be read, as far as the user says it."""

    separator: str | None = None
    encoding: str | None = None
    notation: Notation = field(default_factory=Notation)
    table: str | None = None
    """The table of a database, or the sheet of a workbook."""
    query: str | None = None
    """The rows of a database, as SQL, instead of a table."""


class Source(ABC):
    """A place tables come from and go to.

    A third party derives from this class, gives at least ``read``, and names the class in the entry point group
    ``shoal.sources``. Nothing in shoal has to change.
    """

    name: ClassVar[str]
    """What people call it."""
    endings: ClassVar[tuple[str, ...]] = ()
    """Endings of file names, the dot included."""
    schemes: ClassVar[tuple[str, ...]] = ()
    """What stands before ``://`` in its addresses."""
    folder_endings: ClassVar[tuple[str, ...]] = ()
    """What the files of a folder may end in, all alike, which ``read`` and ``batches`` take as one table."""
    takes_table: ClassVar[bool] = False
    """A table or query must or may be named."""
    is_text: ClassVar[bool] = False
    """Cells have no types: all are read as text, what they hold is decided afterwards, and releases are written as text."""
    in_parts: ClassVar[bool] = False
    """A file can be written part by part, by ``writer``, so that a large release need not fit into memory."""

    @property
    def is_written(self) -> bool:
        """Whether tables can be written: it has a ``write`` of its own."""
        return type(self).write is not Source.write

    @abstractmethod
    def read(self, location: Location, options: ReadOptions) -> Frame:
        """Return the whole table."""

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:
        """Return the table in batches of rows, so that it need not fit into memory; text files give text."""
        return self.read(location, options).table.to_reader(BATCH_ROWS)

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:  # noqa: ARG002
        """Write a table; ``like`` is what it was made from, whose layout is kept as far as the format has one."""
        raise FileError(f"A {self.name} cannot be written.", hint="write .csv or .parquet, which every tool reads.")

    def writer(self, path: Path, schema: pa.Schema) -> AbstractContextManager[Any]:  # noqa: ARG002  (for those that have one)
        """Give what writes a file part by part: its method ``write_table`` is called with tables of this schema."""
        raise FileError(
            f"A {self.name} cannot be written part by part.", hint="write .csv or .parquet, which every tool reads."
        )


def decoded(table: pa.Table) -> pa.Table:
    """Return a table with dictionaries as plain values, for formats that have none."""
    return pa.table({name: _decoded(table.column(name)) for name in table.column_names})


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def rows_of(table: pa.Table) -> Iterator[tuple[object, ...]]:
    """Give the rows of a table as Python values, a batch at a time."""
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
