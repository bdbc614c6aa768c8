"""Hashes of words, and the size of hash tables."""

from __future__ import annotations

import numpy as np

from shoal.compiling.decorator import kernel


@kernel(allocates=False)
def scramble(word: np.uint64) -> np.uint64:
    """Return a well-mixed 64-bit word for any word (the finalizer of SplitMix64, Steele et al. 2014)."""
    mixed = np.uint64(word)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@kernel(allocates=False)
def table_room(entries: int) -> int:
    """Return the slots of a hash table for so many entries: a power of two, at least half of them empty."""
    room = 16
    while room < 2 * entries:
        room *= 2
    return room
