"""How much memory a table would take, and how much there is."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.io.location import locate
from shoal.request import parse_memory

_OF_TEXT, _OF_PACKED = 8, 40
"""Bytes in memory for each byte of a text file, and of a packed one; measured with eight quasi-identifiers."""


def free_memory() -> int:
    """Return half of the memory that is free, in bytes; 2 GiB if the system gives no figure."""
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) // 2
    except (ValueError, OSError, AttributeError):
        return 1 << 31


def bytes_of(owner: str, memory: int | str | None) -> int:
    """Return the memory that may be taken; half of what is free unless ``memory`` says it."""
    return free_memory() if memory is None else parse_memory(owner, memory)


def is_too_large(place: str | Path, memory: int | str | None = None) -> bool:
    """Return whether a file would take more memory than allowed, by its size; an address is never asked for its own."""
    needed = sum(
        one.stat().st_size * (_OF_TEXT if one.suffix in {".csv", ".tsv", ".txt"} else _OF_PACKED)
        for one in locate(str(place)).files()
    )
    return needed > bytes_of("Anonymizer", memory)
