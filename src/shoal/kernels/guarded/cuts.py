"""Mondrian with models in view: a part is cut only where every side meets all models (LeFevre, DeWitt, Ramakrishnan 2006)."""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.kernels.compiling import kernel
from shoal.kernels.enforcement.crowds import Crowds
from shoal.kernels.enforcement.mending import records_shortfall
from shoal.kernels.enforcement.rules import Rules, Tally, new_tally
from shoal.kernels.measuring.matching import Points
from shoal.kernels.mondrian import Parts, cut_part, next_part, settle_part
from shoal.kernels.space.space import Cover, Space, empty_cover


@kernel()
def sides_hold(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: Crowds,
    points: Points,
    tally: Tally,
    trial: Cover,
    parts: Parts,
    bounds: LongArray,
) -> bool:
    """Tell whether every side of a cut meets all models."""
    for side in range(bounds.size - 1):
        records = parts.record[bounds[side] : bounds[side + 1]]
        if records_shortfall(space, codes, rules, crowds, points, tally, trial, records) > 0.0:
            return False
    return True


@kernel()
def run_guarded(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: Crowds,
    points: Points,
    parts: Parts,
    k: int,
    mode: int,
    by_tree: bool,
    budget: int,
) -> bool:
    """Do what ``mondrian.run`` does, but pass over a column where a side of its cut would fail a model."""
    tally, trial = new_tally(rules), empty_cover(space, 1)
    touched = 0
    while parts.depth[0] > 0 and touched < budget:
        begin, end = next_part(parts)
        touched += end - begin
        bounds, passed = np.empty(0, np.int64), 0
        while end - begin >= 2 * k and passed < codes.shape[0]:
            bounds, passed = cut_part(space, parts, begin, end, k, mode, by_tree, passed)
            if sides_hold(space, codes, rules, crowds, points, tally, trial, parts, bounds):
                break
            bounds = np.empty(0, np.int64)
        settle_part(parts, begin, end, bounds)
    return parts.depth[0] == 0
