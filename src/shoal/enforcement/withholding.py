"""Records withheld if that loses less than releasing them with others.

A withheld record counts as lost in full. Steps that withhold a few records of one group are taken by what they gain for each of them, the
largest gain first, until the next step has no room; so what a larger room withholds begins with what a smaller one does. Each time
the room has doubled, from a five-hundredth of the table on, the groups are improved. So more room never loses more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.guarded.withhold import WITHHELD, Leavers, find_leavers

if TYPE_CHECKING:
    from shoal.enforcement.guarded import GuardedSearch
    from shoal.methods.optimize.problem import Solution

_DOUBLINGS = 9
"""Records are withheld in stages: of n records up to n / 2**9 first, then twice as many, and so on; groups are improved after each stage."""
_REGION = 100
"""Groups of a region; steps of withholding are found region by region."""


def withhold(search: GuardedSearch, most: int, improve: Callable[[Solution], Solution]) -> Solution:
    """Return the best groups of a search with up to ``most`` records withheld, if that pays; ``improve`` anneals the groups after each stage but the last."""
    found = search.best
    rooms = [search.problem.records >> doublings for doublings in range(_DOUBLINGS, -1, -1)]
    for room in [one for one in rooms if 0 < one < most]:
        found = improve(_withheld(search, found, room))
    return _withheld(search, found, most)


def _withheld(search: GuardedSearch, found: Solution, room: int) -> Solution:
    """Return a solution with up to ``room`` records withheld, those included that were withheld before."""
    kept, part = search.part_of(found)
    regions = search.regions_of(part, found.groups, _REGION, search.problem.seed)
    steps = [find_leavers(search.problem.space, *part, regions, region) for region in range(len(regions.start) - 1)]
    fitting = _fitting(steps, room - (search.problem.records - len(kept)))
    if not len(fitting.record):
        return found
    labels = found.labels.copy()
    labels[kept[fitting.record]] = fitting.group  # of several entries for a record the last one stays
    return min(found, search.solution(labels), key=lambda one: one.loss)


def _fitting(steps: Sequence[Leavers], room: int) -> Leavers:
    """Return the steps of all regions that gain most, in the order of what they gain, as many as withhold no more than ``room`` records."""
    region = np.repeat(np.arange(len(steps)), [len(one.record) for one in steps])
    record, group, step, gain = (np.concatenate(values) for values in zip(*steps, strict=True))
    order = np.lexsort((np.arange(len(step)), region, -gain))
    last = np.flatnonzero(np.diff(step[order], append=-1) | np.diff(region[order], append=-1))
    withheld = np.cumsum(group[order] == WITHHELD)[last]
    chosen = order[: np.append(-1, last)[np.count_nonzero(withheld <= room)] + 1]
    return Leavers(record[chosen], group[chosen], step[chosen], gain[chosen])
