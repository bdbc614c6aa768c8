"""What a source of tables is: one class a format or kind of store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from shoal.errors import FileError, ParameterError
from shoal.frames import Frame
from shoal.io.location import Location
from shoal.notation import Notation

CODEBOOK_KEY = b"codebook"
"""Where the rows of a codebook are handed to a source that has a place for it."""
BATCH_ROWS = 1 << 16
"""Rows of a batch if the source leaves the choice."""


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


def check_source(owner: str, data: Any, **named: str | None) -> None:
    """Refuse the name of a table, or a query, together with rows that are here already: all of them would be taken."""
    for parameter, value in named.items():
        if value is not None and not isinstance(data, (str, Path)):
            raise ParameterError(
                f"The {parameter!r} parameter of {owner} is for a database or a file. Got {type(data).__name__}.",
                hint=f"leave {parameter!r} out, or choose the rows first.",
            )


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
    """What comes before ``://`` in its addresses."""
    folder_endings: ClassVar[tuple[str, ...]] = ()
    """What the files of a folder may end in, all alike, which ``read`` and ``batches`` take as one table."""
    takes_table: ClassVar[bool] = False
    """A table or query must or may be named."""
    is_text: ClassVar[bool] = False
    """Cells have no types: all are read as text, what they hold is decided afterwards, and releases are written as text."""
    holds_metadata: ClassVar[bool] = False
    """A file holds the metadata of its schema, so that the dictionary of a release travels inside it."""
    shows_codebook: ClassVar[bool] = False
    """A file has a place for a codebook: rows of text, as JSON under the key ``CODEBOOK_KEY`` of the schema's metadata."""
    in_parts: ClassVar[bool] = False
    """A file can be written part by part, by ``writer``, so that a large release need not fit into memory."""

    @property
    def release_table(self) -> str | None:
        """The table that a file holds once it is written, if a file may hold several and must be asked for one."""
        return None

    @property
    def is_written(self) -> bool:
        """Whether tables can be written: it has a ``write`` of its own."""
        return type(self).write is not Source.write

    def keeps_codes(self, name: str) -> bool:  # noqa: ARG002
        """Return whether a file of this name holds labels of codes, and says which codes stand for a missing value."""
        return False

    def fitting_names(self, names: Sequence[str], path: Path) -> dict[str, str]:  # noqa: ARG002
        """Return other names for the columns whose names a file cannot hold."""
        return {}

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
        """Return what writes a file part by part: its method ``write_table`` is called with tables of this schema."""
        raise FileError(
            f"A {self.name} cannot be written part by part.", hint="write .csv or .parquet, which every tool reads."
        )


def rows_of(table: pa.Table) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table as Python values, a batch at a time."""
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
