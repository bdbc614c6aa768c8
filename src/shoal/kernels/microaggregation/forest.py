"""A forest over near neighbours, cut into groups (Domingo-Ferrer, Sebé and Solanas 2005).

The steps are those of Domingo-Ferrer 2006, "Microaggregation: Achieving k-Anonymity with Quasi-Optimal Data Quality",
slides 15-16.

First every record whose tree has fewer than k records points to the first of its k - 1 neighbours outside its tree: the nearest, or
any of them if they are given in random order.
Then trees above max(2k - 1, 3k - 5) are cut: leaves first, branches that meet in a record are packed into groups of k to
2k - 2, in linear time; what stays at the root joins a group next to it, and if that is too large it is cut in two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, IntArray, LongArray
from shoal.compiling.decorator import kernel


class Cutting(NamedTuple):
    """Trees being cut: chains of records that belong together but have no group yet."""

    labels: IntArray
    following: LongArray
    """The next record of a chain, -1 at its end."""
    bucket: LongArray
    """The chain of branches that wait at a record, -1 if none does."""
    waiting: LongArray
    """How many records that chain has."""
    beside: LongArray
    """A group next to a record, -1 if there is none."""
    head: LongArray
    """The first record of each group's chain."""
    order: LongArray
    """All records, each after those that point to it."""
    position: LongArray
    """The place of a record in that order."""


@kernel()
def find_tree(link: LongArray, record: int) -> int:
    """Return the name of a record's tree (union-find with path halving)."""
    while link[record] != record:
        link[record] = link[link[record]]
        record = link[record]
    return record


@kernel()
def grow_forest(neighbours: LongArray, order: LongArray, k: int) -> LongArray:
    """Return for each record the one it points to, -1 for roots; each tree has at least k records.

    Records choose in the given order, each the first of its ``neighbours`` that is in another tree. One pass is enough: a root that is passed because its tree has k records can only gain more.
    """
    n = neighbours.shape[0]
    target = np.full(n, -1, np.int64)
    link, size = np.arange(n), np.ones(n, np.int64)
    for record in order:
        tree = find_tree(link, record)
        if size[tree] >= k:
            continue
        for index in range(neighbours.shape[1]):
            other = find_tree(link, neighbours[record, index])
            if other != tree:
                target[record] = neighbours[record, index]
                link[tree] = other
                size[other] += size[tree]
                break
    return target


@kernel()
def order_leaves_first(target: LongArray) -> LongArray:
    """Return the records so that each comes after all that point to it."""
    n = target.shape[0]
    open_branches = np.zeros(n, np.int64)
    for record in range(n):
        if target[record] >= 0:
            open_branches[target[record]] += 1
    order = np.empty(n, np.int64)
    filled = 0
    for record in range(n):
        if open_branches[record] == 0:
            order[filled] = record
            filled += 1
    for index in range(n):
        up = target[order[index]]
        if up >= 0:
            open_branches[up] -= 1
            if open_branches[up] == 0:
                order[filled] = up
                filled += 1
    return order


@kernel()
def label_chain(cutting: Cutting, head: int, group: int) -> None:
    """Make a group of the records of a chain."""
    cutting.head[group] = head
    while head >= 0:
        cutting.labels[head] = group
        head = cutting.following[head]


@kernel()
def hang_branch(cutting: Cutting, record: int, up: int, k: int, group: int) -> int:
    """Let the branch of ``record`` wait at ``up``; pack what waits there once it has k. Return the next free group."""
    tail = record
    while cutting.following[tail] >= 0:
        tail = cutting.following[tail]
    cutting.following[tail] = cutting.bucket[up]
    cutting.bucket[up] = record
    cutting.waiting[up] += cutting.waiting[record] + 1
    if cutting.waiting[up] < k:
        return group
    label_chain(cutting, record, group)
    cutting.bucket[up], cutting.waiting[up], cutting.beside[up] = -1, 0, group
    return group + 1


