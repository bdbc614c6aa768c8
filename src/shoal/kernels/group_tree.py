"""Groups in a tree, so that whole branches of far groups can be skipped.

The tree is cut, column by column, at the value nearest the middle. A node knows, for the groups below it, the largest low
end and the smallest high end of each column: whatever group is chosen below, a union with it reaches at least
that far. It also knows the smallest low end and the largest high end: no record below lies outside them.

A group that changes keeps its place; its nodes are told and what they say becomes looser, never false. The
tree is built anew from time to time to tighten it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.range_costs import RangeCosts, count_values, weighted_cost
from shoal.kernels.space import SET, Cover, Space
from shoal.typing import IntArray, WordArray

_LEAF = 8  # a leaf holds at most so many groups
GONE = np.iinfo(np.int32).max
"""The lowest number below a node whose groups are all gone."""


class Shape(NamedTuple):
    """Which groups lie below which node; node 0 is the root, a node's left child is the next node."""

    order: IntArray
    """The groups, those below a node side by side."""
    begin: IntArray
    """Where the node's groups begin in ``order``."""
    end: IntArray
    """Where they end."""
    right: IntArray
    """Right child, -1 for a leaf."""
    parent: IntArray
    """Parent, -1 for the root."""


class Tree(NamedTuple):
    """Groups in a binary tree, with what is true of all groups below a node."""

    shape: Shape
    leaf_of: IntArray
    """The leaf that holds a group; -1 when it is not in the tree."""
    most_low: IntArray
    """Largest low end below the node, (nodes, m)."""
    least_high: IntArray
    """Smallest high end below the node, (nodes, m)."""
    least_low: IntArray
    """Smallest low end below the node, (nodes, m)."""
    most_high: IntArray
    """Largest high end below the node, (nodes, m)."""
    most_size: IntArray
    """Most records of a group below the node."""
    least_size: IntArray
    """Fewest records of a group below the node."""
    least_number: IntArray
    """Lowest group number below the node; GONE when none is left."""
    least_count: IntArray
    """SET columns: fewest values of a group below the node, (nodes, m)."""
    all_words: WordArray
    """SET columns: values that every group below the node has."""
    any_words: WordArray
    """SET columns: values that some group below the node has."""


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
def _shape_tree(space: Space, costs: RangeCosts, cover: Cover, members: IntArray) -> Shape:
    """Cut ``members`` until few are left in each part; a part of equal boxes is cut by group number."""
    most = max(1, 2 * members.shape[0] - 1)
    order = members.copy()
    begin, end = np.zeros(most, np.int32), np.zeros(most, np.int32)
    right, parent = np.full(most, -1, np.int32), np.full(most, -1, np.int32)
    waiting = np.empty((members.shape[0] + 1, 3), np.int32)  # parent, begin and end of parts without a node
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = -1, 0, members.shape[0]
    parts, node = 1, 0
    while parts > 0:
        parts -= 1
        above, first, last = waiting[parts, 0], waiting[parts, 1], waiting[parts, 2]
        parent[node], begin[node], end[node] = above, first, last
        if above >= 0 and node != above + 1:
            right[above] = node
        if last - first > _LEAF:
            column = _widest_column(space, costs, cover, order[first:last])
            if column >= 0:
                middle = first + _cut(cover, order[first:last], column)
            else:
                middle = (first + last) // 2
            waiting[parts, 0], waiting[parts, 1], waiting[parts, 2] = node, middle, last
            waiting[parts + 1, 0], waiting[parts + 1, 1], waiting[parts + 1, 2] = node, first, middle
            parts += 2
        node += 1
    return Shape(order, begin[:node].copy(), end[:node].copy(), right[:node].copy(), parent[:node].copy())


@kernel(allocates=False)
def child_of(tree: Tree, node: int, which: int) -> int:
    """Return the left (0) or right (1) child of a node that is no leaf."""
    return tree.shape.right[node] if which else node + 1


