"""Estimate: about what it would save to open a cell and to close another one.

A record that a cell takes from another one saves what the dearest cell costs that can spare one and reaches it by a chain.
Trying an exchange takes a hundred times as long, and most cost far more than they save.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.chance import draw_below
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_groups import ENDLESS
from shoal.kernels.optimise_play import Play, cheapest_open
from shoal.kernels.optimise_regions import KEYS
from shoal.kernels.sorting import order_by_key
from shoal.typing import FloatArray, IntArray, LongArray, WordArray

CLOSED = 3
"""Cells looked at for one to close, beside that of a random record."""


class Sources(NamedTuple):
    """Where the records of a cell are, and what they save when they leave."""

    worth: FloatArray
    """What a record saves that leaves an open cell, if another one takes its place; of no meaning where none can."""
    spare: IntArray
    """The cell that has one to spare for it, -1 if there is none."""
    dear: LongArray
    """All cells, the dearest first."""
    cell: IntArray
    """The open cells that hold some of the records looked at, by falling worth."""
    inside: IntArray
    """How many each of these has."""
    seen: LongArray
    """The last look that came to an open cell."""
    fits: LongArray
    """The last look that came to a tuple."""
    taken: IntArray
    """Records that an estimate took from a cell that can spare some."""
    counted: LongArray
    """The estimate that did."""
    estimates: LongArray
    """Their number, and that of looks."""
    value: FloatArray
    """What the records of the closed cell save, by falling value."""


@kernel()
def make_sources(play: Play) -> Sources:
    """Return room for the sources of a cell."""
    cells, records = play.cost.shape[0], play.label.shape[0]
    key = np.empty(cells, np.int64)
    for cell in range(cells):
        key[cell] = -np.int64(play.cost[cell] * KEYS)
    return Sources(
        np.zeros(cells),
        np.zeros(cells, np.int32),
        order_by_key(key),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int64),
        np.zeros(play.opens.shape[0], np.int64),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.int64),
        np.zeros(2, np.int64),
        np.zeros(records),
    )


@kernel(allocates=False)
def weigh_open(play: Play, sources: Sources, queue: IntArray, k: int) -> None:
    """Find for each open cell the dearest one with more than k records from which a chain, of any length, leads to it."""
    for cell in range(play.cost.shape[0]):
        sources.spare[cell] = -1
    for root in sources.dear:
        if play.size[root] <= k or sources.spare[root] >= 0:
            continue
        sources.spare[root], sources.worth[root], queue[0] = root, play.cost[root], root
        at, end = 0, 1
        while at < end:
            record = play.first[queue[at]]
            at += 1
            while record >= 0:
                one = play.tuple_of[record]
                for place in range(play.begin[one], play.begin[one] + play.opens[one]):
                    cell = play.opened[place]
                    if sources.spare[cell] < 0:
                        sources.spare[cell], sources.worth[cell], queue[end] = root, play.cost[root], cell
                        end += 1
                record = play.later[record]


@kernel(allocates=False)
def find_sources(play: Play, sources: Sources, cell: int) -> int:
    """List the open cells that hold records of a cell, by falling worth; return how many there are."""
    sources.estimates[1] += 1
    look, count = sources.estimates[1], 0
    for place in range(play.start[cell], play.start[cell + 1]):
        one = play.member[place]
        sources.fits[one] = look
        record = play.head[one]
        while record >= 0:
            other = play.label[record]
            if other >= 0 and sources.seen[other] != look:
                sources.seen[other], sources.inside[other], sources.cell[count] = look, 0, other
                count += 1
            if other >= 0:
                sources.inside[other] += 1
            record = play.after[record]
    for place in range(1, count):
        other, at = sources.cell[place], place
        while at > 0 and sources.worth[sources.cell[at - 1]] < sources.worth[other]:
            sources.cell[at] = sources.cell[at - 1]
            at -= 1
        sources.cell[at] = other
    return count


@kernel(allocates=False)
def reaches(play: Play, sources: Sources, one: int, closed: int) -> bool:
    """Return whether a record of a tuple can get into the cell looked at, at once or in the place of another one."""
    look = sources.estimates[1]
    if sources.fits[one] == look:
        return True
    for place in range(play.begin[one], play.begin[one] + play.opens[one]):
        other = play.opened[place]
        if other != closed and sources.seen[other] == look:
            return True
    return False


@kernel(allocates=False)
def value_closed(play: Play, sources: Sources, cell: int, closed: int) -> tuple[float, int]:
    """Return what it saves to send all records of a closed cell elsewhere, and how many could go to ``cell`` instead.

    What each of these would save then is listed by falling value. -ENDLESS where one can go nowhere.
    """
    saved, count, record = 0.0, 0, play.first[closed]
    while record >= 0:
        one = play.tuple_of[record]
        host, near = cheapest_open(play, one, closed), reaches(play, sources, one, closed)
        if host < 0 and not near:
            return -ENDLESS, 0
        paid = play.cost[host] if host >= 0 else 2.0 * play.cost[closed] + play.cost[cell]
        saved += play.cost[closed] - paid
        if near:
            at, value = count, paid - play.cost[cell]
            while at > 0 and sources.value[at - 1] < value:
                sources.value[at] = sources.value[at - 1]
                at -= 1
            sources.value[at] = value
            count += 1
        record = play.later[record]
    return saved, count


@kernel(allocates=False)
def spare_records(play: Play, sources: Sources, other: int, closed: int, k: int) -> int:
    """Return how many records an open cell can still give away in this estimate."""
    root = sources.spare[other]
    if root < 0 or root == closed or other == closed:
        return 0
    if sources.counted[root] != sources.estimates[0]:
        sources.counted[root], sources.taken[root] = sources.estimates[0], 0
    return min(sources.inside[other], play.size[root] - k - sources.taken[root])


@kernel(allocates=False)
def estimate(play: Play, sources: Sources, cell: int, count: int, closed: int, k: int) -> float:
    """Return about what it saves to open a cell and to close another one, or none if that is -1.

    The cell takes the records that save most, at least k, those of the closed cell and what others can spare.
    """
    sources.estimates[0] += 1
    saved, own = (0.0, 0) if closed < 0 else value_closed(play, sources, cell, closed)
    if saved == -ENDLESS:
        return saved
    filled, at, mine = 0, 0, 0
    while at < count or mine < own:
        over = sources.worth[sources.cell[at]] - play.cost[cell] if at < count else -ENDLESS
        if mine < own and sources.value[mine] >= over:
            over, many = sources.value[mine], 1
            mine += 1
        else:
            many = spare_records(play, sources, sources.cell[at], closed, k)
            if over <= 0.0:
                many = min(many, k - filled)
            if many > 0:
                sources.taken[sources.spare[sources.cell[at]]] += many
            at += 1
        if over <= 0.0 and filled >= k:
            break
        if many > 0:
            saved += over * many
            filled += many
    return saved if filled >= k else -ENDLESS


@kernel(allocates=False)
def choose_closed(
    play: Play, sources: Sources, cell: int, count: int, own: int, k: int, state: WordArray
) -> tuple[int, float]:
    """Return which of a few open cells to close for a cell, -1 for none, and about what that saves."""
    best, most = -1, estimate(play, sources, cell, count, -1, k)
    for number in range(CLOSED + 1):
        closed = own if number == 0 else sources.cell[draw_below(state, count)]
        saved = estimate(play, sources, cell, count, closed, k)
        if saved > most:
            best, most = closed, saved
    return best, most
