"""What distinguishes one content of a table from another: its path says nothing about the rows it holds today.

A file has a stamp that costs nothing to look at (size, times, inode) and a digest of all its bytes, with a salt of this
server. The digest decides; the stamp says when it need not be taken again. A table of a database is identified by its rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from shoal.frames.canonical import decoded_table

_BLOCK = 1 << 20

Stamp = tuple[tuple[int, ...], ...]
"""Size, times and inode of each file; a file that is not there has none of them."""


def stamp_files(paths: Iterable[str | Path]) -> Stamp:
    """Return what the system says about files, without reading them."""
    return tuple(_stamp(Path(path)) for path in paths)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return ()
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def digest_file(path: str | Path, salt: bytes) -> str:
    """Return a digest of a file's bytes; that of a file that cannot be read is empty."""
    found = hashlib.blake2b(key=salt, digest_size=16)
    try:
        with Path(path).open("rb") as stream:
            while block := stream.read(_BLOCK):
                found.update(block)
    except OSError:
        return ""
    return found.hexdigest()


def digest_rows(table: pa.Table, salt: bytes) -> str:
    """Return a digest of a table's columns and rows, whatever the order in which a database gave them."""
    found = hashlib.blake2b(key=salt, digest_size=16)
    plain = decoded_table(table)
    try:
        ordered = plain.sort_by([(name, "ascending") for name in table.column_names])
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):  # lists and the like have no order
        ordered = plain
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, ordered.schema) as writer:
        writer.write_table(ordered.combine_chunks())
    found.update(sink.getvalue())
    return found.hexdigest()
