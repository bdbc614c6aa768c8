"""Records that are alone, or nearly alone, in the columns an outsider may know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.kernels.space.tuples import distinct_tuples
from shoal.summary.schema import Findable, Found, Known, SizeBin

_MOST_WORK = 30_000_000
"""Records counted, over all combinations of columns."""
_MOST_SIZE_BINS = 30


class GroupSizes(NamedTuple):
    """How many groups there are of each size; those of parts of a table are added up."""

    size: LongArray
    groups: LongArray

    @classmethod
    def of(cls, sizes: LongArray) -> GroupSizes:
        """Return the sizes of single groups in this form."""
        return cls(*np.unique(np.asarray(sizes, np.int64), return_counts=True))

    @property
    def records(self) -> int:
        """The records, or people, of all groups."""
        return int(self.size @ self.groups)


def people_in(label: IntArray, person: IntArray | None) -> GroupSizes:
    """Return the sizes of groups, given the group of each record: their records, or their persons if they are known."""
    if person is not None:
        label = label[distinct_tuples(np.stack([label, person])).first]
    return GroupSizes.of(np.bincount(label))


def merge_sizes(parts: Sequence[GroupSizes]) -> GroupSizes:
    """Return the groups of several parts that share none."""
    size, place = np.unique(np.concatenate([part.size for part in parts]), return_inverse=True)
    return GroupSizes(size, np.bincount(place, np.concatenate([part.groups for part in parts])).astype(np.int64))


def count_findable(sizes: GroupSizes, records: int, k: int) -> Findable:
    """Return how many of ``records`` can be found, given the sizes of the groups of those that are in the table.

    Somebody who knows a person's quasi-identifiers and picks one of the matching records is right with
    chance 1 ÷ size of the group; a withheld record is not found at all.
    """
    small = sizes.size < k
    return Findable(
        unique=int(sizes.groups[sizes.size == 1].sum()),
        below_k=int(sizes.size[small] @ sizes.groups[small]),
        mean_risk=int(sizes.groups.sum()) / max(records, 1),
        largest_risk=1.0 / float(sizes.size.min()) if len(sizes.size) else 0.0,
    )


def find(before: GroupSizes, after: GroupSizes, k: int, by_columns: list[Known]) -> Found:
    """Return who could be found in the original and in the release."""
    return Found(
        before=count_findable(before, before.records, k),
        after=count_findable(after, before.records, k),
        by_columns=by_columns,
    )


def most_telling(codes: IntArray, names: Sequence[str]) -> list[Known]:
    """Return, for each number of columns, those that make most records unique."""
    found = []
    for number in range(1, len(names) + 1):
        if math.comb(len(names), number) * codes.shape[1] > _MOST_WORK:
            continue
        counted = [(_unique(codes[list(rows)]), rows) for rows in combinations(range(len(names)), number)]
        unique, rows = max(counted, key=lambda one: one[0])  # ties: the first
        found.append(Known(columns=[names[row] for row in rows], unique=unique))
    return found


def _unique(codes: IntArray) -> int:
    return int((distinct_tuples(codes).size == 1).sum())


def size_bins(before: GroupSizes, after: GroupSizes, k: int) -> list[SizeBin]:
    """Return how many records are in groups of which size; one bin begins exactly at k, an open one may be last."""
    largest = np.quantile(np.repeat(after.size, after.groups), 0.98) if len(after.size) else 0
    top = max(int(largest), 2 * k)
    step = max(1, math.ceil(top / _MOST_SIZE_BINS))
    start = k - step * math.ceil((k - 1) / step)
    lows = np.arange(start, top + step, step)
    held = [
        np.bincount(_place(sizes.size, lows), sizes.size * sizes.groups, len(lows)).astype(np.int64)
        for sizes in (before, after)
    ]
    highs = [*(lows[1:] - 1).tolist(), None]
    bins = [
        SizeBin(low=max(int(low), 1), high=high, before=int(one), after=int(other))
        for low, high, one, other in zip(lows, highs, *held, strict=True)
    ]
    return bins if bins[-1].before or bins[-1].after else bins[:-1]


def _place(sizes: LongArray, lows: LongArray) -> LongArray:
    return np.asarray(np.searchsorted(lows, sizes, side="right") - 1, np.int64)
