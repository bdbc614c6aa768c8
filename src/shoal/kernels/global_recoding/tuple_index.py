"""The distinct tuples of a table, linked by the values they have, so that values can be merged cheaply.

An array form of the Taxonomy Encoded Anonymity index (Wang, Yu & Chakraborty 2004, section 5.1). The paper keeps
the tuples in a tree, one level a column; here they are rows of an array, found by a hash of their values and
linked, for each value, in a list. To replace the children of a node by the node costs in proportion to the tuples
that have a child, as in the paper; no order of the columns is preferred.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.hashing import scramble, table_room


class Forest(NamedTuple):
    """The hierarchies of m columns; nodes are numbered through, a column's leaf of code c is ``start[column] + c``."""

    start: LongArray
    """The first node of each column; m + 1 entries."""
    column: IntArray
    """The column of each node."""
    parent: IntArray
    """The node above, -1 for a root."""
    low: IntArray
    """The smallest leaf code below each node."""
    high: IntArray
    """The largest leaf code below each node."""
    child_start: LongArray
    """Where a node's children begin in ``child``; one entry more than nodes."""
    child: IntArray
    """The children of all nodes."""


class TupleIndex(NamedTuple):
    """T distinct tuples and the links between them; -1 ends every list."""

    value: IntArray
    """The node each tuple has in each column, (m, T)."""
    size: LongArray
    """How many records have the tuple; 0 once it is merged into another."""
    hashed: WordArray
    """The hash of each tuple's values."""
    bucket: IntArray
    """The first tuple of each hash bucket; a power of two of them."""
    chain: IntArray
    """The next tuple in the same bucket."""
    head: IntArray
    """The first tuple with each node."""
    after: IntArray
    """The next tuple with the same node, (m, T)."""
    before: IntArray
    """The one before, (m, T)."""
    tuples: LongArray
    """How many tuples have each node."""
    number: LongArray
    """The paper's O: how many tuples have each size below k."""
    small_head: IntArray
    """The first tuple of each size below k."""
    small_after: IntArray
    small_before: IntArray


class Scratch(NamedTuple):
    """Room to try a generalization out: an open hash table that is empty between uses."""

    seen: IntArray
    sums: LongArray
    touched: LongArray


