"""What the cells of a release show once their ends have moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, FloatArray, IntArray
from shoal.encoding import CodedTable
from shoal.ends.columns import ColumnEnds
from shoal.kernels.space.space import Cover, Space
from shoal.privacy.base import Shown


class ReleasedBoxes(NamedTuple):
    """The boxes of a release as their cells show them: codes of a column with round ends are numbers of its ends."""

    space: Space
    """Where the ends are, those beyond the table's values at the first or last of them: nothing more is lost there."""
    cover: Cover
    shown: Space
    """Where the ends are as a reader sees them."""
    ends: Mapping[int, AnyArray] = {}
    """The exact numbers of the ends of each column whose ends moved, by row: its codes 1, 2, …"""

    def cells(self) -> Shown:
        """Return what the cells show, as privacy models read it."""
        return Shown(self.shown, self.cover, self.ends)


def released_boxes(table: CodedTable, cover: Cover, ends: Mapping[int, ColumnEnds]) -> ReleasedBoxes:
    """Return what the cells show, as boxes over the released ends: for their cost, and to find those that are equal."""
    space = table.space
    if not ends:
        return ReleasedBoxes(space, cover, space)
    low, high = cover.low.copy(), cover.high.copy()
    positions, starts = [], space.start.copy()
    cardinality, missing = space.cardinality.copy(), space.missing.copy()
    exact, filled = {}, 0
    for row, column in enumerate(table.columns):
        if not column.kind.ordered:
            continue
        place = space.position[space.start[row] : space.start[row] + len(column.values)]
        if row in ends:
            place, low[row], high[row], exact[row] = _numbered_ends(ends[row], cover.low[row], cover.high[row])
            cardinality[row] = len(place) + column.has_missing
            missing[row] = len(place) if column.has_missing else -1
        starts[row] = filled
        filled += len(place)
        positions.append(place)
    shown = space._replace(start=starts, position=np.concatenate(positions), cardinality=cardinality, missing=missing)
    # the first and last are values of the table; a column in which every value is missing has none
    within = [np.clip(place, place[0], place[-1]) if len(place) else place for place in positions]
    moved = cover._replace(low=low, high=high)
    return ReleasedBoxes(shown._replace(position=np.concatenate(within)), moved, shown, exact)


def _numbered_ends(ends: ColumnEnds, low: IntArray, high: IntArray) -> tuple[FloatArray, IntArray, IntArray, AnyArray]:
    """Return the positions of all ends in order, the number of each group's two ends, and the exact ends; a missing value comes last.

    Before and behind the ends are the first and last value of the table: a cell that shows nothing stands for all between them.
    """
    begin, end = ends.move(low, high)
    known, number = np.unique(np.concatenate([begin, end]), return_inverse=True)
    place, values = ends.column.position, len(ends.column.values)
    assert place is not None  # noqa: S101
    positions = np.concatenate([place[:1], ends.positions(known), place[-1:]])
    first, last = number[: len(low)] + 1, number[len(low) :] + 1
    lowest = np.where(low >= values, len(positions), first).astype(np.int32)
    highest = np.where(high >= values, len(positions), last).astype(np.int32)
    return positions, lowest, highest, ends.grid.numbers(known)


def values_shown(cover: Cover, ends: Mapping[int, ColumnEnds]) -> Cover:
    """Return the boxes of the table's values that the cells stand for, those between old and new ends included."""
    low, high = cover.low.copy(), cover.high.copy()
    for row, one in ends.items():
        ranges = one.is_range(low[row], high[row])
        begin, end = one.move(low[row], high[row])
        exact = one.grid.exact
        low[row] = np.where(ranges, np.searchsorted(exact, begin), low[row])
        high[row] = np.where(ranges, np.searchsorted(exact, end, side="right") - 1, high[row])
    return cover._replace(low=low, high=high)
