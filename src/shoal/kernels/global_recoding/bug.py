"""Bottom-Up Generalization: which children to replace by their parent next (Wang, Yu & Chakraborty 2004).

A *generalization* is named by the parent. It is *critical* when it raises the anonymity A, the size of the smallest
tuple; only critical ones need their effect on A worked out (section 4). The paper prunes by a necessary condition
on segments of its tree (Theorem 1): every smallest tuple must share its segment with a sibling. The index here has
no preferred order of columns, so it can use a stronger condition at the same price: every smallest tuple must have a twin that
differs from it in this one column and in a sibling of its value. That holds of at most one generalization a column,
as in Theorem 1, and of critical ones alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray
from shoal.compiling.decorator import kernel
from shoal.kernels.global_recoding.tuple_index import (
    Forest,
    Scratch,
    TupleIndex,
    find_with,
    mix_node,
    move_tuples,
    same_but,
    slot_of,
)


class Choice(NamedTuple):
    """The generalization to take next."""

    node: int
    """The parent, or -1 if nothing is left to generalize."""
    anonymity: int
    """The size of the smallest tuple afterwards, at most k; -1 if it was not worked out."""
    tried: int
    """How many generalizations were tried out to find it."""


@kernel()
def anonymity(index: TupleIndex) -> int:
    """Return the size of the smallest tuple, or k if none is smaller."""
    k = index.number.shape[0]
    for size in range(1, k):
        if index.number[size] > 0:
            return size
    return k


@kernel()
def small_records(index: TupleIndex) -> int:
    """Return how many records are in tuples of fewer than k."""
    total = 0
    for size in range(1, index.number.shape[0]):
        total += size * index.number[size]
    return total


@kernel()
def _count_out(index: TupleIndex, column: int, child: int, by: int) -> None:
    """Add ``by`` to the number of small tuples of each size, for the tuples that have ``child``."""
    one = index.head[child]
    while one >= 0:
        if index.size[one] < index.number.shape[0]:
            index.number[index.size[one]] += by
        one = index.after[column, one]


@kernel()
def _sum_equal(index: TupleIndex, scratch: Scratch, node: int, column: int, child: int, touched: int) -> int:
    """Sum the tuples of ``child``, as they are with ``node`` in its place, in the open hash table."""
    slots = scratch.seen.shape[0]
    one = index.head[child]
    while one >= 0:
        slot = slot_of(index.hashed[one] ^ mix_node(child) ^ mix_node(node), slots)
        # ends: the table has more slots than tuples, so a free one comes
        while scratch.seen[slot] >= 0 and not same_but(index.value, column, one, scratch.seen[slot]):
            slot = (slot + 1) & (slots - 1)
        if scratch.seen[slot] < 0:
            scratch.seen[slot] = one
            scratch.sums[slot] = 0
            scratch.touched[touched] = slot
            touched += 1
        scratch.sums[slot] += index.size[one]
        one = index.after[column, one]
    return touched


@kernel()
def _least_sum(scratch: Scratch, touched: int, least: int) -> int:
    """Return the smallest sum, at most ``least``, and empty the open hash table."""
    for place in range(touched):
        slot = scratch.touched[place]
        scratch.seen[slot] = -1
        least = min(least, scratch.sums[slot])
    return least


@kernel()
def anonymity_after(index: TupleIndex, forest: Forest, scratch: Scratch, node: int) -> int:
    """Return the anonymity, at most k, if the children of ``node`` were generalized to it (section 5.3)."""
    column = forest.column[node]
    touched = 0
    for place in range(forest.child_start[node], forest.child_start[node + 1]):
        child = forest.child[place]
        touched = _sum_equal(index, scratch, node, column, child, touched)
        _count_out(index, column, child, -1)
    least = min(_least_sum(scratch, touched, index.number.shape[0]), anonymity(index))
    for place in range(forest.child_start[node], forest.child_start[node + 1]):
        _count_out(index, column, forest.child[place], 1)
    return least


@kernel()
def _tuples_below(index: TupleIndex, forest: Forest, node: int) -> int:
    total = 0
    for place in range(forest.child_start[node], forest.child_start[node + 1]):
        total += index.tuples[forest.child[place]]
    return total


@kernel()
def _lookups_for_twin(index: TupleIndex, forest: Forest, one: int, node: int) -> int:
    """Return how many lookups found a twin of ``one`` below ``node``, or minus their number if there is none."""
    column = forest.column[node]
    lookups = 0
    for place in range(forest.child_start[node], forest.child_start[node + 1]):
        child = forest.child[place]
        if child == index.value[column, one] or index.tuples[child] == 0:
            continue
        lookups += 1
        if find_with(index, one, column, child) >= 0:
            return lookups
    return -lookups


@kernel()
def _all_find_twins(index: TupleIndex, forest: Forest, least: int, node: int) -> bool:
    """Return whether ``node`` lies above the value of every smallest tuple and all of them have twins below it.

    Never costs more than trying the generalization out: when the lookups reach that many, the answer is yes.
    """
    column = forest.column[node]
    left = _tuples_below(index, forest, node)
    one = index.small_head[least]
    while one >= 0 and left > 0:
        if forest.parent[index.value[column, one]] != node:
            return False
        lookups = _lookups_for_twin(index, forest, one, node)
        if lookups <= 0:
            return False
        left -= lookups
        one = index.small_after[one]
    return True


@kernel()
def candidate_in(index: TupleIndex, forest: Forest, open_nodes: BoolArray, least: int, column: int) -> int:
    """Return the only generalization of a column that may be critical, or -1 (section 5.2)."""
    node = forest.parent[index.value[column, index.small_head[least]]]
    if node < 0 or not open_nodes[node] or not _all_find_twins(index, forest, least, node):
        return -1
    return node


@kernel()
def choose(
    index: TupleIndex,
    forest: Forest,
    scratch: Scratch,
    open_nodes: BoolArray,
    loss: FloatArray,
    pruning: bool,
) -> Choice:
    """Return the generalization of least loss per unit of anonymity gained, or, if none gains, of least loss.

    ``open_nodes`` are the valid generalizations. Ties go to the lowest node.
    """
    k = index.number.shape[0]
    least = anonymity(index)
    best, best_after, best_score, tried = -1, -1, np.inf, 0
    rounds = 0 if least == k else index.value.shape[0] if pruning else open_nodes.shape[0]
    for place in range(rounds):
        node = place
        if pruning:
            node = candidate_in(index, forest, open_nodes, least, place)
        if node < 0 or not open_nodes[node]:
            continue
        tried += 1
        after = anonymity_after(index, forest, scratch, node)
        if after > least and loss[node] / (after - least) < best_score:
            best, best_after, best_score = node, after, loss[node] / (after - least)
    if best >= 0:
        return Choice(best, best_after, tried)
    for node in range(open_nodes.shape[0]):
        if open_nodes[node] and loss[node] < best_score:
            best, best_score = node, loss[node]
    return Choice(best, -1, tried)


@kernel()
def generalize(index: TupleIndex, forest: Forest, node: int, moved: BoolArray) -> None:
    """Replace the children of ``node`` marked in ``moved`` by ``node``."""
    for place in range(forest.child_start[node], forest.child_start[node + 1]):
        if moved[place - forest.child_start[node]]:
            move_tuples(index, forest.column[node], forest.child[place], node)
