"""Whether the people of a population allow a change of a group: k-map and δ-presence, by the box the group would be released as."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.compiling.decorator import kernel
from shoal.kernels.measuring.matching import Boxes, Points, release_column
from shoal.kernels.models.population_rules import PopulationRules, crowd_shortfall
from shoal.kernels.optimize.state.groups import NOBODY, Groups
from shoal.kernels.space.bits import clear_code
from shoal.kernels.space.kinds import add_value, has_value
from shoal.kernels.space.space import Space


class CrowdGuard(NamedTuple):
    """The rules on people, the people, and room for one box."""

    crowds: PopulationRules
    points: Points
    box: Boxes


@kernel()
def make_crowd_guard(space: Space, crowds: PopulationRules, points: Points) -> CrowdGuard:
    """Return a guard for groups of a space."""
    columns = space.kind.shape[0]
    low, high = np.zeros((columns, 1), np.int32), np.zeros((columns, 1), np.int32)
    words = np.zeros((1, space.word_start[columns]), np.uint64)
    return CrowdGuard(crowds, points, Boxes(low, high, words, space.word_start))


@kernel(allocates=False)
def write_words(space: Space, groups: Groups, group: int, column: int, leaver: int, joiner: int, box: Boxes) -> None:
    """Write the values of a column after a change into a box, if it is a set."""
    first = space.word_start[column]
    for word in range(first, space.word_start[column + 1]):
        box.words[0, word] = groups.words[group, word]
    if leaver != NOBODY and has_value(space, groups.alone[group], column, groups.codes[leaver, column]):
        clear_code(box.words[0], first, groups.codes[leaver, column])
    if joiner != NOBODY:
        add_value(space, box.words[0], column, groups.codes[joiner, column])


@kernel(allocates=False)
def write_box(space: Space, groups: Groups, group: int, leaver: int, joiner: int, box: Boxes) -> None:
    """Write what a group would be released as after ``leaver`` left and ``joiner`` came; either may be NOBODY."""
    for column in range(space.kind.shape[0]):
        low, high = groups.low[group, column], groups.high[group, column]
        if leaver != NOBODY:
            code = groups.codes[leaver, column]
            low = groups.next_low[group, column] if code == low else low
            high = groups.next_high[group, column] if code == high else high
        if joiner != NOBODY:
            code = groups.codes[joiner, column]
            low, high = min(low, code), max(high, code)
        box.low[column, 0], box.high[column, 0] = release_column(space, column, low, high)
        write_words(space, groups, group, column, leaver, joiner, box)


@kernel(allocates=False)
def crowd_allows(space: Space, groups: Groups, guard: CrowdGuard, group: int, leaver: int, joiner: int) -> bool:
    """Return whether a group meets every rule on people after ``leaver`` left and ``joiner`` came; either may be NOBODY."""
    if guard.crowds.kind.shape[0] == 0:
        return True
    size = groups.size[group] - (leaver != NOBODY) + (joiner != NOBODY)
    write_box(space, groups, group, leaver, joiner, guard.box)
    return crowd_shortfall(guard.crowds, guard.points, guard.box, size) == 0.0
