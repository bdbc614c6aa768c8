"""Rules on the *crowd* of a group, the people of a population who fit its box: k-map and δ-presence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.measuring.matching import Boxes, Points, count_people, fits, narrowest, release_column
from shoal.kernels.space.space import Cover, Space

K_MAP = 0
PRESENCE = 1


class PopulationRules(NamedTuple):
    """Rules on people, as flat arrays."""

    kind: IntArray
    """K_MAP or PRESENCE."""
    which: IntArray
    """The list of people a rule looks at."""
    low: FloatArray
    """K_MAP: k. PRESENCE: the least share of the people in a box that may be in the table."""
    high: FloatArray
    """PRESENCE: the largest share."""


@kernel()
def one_box(space: Space, cover: Cover, group: int) -> Boxes:
    """Return what one group of a cover is released as."""
    columns = cover.low.shape[0]
    low, high = np.empty((columns, 1), np.int32), np.empty((columns, 1), np.int32)
    for column in range(columns):
        low[column, 0], high[column, 0] = release_column(
            space, column, cover.low[column, group], cover.high[column, group]
        )
    return Boxes(low, high, cover.words[group : group + 1], space.word_start)


@kernel(allocates=False)
def people_shortfall(crowds: PopulationRules, rule: int, people: int, size: int) -> float:
    """Return the shortfall of a group of ``size`` records whose box so many ``people`` fit; 0 if the rule is met."""
    if crowds.kind[rule] == K_MAP:
        return max(crowds.low[rule] - people, 0.0) / crowds.low[rule]
    if people == 0:
        return 1.0
    share = size / people
    return max(crowds.low[rule] - share, 0.0) + max(share - crowds.high[rule], 0.0)


@kernel()
def crowd_shortfall(crowds: PopulationRules, points: Points, box: Boxes, size: int) -> float:
    """Return how far a group of ``size`` records is from meeting all rules on people, by the box it is released as."""
    total = 0.0
    for rule in range(crowds.kind.shape[0]):
        enough = int(crowds.low[rule]) if crowds.kind[rule] == K_MAP else np.iinfo(np.int64).max
        people = count_people(points, crowds.which[rule], box, 0, enough)
        total += people_shortfall(crowds, rule, people, size)
    return total


@kernel()
def crowd_shortfalls(crowds: PopulationRules, points: Points, space: Space, cover: Cover) -> FloatArray:
    """Return how far each group is from meeting all rules on people."""
    short = np.zeros(cover.size.shape[0])
    for group in range(short.shape[0]):
        if cover.size[group] > 0:
            short[group] = crowd_shortfall(crowds, points, one_box(space, cover, group), cover.size[group])
    return short


@kernel()
def people_reached(points: Points, which: int, space: Space, cover: Cover) -> BoolArray:
    """Return for each point of a list whether it fits at least one group."""
    begin = points.begin[which]
    reached = np.zeros(points.begin[which + 1] - begin, np.bool_)
    for group in range(cover.size.shape[0]):
        if cover.size[group] > 0:
            box = one_box(space, cover, group)
            column, first, last = narrowest(points, which, box, 0)
            for place in range(first, last):
                point = points.order[column, place]
                if not reached[point - begin] and fits(points, box, point, 0):
                    reached[point - begin] = True
    return reached
