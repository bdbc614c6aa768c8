"""Whether a group that is being built can still be completed so that it meets every rule.

On trial, a group is filled up to a *target* size with records available, class by class, each time one of the class that is farthest below its
share: its share of the whole table if models compare with the table (t, β, δ), an equal share if they demand variety (l, α). For
equal-distance t-closeness and distinct l-diversity this is the best completion there is; for other models it is a good one, so that
a group may be given up that could have been completed, never the other way round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.models.rules import Rules, Tally, add, clear, shortfall


class Classes(NamedTuple):
    """Records with the same sensitive codes are of one class."""

    class_of: IntArray
    """The class of each record."""
    sample: IntArray
    """One record of each class."""
    share: FloatArray
    """What share of a group each class should have."""


@kernel(allocates=False)
def fill_up(classes: Classes, have: LongArray, size: int, target: int, at_hand: LongArray, filled: LongArray) -> bool:
    """Write how many of each class a group of ``size`` records has once filled up to ``target``; False if too few are available."""
    for one in range(have.shape[0]):
        filled[one] = have[one]
    for _ in range(target - size):
        best, least = -1, np.inf
        for one in range(have.shape[0]):
            if filled[one] - have[one] < at_hand[one]:
                surplus = filled[one] - target * classes.share[one]
                if surplus < least:
                    best, least = one, surplus
        if best < 0:
            return False
        filled[best] += 1
    return True


@kernel(allocates=False)
def completable(
    rules: Rules,
    classes: Classes,
    have: LongArray,
    size: int,
    target: int,
    at_hand: LongArray,
    filled: LongArray,
    tally: Tally,
) -> bool:
    """Return whether a group with ``have`` of each class can grow to ``target`` records and meet every rule."""
    if not fill_up(classes, have, size, target, at_hand, filled):
        return False
    clear(rules, tally)
    for one in range(filled.shape[0]):
        for _ in range(filled[one]):
            add(rules, tally, classes.sample[one])
    return shortfall(rules, tally) == 0.0
