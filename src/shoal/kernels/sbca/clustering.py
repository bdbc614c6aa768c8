"""Similarity-based clustering (Sarrafi Aghdam & Sonehara 2016, sections 5 and 6): first record, k - 1 nearest, repeat.

Categories have no distance of their own: how far a value is from the first record's value follows from how
often both occur among the records still there. These counts live in contingency tables that lose the
records of each finished group.
"""

from __future__ import annotations

from heapq import heappush, heapreplace
from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.sorting import order_by_key
from shoal.kernels.sbca.contingency import Contingency, count_row, count_values, forget
from shoal.kernels.space.kinds import has_order
from shoal.kernels.space.space import Space


class Clusters(NamedTuple):
    """The records left, and the groups made."""

    waiting: IntArray
    """The records still there, in the order in which they are taken; only the first ``counts[0]`` count."""
    label: IntArray
    counts: LongArray
    """How many records wait, and how many groups there are."""


def start(space: Space, codes: IntArray) -> Clusters:
    """Return all records waiting, sorted by the column with the fewest values (the first such; ties in record order)."""
    present = [np.count_nonzero(count) for count in count_values(codes, space.cardinality)]
    waiting = np.argsort(codes[int(np.argmin(present))], kind="stable").astype(np.int32)
    return Clusters(waiting, np.full(codes.shape[1], -1, np.int32), np.array([codes.shape[1], 0], np.int64))


@kernel()
def similarity_order(counts: LongArray, present: LongArray, first: int) -> LongArray:
    """Return the values that occur in the table, the most similar to ``first`` first; ``first`` itself leads.

    Similar are values that occur about as often. Shares of one row compare as their counts do, so integers
    decide; equal differences are told apart by the values' order.
    """
    key = np.empty(present.shape[0], np.int64)
    for i in range(present.shape[0]):
        code = present[i]
        key[i] = -1 if code == first else abs(counts[code] - counts[first]) * counts.shape[0] + code
    return present[order_by_key(key)]


@kernel()
def category_distances(weight: float, order: LongArray, distance: FloatArray) -> None:
    """Write the distance of each value: its index in the similarity order over the largest index."""
    for index in range(order.shape[0]):
        distance[order[index]] = weight * (index / max(order.shape[0] - 1, 1))


@kernel()
def number_distances(space: Space, column: int, first: int, distance: FloatArray) -> None:
    """Write the distance of each number: difference over range; a missing value is at distance 1 from any other."""
    missing, start = space.missing[column], space.start[column]
    for code in range(space.cardinality[column]):
        if code == first:
            distance[code] = 0.0
        elif code == missing or first == missing:
            distance[code] = space.weight[column]
        else:
            width = abs(space.position[start + code] - space.position[start + first])
            distance[code] = space.weight[column] * (width / space.domain[column])


@kernel(allocates=False)
def distance_of(codes: IntArray, record: int, distance: FloatArray, offset: LongArray) -> float:
    """Return the distance of a record from the one that each code's distance was measured from."""
    total = 0.0
    for column in range(offset.shape[0] - 1):
        total += distance[offset[column] + codes[record, column]]
    return total


@kernel()
def nearest(codes: IntArray, waiting: IntArray, distance: FloatArray, offset: LongArray, wanted: int) -> LongArray:
    """Return the places in ``waiting``, rising, of the first record and the ``wanted`` nearest to it.

    ``distance`` holds each code's distance from the first record, column after column. Of records at the same
    distance those that wait longer at the front are taken.
    """
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for place in range(1, waiting.shape[0]):
        total = distance_of(codes, waiting[place], distance, offset)
        if len(heap) < wanted:
            heappush(heap, (-total, np.int64(-place)))
        elif wanted > 0 and total < -heap[0][0]:
            heapreplace(heap, (-total, np.int64(-place)))
    places = np.zeros(len(heap) + 1, np.int64)
    for i in range(len(heap)):
        places[i + 1] = -heap[i][1]
    places.sort()
    return places


@kernel()
def take(clusters: Clusters, table: Contingency, codes: IntArray, places: LongArray) -> None:
    """Make the records at ``places`` a group and close the gaps they leave."""
    waiting, label, counts = clusters
    upcoming, kept = 0, 0
    for place in range(counts[0]):
        record = waiting[place]
        if upcoming < places.shape[0] and places[upcoming] == place:
            label[record] = counts[1]
            forget(table, codes, record)
            upcoming += 1
        else:
            waiting[kept] = record
            kept += 1
    counts[0] = kept
    counts[1] += 1


@kernel()
def measure(
    space: Space, table: Contingency, codes: IntArray, present: LongArray, offset: LongArray, k: int, first: int
) -> FloatArray:
    """Return the distance of every code of every column from the first record's."""
    distance = np.zeros(offset[-1])
    for column in range(space.kind.shape[0]):
        if has_order(space.kind[column]):  # categories are measured by how often they occur, below
            number_distances(space, column, codes[first, column], distance[offset[column] : offset[column + 1]])
    for position in range(table.column.shape[0]):
        column = table.column[position]
        begin, end = offset[column], offset[column + 1]
        counts = np.empty(end - begin, np.int64)
        count_row(table, position, first, k, counts)
        occurring = np.flatnonzero(present[begin:end])
        order = similarity_order(counts, occurring, codes[first, column])
        category_distances(space.weight[column], order, distance[begin:end])
    return distance


@kernel()
def run(
    space: Space,
    table: Contingency,
    clusters: Clusters,
    codes: IntArray,
    present: LongArray,
    offset: LongArray,
    k: int,
    groups: int,
) -> bool:
    """Form at most ``groups`` more groups; return whether fewer than k records are left.

    ``codes`` has one row a record here, so that a distance reads one line of memory; ``present`` is how often
    each code occurs in the whole table, column after column from ``offset`` on.
    """
    stop = clusters.counts[1] + groups
    while clusters.counts[0] >= k and clusters.counts[1] < stop:
        waiting = clusters.waiting[: clusters.counts[0]]
        distance = measure(space, table, codes, present, offset, k, waiting[0])
        take(clusters, table, codes, nearest(codes, waiting, distance, offset, k - 1))
    return clusters.counts[0] < k


@kernel()
def join_nearest(
    space: Space, table: Contingency, codes: IntArray, present: LongArray, offset: LongArray, k: int, label: IntArray
) -> None:
    """Let each record that is in no group join that of the nearest record, seen from it; ties go to the earliest group.

    ``table`` counts all records again. A record that joins is not one that others may be nearest to.
    """
    left = np.flatnonzero(label < 0)
    chosen = np.empty(left.shape[0], np.int32)
    for i in range(left.shape[0]):
        distance = measure(space, table, codes, present, offset, k, left[i])
        least = np.inf
        for record in range(label.shape[0]):
            if label[record] < 0:
                continue
            total = distance_of(codes, record, distance, offset)
            if total < least or (total == least and label[record] < chosen[i]):
                chosen[i], least = label[record], total
    for i in range(left.shape[0]):
        label[left[i]] = chosen[i]
