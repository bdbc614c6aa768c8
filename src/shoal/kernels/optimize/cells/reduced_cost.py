"""The reduced cost of a cell, when every record has a dual price; and a pool of cells.

The *profit* of a cell that holds at least k records is the sum of price minus cost over the records it takes: all whose price is above
its cost, and if these are fewer than k the next best ones. It is the reduced cost of the cell with its sign turned.

Records of equal codes have one price: a table comes as its distinct tuples and their multiplicity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.hashing import table_room
from shoal.kernels.common.random_state import draw_word
from shoal.kernels.common.sorting import order_by_key

BINS = 64
"""Bins of a coarse histogram that rules most cells out before their profit is worked out."""


class CellPool(NamedTuple):
    """The cells kept and the tuples each of them holds."""

    start: LongArray
    member: IntArray
    """Cell c holds the tuples ``member[start[c]:start[c + 1]]``."""
    cost: FloatArray
    """What a cell costs each record in it."""
    key: WordArray
    """The sum of its tuples' words: cells of equal tuples are one cell, of the lesser cost."""
    slot: IntArray
    """A hash table of cells by key, -1 if empty."""
    word: WordArray
    """A random word for each tuple."""
    used: LongArray
    """[0]: cells; [1]: 1 if a cell was left out for want of room."""


@kernel()
def make_cell_pool(tuples: int, room: int, most: int, state: WordArray) -> CellPool:
    """Return an empty pool for up to ``most`` cells with ``room`` tuples in all."""
    word = np.empty(tuples, np.uint64)
    for place in range(tuples):
        word[place] = draw_word(state)
    return CellPool(
        np.zeros(most + 1, np.int64),
        np.empty(room, np.int32),
        np.zeros(most),
        np.zeros(most, np.uint64),
        np.full(table_room(most), -1, np.int32),
        word,
        np.zeros(2, np.int64),
    )


@kernel(allocates=False)
def profit_in_order(member: IntArray, cost: float, price: FloatArray, left: IntArray, k: int) -> tuple[float, int]:
    """Return the profit of a cell and how many records it takes, the first ones; -inf if it holds fewer than k.

    Its tuples come by falling price; each has ``left`` records to take.
    """
    total, taken = 0.0, 0
    for place in range(member.shape[0]):
        one = member[place]
        over, records = price[one] - cost, left[one]
        if over <= 0.0:
            if taken >= k:
                break
            records = min(records, k - taken)
        total += over * records
        taken += records
    return (total if taken >= k else -np.inf), taken


@kernel(allocates=False)
def may_be_profitable(
    member: IntArray,
    cost: float,
    price: FloatArray,
    multiplicity: IntArray,
    total: float,
    needed: int,
    count: LongArray,
) -> bool:
    """Estimate by histogram whether the surplus ``total`` covers the deficits of the ``needed`` records that fill the cell up to k.

    False is certain, True may be wrong.
    """
    for one in range(BINS):
        count[one] = 0
    for place in range(member.shape[0]):
        below = (cost - price[member[place]]) * BINS / total
        if 0.0 <= below < BINS:
            count[int(below)] += multiplicity[member[place]]
    owed = 0
    for one in range(BINS):
        owed += min(count[one], needed) * one
        needed -= min(count[one], needed)
    return needed == 0 and owed < BINS


@kernel()
def fill_up(
    member: IntArray,
    cost: float,
    price: FloatArray,
    multiplicity: IntArray,
    total: float,
    needed: int,
    taken: IntArray,
) -> float:
    """Take the ``needed`` records of the highest prices at or below the cost; return what stays of ``total``, 0 if nothing."""
    below, who, found = np.empty(member.shape[0]), np.empty(member.shape[0], np.int32), 0
    for place in range(member.shape[0]):
        short = cost - price[member[place]]
        if 0.0 <= short < total:
            below[found], who[found] = short, member[place]
            found += 1
    order = order_by_key(below[:found].view(np.int64))  # the bits of numbers that are not negative sort as they do
    for place in range(found):
        one = min(needed, multiplicity[who[order[place]]])
        total -= one * below[order[place]]
        needed -= one
        taken[who[order[place]]] = one
        if needed == 0 or total <= 0.0:
            break
    return total if needed == 0 and total > 0.0 else 0.0


@kernel()
def cell_profit(
    member: IntArray,
    cost: float,
    price: FloatArray,
    multiplicity: IntArray,
    k: int,
    allowed: float,
    count: LongArray,
    taken: IntArray,
) -> float:
    """Return profit + ``allowed`` of a cell, 0 if that is below 0, that is, if its reduced cost is above ``allowed``.

    If it is above 0, ``taken`` receives how many records of each of its tuples the cell takes. ``count`` is scratch, ``BINS`` long.
    """
    total, payers = allowed, 0
    for place in range(member.shape[0]):
        over = price[member[place]] - cost
        if over > 0.0:
            total += over * multiplicity[member[place]]
            payers += multiplicity[member[place]]
    if total <= 0.0 or (
        payers < k and not may_be_profitable(member, cost, price, multiplicity, total, k - payers, count)
    ):
        return 0.0
    for place in range(member.shape[0]):
        taken[member[place]] = multiplicity[member[place]] if price[member[place]] > cost else 0
    return total if payers >= k else fill_up(member, cost, price, multiplicity, total, k - payers, taken)


@kernel(allocates=False)
def find_slot(cells: CellPool, key: np.uint64) -> int:
    """Return the slot of the hash table where a key is or belongs."""
    mask = np.uint64(cells.slot.shape[0] - 1)
    at = (key >> np.uint64(32)) & mask
    # ends: the table has twice as many slots as cells, so a free one comes
    while cells.slot[at] >= 0 and cells.key[cells.slot[at]] != key:
        at = (at + np.uint64(1)) & mask
    return int(at)


@kernel(allocates=False)
def keep_cell(cells: CellPool, member: IntArray, cost: float) -> int:
    """Add a cell, or lower the cost of the one that holds the same tuples; return its place, -1 if there is no room."""
    key = np.uint64(0)
    for place in range(member.shape[0]):
        key += cells.word[member[place]]
    at, used = find_slot(cells, key), cells.used[0]
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
def keep_first(cells: CellPool, order: LongArray, most: int, kept: CellPool) -> None:
    """Add the first cells of an order to another pool, as long as they have no more than ``most`` tuples together."""
    for cell in order:
        if kept.start[kept.used[0]] + cells.start[cell + 1] - cells.start[cell] > most:
            break
        keep_cell(kept, cells.member[cells.start[cell] : cells.start[cell + 1]], cells.cost[cell])
