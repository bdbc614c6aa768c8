"""Where a large table is cut: the crossing rule.

A sample of the table is grouped first (the *pilot*). A good cut runs between the pilot's groups, not through them, because the groups
of the whole table lie where those of the pilot lie. So each part is cut, over all columns and codes, where

    (share of its pilot rows in groups that straddle the cut + 0.002) ÷ binary entropy of the balance

is least. The entropy keeps parts from being shaved off in slices; the 0.002 lets balance decide if nothing straddles. Columns by
hierarchy are cut only between the children of the node that covers the part, so that no node is torn that a group could be released as.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.kernels.space.kinds import tree_columns

if TYPE_CHECKING:
    from shoal.kernels.space.space import Space

_STRADDLING = 0.002
"""Added to the share of rows in groups that straddle a cut: if none do, balance decides."""
_SMALLEST_SIDE = 0.02
"""The share of a part that a side of its cut has at least."""


@dataclass(frozen=True)
class Tree:
    """A partition of the space of codes into boxes, the leaves. Small, plain arrays: it travels to every worker."""

    column: IntArray
    """The column each cut looks at."""
    code: IntArray
    """Records with a code of at most this go to the first branch."""
    below: IntArray
    """The two branches of each cut, (cuts, 2): the number of a further cut, or -1 - leaf. Leaves are numbered depth first."""

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.column) + 1

    def assign(self, codes: IntArray) -> IntArray:
        """Return the leaf of each record of a coded batch, (columns, records)."""
        place = np.full(codes.shape[1], 0 if len(self.column) else -1, np.int32)
        inside = np.arange(len(place)) if len(self.column) else np.zeros(0, np.int64)
        while len(inside):  # one cut deeper each time
            cut = place[inside]
            place[inside] = self.below[cut, (codes[self.column[cut], inside] > self.code[cut]).astype(np.int8)]
            inside = inside[place[inside] >= 0]
        return -1 - place


class Cut(NamedTuple):
    """A place to cut a part: after a code of a column."""

    score: float
    column: int
    code: int


def build_tree(
    space: Space,
    codes: IntArray,
    labels: IntArray,
    weight: LongArray | None = None,
    most: float = 0.0,
    least: float = 1.0,
) -> Tree:
    """Cut the pilot's rows by the crossing rule until every part weighs at most ``most``.

    Parameters
    ----------
    space, codes, labels
        The pilot: its codes (columns, rows) and the group of each row.
    weight
        How many records of the table each row stands for; one unless given.
    most
        The weight of a leaf, at most; a part of equal rows cannot be cut and may weigh more.
    least
        Rows of a side of a cut, at least.
    """
    weight = np.ones(codes.shape[1], np.int64) if weight is None else weight
    column: list[int] = []
    code: list[int] = []
    below: list[list[int]] = []
    leaves = 0
    # Each entry: the rows of a part, and the branch of a cut that leads to it. Depth first, the first branch first.
    open_parts: list[tuple[LongArray, int, int]] = [(np.arange(codes.shape[1]), -1, 0)]
    while open_parts:
        rows, cut, side = open_parts.pop()
        best = _best_cut(space, codes[:, rows], labels[rows], least) if weight[rows].sum() > most else None
        if best is None:
            place, leaves = -1 - leaves, leaves + 1
        else:
            place = len(column)
            column.append(best.column)
            code.append(best.code)
            below.append([0, 0])
            first = codes[best.column, rows] <= best.code
            open_parts += [(rows[~first], place, 1), (rows[first], place, 0)]
        if cut >= 0:
            below[cut][side] = place
    return Tree(np.array(column, np.int32), np.array(code, np.int32), np.array(below, np.int32).reshape(-1, 2))


def _best_cut(space: Space, codes: IntArray, labels: IntArray, least: float) -> Cut | None:
    """Return the cut of a part with the least score; of equal ones the first column's, then the lowest code's."""
    group = np.unique(labels, return_inverse=True)[1].reshape(-1)
    found = [_best_in_column(space, column, codes[column], group, least) for column in range(len(codes))]
    return min((one for one in found if one is not None), default=None)


def _best_in_column(space: Space, column: int, codes: IntArray, group: LongArray, least: float) -> Cut | None:
    values, place = np.unique(codes, return_inverse=True)
    if len(values) == 1:
        return None
    records = len(codes)
    first = np.cumsum(np.bincount(place, minlength=len(values)))[:-1]
    small = np.minimum(first, records - first)
    allowed = (small >= max(least, _SMALLEST_SIDE * records)) & _between_children(space, column, values)
    if not allowed.any():
        return None
    score = np.where(allowed, (_straddling(place, group) / records + _STRADDLING) / _entropy(first / records), np.inf)
    best = int(np.argmin(score))
    return Cut(float(score[best]), column, int(values[best]))


def _straddling(place: LongArray, group: LongArray) -> LongArray:
    """Return for each gap between neighbouring values how many rows are in groups with values on both sides."""
    groups, values = int(group.max()) + 1, int(place.max()) + 1
    low, high = np.full(groups, values, np.int64), np.zeros(groups, np.int64)
    np.minimum.at(low, group, place)
    np.maximum.at(high, group, place)
    size = np.bincount(group, minlength=groups)
    change = np.bincount(low, size, values) - np.bincount(high, size, values)
    return np.cumsum(change)[:-1].astype(np.int64)


def _entropy(share: FloatArray) -> FloatArray:
    """Return the binary entropy of shares strictly between 0 and 1, in bits."""
    return np.asarray(-(share * np.log2(share) + (1 - share) * np.log2(1 - share)), np.float64)


def _between_children(space: Space, column: int, values: IntArray) -> BoolArray:
    """Return for each gap between neighbouring values whether it lies between two children of the node that covers them all."""
    if not tree_columns(space)[column]:
        return np.ones(len(values) - 1, np.bool_)
    start = space.start[column]
    parent, high = space.node_parent[start:], space.node_high[start:]
    top = int(values[0])
    while high[top] < values[-1]:
        top = int(parent[top])
    child = values
    while (lower := parent[child] != top).any():  # ends: there is more than one value, so all are below the top
        child = np.where(lower, parent[child], child)
    return np.asarray(child[1:] != child[:-1], np.bool_)
