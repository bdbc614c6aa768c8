"""What opening a cell is worth, when every record is ready to pay a price.

A cell that holds at least k records is worth what its best k or more records are ready to pay above what it costs
each of them.

Records of equal codes pay the same: a table comes as its distinct tuples and how many records each has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.chance import draw_word
from shoal.kernels.compiling import kernel
from shoal.kernels.sorting import order_by_key
from shoal.typing import FloatArray, IntArray, LongArray, WordArray

STEPS = 64
"""Steps by which it is seen roughly whether a cell can be worth something, before that is worked out."""


class Cells(NamedTuple):
    """The cells kept and the tuples each of them holds."""

    start: LongArray
    member: IntArray
    cost: FloatArray
    """What a cell costs each record in it."""
    key: WordArray
    """The sum of its tuples' words: cells of equal tuples are one cell, of the lesser cost."""
    slot: IntArray
    """A hash table of cells by key, -1 where empty."""
    word: WordArray
    """A random word for each tuple."""
    used: LongArray
    """[0]: cells; [1]: 1 if a cell was left out for want of room."""


@kernel()
def make_cells(tuples: int, room: int, most: int, state: WordArray) -> Cells:
    """Return a store for up to ``most`` cells with ``room`` members in all."""
    slots = 16
    while slots < 2 * most:
        slots *= 2
    word = np.empty(tuples, np.uint64)
    for place in range(tuples):
        word[place] = draw_word(state)
    return Cells(
        np.zeros(most + 1, np.int64),
        np.empty(room, np.int32),
        np.zeros(most),
        np.zeros(most, np.uint64),
        np.full(slots, -1, np.int32),
        word,
        np.zeros(2, np.int64),
    )


@kernel(allocates=False)
def may_be_worth(
    member: IntArray, cost: float, price: FloatArray, many: IntArray, total: float, lacking: int, count: LongArray
) -> bool:
    """Tell roughly whether ``total`` can make up for the ``lacking`` records next below the cost; a no is certain."""
    for step in range(STEPS):
        count[step] = 0
    for place in range(member.shape[0]):
        below = (cost - price[member[place]]) * STEPS / total
        if 0.0 <= below < STEPS:
            count[int(below)] += many[member[place]]
    owed = 0
    for step in range(STEPS):
        owed += min(count[step], lacking) * step
        lacking -= min(count[step], lacking)
    return lacking == 0 and owed < STEPS


@kernel()
def fill_up(
    member: IntArray, cost: float, price: FloatArray, many: IntArray, total: float, lacking: int, taken: IntArray
) -> float:
    """Take the ``lacking`` records that pay most of those not above the cost; return what stays of ``total``, 0 if nothing."""
    below, who, found = np.empty(member.shape[0]), np.empty(member.shape[0], np.int32), 0
    for place in range(member.shape[0]):
        short = cost - price[member[place]]
        if 0.0 <= short < total:
            below[found], who[found] = short, member[place]
            found += 1
    order = order_by_key(below[:found].view(np.int64))  # the bits of numbers that are not negative sort as they do
    for place in range(found):
        one = min(lacking, many[who[order[place]]])
        total -= one * below[order[place]]
        lacking -= one
        taken[who[order[place]]] = one
        if lacking == 0 or total <= 0.0:
            break
    return total if lacking == 0 and total > 0.0 else 0.0


@kernel()
def cell_worth(
    member: IntArray,
    cost: float,
    price: FloatArray,
    many: IntArray,
    k: int,
    allowed: float,
    count: LongArray,
    taken: IntArray,
) -> float:
    """Return what a cell is worth and ``allowed`` on top of it, 0 if that is nothing.

    If it is something, ``taken`` receives how many records of each of its tuples the cell takes.
    """
    total, payers = allowed, 0
    for place in range(member.shape[0]):
        over = price[member[place]] - cost
        if over > 0.0:
            total += over * many[member[place]]
            payers += many[member[place]]
    if total <= 0.0 or (payers < k and not may_be_worth(member, cost, price, many, total, k - payers, count)):
        return 0.0
    for place in range(member.shape[0]):
        taken[member[place]] = many[member[place]] if price[member[place]] > cost else 0
    return total if payers >= k else fill_up(member, cost, price, many, total, k - payers, taken)


@kernel(allocates=False)
def find_key(cells: Cells, key: np.uint64) -> int:
    """Return the place in the hash table where a key stands or belongs."""
    mask = np.uint64(cells.slot.shape[0] - 1)
    at = (key >> np.uint64(32)) & mask
    while cells.slot[at] >= 0 and cells.key[cells.slot[at]] != key:
        at = (at + np.uint64(1)) & mask
    return int(at)


@kernel(allocates=False)
def keep_cell(cells: Cells, member: IntArray, cost: float) -> int:
    """Add a cell, or lower the cost of the one that holds the same tuples; return its place, -1 where there is no room."""
    key = np.uint64(0)
    for place in range(member.shape[0]):
        key += cells.word[member[place]]
    at, used = find_key(cells, key), cells.used[0]
    if cells.slot[at] >= 0:
        cells.cost[cells.slot[at]] = min(cells.cost[cells.slot[at]], cost)
        return int(cells.slot[at])
    if used == cells.cost.shape[0] or cells.start[used] + member.shape[0] > cells.member.shape[0]:
        cells.used[1] = 1
        return -1
    for place in range(member.shape[0]):
        cells.member[cells.start[used] + place] = member[place]
    cells.start[used + 1] = cells.start[used] + member.shape[0]
    cells.slot[at], cells.key[used], cells.cost[used] = used, key, cost
    cells.used[0] += 1
    return int(used)


@kernel()
def keep_first(cells: Cells, order: LongArray, most: int, kept: Cells) -> None:
    """Add the first cells of an order to another store, as long as they have no more than ``most`` tuples together."""
    for cell in order:
        if kept.start[kept.used[0]] + cells.start[cell + 1] - cells.start[cell] > most:
            break
        keep_cell(kept, cells.member[cells.start[cell] : cells.start[cell + 1]], cells.cost[cell])
