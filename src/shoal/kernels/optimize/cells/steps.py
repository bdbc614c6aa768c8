"""Steps: how far records are from a seed record in each column, and the best cell that holds the seed.

In each column a record of a pool is some *step* away from the seed: in a hierarchy the number of levels up to their common
ancestor, for numbers the power of two that their difference needs. One step a column makes a cell, and branch and bound over the
steps finds the best one that holds k records: the cheapest, less a share of what its records cost before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.bits import count_bits, lowest_bit
from shoal.kernels.space.kinds import has_members, has_order
from shoal.kernels.space.space import Space, find_node, parent_of, range_cost

MOST_STEPS = 8
"""Steps of one column, at most."""
MOST_VALUES = 256
"""Values of one column with a rank of their own, at most; if there are more, neighbouring ones share a rank."""
MOST_VISITS = 2_000
"""Combinations tried in one search, at most: with many columns there are too many to see all."""


class SeedDistances(NamedTuple):
    """How far the values of each column are apart."""

    first: LongArray
    """Where a column's codes begin in ``rank``."""
    rank: IntArray
    """The rank of each code among the values that occur."""
    start: LongArray
    """Where a column's part of ``away`` begins; m + 1 entries."""
    values: LongArray
    """Number of ranks of each column."""
    away: IntArray
    """(ranks, ranks) for each column: the step at which one value (row) reaches another."""
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
def measure_steps(space: Space, codes: IntArray) -> SeedDistances:
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
                step, step_cost = step_between(space, column, value[column, one], value[column, other])
                away[at] = step
                cost[column, one, step] = step_cost
                counts[column] = max(counts[column], step + 1)
                at += 1
    return SeedDistances(first, rank, start, values, away, cost, counts)


class BitsetSearch(NamedTuple):
    """The records of a pool as bit sets, by their step from a seed, and scratch space of one branch and bound."""

    cost_before: FloatArray
    """What each record of the pool cost before."""
    cost: FloatArray
    """(m, steps): what a step costs."""
    bits: WordArray
    """(m, steps, words): the records of the pool within each step of the seed."""
    held: WordArray
    """(m + 1, words): the records within the steps chosen for the first columns."""
    step: LongArray
    """The step chosen for each column so far."""
    cost_so_far: FloatArray
    """(m + 1): what the steps chosen for the first columns cost."""
    found: WordArray
    """The records of the best cell."""


@kernel()
def make_bitset_search(columns: int, records: int) -> BitsetSearch:
    """Return an empty sieve for a pool of up to ``records`` records."""
    words = (records + 63) >> 6
    return BitsetSearch(
        np.zeros(records),
        np.zeros((columns, MOST_STEPS)),
        np.zeros((columns, MOST_STEPS, words), np.uint64),
        np.zeros((columns + 1, words), np.uint64),
        np.zeros(columns + 1, np.int64),
        np.zeros(columns + 1),
        np.zeros(words, np.uint64),
    )


@kernel(allocates=False)
def bucket_by_step(
    steps: SeedDistances, codes: IntArray, weight: FloatArray, seed: int, pool: IntArray, left: int, sieve: BitsetSearch
) -> None:
    """Write the bit sets of the records ``pool[:left]``, by their steps from ``seed``; a step that adds no record costs infinitely much."""
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
def mean_cost_before(sieve: BitsetSearch, held: WordArray, words: int, k: int) -> float:
    """Return the mean cost before of the first k records held; there are at least as many."""
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
def find_cell(sieve: BitsetSearch, steps: LongArray, left: int, k: int, share: float) -> bool:
    """Find the best cell of one step a column that holds k records, by branch and bound; return whether there is one.

    Best is the least of its cost minus ``share`` times the mean cost before of the first k records it holds. From column to column the
    cost never falls and that mean never rises, if expensive records come first in the pool, so a branch is cut once it is no better than the
    best cell found; if they come first only roughly, a better cell may be cut with it. After ``MOST_VISITS`` combinations the best
    found so far is taken; with hundreds of columns there may be none by then.
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
