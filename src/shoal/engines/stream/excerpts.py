"""The part of a fragment that a report uses: whole groups, drawn at random, and how many records were equal before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, BoolArray, IntArray
from shoal.encoding import CodedTable
from shoal.kernels.space.tuples import distinct_tuples
from shoal.plan.contents import hash_rows
from shoal.summary.found_people import GroupSizes

_SHOWN = 50_000
"""Records of the groups that a report looks at, about."""
_FEWEST_GROUPS = 10
"""Groups that it looks at, at least, or all that there are."""


class Excerpt(NamedTuple):
    """What a report sees of one fragment, or of one batch of a table grouped as a whole."""

    sizes: GroupSizes
    """How many records are equal in all quasi-identifiers; records of other fragments never are."""
    kept_sizes: GroupSizes
    """How many of them are, of those that are not withheld."""
    codes: AnyArray
    """The stacked codes of the records in the groups drawn."""
    labels: IntArray
    """Their groups, -1 for one that is withheld."""
    rows: pa.Table
    """Their columns as they came."""
    released: pa.Table
    """What those of them that are not withheld are released as."""

    def without_withheld(self) -> Excerpt:
        """Return what a report sees if it may not state how many records were withheld."""
        kept = self.labels >= 0
        return Excerpt(
            self.kept_sizes,
            self.kept_sizes,
            self.codes[:, kept],
            self.labels[kept],
            self.rows.filter(pa.array(kept)),
            self.released,
        )


def shown_up_to(records: int, groups: Sequence[int], seed: int) -> int:
    """Return up to which hash of a group a report looks at it; ``groups`` says how many each fragment has."""
    by_records = int(min(_SHOWN / records * 2.0**64, 2.0**64 - 2048))
    few = np.zeros(0, np.uint64)
    for number, count in enumerate(groups):
        words = hash_rows([np.arange(count, dtype=np.int32), np.full(count, number, np.int32)], seed)
        few = np.sort(np.concatenate([few, words]))[:_FEWEST_GROUPS]
    return max([by_records, *(int(word) for word in few[-1:])])


def choose_groups(labels: IntArray, number: int, seed: int, up_to: int) -> BoolArray:
    """Return which records of a fragment, given its number, are in groups that a report looks at; withheld ones are drawn one by one."""
    beside = np.where(labels < 0, np.arange(len(labels)), number).astype(np.int32)
    return np.asarray(hash_rows([labels, beside], seed) <= np.uint64(up_to), np.bool_)


def take_excerpt(
    part: CodedTable, codes: AnyArray, labels: IntArray, rows: pa.Table, released: pa.Table, chosen: BoolArray
) -> Excerpt:
    """Return what a report sees of a fragment; ``released`` are its records that are not withheld."""
    return Excerpt(
        GroupSizes.of(distinct_tuples(part.codes).size),
        GroupSizes.of(distinct_tuples(np.ascontiguousarray(part.codes[:, labels >= 0])).size),
        codes[:, chosen],
        labels[chosen],
        rows.filter(pa.array(chosen)),
        released.filter(pa.array(chosen[labels >= 0])),
    )
