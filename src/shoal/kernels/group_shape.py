"""Which groups lie below which node of a tree: near groups together, so that whole branches of far ones can be skipped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.range_costs import RangeCosts, weighted_cost
from shoal.kernels.space import SET, Cover, Space
from shoal.typing import BoolArray, IntArray

_FEW = 8  # a leaf holds at most so many groups; where a node has more than two children, it has at most so many


class Shape(NamedTuple):
    """What lies below each node; node 0 is the root, children have higher numbers than their parent."""

    order: IntArray
    """The groups, those below a leaf side by side."""
    begin: IntArray
    """The first child of a node; for a leaf, where its groups begin in ``order``."""
    end: IntArray
    """Where they end."""
    parent: IntArray
    """Parent, -1 for the root."""
    is_leaf: BoolArray
    """Whether groups lie below the node, not nodes."""


@kernel()
def _empty_shape(order: IntArray, nodes: int) -> Shape:
    return Shape(
        order,
        np.zeros(nodes, np.int32),
        np.zeros(nodes, np.int32),
        np.full(nodes, -1, np.int32),
        np.zeros(nodes, np.bool_),
    )


@kernel()
def shape_in_a_row(order: IntArray) -> Shape:
    """Put each few neighbours below one leaf, each few leaves below one node, and so on, for groups in a good order."""
    width = np.zeros(32, np.int64)  # of each layer, from the leaves up
    layers, nodes, rest = 0, 0, order.shape[0]
    while layers == 0 or rest > 1:
        rest = max(1, (rest + _FEW - 1) // _FEW)
        width[layers] = rest
        layers, nodes = layers + 1, nodes + rest
    shape = _empty_shape(order, nodes)
    first = 0
    for layer in range(layers - 1, -1, -1):
        below, last = first + width[layer], first + width[layer] + width[layer - 1]
        if layer == 0:
            below, last = 0, order.shape[0]
        for node in range(first, first + width[layer]):
            shape.begin[node], shape.end[node] = below, min(below + _FEW, last)
            shape.is_leaf[node] = layer == 0
            below = shape.end[node]
            if layer > 0:
                for child in range(shape.begin[node], below):
                    shape.parent[child] = node
        first += width[layer]
    return shape


@kernel(allocates=False)
def _widest_column(space: Space, costs: RangeCosts, cover: Cover, part: IntArray) -> int:
    """Return the column in which the middles of the boxes lie farthest apart, -1 when they are all the same."""
    best, best_cost = -1, -1.0
    for column in range(space.kind.shape[0]):
        least = cover.low[column, part[0]] + cover.high[column, part[0]]
        most = least
        for group in part:
            middle = cover.low[column, group] + cover.high[column, group]
            least = min(least, middle)
            most = max(most, middle)
        if least < most:
            if space.kind[column] == SET:
                cost = space.weight[column]
            else:
                cost = weighted_cost(space, costs, column, least >> 1, most >> 1)
            if cost > best_cost:
                best, best_cost = column, cost
    return best


@kernel()
def _cut(cover: Cover, part: IntArray, column: int) -> int:
    """Order ``part`` by one column about a value near the middle; return how many come before it.

    Equal middles are never torn apart: a value that most groups share is soon alone in a node.
    """
    size = part.shape[0]
    middles = np.empty(size, np.int32)
    for place in range(size):
        middles[place] = cover.low[column, part[place]] + cover.high[column, part[place]]
    half = size // 2
    median = np.partition(middles, half)[half]
    below, up_to = 0, 0
    for middle in middles:
        below += middle < median
        up_to += middle <= median
    split = median if below > 0 and (up_to == size or half - below <= up_to - half) else median + 1
    rest = np.empty(size, np.int32)
    kept, moved = 0, 0
    for place in range(size):
        if middles[place] < split:
            part[kept] = part[place]
            kept += 1
        else:
            rest[moved] = part[place]
            moved += 1
    part[kept:] = rest[:moved]
    return kept


@kernel()
def _take_nodes(shape: Shape, nodes: int) -> Shape:
    begin, end, parent, is_leaf = shape.begin[:nodes], shape.end[:nodes], shape.parent[:nodes], shape.is_leaf[:nodes]
    return Shape(shape.order, begin.copy(), end.copy(), parent.copy(), is_leaf.copy())


@kernel()
def shape_by_cuts(space: Space, costs: RangeCosts, cover: Cover, members: IntArray) -> Shape:
    """Cut groups in two, column by column, until few are left in each part; a part of equal boxes is cut in the middle."""
    shape = _empty_shape(members.copy(), max(1, 2 * members.shape[0] - 1))
    waiting = np.zeros(members.shape[0] + 1, np.int32)  # nodes that are not cut yet: their groups are begin..end
    shape.end[0] = members.shape[0]
    parts, nodes = 1, 1
    while parts > 0:
        parts -= 1
        node = waiting[parts]
        first, last = shape.begin[node], shape.end[node]
        shape.is_leaf[node] = last - first <= _FEW
        if shape.is_leaf[node]:
            continue
        column = _widest_column(space, costs, cover, shape.order[first:last])
        middle = (first + last) // 2
        if column >= 0:
            middle = first + _cut(cover, shape.order[first:last], column)
        for child in range(nodes, nodes + 2):
            shape.parent[child] = node
            waiting[parts] = child
            parts += 1
        shape.begin[nodes], shape.end[nodes] = first, middle
        shape.begin[nodes + 1], shape.end[nodes + 1] = middle, last
        shape.begin[node], shape.end[node] = nodes, nodes + 2
        nodes += 2
    return _take_nodes(shape, nodes)
