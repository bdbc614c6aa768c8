"""Incognito's search: which level combinations are k-anonymous (LeFevre, DeWitt & Ramakrishnan 2005).

A combination that holds stays so when a column climbs further (*generalization*), and one that fails for some of
the columns fails for all (*subset*). Subsets of columns are searched from small to large; a combination is a
candidate only if all its smaller parts hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np

from shoal.methods.levels import Frequencies, Levels, roll_up, small_records
from shoal.typing import BoolArray, LongArray, Progress

Subset = tuple[int, ...]


def search_lattice(
    frequencies: Frequencies, levels: Sequence[Levels], k: int, allowed: int, progress: Progress
) -> BoolArray:
    """Tell for each combination of levels whether at most ``allowed`` records are in tuples of fewer than k."""
    columns = range(len(levels))
    done: dict[Subset, BoolArray] = {(): np.ones((), np.bool_)}
    for size in range(1, len(levels) + 1):
        found = {}
        for subset in combinations(columns, size):
            candidate = _candidates(done, subset)
            own = [levels[column] for column in subset]
            part = Frequencies(np.ascontiguousarray(frequencies.codes[list(subset)]), frequencies.size)
            found[subset] = _search_subset(part, own, candidate, k, allowed)
        done = found
        progress(size / len(levels), "searching the lattice")
    return done[tuple(columns)]


def _candidates(done: dict[Subset, BoolArray], subset: Subset) -> BoolArray:
    """Keep the combinations of which every part with one column less holds."""
    candidate = np.ones((1,) * len(subset), np.bool_)
    for axis in range(len(subset)):
        smaller = subset[:axis] + subset[axis + 1 :]
        candidate = candidate & np.expand_dims(done[smaller], axis)
    return candidate


def _search_subset(
    frequencies: Frequencies, levels: Sequence[Levels], candidate: BoolArray, k: int, allowed: int
) -> BoolArray:
    """Go up the candidates from the lowest; what lies above one that holds, holds."""
    shape = tuple(column.number for column in levels)
    candidate = np.broadcast_to(candidate, shape)
    holds = np.zeros(shape, np.bool_)
    nodes = np.argwhere(candidate)
    if not len(nodes):
        return holds
    base = roll_up(frequencies, levels, nodes.min(axis=0).tolist())
    below: dict[tuple[int, ...], Frequencies] = {}
    for same_height in by_height(nodes):
        here: dict[tuple[int, ...], Frequencies] = {}
        for node in same_height:
            if holds[node]:
                continue
            tuples = roll_up(_source(node, below, base), levels, node)
            if small_records(tuples, k) <= allowed:
                holds[tuple(slice(level, None) for level in node)] = True
            else:
                here[node] = tuples
        below = here
    return holds


def by_height(nodes: LongArray) -> Iterator[list[tuple[int, ...]]]:
    """Yield the nodes in groups of equal height, the lowest first."""
    height = nodes.sum(axis=1)
    for value in np.unique(height):
        yield [tuple(node) for node in nodes[height == value].tolist()]


def _source(node: tuple[int, ...], below: dict[tuple[int, ...], Frequencies], base: Frequencies) -> Frequencies:
    """Return the smallest known tuples that ``node`` can be rolled up from."""
    best = base
    for axis, level in enumerate(node):
        lower = below.get((*node[:axis], level - 1, *node[axis + 1 :]))
        if lower is not None and len(lower.size) < len(best.size):
            best = lower
    return best


def minimal_nodes(holds: BoolArray) -> list[tuple[int, ...]]:
    """Return the combinations that hold while none right below them does, in lexicographic order."""
    lower = np.zeros_like(holds)
    for axis in range(holds.ndim):
        above = [slice(None)] * holds.ndim
        under = [slice(None)] * holds.ndim
        above[axis], under[axis] = slice(1, None), slice(None, -1)
        lower[tuple(above)] |= holds[tuple(under)]
    return [tuple(node) for node in np.argwhere(holds & ~lower).tolist()]


def lattice_size(levels: Sequence[Levels]) -> tuple[int, int]:
    """Return the number of level combinations, of all columns and over all subsets of them."""
    return prod(column.number for column in levels), prod(column.number + 1 for column in levels) - 1
