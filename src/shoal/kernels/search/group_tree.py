"""Groups in a tree, so that whole branches of far groups can be skipped.

A shape says what is in which place of which node (:mod:`shoal.kernels.search.group_shape`). A node knows, for the groups below
each of its places, the largest low end and the smallest high end of each column: whatever group is chosen there, a union with it
reaches at least that far. For a search of records it also knows the smallest low end and the largest high end: no record there lies
outside them. If a group is alone in a place, both are its own box.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.search.group_shape import NOTHING, PLACES, Shape
from shoal.kernels.space.bits import count_values
from shoal.kernels.space.space import Cover, Space, group_cost

GONE = np.iinfo(np.int32).max
"""The lowest number in a place whose groups are all gone."""


class GroupTree(NamedTuple):
    """Groups in a tree, with what is true of all groups in a place of a node."""

    shape: Shape
    node_of: IntArray
    """The node in which a group is."""
    place_of: IntArray
    """The place of the group in that node."""
    most_low: IntArray
    """Largest low end, (nodes, m, PLACES)."""
    least_high: IntArray
    """Smallest high end, (nodes, m, PLACES)."""
    least_low: IntArray
    """Smallest low end, (nodes, m, PLACES); (nodes, 0, PLACES) if no records are searched for."""
    most_high: IntArray
    """Largest high end, likewise."""
    most_size: IntArray
    """Most records of a group, (nodes, PLACES)."""
    least_size: IntArray
    """Fewest records of a group, (nodes, PLACES)."""
    most_cost: FloatArray
    """What a group costs at most for each of its records, (nodes, PLACES)."""
    least_number: IntArray
    """Lowest group number, (nodes, PLACES); GONE when no group is left."""
    least_count: IntArray
    """SET columns: fewest values of a group, (nodes, PLACES, m)."""
    all_words: WordArray
    """SET columns: values that every group has, (nodes, PLACES, words)."""
    any_words: WordArray
    """SET columns: values that some group has, (nodes, PLACES, words)."""
    cost: FloatArray
    """Room for a cost of each place of one node."""


@kernel(allocates=False)
def _write_group(space: Space, cover: Cover, tree: GroupTree, group: int) -> None:
    """Write down what is true of a group in the place where it is alone."""
    node, place = tree.node_of[group], tree.place_of[group]
    tree.least_size[node, place] = tree.most_size[node, place] = cover.size[group]
    tree.most_cost[node, place] = group_cost(space, cover, group)
    tree.least_number[node, place] = group
    for column in range(space.kind.shape[0]):
        low, high = cover.low[column, group], cover.high[column, group]
        tree.most_low[node, column, place], tree.least_high[node, column, place] = low, high
        if tree.least_low.shape[1] > 0:
            tree.least_low[node, column, place], tree.most_high[node, column, place] = low, high
        if tree.least_count.shape[2] > 0:  # there are sets
            begin, end = space.word_start[column], space.word_start[column + 1]
            tree.least_count[node, place, column] = count_values(cover.words[group], begin, end)
    for word in range(cover.words.shape[1]):
        tree.all_words[node, place, word] = tree.any_words[node, place, word] = cover.words[group, word]


@kernel(inline=True, allocates=False)
def _sum_up_ends(most: IntArray, least: IntArray, node: int, place: int, child: int) -> bool:
    """Write down in a place the largest and the smallest ends of boxes below the child that is there; return whether one changed."""
    changed = False
    for column in range(most.shape[1]):
        largest, smallest = most[child, column, 0], least[child, column, 0]
        for other in range(1, PLACES):
            largest = max(largest, most[child, column, other])
            smallest = min(smallest, least[child, column, other])
        changed |= (largest != most[node, column, place]) | (smallest != least[node, column, place])
        most[node, column, place], least[node, column, place] = largest, smallest
    return changed


@kernel(allocates=False)
def _sum_up_sets(tree: GroupTree, node: int, place: int, child: int) -> bool:
    """Write down in a place what is true of the sets below the child that is there; return whether anything changed."""
    changed = False
    for column in range(tree.least_count.shape[2]):
        least = tree.least_count[child, 0, column]
        for other in range(1, PLACES):
            least = min(least, tree.least_count[child, other, column])
        changed |= least != tree.least_count[node, place, column]
        tree.least_count[node, place, column] = least
    for word in range(tree.all_words.shape[2]):
        all_have, any_has = tree.all_words[child, 0, word], tree.any_words[child, 0, word]
        for other in range(1, PLACES):
            all_have &= tree.all_words[child, other, word]
            any_has |= tree.any_words[child, other, word]
        changed |= (all_have != tree.all_words[node, place, word]) | (any_has != tree.any_words[node, place, word])
        tree.all_words[node, place, word], tree.any_words[node, place, word] = all_have, any_has
    return changed


@kernel(allocates=False)
def _sum_up(tree: GroupTree, node: int, place: int, child: int) -> bool:
    """Write down in a place what is true of all groups below the child that is there; return whether anything changed."""
    least_size, most_size, least_number = np.int32(GONE), np.int32(0), np.int32(GONE)
    most_cost = 0.0
    for other in range(PLACES):
        least_size = min(least_size, tree.least_size[child, other])
        most_size = max(most_size, tree.most_size[child, other])
        least_number = min(least_number, tree.least_number[child, other])
        most_cost = max(most_cost, tree.most_cost[child, other])
    changed = (least_size != tree.least_size[node, place]) | (most_size != tree.most_size[node, place])
    changed |= (least_number != tree.least_number[node, place]) | (most_cost != tree.most_cost[node, place])
    tree.least_size[node, place], tree.most_size[node, place] = least_size, most_size
    tree.least_number[node, place], tree.most_cost[node, place] = least_number, most_cost
    changed |= _sum_up_ends(tree.most_low, tree.least_high, node, place, child)
    changed |= _sum_up_ends(tree.most_high, tree.least_low, node, place, child)
    if tree.all_words.shape[2] > 0:
        changed |= _sum_up_sets(tree, node, place, child)
    return changed


@kernel(allocates=False)
def _copy_boxes(tree: GroupTree, node: int, place: int, other: int) -> None:
    """Let a place say of boxes and sets what another place of the node says."""
    for column in range(tree.most_low.shape[1]):
        tree.most_low[node, column, place] = tree.most_low[node, column, other]
        tree.least_high[node, column, place] = tree.least_high[node, column, other]
    for column in range(tree.least_low.shape[1]):
        tree.least_low[node, column, place] = tree.least_low[node, column, other]
        tree.most_high[node, column, place] = tree.most_high[node, column, other]
    for column in range(tree.least_count.shape[2]):
        tree.least_count[node, place, column] = tree.least_count[node, other, column]
    for word in range(tree.all_words.shape[2]):
        tree.all_words[node, place, word] = tree.all_words[node, other, word]
        tree.any_words[node, place, word] = tree.any_words[node, other, word]


@kernel(allocates=False)
def _empty_place(tree: GroupTree, node: int, place: int) -> None:
    """Let a place say that no group is left there, and nothing of boxes that another place does not say."""
    tree.least_number[node, place] = tree.least_size[node, place] = GONE
    tree.most_size[node, place] = 0
    tree.most_cost[node, place] = 0.0
    for other in range(PLACES):
        if tree.least_number[node, other] != GONE:
            _copy_boxes(tree, node, place, other)
            break


@kernel()
def build_tree(space: Space, cover: Cover, shape: Shape, for_records: bool) -> GroupTree:
    """Return what is true of the groups in each place of each node, with or without what a search of records needs."""
    nodes, columns, words = shape.below.shape[0], space.kind.shape[0], cover.words.shape[1]
    tree = GroupTree(
        shape,
        np.zeros(cover.size.shape[0], np.int32),
        np.zeros(cover.size.shape[0], np.int32),
        np.zeros((nodes, columns, PLACES), np.int32),
        np.zeros((nodes, columns, PLACES), np.int32),
        np.zeros((nodes, columns if for_records else 0, PLACES), np.int32),
        np.zeros((nodes, columns if for_records else 0, PLACES), np.int32),
        np.zeros((nodes, PLACES), np.int32),
        np.full((nodes, PLACES), GONE, np.int32),
        np.zeros((nodes, PLACES)),
        np.full((nodes, PLACES), GONE, np.int32),
        np.zeros((nodes, PLACES, columns if words > 0 else 0), np.int32),
        np.zeros((nodes, PLACES, words), np.uint64),
        np.zeros((nodes, PLACES, words), np.uint64),
        np.zeros(PLACES),
    )
    for node in range(nodes - 1, -1, -1):  # children have higher numbers than their parent
        for place in range(PLACES):
            below = shape.below[node, place]
            if below < 0:
                tree.node_of[~below], tree.place_of[~below] = node, place
                _write_group(space, cover, tree, ~below)
            elif below != NOTHING:
                _sum_up(tree, node, place, below)
            else:
                _empty_place(tree, node, place)
    return tree


@kernel(allocates=False)
def _tell_parents(tree: GroupTree, node: int) -> None:
    """Update the nodes above after a change in a node, as far up as it matters."""
    parent = tree.shape.parent[node]
    while parent >= 0 and _sum_up(tree, parent, tree.shape.place[node], node):
        node = parent
        parent = tree.shape.parent[node]


@kernel(allocates=False)
def remove_group(tree: GroupTree, group: int) -> None:
    """Take a group that has been merged away out of the tree."""
    _empty_place(tree, tree.node_of[group], tree.place_of[group])
    _tell_parents(tree, tree.node_of[group])


@kernel(allocates=False)
def update_group(space: Space, cover: Cover, tree: GroupTree, group: int) -> None:
    """Update the nodes above a group after a change of its box or size."""
    _write_group(space, cover, tree, group)
    _tell_parents(tree, tree.node_of[group])