@kernel()
def mix_node(node: int | np.int64) -> np.uint64:
    """Return 64 well-mixed bits for a node."""
    return scramble((np.uint64(node) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


@kernel()
def slot_of(hashed: np.uint64, slots: int) -> np.int64:
    """Return the place of a hash in a table of a power of two of slots."""
    return np.int64(hashed & np.uint64(slots - 1))


@kernel()
def same_but(value: IntArray, column: int, a: int, b: int) -> bool:
    """Return whether two tuples agree in every column except, perhaps, ``column``."""
    for other in range(value.shape[0]):
        if other != column and value[other, a] != value[other, b]:
            return False
    return True


@kernel()
def number_tuples(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the number of each tuple, a column of ``codes``, and the first tuple of each number.

    Numbers go by first appearance. It hashes, so it is faster than ``distinct_tuples``, which sorts.
    """
    columns, tuples = codes.shape
    slots = table_room(tuples)
    seen = np.full(slots, -1, np.int32)
    label = np.empty(tuples, np.int32)
    first = np.empty(tuples, np.int32)
    found = 0
    for one in range(tuples):
        hashed = np.uint64(0)
        for column in range(columns):
            hashed = mix_node(np.int64(hashed ^ np.uint64(codes[column, one])))
        slot = slot_of(hashed, slots)
        # ends: the table has twice as many slots as tuples, so a free one comes
        while seen[slot] >= 0 and not same_but(codes, -1, one, seen[slot]):
            slot = (slot + 1) & (slots - 1)
        if seen[slot] < 0:
            seen[slot] = one
            label[one] = found
            first[found] = one
            found += 1
        label[one] = label[seen[slot]]
    return label, first[:found].copy()


@kernel()
def _enter_bucket(index: TupleIndex, one: int) -> None:
    slot = slot_of(index.hashed[one], index.bucket.shape[0])
    index.chain[one] = index.bucket[slot]
    index.bucket[slot] = one


@kernel()
def _leave_bucket(index: TupleIndex, one: int) -> None:
    slot = slot_of(index.hashed[one], index.bucket.shape[0])
    if index.bucket[slot] == one:
        index.bucket[slot] = index.chain[one]
        return
    other = index.bucket[slot]
    while index.chain[other] != one:
        other = index.chain[other]
    index.chain[other] = index.chain[one]


@kernel()
def find_with(index: TupleIndex, one: int, column: int, node: int) -> int:
    """Return the tuple that is ``one`` with ``node`` in ``column``, or -1."""
    hashed = index.hashed[one] ^ mix_node(index.value[column, one]) ^ mix_node(node)
    other = index.bucket[slot_of(hashed, index.bucket.shape[0])]
    while other >= 0:
        if index.value[column, other] == node and same_but(index.value, column, one, other):
            return other
        other = index.chain[other]
    return -1


@kernel()
def _link(index: TupleIndex, column: int, one: int) -> None:
    node = index.value[column, one]
    first = index.head[node]
    index.after[column, one] = first
    index.before[column, one] = -1
    if first >= 0:
        index.before[column, first] = one
    index.head[node] = one
    index.tuples[node] += 1


@kernel()
def _unlink(index: TupleIndex, column: int, one: int) -> None:
    node = index.value[column, one]
    ahead, behind = index.after[column, one], index.before[column, one]
    if behind >= 0:
        index.after[column, behind] = ahead
    else:
        index.head[node] = ahead
    if ahead >= 0:
        index.before[column, ahead] = behind
    index.tuples[node] -= 1


@kernel()
def _enter_small(index: TupleIndex, one: int) -> None:
    size = index.size[one]
    if size >= index.number.shape[0]:
        return
    first = index.small_head[size]
    index.small_after[one] = first
    index.small_before[one] = -1
    if first >= 0:
        index.small_before[first] = one
    index.small_head[size] = one
    index.number[size] += 1


@kernel()
def _leave_small(index: TupleIndex, one: int) -> None:
    size = index.size[one]
    if size >= index.number.shape[0]:
        return
    ahead, behind = index.small_after[one], index.small_before[one]
    if behind >= 0:
        index.small_after[behind] = ahead
    else:
        index.small_head[size] = ahead
    if ahead >= 0:
        index.small_before[ahead] = behind
    index.number[size] -= 1


@kernel()
def make_scratch(tuples: int) -> Scratch:
    """Return empty room for ``tuples`` tuples."""
    room = table_room(tuples)
    return Scratch(np.full(room, -1, np.int32), np.zeros(room, np.int64), np.zeros(max(tuples, 1), np.int64))


@kernel()
def build_index(forest: Forest, codes: IntArray, size: LongArray, k: int) -> TupleIndex:
    """Index distinct tuples of leaf codes, (m, T), with the number of records of each."""
    columns, tuples = codes.shape
    nodes = forest.parent.shape[0]
    index = TupleIndex(
        np.empty((columns, tuples), np.int32),
        size.copy(),
        np.zeros(tuples, np.uint64),
        np.full(table_room(tuples), -1, np.int32),
        np.full(tuples, -1, np.int32),
        np.full(nodes, -1, np.int32),
        np.full((columns, tuples), -1, np.int32),
        np.full((columns, tuples), -1, np.int32),
        np.zeros(nodes, np.int64),
        np.zeros(k, np.int64),
        np.full(k, -1, np.int32),
        np.full(tuples, -1, np.int32),
        np.full(tuples, -1, np.int32),
    )
    for one in range(tuples):
        for column in range(columns):
            node = forest.start[column] + codes[column, one]
            index.value[column, one] = node
            index.hashed[one] ^= mix_node(node)
            _link(index, column, one)
        _enter_bucket(index, one)
        _enter_small(index, one)
    return index


@kernel()
def _merge(index: TupleIndex, one: int, other: int) -> None:
    """Add the records of ``one`` to ``other``; ``one`` is in no bucket, not small and linked in no column."""
    _leave_small(index, other)
    index.size[other] += index.size[one]
    index.size[one] = 0
    _enter_small(index, other)


@kernel()
def move_tuples(index: TupleIndex, column: int, child: int, node: int) -> None:
    """Replace the value ``child`` by ``node`` in every tuple that has it, merging tuples that become equal."""
    while index.head[child] >= 0:
        one = index.head[child]
        _leave_small(index, one)
        _leave_bucket(index, one)
        other = find_with(index, one, column, node)
        if other >= 0:
            for place in range(index.value.shape[0]):
                _unlink(index, place, one)
            _merge(index, one, other)
            continue
        _unlink(index, column, one)
        index.value[column, one] = node
        index.hashed[one] ^= mix_node(child) ^ mix_node(node)
        _link(index, column, one)
        _enter_bucket(index, one)
        _enter_small(index, one)
