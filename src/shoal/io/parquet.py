"""Parquet: a file, or a folder of files that may be partitioned as Hive does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from shoal.frames import Frame, to_frame
from shoal.io.location import Location
from shoal.io.source import BATCH_ROWS, ReadOptions, Source


class Parquet(Source):
    """Parquet, the format to prefer: typed, small, and read in parts."""

    name = "Parquet file"
    endings: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    folder_endings = endings
    in_parts = True
    holds_metadata = True

    def read(self, location: Location, options: ReadOptions) -> Frame:  # noqa: ARG002  (no option concerns it)
        """Return the whole table."""
        return to_frame(location.dataset("parquet").to_table())

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:  # noqa: ARG002
        """Return the table in batches of rows."""
        return location.dataset("parquet").scanner(batch_size=BATCH_ROWS).to_reader()

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:  # noqa: ARG002
        """Write a table."""
        import pyarrow.parquet as papq  # noqa: PLC0415  (brings file systems and their encryption along)

        papq.write_table(table, path)

    def writer(self, path: Path, schema: pa.Schema) -> Any:
        """Return what writes a file part by part."""
        import pyarrow.parquet as papq  # noqa: PLC0415

        return papq.ParquetWriter(path, schema)
