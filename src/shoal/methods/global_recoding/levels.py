"""Whole columns at one level of their hierarchy: the lattice of full-domain generalization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.kernels.global_recoding.tuple_index import number_tuples
from shoal.methods.global_recoding.trees import LeafTuples, require_hierarchy, tree_of

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


class Levels(NamedTuple):
    """What each code of a column is released as at each level, from the values themselves to the root."""

    cuts: tuple[IntArray, ...]
    """For each level the lowest and highest code released for each code, and their node, (3, codes)."""
    form: IntArray
    """The number of the released value, (levels, codes)."""
    cost: FloatArray
    """Its certainty penalty, (levels, codes)."""
    steps: tuple[int, ...]
    """How many steps each level is above the values, as the hierarchy counts them."""

    @property
    def number(self) -> int:
        """How many levels there are."""
        return len(self.cuts)


def levels_of(table: CodedTable, method: str) -> tuple[Levels, ...]:
    """Return the levels of each column; a level is so many steps up from each leaf, at most to the root."""
    for column in table.columns:
        require_hierarchy(column, method)
    return tuple(_column_levels(table, row) for row in range(len(table.columns)))


def _column_levels(table: CodedTable, row: int) -> Levels:
    """Climb until all is the root; a level whose values have the same leaves as those of the level before is passed over.

    A missing value stays as it is until the last level.
    """
    tree, column = tree_of(table, row), table.columns[row]
    penalty = table.space.node_cost[int(table.space.start[row]) :]
    node = np.arange(column.cardinality, dtype=np.int32)
    cuts: list[IntArray] = []
    costs: list[FloatArray] = []
    steps: list[int] = []
    step = 0
    # ends: each round every node that is not a root gives way to its parent; a missing value follows when all others are at the root
    while True:
        low, high = tree.low[node], tree.high[node]
        if not cuts or not np.array_equal(cuts[-1][:2], [low, high]):
            steps.append(step)
            cuts.append(np.array([low, high, node], np.int32))
            costs.append(np.where(low == high, 0.0, penalty[node]))
        above = tree.parent[node]
        if np.array_equal(above, node):
            break
        if column.missing >= 0 and not _all_root(tree.parent, above[: column.missing]):
            above[column.missing] = column.missing
        node, step = above, step + 1
    form = [np.unique(cut[0].astype(np.int64) * len(node) + cut[1], return_inverse=True)[1] for cut in cuts]
    return Levels(tuple(cuts), np.array(form, np.int32), np.array(costs), tuple(steps))


def _all_root(parent: IntArray, nodes: IntArray) -> bool:
    return bool((parent[nodes] == nodes).all())


class Frequencies(NamedTuple):
    """Tuples released alike and their records: a leaf of each released value stands for it."""

    codes: IntArray
    size: LongArray


def roll_up(frequencies: Frequencies, levels: Sequence[Levels], chosen: Sequence[int]) -> Frequencies:
    """Add up the tuples that are released alike at the ``chosen`` levels (Incognito's roll-up)."""
    forms = np.empty_like(frequencies.codes)
    for row, (column, level) in enumerate(zip(levels, chosen, strict=True)):
        forms[row] = column.form[level][frequencies.codes[row]]
    label, first = number_tuples(forms)
    size = np.bincount(label, frequencies.size).astype(np.int64)
    return Frequencies(np.ascontiguousarray(frequencies.codes[:, first]), size)


def all_frequencies(base: LeafTuples) -> Frequencies:
    """Return the tuples as they are."""
    return Frequencies(base.codes, base.size)


def small_records(frequencies: Frequencies, k: int) -> int:
    """Return how many records are in tuples of fewer than k."""
    return int(frequencies.size[frequencies.size < k].sum())


def cuts_at(levels: Sequence[Levels], chosen: Sequence[int]) -> tuple[IntArray, ...]:
    """Return the cuts at the ``chosen`` levels."""
    return tuple(column.cuts[level] for column, level in zip(levels, chosen, strict=True))
