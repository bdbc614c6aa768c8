"""Steps: how far records stand from a seed record in each column, and the best cell that holds it.

In each column the records of a pool stand some *step* away from a seed: as many as their common ancestor is above
it, or by powers of two of a width. A search with bounds over one step a column finds the combination that holds k
records and is cheapest, measured against what the records cost before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.kernels.compiling import kernel
from shoal.kernels.space.bits import count_bits, lowest_bit
from shoal.kernels.space.kinds import has_members, has_order
from shoal.kernels.space.space import Space, find_node, parent_of, range_cost

MOST_STEPS = 8
"""Steps of one column, at most."""
MOST_VALUES = 256
"""Values of one column told apart, at most; further ones are taken for their neighbours."""
MOST_VISITS = 2_000
"""Combinations tried in one search, at most: with many columns there are too many to see all."""


class Steps(NamedTuple):
    """How far the values of each column are apart."""

    first: LongArray
    """Where a column's codes begin in ``rank``."""
    rank: IntArray
    """The place of each code among the values told apart."""
    start: LongArray
    """Where a column's part of ``away`` begins; m + 1 entries."""
    values: LongArray
    """Number of values told apart in each column."""
    away: IntArray
    """The step at which one value (row) reaches another."""
    cost: FloatArray
    """(m, values, steps): what a step from a value costs, unweighted."""
    counts: LongArray
    """Number of steps of each column."""


@kernel(allocates=False)
def rank_codes(codes: IntArray, column: int, rank: IntArray, value: IntArray) -> int:
    """Write the rank of each code among those that occur, and a code for each rank; return the number of ranks."""
    for code in range(rank.shape[0]):
        rank[code] = -1
    for record in range(codes.shape[0]):
        rank[codes[record, column]] = 0
    distinct = 0
    for code in range(rank.shape[0]):
        if rank[code] == 0:
            rank[code] = distinct
            distinct += 1
    shrink = (distinct + MOST_VALUES - 1) // MOST_VALUES
    for code in range(rank.shape[0]):
        if rank[code] >= 0:
            rank[code] //= shrink
            value[rank[code]] = code
    return (distinct + shrink - 1) // shrink


@kernel(allocates=False)
def step_between(space: Space, column: int, one: int, other: int) -> tuple[int, float]:
    """Return the step at which ``one`` reaches ``other`` and its cost; the last step reaches everything.

    A node has a step for each level above it, a number one for each doubling of a width, a value of a set a single one.
    """
    if one == other:
        return 0, 0.0
    if has_members(space.kind[column]):
        return 1, 2.0 / space.domain[column]
    step, cost = MOST_STEPS - 1, 1.0
    if has_order(space.kind[column]):
        width = range_cost(space, column, min(one, other), max(one, other))
        while step > 1 and width <= cost * 0.5:
            step, cost = step - 1, cost * 0.5
        return step, cost
    node, above = one, find_node(space, column, min(one, other), max(one, other))
    for number in range(1, MOST_STEPS - 1):
        node = parent_of(space, column, node)
        if node == above:
            return number, space.node_cost[space.start[column] + node]
    return step, cost


@kernel()
def measure_steps(space: Space, codes: IntArray) -> Steps:
    """Work out the steps between all values of each column of some records, one row each."""
    columns = codes.shape[1]
    first, start = np.zeros(columns + 1, np.int64), np.zeros(columns + 1, np.int64)
    values, value = np.zeros(columns, np.int64), np.empty((columns, MOST_VALUES), np.int32)
    for column in range(columns):
        first[column + 1] = first[column] + space.cardinality[column]
    rank, widest = np.empty(first[columns], np.int32), 1
    for column in range(columns):
        values[column] = rank_codes(codes, column, rank[first[column] : first[column + 1]], value[column])
        start[column + 1] = start[column] + values[column] * values[column]
        widest = max(widest, values[column])
    away, cost = np.zeros(start[columns], np.int32), np.zeros((columns, widest, MOST_STEPS))
    counts = np.ones(columns, np.int64)
    for column in range(columns):
        at = start[column]
        for one in range(values[column]):
            for other in range(values[column]):
                step, cost_so_far = step_between(space, column, value[column, one], value[column, other])
                away[at] = step
                cost[column, one, step] = cost_so_far
                counts[column] = max(counts[column], step + 1)
                at += 1
    return Steps(first, rank, start, values, away, cost, counts)


