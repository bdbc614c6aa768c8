"""Groups that are side by side, and groups that are released alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.space.space import Cover, cover_groups

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_LEAF = 8


def number_without_gaps(labels: IntArray) -> IntArray:
    """Return labels numbered from 0 in their order; -1 stays."""
    kept = labels >= 0
    numbered = np.full(len(labels), -1, np.int32)
    numbered[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return numbered


def merge_equal_boxes(table: CodedTable, labels: IntArray) -> IntArray:
    """Return labels in which groups with equal boxes are one."""
    groups = int(labels.max(initial=-1)) + 1
    number = number_boxes(cover_groups(table.space, table.codes, labels, groups))
    return np.asarray(np.append(number, np.int32(-1))[labels], np.int32)


def number_boxes(cover: Cover) -> IntArray:
    """Return for each group the number of its box, equal boxes equal."""
    box = np.hstack([cover.low.T.astype(np.int64), cover.high.T.astype(np.int64), cover.words.view(np.int64)])
    return np.unique(box, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


def join_boxes(cover: Cover, number: IntArray) -> Cover:
    """Return each distinct box once, by its number, with the records of all groups that have it."""
    first = np.unique(number, return_index=True)[1]
    size = np.bincount(number, cover.size, len(first)).astype(np.int32)
    return Cover(
        np.ascontiguousarray(cover.low[:, first]), np.ascontiguousarray(cover.high[:, first]), cover.words[first], size
    )


@dataclass(frozen=True)
class _Part:
    begin: int
    end: int


def neighbour_order(table: CodedTable, cover: Cover) -> IntArray:
    """Return the groups in an order in which neighbours in the table are near: cut at medians, again and again."""
    groups = cover.low.shape[1]
    middle = (cover.low + cover.high) / (2.0 * np.maximum(table.space.cardinality - 1, 1))[:, None]
    middle *= np.where(table.space.weight > 0, 1.0, 0.0)[:, None]
    order = np.arange(groups)
    waiting = [_Part(0, groups)]
    # ends: a part is cut into two that are smaller, and one of a single group is not cut
    while waiting:
        part = waiting.pop()
        if part.end - part.begin <= _LEAF:
            continue
        here = order[part.begin : part.end]
        column = int(np.argmax(_spread(middle[:, here])))
        order[part.begin : part.end] = here[np.argsort(middle[column, here], kind="stable")]
        half = (part.begin + part.end) // 2
        waiting += [_Part(part.begin, half), _Part(half, part.end)]
    return order.astype(np.int32)


def _spread(middle: FloatArray) -> FloatArray:
    return np.asarray(middle.max(axis=1) - middle.min(axis=1), np.float64)
