"""Where the search for the least sum of squares starts: neighbours of every record, and MDAV's groups."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray, Progress
from shoal.kernels.microaggregation.mdav import run_mdav, start_mdav
from shoal.kernels.search.kdtree import build_tree
from shoal.kernels.search.nearest import nearest_table

_LEAF = 16
_BLOCK = 50_000
"""Records MDAV groups at a time in large tables: its cost grows faster than their number."""
_CHUNK = 200_000
"""Records between two reports."""


def find_neighbours(points: FloatArray, width: int, progress: Progress) -> IntArray:
    """Return the ``width`` nearest records of each record, (n, width)."""
    n = len(points)
    width = min(width, n - 1)
    tree = build_tree(points, _LEAF // 2)
    near = np.empty((n, width), np.int32)
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        near[start:stop] = nearest_table(tree, points, start, stop, width)
        progress(0.2 * stop / n, "finding neighbours")
    return near


def first_groups(points: FloatArray, order: LongArray, k: int) -> IntArray:
    """Return MDAV's labels, block by block in large tables; points near in space are near in order.

    In a block the records are as in the input, so that ties fall as in plain MDAV.
    """
    n = len(points)
    blocks = max(-(-n // _BLOCK), 1)
    labels = np.empty(n, np.int32)
    groups = 0
    for block in range(blocks):
        first = block * n // blocks
        part = first + np.argsort(order[first : (block + 1) * n // blocks])
        state = start_mdav(points[part], _LEAF)
        # ends: each round groups at least k of the records left
        while not run_mdav(state, k, _CHUNK // 100):
            pass
        labels[part] = state.labels + groups
        groups += int(state.labels.max()) + 1
    return labels