class Sieve(NamedTuple):
    """The records of a pool by their step from a seed; scratch space of one search."""

    cost_before: FloatArray
    """What each record of the pool cost before."""
    cost: FloatArray
    """(m, steps): what a step costs."""
    bits: WordArray
    """(m, steps, words): the records of the pool up to each step."""
    held: WordArray
    """(m + 1, words): the records left after the first columns of the search."""
    step: LongArray
    """The step the search stands at in each column."""
    cost_so_far: FloatArray
    """(m + 1): what the first columns of the search cost."""
    found: WordArray
    """The records of the best combination."""


@kernel()
def make_sieve(columns: int, records: int) -> Sieve:
    """Return an empty sieve for a pool of up to ``records`` records."""
    words = (records + 63) >> 6
    return Sieve(
        np.zeros(records),
        np.zeros((columns, MOST_STEPS)),
        np.zeros((columns, MOST_STEPS, words), np.uint64),
        np.zeros((columns + 1, words), np.uint64),
        np.zeros(columns + 1, np.int64),
        np.zeros(columns + 1),
        np.zeros(words, np.uint64),
    )


@kernel(allocates=False)
def sort_pool(
    steps: Steps, codes: IntArray, weight: FloatArray, seed: int, pool: IntArray, left: int, sieve: Sieve
) -> None:
    """Sort the records ``pool[:left]`` by their steps from ``seed``; a step nobody stands at costs too much."""
    words = (left + 63) >> 6
    for column in range(weight.shape[0]):
        code, bits = steps.first[column], sieve.bits[column]
        own = steps.rank[code + codes[seed, column]]
        first = steps.start[column] + own * steps.values[column]
        for step in range(steps.counts[column]):
            for word in range(words):
                bits[step, word] = np.uint64(0)
        for place in range(left):
            step = steps.away[first + steps.rank[code + codes[pool[place], column]]]
            bits[step, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        sieve.cost[column, 0] = 0.0
        for step in range(1, steps.counts[column]):
            some = np.uint64(0)
            for word in range(words):
                some |= bits[step, word]
                bits[step, word] |= bits[step - 1, word]
            sieve.cost[column, step] = weight[column] * steps.cost[column, own, step] if some else np.inf


@kernel(allocates=False)
def mean_cost_before(sieve: Sieve, held: WordArray, words: int, k: int) -> float:
    """Return what the first k of the records held, of which there are as many, cost before, in the mean."""
    count, total = 0, 0.0
    for word in range(words):
        rest = held[word]
        # ends: each round clears a bit
        while rest != np.uint64(0) and count < k:
            total += sieve.cost_before[(word << 6) + lowest_bit(rest)]
            rest &= rest - np.uint64(1)
            count += 1
    return total / k


@kernel(allocates=False)
def find_cell(sieve: Sieve, steps: LongArray, left: int, k: int, share: float) -> bool:
    """Search the best combination of steps that holds k records; tell whether there is one.

    Best is where the cost less a ``share`` of what the first k records cost before is least: neither part falls
    from column to column, so that a combination is given up as soon as it is no better than another. That is exact
    where dear records come first in the pool, and nearly so where they come first roughly; after ``MOST_VISITS``
    combinations the best so far is taken, with hundreds of columns there may be none.
    """
    words, columns = (left + 63) >> 6, sieve.cost.shape[0]
    for word in range(words):
        sieve.held[0, word] = ~np.uint64(0)
    best, column, some, visits = np.inf, 0, False, MOST_VISITS
    most = share * sieve.cost_before[0]
    sieve.step[0], sieve.cost_so_far[0] = -1, 0.0
    # ends: a tree of finitely many steps, each tried once below those chosen for the columns before it
    while column >= 0 and visits > 0:
        sieve.step[column] += 1
        step = sieve.step[column]
        if step == steps[column]:
            column -= 1
            continue
        cost_so_far = sieve.cost_so_far[column] + sieve.cost[column, step]
        if cost_so_far - most >= best or cost_so_far == np.inf:
            continue
        count, visits = 0, visits - 1
        for word in range(words):
            held = sieve.held[column, word] & sieve.bits[column, step, word]
            sieve.held[column + 1, word] = held
            count += count_bits(held)
        if count < k:
            continue
        value = cost_so_far - share * mean_cost_before(sieve, sieve.held[column + 1], words, k)
        if value >= best:
            continue
        column += 1
        sieve.step[column], sieve.cost_so_far[column] = -1, cost_so_far
        if column == columns:
            best, some = value, True
            for word in range(words):
                sieve.found[word] = sieve.held[column, word]
            column -= 1
    return some