@kernel()
def cut_forest(target: LongArray, k: int) -> IntArray:
    """Return labels of groups of k to max(2k - 1, 3k - 5) records."""
    n = target.shape[0]
    limit = max(2 * k - 1, 3 * k - 5)
    order = order_leaves_first(target)
    root, size, position = np.arange(n), np.zeros(n, np.int64), np.empty(n, np.int64)
    for index in range(n - 1, -1, -1):
        record = order[index]
        if target[record] >= 0:
            root[record] = root[target[record]]
        size[root[record]] += 1
        position[record] = index
    cutting = Cutting(
        np.full(n, -1, np.int32), np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.int64),
        np.full(n, -1, np.int64), np.zeros(n, np.int64), order, position,
    )  # fmt: skip
    group = 0
    for index in range(n):
        record = order[index]
        if size[root[record]] <= limit:
            if root[record] == record:
                cutting.labels[record] = group
                group += 1
            continue
        cutting.following[record] = cutting.bucket[record]
        if cutting.waiting[record] + 1 == k:
            label_chain(cutting, record, group)
            if target[record] >= 0:
                cutting.beside[target[record]] = group
            group += 1
        elif target[record] >= 0:
            group = hang_branch(cutting, record, target[record], k, group)
        else:
            group = close_tree(cutting, record, target, limit, k, group)
    for index in range(n - 1, -1, -1):
        record = order[index]
        if size[root[record]] <= limit:
            cutting.labels[record] = cutting.labels[root[record]]
    return cutting.labels


@kernel()
def close_tree(cutting: Cutting, root: int, target: LongArray, limit: int, k: int, group: int) -> int:
    """Join what stays at a root, fewer than k records, to a group next to it. Return the next free group."""
    record, joined, tail = root, -1, root
    while record >= 0:
        joined = max(joined, cutting.beside[record])
        tail = record
        record = cutting.following[record]
    cutting.following[tail] = cutting.head[joined]
    label_chain(cutting, root, joined)
    members = np.empty(2 * limit + k, np.int64)
    count, record = 0, root
    while record >= 0:
        members[count] = cutting.position[record]
        count += 1
        record = cutting.following[record]
    if count <= limit:
        return group
    members = cutting.order[np.sort(members[:count])]
    side = find_half(members, target, k)
    for index in range(count):
        if side[index]:
            cutting.labels[members[index]] = group
    return group + 1


@kernel()
def find_half(members: LongArray, target: LongArray, k: int) -> BoolArray:
    """Cut a tree of more than max(2k - 1, 3k - 5) records, given leaves first, into two parts of at least k.

    Walk from the root into the largest branch. Either an edge leaves k records on both sides, or all branches of a
    record have fewer than k. Then some branches together have at least k and leave at least k.
    """
    size = members.shape[0]
    up, below = np.full(size, -1, np.int64), np.ones(size, np.int64)
    for index in range(size):
        for other in range(index + 1, size):
            if members[other] == target[members[index]]:
                up[index] = other
                below[other] += below[index]
    at = size - 1
    # ends: each round goes one step down the tree, or returns
    while True:
        largest = -1
        for index in range(size):
            if up[index] == at and (largest < 0 or below[index] > below[largest]):
                largest = index
        if largest < 0 or below[largest] < k:
            return choose_branches(up, below, at, k)
        if size - below[largest] >= k:
            return mark_below(up, largest)
        at = largest


@kernel()
def mark_below(up: LongArray, top: int) -> BoolArray:
    """Mark a record and all below it, in an order with leaves first."""
    marked = np.arange(up.shape[0]) == top
    for index in range(top - 1, -1, -1):
        marked[index] = up[index] >= 0 and marked[up[index]]
    return marked


@kernel()
def choose_branches(up: LongArray, below: LongArray, at: int, k: int) -> BoolArray:
    """Mark branches of the record ``at`` with as few records as possible but k, leaving at least k (subset sum)."""
    size = up.shape[0]
    last = np.full(size + 1, -1, np.int64)  # the branch that first reached a sum; size stands for the way up
    last[0] = size + 1
    for branch in range(size + 1):
        if branch == size:
            weight = size - below[at]
        elif up[branch] == at:
            weight = below[branch]
        else:
            continue
        for total in range(size, weight - 1, -1):
            if weight > 0 and last[total] < 0 and last[total - weight] >= 0:
                last[total] = branch
    total = k
    # ends: all branches and the way up together sum to size, which is at least k
    while last[total] < 0:
        total += 1
    marked = np.zeros(size, np.bool_)
    rest = ~mark_below(up, at)
    # ends: each branch that reached a sum has a record, so the sum without it is smaller
    while total > 0:
        branch = last[total]
        part = rest if branch == size else mark_below(up, branch)
        marked |= part
        total -= size - below[at] if branch == size else below[branch]
    return marked
