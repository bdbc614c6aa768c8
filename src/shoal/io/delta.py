"""Delta tables: folders of Parquet files with a log of changes."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa

from shoal.errors import DataError
from shoal.frames import Frame, require, to_frame
from shoal.io.location import Location
from shoal.io.source import BATCH_ROWS, ReadOptions, Source


class Delta(Source):
    """A Delta table, in its present version."""

    name = "Delta table"
    endings: ClassVar[tuple[str, ...]] = (".delta",)

    def read(self, location: Location, options: ReadOptions) -> Frame:
        """Return the whole table."""
        return to_frame(self.batches(location, options).read_all())

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:  # noqa: ARG002
        """Return the table in batches of rows."""
        deltalake = require("deltalake", "delta", "Reading a Delta table")
        try:
            found = deltalake.DeltaTable(location.text)
        except deltalake.exceptions.DeltaError:
            raise DataError(f"The folder {location.name!r} is not a Delta table that can be read.") from None
        return found.to_pyarrow_dataset().scanner(batch_size=BATCH_ROWS).to_reader()
