"""Which people of a list fit which released boxes.

People are *points*: for each column twice the code of their value, or an odd number between two codes if the
table does not have the value. A box holds, in the same numbers, the lowest and highest value released, and for
columns released as sets the bits of the values. A value of -1 lies in no box but that of ``*``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.bits import holds_code
from shoal.kernels.space.kinds import shown_range, shows_all
from shoal.kernels.space.space import Space

NOWHERE = -1
"""The low end of a box that is released as ``*``, and the value of a person that lies in no other box."""


class Points(NamedTuple):
    """People of one or more lists, the distinct ones of each list once."""

    value: IntArray
    """Doubled codes, (m, p)."""
    weight: LongArray
    """How many people share the point."""
    begin: LongArray
    """Where each list begins among the points; one entry more than there are lists."""
    order: IntArray
    """The points of each list in rising order of each column, (m, p)."""
    ranked: IntArray
    """Their values in that order, (m, p)."""


class Boxes(NamedTuple):
    """What g groups are released as."""

    low: IntArray
    """(m, g), doubled codes."""
    high: IntArray
    words: WordArray
    """Bits of SET columns, (g, words)."""
    word_start: LongArray
    """The first word of each column, as in a space; a column without words is not a set."""


@kernel(allocates=False)
def release_column(space: Space, column: int, low: int, high: int) -> tuple[int, int]:
    """Return the doubled codes a range is released as: a node stands for all leaves below it."""
    if shows_all(space, column, low, high):
        return NOWHERE, 2 * space.cardinality[column] + 1
    first, last = shown_range(space, column, low, high)
    return 2 * first, 2 * last


@kernel(allocates=False)
def fits(points: Points, boxes: Boxes, point: int, group: int) -> bool:
    """Return whether a person can be behind a released box."""
    for column in range(points.value.shape[0]):
        value = points.value[column, point]
        low, high = boxes.low[column, group], boxes.high[column, group]
        if value < low or value > high:
            return False
        start = boxes.word_start[column]
        if start < boxes.word_start[column + 1] and low != NOWHERE:
            if value & 1 == 1 or not holds_code(boxes.words[group], start, value >> 1):
                return False
    return True


@kernel()
def narrowest(points: Points, which: int, boxes: Boxes, group: int) -> tuple[int, int, int]:
    """Return the column in which the fewest points of a list lie within a box, and their places in its order."""
    begin, end = points.begin[which], points.begin[which + 1]
    best, first, last = 0, begin, end
    for column in range(points.value.shape[0]):
        ranked = points.ranked[column, begin:end]
        low = begin + np.searchsorted(ranked, boxes.low[column, group])
        high = begin + np.searchsorted(ranked, boxes.high[column, group], side="right")
        if high - low < last - first:
            best, first, last = column, low, high
    return best, first, last


@kernel()
def count_people(points: Points, which: int, boxes: Boxes, group: int, enough: int) -> int:
    """Return how many people of a list fit a box; counting may stop once there are ``enough``."""
    column, first, last = narrowest(points, which, boxes, group)
    people = 0
    for place in range(first, last):
        point = points.order[column, place]
        if fits(points, boxes, point, group):
            people += points.weight[point]
            if people >= enough:
                return people
    return people
