"""A table as a private file that server and workers map into memory: its rows are held once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from shoal.frames import Frame
from shoal.web.private import private_file


@dataclass(frozen=True)
class StoredTable:
    """The file of a table's rows, and the frame they belong to."""

    path: str
    shell: Frame
    """The frame without its rows: all that is known about how they are read."""

    def load(self) -> Frame:
        """Return the frame; rows are read from the file as they are needed."""
        with pa.memory_map(self.path) as source:
            return replace(self.shell, table=pa.ipc.open_file(source).read_all())


def store(frame: Frame, path: Path) -> StoredTable:
    """Write a table to a private file."""
    table = frame.table.unify_dictionaries().combine_chunks()
    with pa.OSFile(str(private_file(path)), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return StoredTable(str(path), replace(frame, table=table.schema.empty_table(), native=None))
