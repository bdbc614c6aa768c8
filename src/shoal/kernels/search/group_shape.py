"""Which groups lie below which node of a tree: near groups together, so that whole branches of far ones can be skipped.

A node has a few places; in each is another node, a group or nothing. What is known of all places of a node is side by
side in memory (:mod:`shoal.kernels.search.group_tree`), so that they are compared with a group at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.kinds import has_members
from shoal.kernels.space.range_costs import RangeCosts, weighted_cost
from shoal.kernels.space.space import Cover, Space

PLACES = 8
NOTHING = np.iinfo(np.int32).max
"""The entry of an empty place."""


class Shape(NamedTuple):
    """What is in the places of each node; node 0 is the root, children have higher numbers than their parent."""

    below: IntArray
    """(nodes, PLACES): the number of a node, ~ the number of a group, or NOTHING."""
    parent: IntArray
    """Parent, -1 for the root."""
    place: IntArray
    """The place of a node in its parent."""


class _Pieces(NamedTuple):
    """Groups in a row, cut into pieces: what is to be in the places of a node, or below nodes that are still to be filled."""

    begin: IntArray
    end: IntArray
    cut: IntArray
    """Where the piece is cut first."""


@kernel()
def _make_pieces(count: int) -> _Pieces:
    return _Pieces(np.zeros(count, np.int32), np.zeros(count, np.int32), np.zeros(count, np.int32))


@kernel(allocates=False)
def _write_piece(pieces: _Pieces, number: int, begin: int, end: int, cut: int) -> None:
    pieces.begin[number], pieces.end[number], pieces.cut[number] = begin, end, cut


@kernel()
def _order_cuts(rank: IntArray) -> tuple[int, IntArray, IntArray]:
    """Return the cut of the highest rank and, for each cut, those of the highest rank in the pieces before and after it."""
    before, after = np.zeros(rank.shape[0], np.int32), np.zeros(rank.shape[0], np.int32)
    falling = np.zeros(rank.shape[0] + 1, np.int32)  # cuts of falling rank, each in the piece after the one before
    depth = 0
    for cut in range(1, rank.shape[0]):
        last = 0
        while depth > 0 and rank[falling[depth - 1]] < rank[cut]:
            depth -= 1
            last = falling[depth]
        before[cut] = last
        if depth > 0:
            after[falling[depth - 1]] = cut
        falling[depth] = cut
        depth += 1
    return falling[0], before, after


@kernel(allocates=False)
def _choose_piece(pieces: _Pieces, count: int) -> int:
    """Return which piece to cut next: the largest one that no node can hold, else the smallest that still finds room here; or -1."""
    chosen, largest, smallest = -1, PLACES, PLACES - count + 2
    for piece in range(count):
        size = pieces.end[piece] - pieces.begin[piece]
        if size > largest:
            chosen, largest = piece, size
        elif largest == PLACES and 1 < size < smallest:
            chosen, smallest = piece, size
    return chosen


@kernel(allocates=False)
def _fill_places(pieces: _Pieces, before: IntArray, after: IntArray) -> int:
    """Cut the first piece where it is cut first, and again, until all places have one or small pieces are left; return their number."""
    count = 1
    while count < PLACES:
        piece = _choose_piece(pieces, count)
        if piece < 0:
            break
        for later in range(count, piece + 1, -1):
            _write_piece(pieces, later, pieces.begin[later - 1], pieces.end[later - 1], pieces.cut[later - 1])
        begin, end, cut = pieces.begin[piece], pieces.end[piece], pieces.cut[piece]
        _write_piece(pieces, piece, begin, cut, before[cut])
        _write_piece(pieces, piece + 1, cut, end, after[cut])
        count += 1
    return count


@kernel()
def shape_by_rank(order: IntArray, rank: IntArray) -> Shape:
    """Put groups that were cut apart late below one node.

    The cut in front of a group in ``order`` has a rank, the higher the earlier it was made; the first group has none in front.
    """
    groups = order.shape[0]
    top, before, after = _order_cuts(rank)
    waiting, pieces = _make_pieces(max(1, groups)), _make_pieces(PLACES)
    shape = Shape(
        np.full((max(1, groups), PLACES), NOTHING, np.int32),
        np.full(max(1, groups), -1, np.int32),
        np.zeros(max(1, groups), np.int32),
    )
    _write_piece(waiting, 0, 0, groups, top)
    node, nodes = 0, 1
    while node < nodes and groups > 0:
        _write_piece(pieces, 0, waiting.begin[node], waiting.end[node], waiting.cut[node])
        for place in range(_fill_places(pieces, before, after)):
            begin, end = pieces.begin[place], pieces.end[place]
            if end - begin == 1:
                shape.below[node, place] = ~order[begin]
            else:
                shape.below[node, place] = nodes
                shape.parent[nodes], shape.place[nodes] = node, place
                _write_piece(waiting, nodes, begin, end, pieces.cut[place])
                nodes += 1
        node += 1
    return Shape(shape.below[:nodes].copy(), shape.parent[:nodes].copy(), shape.place[:nodes].copy())


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
            if has_members(space.kind[column]):  # its ends do not reveal what a set costs
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
def shape_by_cuts(space: Space, costs: RangeCosts, cover: Cover, members: IntArray) -> Shape:
    """Cut groups in two, column by column, until one node can hold each part; a part of equal boxes is cut in the middle."""
    order, rank = members.copy(), np.zeros(members.shape[0], np.int32)
    waiting = _make_pieces(members.shape[0] + 1)
    _write_piece(waiting, 0, 0, members.shape[0], 0)
    parts = 1
    while parts > 0:
        parts -= 1
        first, last = waiting.begin[parts], waiting.end[parts]
        if last - first <= PLACES:
            continue
        column = _widest_column(space, costs, cover, order[first:last])
        middle = (first + last) // 2
        if column >= 0:
            middle = first + _cut(cover, order[first:last], column)
        rank[middle] = last - first  # a part has more groups than the parts it is cut into
        _write_piece(waiting, parts, first, middle, 0)
        _write_piece(waiting, parts + 1, middle, last, 0)
        parts += 2
    return shape_by_rank(order, rank)
