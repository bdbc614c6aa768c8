"""Which point to recommend, by a rule of a few sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shoal.compare.points import Point

RULE = (
    "For each k only the release that loses least is considered. The recommended one is farthest below the straight "
    "line from the smallest to the largest k (loss over the logarithm of k): beyond it, more protection costs more "
    "than it did so far. If none lies below the line, it is the one with the largest k."
)


def frontier(points: Sequence[Point]) -> list[Point]:
    """Return for each k the point that loses least (ties: the first); points without a release are left out."""
    best: dict[int, Point] = {}
    for point in points:
        if point.loss is not None and (point.k not in best or point.loss < _loss(best[point.k])):
            best[point.k] = point
    return [best[k] for k in sorted(best)]


def recommend(points: Sequence[Point]) -> Point | None:
    """Return the recommended point by ``RULE``; points of the whole table go before those of a sample."""
    whole = [point for point in points if not point.sampled and point.loss is not None]
    edge = frontier(whole or points)
    if not edge:
        return None
    return max(edge, key=lambda point: (_depth(point, edge[0], edge[-1]), point.k))


def _depth(point: Point, first: Point, last: Point) -> float:
    """Return how far a point lies below the line between two others."""
    if first.k == last.k:
        return 0.0
    along = math.log(point.k / first.k) / math.log(last.k / first.k)
    depth = _loss(first) + along * (_loss(last) - _loss(first)) - _loss(point)
    return depth if depth > 1e-9 else 0.0  # rounding must not make a point on the line look like one below it


def _loss(point: Point) -> float:
    assert point.loss is not None  # noqa: S101
    return point.loss
