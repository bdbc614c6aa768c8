"""From leaves of the partition tree to fragments: leaves that cannot stand alone are joined with a neighbour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.engines.cutting import Tree


@dataclass(frozen=True)
class Counts:
    """Exact counts of the records in each leaf: of all, and of those with each sensitive code. Those of batches are added up."""

    records: LongArray
    """Records in each leaf."""
    sensitive: dict[str, LongArray]
    """For each sensitive column the records with each code in each leaf, (leaves, codes)."""

    def __add__(self, other: Counts) -> Counts:
        both = {name: counts + other.sensitive[name] for name, counts in self.sensitive.items()}
        return Counts(self.records + other.records, both)


def count_leaves(leaf: IntArray, leaves: int, sensitive: dict[str, tuple[IntArray, int]]) -> Counts:
    """Count a batch, given the leaf of each record and the codes and number of codes of each sensitive column."""
    found = {
        name: np.bincount(leaf.astype(np.int64) * width + codes, minlength=leaves * width).reshape(leaves, width)
        for name, (codes, width) in sensitive.items()
    }
    return Counts(np.bincount(leaf, minlength=leaves), found)


Stands = Callable[[Sequence[int]], bool]
"""Tells whether some leaves together are large enough and meet the models as one group."""


class _Joined(NamedTuple):
    fragments: list[list[int]]
    """Leaves of each fragment."""
    stands: bool
    """False: there is one fragment, and it cannot stand alone."""


def join_leaves(tree: Tree, counts: LongArray, stands: Stands) -> IntArray:
    """Return the fragment of each leaf, fragments numbered by their first leaf.

    From the bottom up, leaves that cannot stand alone join the smallest fragment of their sibling with which they can, or all of it.
    What the whole table cannot do is not asked here: then there is one fragment.
    """
    joined = _join_all(tree, counts, stands)
    fragment = np.empty(tree.leaves, np.int32)
    for number, leaves in enumerate(sorted(sorted(one) for one in joined)):
        fragment[leaves] = number
    return fragment


def _join_all(tree: Tree, counts: LongArray, stands: Stands) -> list[list[int]]:
    """Join from the last cut to the first: cuts are numbered depth first, so that branches come after their cut."""
    done: dict[int, _Joined] = {}

    def of(place: int) -> _Joined:
        return done[place] if place >= 0 else _Joined([[-1 - place]], stands([-1 - place]))

    for cut in range(len(tree.column) - 1, -1, -1):
        first, second = (of(int(place)) for place in tree.below[cut])
        done[cut] = _join(first, second, counts, stands)
    return done[0].fragments if done else [[0]]


def _join(one: _Joined, other: _Joined, counts: LongArray, stands: Stands) -> _Joined:
    if one.stands and other.stands:
        return _Joined(one.fragments + other.fragments, stands=True)
    if not one.stands and not other.stands:
        together = one.fragments[0] + other.fragments[0]
        return _Joined([together], stands(together))
    weak, strong = (one, other) if other.stands else (other, one)
    by_size = sorted(strong.fragments, key=lambda leaves: (int(counts[leaves].sum()), leaves))
    for chosen in by_size:
        together = chosen + weak.fragments[0]
        if stands(together):
            return _Joined([together if leaves is chosen else leaves for leaves in strong.fragments], stands=True)
    whole = [leaf for leaves in (*strong.fragments, *weak.fragments) for leaf in leaves]
    return _Joined([whole], stands(whole))
