"""Who can be found: records that are alone, or nearly, in what an outsider may know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.kernels.space.tuples import distinct_tuples
from shoal.summary.schema import Findable, Found, Known, SizeBin

_MOST_WORK = 30_000_000
"""Records counted, over all combinations of columns."""
_MOST_SIZE_BINS = 30


def count_findable(sizes: LongArray, records: int, k: int) -> Findable:
    """Return how many of ``records`` can be found, given the sizes of the groups of those that are in the table.

    Somebody who knows a person's quasi-identifiers and picks one of the matching records is right with
    chance 1 ÷ size of the group; a withheld record is not found at all.
    """
    return Findable(
        unique=int((sizes == 1).sum()),
        below_k=int(sizes[sizes < k].sum()),
        mean_risk=len(sizes) / max(records, 1),
        largest_risk=1.0 / float(sizes.min()) if len(sizes) else 0.0,
    )


def find(codes: IntArray, names: Sequence[str], before: LongArray, after: LongArray, k: int) -> Found:
    """Return who could be found in the original and in the release."""
    records = int(before.sum())
    return Found(
        before=count_findable(before, records, k),
        after=count_findable(after, records, k),
        by_columns=_most_telling(codes, names),
    )


def _most_telling(codes: IntArray, names: Sequence[str]) -> list[Known]:
    """Return, for each number of columns, those that make most records unique."""
    found = []
    for number in range(1, len(names) + 1):
        if math.comb(len(names), number) * codes.shape[1] > _MOST_WORK:
            continue
        counted = [(_unique(codes[list(rows)]), rows) for rows in combinations(range(len(names)), number)]
        unique, rows = max(counted, key=lambda one: one[0])  # of equals the first
        found.append(Known(columns=[names[row] for row in rows], unique=unique))
    return found


def _unique(codes: IntArray) -> int:
    return int((distinct_tuples(codes).size == 1).sum())


def size_bins(before: LongArray, after: LongArray, k: int) -> list[SizeBin]:
    """Return how many records are in groups of which size; one bin begins exactly at k, an open one may be last."""
    top = max(int(np.quantile(after, 0.98)) if len(after) else 0, 2 * k)
    step = max(1, math.ceil(top / _MOST_SIZE_BINS))
    start = k - step * math.ceil((k - 1) / step)
    lows = np.arange(start, top + step, step)
    held = [np.bincount(_place(sizes, lows), sizes, len(lows)).astype(np.int64) for sizes in (before, after)]
    highs = [*(lows[1:] - 1).tolist(), None]
    bins = [
        SizeBin(low=max(int(low), 1), high=high, before=int(one), after=int(other))
        for low, high, one, other in zip(lows, highs, *held, strict=True)
    ]
    return bins if bins[-1].before or bins[-1].after else bins[:-1]


def _place(sizes: LongArray, lows: LongArray) -> LongArray:
    return np.asarray(np.searchsorted(lows, sizes, side="right") - 1, np.int64)
