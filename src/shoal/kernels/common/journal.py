"""A journal of moves, so that they can be undone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel


class Journal(NamedTuple):
    """Which records moved, and from where, in the order of the moves."""

    record: IntArray
    origin: IntArray
    used: LongArray
    """[0]: the number of entries."""


@kernel()
def make_journal(room: int) -> Journal:
    """Return an empty journal for up to ``room`` moves."""
    return Journal(np.zeros(room, np.int32), np.zeros(room, np.int32), np.zeros(1, np.int64))


@kernel(allocates=False)
def note(journal: Journal, record: int, origin: int) -> None:
    """Add a move."""
    at = journal.used[0]
    journal.record[at], journal.origin[at], journal.used[0] = record, origin, at + 1
