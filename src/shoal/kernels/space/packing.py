"""Records packed into 64-bit words, so that a record is compared with a box in a few steps, whatever its columns.

Each column has a field of as many bits as its codes need and one more, the guard, which is 0 in a record. Set before a
subtraction, the guard is still set after it exactly when the field was not below what was subtracted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.space import Space

_BITS_APART = np.uint64(
    0x03F79D71B4CB0A89
)  # shifted by any number of bits, its first six differ (a de Bruijn sequence)


class Packing(NamedTuple):
    """Where the codes of m columns are in the words of a record."""

    word: LongArray
    """The word of each column."""
    shift: WordArray
    """The lowest bit of each column's field."""
    mask: WordArray
    """The bits of each column's codes, before the shift."""
    guard: WordArray
    """The guards of each word."""


@kernel()
def make_packing(space: Space) -> Packing:
    """Lay the fields of the columns side by side, a new word if one does not fit."""
    columns = space.kind.shape[0]
    packing = Packing(
        np.zeros(columns, np.int64),
        np.zeros(columns, np.uint64),
        np.zeros(columns, np.uint64),
        np.zeros(columns, np.uint64),
    )
    word, used = 0, 0
    for column in range(columns):
        bits = 1
        while (1 << bits) < space.cardinality[column]:
            bits += 1
        if used + bits + 1 > 64:
            word, used = word + 1, 0
        packing.word[column] = word
        packing.shift[column] = used
        packing.mask[column] = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
        packing.guard[word] |= np.uint64(1) << np.uint64(used + bits)
        used += bits + 1
    return Packing(packing.word, packing.shift, packing.mask, packing.guard[: word + 1].copy())


@kernel()
def pack_records(packing: Packing, codes: IntArray, order: IntArray) -> WordArray:
    """Return the records in the given order, (words, n)."""
    rows = np.zeros((packing.guard.shape[0], order.shape[0]), np.uint64)
    for column in range(codes.shape[0]):
        line, shift = rows[packing.word[column]], packing.shift[column]
        for row in range(order.shape[0]):
            line[row] |= np.uint64(codes[column, order[row]]) << shift
    return rows


@kernel()
def unpack_records(packing: Packing, rows: WordArray) -> IntArray:
    """Return the codes of each record, (m, n), those of a record side by side in memory."""
    codes = np.empty((rows.shape[1], packing.word.shape[0]), np.int32)
    for row in range(rows.shape[1]):
        for column in range(packing.word.shape[0]):
            codes[row, column] = unpack_code(packing, rows, row, column)
    return codes.T


@kernel(inline=True, allocates=False)
def unpack_code(packing: Packing, rows: WordArray, row: int, column: int) -> int:
    """Return the code of a row in one column."""
    return np.int64((rows[packing.word[column], row] >> packing.shift[column]) & packing.mask[column])  # type: ignore[return-value]


@kernel(inline=True, allocates=False)
def number_guard(word: int, guards: np.uint64) -> np.uint64:
    """Return word · 64 and a number below 64 for the lowest of some guards; without a guard, and then only, that is 0."""
    return np.uint64(word * 64) + (((guards & (~guards + np.uint64(1))) * _BITS_APART) >> np.uint64(58))


@kernel(inline=True, allocates=False)
def find_outside(
    packing: Packing, low: WordArray, high: WordArray, box: int, rows: WordArray, row: int
) -> tuple[bool, np.uint64]:
    """Return whether a row is below the row ``box`` of ``low`` or above that of ``high`` in some column.

    Also gives the number of such a column's guard (:func:`number_guard`).
    """
    guard, codes, found_in = packing.guard[0], rows[0, row], 0
    found = guard & ~(((codes | guard) - low[0, box]) & ((high[0, box] | guard) - codes))
    for word in range(1, packing.guard.shape[0]):
        if found == np.uint64(0):
            guard, codes, found_in = packing.guard[word], rows[word, row], word
            found = guard & ~(((codes | guard) - low[word, box]) & ((high[word, box] | guard) - codes))
    return found != np.uint64(0), number_guard(found_in, found)
