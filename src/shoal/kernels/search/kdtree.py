"""A k-d tree from which records can be taken away; its boxes shrink with the records that are left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.copying import copy_values


class PointTree(NamedTuple):
    """Nodes as flat arrays; node 0 is the root, a node's children are ``left`` and ``left + 1``."""

    points: FloatArray
    """The records' coordinates in the tree's own order, (n, m)."""
    order: LongArray
    """The record that is at each place."""
    place: LongArray
    """The place at which each record is."""
    first: LongArray
    """The first place of each node."""
    alive: LongArray
    """How many records of each node are left; in a leaf they come first."""
    left: LongArray
    """The first child of each node, -1 for a leaf."""
    parent: LongArray
    leaf: LongArray
    """The leaf of each place."""
    low: FloatArray
    """The smallest coordinates of the records left in a node, (nodes, m)."""
    high: FloatArray
    lowest: LongArray
    """The smallest number of the records left in a node: ties need not be sought if no smaller one can be."""


@kernel()
def bound_leaf(tree: PointTree, node: int) -> None:
    """Fit a leaf's box to the records left in it."""
    start = tree.first[node]
    tree.lowest[node] = tree.order.shape[0]
    for place in range(start, start + tree.alive[node]):
        tree.lowest[node] = min(tree.lowest[node], tree.order[place])
    for column in range(tree.points.shape[1]):
        tree.low[node, column] = np.inf
        tree.high[node, column] = -np.inf
        for place in range(start, start + tree.alive[node]):
            value = tree.points[place, column]
            tree.low[node, column] = min(tree.low[node, column], value)
            tree.high[node, column] = max(tree.high[node, column], value)


@kernel()
def bound_parent(tree: PointTree, node: int) -> bool:
    """Fit an inner node's box to its children; return whether it changed."""
    left = tree.left[node]
    lowest = min(tree.lowest[left], tree.lowest[left + 1])
    changed = lowest != tree.lowest[node]
    tree.lowest[node] = lowest
    for column in range(tree.points.shape[1]):
        low = min(tree.low[left, column], tree.low[left + 1, column])
        high = max(tree.high[left, column], tree.high[left + 1, column])
        if low != tree.low[node, column] or high != tree.high[node, column]:
            changed = True
            tree.low[node, column] = low
            tree.high[node, column] = high
    return changed


@kernel()
def select_middle(values: FloatArray, order: LongArray, start: int, stop: int, middle: int) -> None:
    """Reorder ``order[start:stop]`` so that the value at ``middle`` is where sorting would put it (Hoare)."""
    low, high = start, stop - 1
    # ends: every pass over the part moves one of its ends inwards: i and j have crossed, and the pivot is between
    while low < high:
        pivot = values[order[(low + high) >> 1]]
        i, j = low, high
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel()
def widest_column(columns: FloatArray, order: LongArray, start: int, stop: int) -> int:
    """Return the column in which ``order[start:stop]`` spreads most."""
    widest, best = 0, -1.0
    for column in range(columns.shape[0]):
        low, high = np.inf, -np.inf
        for index in range(start, stop):
            value = columns[column, order[index]]
            low = min(low, value)
            high = max(high, value)
        if high - low > best:
            widest, best = column, high - low
    return widest


@kernel()
def build_tree(matrix: FloatArray, leaf_size: int) -> PointTree:
    """Build the tree by halving the widest column until at most ``leaf_size`` records are left."""
    n, m = matrix.shape
    columns = np.ascontiguousarray(matrix.T)
    order = np.arange(n)
    room = 4 * (n // max(leaf_size, 1)) + 8
    first, alive = np.zeros(room, np.int64), np.zeros(room, np.int64)
    left, parent = np.full(room, -1, np.int64), np.full(room, -1, np.int64)
    alive[0] = n
    nodes = 1
    leaf = np.empty(n, np.int64)
    node = 0
    while node < nodes:
        start, stop = first[node], first[node] + alive[node]
        if stop - start > leaf_size:
            middle = (start + stop) >> 1
            column = widest_column(columns, order, start, stop)
            select_middle(columns[column], order, start, stop, middle)
            left[node] = nodes
            first[nodes], alive[nodes], parent[nodes] = start, middle - start, node
            first[nodes + 1], alive[nodes + 1], parent[nodes + 1] = middle, stop - middle, node
            nodes += 2
        else:
            leaf[start:stop] = node
        node += 1
    points = np.empty((n, m))
    place = np.empty(n, np.int64)
    for index in range(n):
        copy_values(matrix[order[index]], points[index])
        place[order[index]] = index
    low, high = np.empty((nodes, m)), np.empty((nodes, m))
    tree = PointTree(
        points, order, place, first[:nodes].copy(), alive[:nodes].copy(), left[:nodes].copy(), parent[:nodes].copy(),
        leaf, low, high, np.zeros(nodes, np.int64),
    )  # fmt: skip
    for node in range(nodes - 1, -1, -1):
        if tree.left[node] < 0:
            bound_leaf(tree, node)
        else:
            bound_parent(tree, node)
    return tree


@kernel()
def remove_record(tree: PointTree, record: int) -> None:
    """Take a record out of the tree and draw in the boxes around it."""
    place = tree.place[record]
    node = tree.leaf[place]
    last = tree.first[node] + tree.alive[node] - 1
    other = tree.order[last]
    for column in range(tree.points.shape[1]):
        tree.points[place, column], tree.points[last, column] = tree.points[last, column], tree.points[place, column]
    tree.order[place], tree.order[last] = other, record
    tree.place[other], tree.place[record] = place, last
    tree.alive[node] -= 1
    bound_leaf(tree, node)
    changed = True
    node = tree.parent[node]
    while node >= 0:
        tree.alive[node] -= 1
        if changed:
            changed = bound_parent(tree, node)
        node = tree.parent[node]
