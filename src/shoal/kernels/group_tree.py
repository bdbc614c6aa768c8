"""Groups in a tree, so that whole branches of far groups can be skipped.

Which groups lie below which node is told by a shape (:mod:`shoal.kernels.group_shape`). A node knows, for the groups below it, the largest low
end and the smallest high end of each column: whatever group is chosen below, a union with it reaches at least
that far. It also knows the smallest low end and the largest high end: no record below lies outside them.

A group that changes keeps its place; its nodes are told and what they say becomes looser, never false. The
tree is built anew from time to time to tighten it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.kernels.group_shape import Shape
from shoal.kernels.range_costs import count_values
from shoal.kernels.space import SET, Cover, Space
from shoal.typing import IntArray, WordArray

GONE = np.iinfo(np.int32).max
"""The lowest number below a node whose groups are all gone."""


class Tree(NamedTuple):
    """Groups in a tree, with what is true of all groups below a node."""

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
def build_tree(space: Space, cover: Cover, shape: Shape) -> Tree:
    """Return what is true of the groups below each node."""
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
        for below in range(shape.begin[node], shape.end[node]):
            if shape.is_leaf[node]:
                tree.leaf_of[shape.order[below]] = node
                _admit_group(space, cover, tree, node, shape.order[below])
            else:
                _admit_child(tree, node, below)
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
    while tree.least_number[node] != lowest:
        tree.least_number[node] = lowest
        node = tree.shape.parent[node]
        if node < 0:
            break
        lowest = np.int32(GONE)
        for child in range(tree.shape.begin[node], tree.shape.end[node]):
            lowest = min(lowest, tree.least_number[child])


@kernel(allocates=False)
def update_group(space: Space, cover: Cover, tree: Tree, group: int) -> None:
    """Tell the nodes above a group that its box or size has changed."""
    node = tree.leaf_of[group]
    while node >= 0:
        _admit_group(space, cover, tree, node, group)
        node = tree.shape.parent[node]