@kernel(allocates=False)
def _admit_group(space: Space, cover: Cover, tree: Tree, node: int, group: int) -> None:
    """Make what a node says true of one more group."""
    tree.least_size[node] = min(tree.least_size[node], cover.size[group])
    tree.most_size[node] = max(tree.most_size[node], cover.size[group])
    tree.least_number[node] = min(tree.least_number[node], group)
    for word in range(cover.words.shape[1]):
        tree.all_words[node, word] &= cover.words[group, word]
        tree.any_words[node, word] |= cover.words[group, word]
    for column in range(space.kind.shape[0]):
        tree.most_low[node, column] = max(tree.most_low[node, column], cover.low[column, group])
        tree.least_high[node, column] = min(tree.least_high[node, column], cover.high[column, group])
        tree.least_low[node, column] = min(tree.least_low[node, column], cover.low[column, group])
        tree.most_high[node, column] = max(tree.most_high[node, column], cover.high[column, group])
        if space.kind[column] == SET:
            count = count_values(cover.words[group], space.word_start[column], space.word_start[column + 1])
            tree.least_count[node, column] = min(tree.least_count[node, column], count)


@kernel(allocates=False)
def _admit_child(tree: Tree, node: int, child: int) -> None:
    """Make what a node says true of all that is below a child."""
    tree.least_size[node] = min(tree.least_size[node], tree.least_size[child])
    tree.most_size[node] = max(tree.most_size[node], tree.most_size[child])
    tree.least_number[node] = min(tree.least_number[node], tree.least_number[child])
    for word in range(tree.all_words.shape[1]):
        tree.all_words[node, word] &= tree.all_words[child, word]
        tree.any_words[node, word] |= tree.any_words[child, word]
    for column in range(tree.most_low.shape[1]):
        tree.most_low[node, column] = max(tree.most_low[node, column], tree.most_low[child, column])
        tree.least_high[node, column] = min(tree.least_high[node, column], tree.least_high[child, column])
        tree.least_low[node, column] = min(tree.least_low[node, column], tree.least_low[child, column])
        tree.most_high[node, column] = max(tree.most_high[node, column], tree.most_high[child, column])
        tree.least_count[node, column] = min(tree.least_count[node, column], tree.least_count[child, column])


@kernel()
def build_tree(space: Space, costs: RangeCosts, cover: Cover, members: IntArray) -> Tree:
    """Put the groups ``members``, given in the order of their numbers, in a tree."""
    shape = _shape_tree(space, costs, cover, members)
    nodes, columns, words = shape.begin.shape[0], space.kind.shape[0], cover.words.shape[1]
    tree = Tree(
        shape,
        np.full(cover.size.shape[0], -1, np.int32),
        np.full((nodes, columns), -1, np.int32),
        np.full((nodes, columns), GONE, np.int32),
        np.full((nodes, columns), GONE, np.int32),
        np.full((nodes, columns), -1, np.int32),
        np.zeros(nodes, np.int32),
        np.full(nodes, GONE, np.int32),
        np.full(nodes, GONE, np.int32),
        np.full((nodes, columns), GONE, np.int32),
        np.full((nodes, words), ~np.uint64(0), np.uint64),
        np.zeros((nodes, words), np.uint64),
    )
    for node in range(nodes - 1, -1, -1):  # children have higher numbers than their parent
        if shape.right[node] < 0:
            for place in range(shape.begin[node], shape.end[node]):
                tree.leaf_of[shape.order[place]] = node
                _admit_group(space, cover, tree, node, shape.order[place])
        else:
            _admit_child(tree, node, node + 1)
            _admit_child(tree, node, shape.right[node])
    return tree


@kernel(allocates=False)
def remove_group(tree: Tree, group: int) -> None:
    """Take a group that has been merged away out of the tree."""
    node = tree.leaf_of[group]
    tree.leaf_of[group] = -1
    lowest = np.int32(GONE)
    for place in range(tree.shape.begin[node], tree.shape.end[node]):
        other = tree.shape.order[place]
        if tree.leaf_of[other] >= 0:
            lowest = min(lowest, other)
    while node >= 0 and tree.least_number[node] != lowest:
        tree.least_number[node] = lowest
        node = tree.shape.parent[node]
        if node >= 0:
            lowest = min(tree.least_number[node + 1], tree.least_number[tree.shape.right[node]])


@kernel(allocates=False)
def update_group(space: Space, cover: Cover, tree: Tree, group: int) -> None:
    """Tell the nodes above a group that its box or size has changed."""
    node = tree.leaf_of[group]
    while node >= 0:
        _admit_group(space, cover, tree, node, group)
        node = tree.shape.parent[node]
