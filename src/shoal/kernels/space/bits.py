"""Sets of values as bits: a column released as a set has one bit for each of its codes in the words of a group.

Functions are handed the words of one group and the first of the words of a column.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import WordArray
from shoal.compiling.decorator import kernel


@kernel(allocates=False)
def count_bits(word: int) -> int:
    """Return the number of bits set in a 64-bit word."""
    x = np.uint64(word)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]  # adds the bytes: one instruction in all


@kernel(allocates=False)
def lowest_bit(word: int) -> int:
    """Return the place of the lowest bit set in a 64-bit word that is not 0."""
    x = np.uint64(word)
    return count_bits(~x & (x - np.uint64(1)))  # type: ignore[arg-type]  # the bits below it


@kernel(allocates=False)
def holds_code(words: WordArray, first: int, code: int) -> bool:
    """Return whether the bit of a code is set."""
    return (words[first + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) != np.uint64(0)


@kernel(allocates=False)
def set_code(words: WordArray, first: int, code: int) -> None:
    """Set the bit of a code."""
    words[first + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)


@kernel(allocates=False)
def clear_code(words: WordArray, first: int, code: int) -> None:
    """Clear the bit of a code."""
    words[first + (code >> 6)] &= ~(np.uint64(1) << np.uint64(code & 63))


@kernel(allocates=False)
def note_code(words: WordArray, alone: WordArray, first: int, code: int) -> int:
    """Note that one more record has a code, in ``words``, and in ``alone`` as long as it is the only one; return 1 if it is, else 0."""
    if holds_code(words, first, code):
        clear_code(alone, first, code)
        return 0
    set_code(words, first, code)
    set_code(alone, first, code)
    return 1


@kernel(allocates=False)
def count_values(words: WordArray, begin: int, end: int) -> int:
    """Return how many values a set of bits holds, in the words ``begin..end - 1``."""
    count = 0
    for word in range(begin, end):
        count += count_bits(words[word])
    return count


@kernel(allocates=False)
def count_union(one: WordArray, other: WordArray, begin: int, end: int) -> int:
    """Return how many values two sets of bits hold together, in the words ``begin..end - 1``."""
    count = 0
    for word in range(begin, end):
        count += count_bits(one[word] | other[word])
    return count


@kernel(allocates=False)
def count_common(one: WordArray, other: WordArray, begin: int, end: int) -> int:
    """Return how many values two sets of bits share, in the words ``begin..end - 1``."""
    count = 0
    for word in range(begin, end):
        count += count_bits(one[word] & other[word])
    return count
