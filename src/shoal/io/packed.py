"""Packed files that unpack to far more than any table would: refused before they fill the memory or take hours."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

from shoal.errors import DataError

MOST_UNPACKED = 1 << 29
"""Bytes that any packed file may unpack to."""
MOST_TIMES = 300
"""A larger file may be this many times its packed size; tables are usually 3 to 30 times theirs."""


def refuse_bomb(name: str, unpacked: int, packed: int) -> None:
    """Raise if a packed file grows beyond all measure."""
    if unpacked > MOST_UNPACKED and unpacked > MOST_TIMES * max(packed, 1):
        raise DataError(
            f"The file {name!r} unpacks to more than {MOST_TIMES} times its size, which no table does.",
            hint="unpack it yourself and look at it, if you trust it.",
        )


def refuse_archive_bomb(name: str, archive: zipfile.ZipFile) -> None:
    """Raise if the members of an archive say that they grow beyond all measure; none can be read beyond what it says."""
    members = archive.infolist()
    refuse_bomb(name, sum(one.file_size for one in members), sum(one.compress_size for one in members))


class Bounded(io.RawIOBase):
    """A stream of unpacked bytes that watches how much has come of how many packed ones."""

    def __init__(self, stream: Any, name: str, packed: Callable[[], int]) -> None:
        self._stream, self._name, self._packed = stream, name, packed
        self._unpacked = 0

    def readable(self) -> bool:
        """Return that bytes can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return some bytes; all would be too many to watch, so they come in parts."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(io.DEFAULT_BUFFER_SIZE), b""))
        found = bytes(self._stream.read(size))
        self._unpacked += len(found)
        refuse_bomb(self._name, self._unpacked, self._packed())
        return found
