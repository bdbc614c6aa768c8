"""From leaves of the partition tree to fragments: leaves that cannot stand alone are joined with a neighbour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.plan.cuts import Tree


class PairCounts(NamedTuple):
    """How often each code of a sensitive column occurs in each leaf: only what occurs, because a table of leaves × codes could be too large."""

    codes: int
    """The number of codes."""
    pair: LongArray
    """Leaf · codes + code of each pair that occurs, in rising order."""
    times: LongArray
    """Its records."""

    def __add__(self, other: PairCounts) -> PairCounts:  # type: ignore[override]
        pair, place = np.unique(np.concatenate([self.pair, other.pair]), return_inverse=True)
        count = np.zeros(len(pair), np.int64)
        np.add.at(count, place.reshape(-1), np.concatenate([self.times, other.times]))
        return PairCounts(self.codes, pair, count)

    def of_leaves(self, leaves: Sequence[int]) -> LongArray:
        """Return the records of some leaves with each code."""
        total = np.zeros(self.codes, np.int64)
        for leaf in leaves:
            begin, end = np.searchsorted(self.pair, (leaf * self.codes, (leaf + 1) * self.codes))
            total[self.pair[begin:end] - leaf * self.codes] += self.times[begin:end]
        return total


@dataclass(frozen=True)
class Counts:
    """Exact counts of the records in each leaf: of all, and of those with each sensitive code. Those of batches are added up."""

    records: LongArray
    """Records in each leaf."""
    sensitive: dict[str, PairCounts]
    """For each sensitive column the records with each code in each leaf."""

    def __add__(self, other: Counts) -> Counts:
        both = {name: counts + other.sensitive[name] for name, counts in self.sensitive.items()}
        return Counts(self.records + other.records, both)


def count_leaves(leaf: IntArray, leaves: int, sensitive: dict[str, tuple[IntArray, int]]) -> Counts:
    """Count a batch, given the leaf of each record and the codes and number of codes of each sensitive column."""
    found = {
        name: PairCounts(width, *_counted(leaf.astype(np.int64) * width + codes))
        for name, (codes, width) in sensitive.items()
    }
    return Counts(np.bincount(leaf, minlength=leaves), found)


def _counted(pairs: LongArray) -> tuple[LongArray, LongArray]:
    pair, count = np.unique(pairs, return_counts=True)
    return pair, count.astype(np.int64)


Stands = Callable[[Sequence[int]], bool]
"""Returns whether some leaves together are large enough and meet the models as one group."""


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
