"""Which level combinations are k-anonymous: Incognito's question (LeFevre, DeWitt & Ramakrishnan 2005).

A combination that holds stays so when a column climbs further, and one that fails fails for all below it. So a chain of combinations,
each one level above the one before, has one border between those that fail and those that hold, which is found by halving; all above the
first and all below the second are then known. Incognito goes through all subsets of the columns instead, 511 of them for nine columns,
while the chains test some two hundred combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from shoal.arrays import AnyArray, BoolArray, Progress
from shoal.methods.global_recoding.levels import Frequencies, Levels, roll_up, small_records

Node = tuple[int, ...]
"""The level of each column."""
_UNKNOWN, _HOLDS, _FAILS = 0, 1, 2
_BLOCK = 1024
"""Combinations filtered at once for those that are not known."""


def search_lattice(
    source: Callable[[Node], Frequencies],
    levels: Sequence[Levels],
    k: int,
    allowed: int,
    progress: Progress,
    over: Callable[[], bool] = lambda: False,
) -> BoolArray:
    """Return for each combination of levels whether at most ``allowed`` records are in tuples of fewer than k.

    ``source`` returns tuples that a combination can be rolled up from. Chains begin at the lowest combination that is not known and climb
    in the column of the fewest values first. Once ``over`` returns True and some combination holds, those not yet known count as failing.
    """
    begin = 0

    def holds(node: Node) -> bool:
        progress(begin / flat.size, "searching the lattice")  # before each test: here a run that was cancelled ends
        return small_records(roll_up(source(node), levels, node), k) <= allowed

    known = np.zeros(tuple(column.number for column in levels), np.int8)
    order = np.argsort([column.form[0].max(initial=0) for column in levels], kind="stable").tolist()
    flat = known.reshape(-1)
    places = np.argsort(_heights(known.shape), axis=None, kind="stable")
    for begin in range(0, flat.size, _BLOCK):
        block = places[begin : begin + _BLOCK]
        for start in block[flat[block] == _UNKNOWN].tolist():
            if flat[start] == _UNKNOWN:  # not settled by a chain from this block
                first = tuple(int(level) for level in np.unravel_index(start, known.shape))
                _halve(known, _chain(known, first, order), holds)
                if over() and (known == _HOLDS).any():
                    return np.asarray(known == _HOLDS, np.bool_)
    return np.asarray(known == _HOLDS, np.bool_)


def _heights(shape: Node) -> AnyArray:
    """Return the sum of the levels of each combination."""
    heights = np.zeros((), np.int16)
    for number in shape:
        heights = np.add.outer(heights, np.arange(number, dtype=np.int16))
    return heights


def _chain(known: AnyArray, first: Node, order: Sequence[int]) -> list[Node]:
    """Return combinations that are not known, from ``first`` on, each with one column one level above the one before."""
    chain, node = [first], list(first)
    climbing = True
    # ends: each round lifts one column by a level, and the lattice has finitely many
    while climbing:
        climbing = False
        for column in order:
            node[column] += 1
            if node[column] < known.shape[column] and known[tuple(node)] == _UNKNOWN:
                chain.append(tuple(node))
                climbing = True
                break
            node[column] -= 1
    return chain


def _halve(known: AnyArray, chain: Sequence[Node], holds: Callable[[Node], bool]) -> None:
    """Find where a chain begins to hold, and mark what follows for the combinations above and below."""
    low, high = 0, len(chain) - 1
    while low <= high:
        middle = (low + high) // 2
        if holds(chain[middle]):
            known[tuple(slice(level, None) for level in chain[middle])] = _HOLDS
            high = middle - 1
        else:
            known[tuple(slice(None, level + 1) for level in chain[middle])] = _FAILS
            low = middle + 1


def minimal_nodes(holds: BoolArray) -> list[tuple[int, ...]]:
    """Return the combinations that hold while none right below them does, in lexicographic order."""
    lower = np.zeros_like(holds)
    for axis in range(holds.ndim):
        above = [slice(None)] * holds.ndim
        under = [slice(None)] * holds.ndim
        above[axis], under[axis] = slice(1, None), slice(None, -1)
        lower[tuple(above)] |= holds[tuple(under)]
    return [tuple(node) for node in np.argwhere(holds & ~lower).tolist()]


def lattice_size(levels: Sequence[Levels]) -> int:
    """Return the number of level combinations."""
    return prod(column.number for column in levels)
