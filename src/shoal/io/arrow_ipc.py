"""Arrow's own files, also called Feather.

Such a file is memory as it was, offsets included: a damaged one points anywhere, and the process dies of it. So all that is read is checked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from pyarrow import feather

from shoal.frames import Frame, to_frame
from shoal.io.location import Location
from shoal.io.source import BATCH_ROWS, ReadOptions, Source


class ArrowIpc(Source):
    """Arrow IPC files (Feather version 2), or a folder of them."""

    name = "Feather file"
    endings: ClassVar[tuple[str, ...]] = (".feather", ".arrow", ".ipc")
    folder_endings: ClassVar[tuple[str, ...]] = (".feather", ".arrow")
    holds_metadata = True

    def read(self, location: Location, options: ReadOptions) -> Frame:  # noqa: ARG002  (no option concerns it)
        """Return the whole table."""
        table = location.dataset("ipc").to_table()
        table.validate(full=True)
        return to_frame(table)

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:  # noqa: ARG002
        """Return the table in batches of rows."""
        reader = location.dataset("ipc").scanner(batch_size=BATCH_ROWS).to_reader()
        return pa.RecordBatchReader.from_batches(reader.schema, map(_checked, reader))

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:  # noqa: ARG002
        """Write a table."""
        feather.write_feather(table, str(path))

    @contextlib.contextmanager
    def writer(self, path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatchFileWriter]:
        """Yield a writer that writes a file part by part; parts that bring dictionaries of their own need files of their own."""
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            yield writer


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)
    return batch
