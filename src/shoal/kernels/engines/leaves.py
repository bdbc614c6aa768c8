"""From codes to the leaf of a partition tree."""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray
from shoal.kernels.compiling import kernel


@kernel()
def find_leaves(codes: IntArray, column: IntArray, code: IntArray, below: IntArray) -> IntArray:
    """Return the leaf of each record.

    A cut sends a record to its first branch if the record's code in ``column`` is at most ``code``. Branches (two a cut, in
    ``below``) are the numbers of further cuts, or ``-1 - leaf``.
    """
    records = codes.shape[1]
    leaf = np.empty(records, np.int32)
    for record in range(records):
        place = np.int32(0) if column.shape[0] > 0 else np.int32(-1)
        while place >= 0:
            side = np.int32(0) if codes[column[place], record] <= code[place] else np.int32(1)
            place = below[place, side]
        leaf[record] = -1 - place
    return leaf
