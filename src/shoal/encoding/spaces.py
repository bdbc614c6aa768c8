"""What ranges of codes cost, laid out as the flat arrays the kernels read.

Every cost is a finite number, whatever the values are: a loop that looks for the cheapest ends only where costs can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.space.space import INTERVAL, NODE, SET, Space

if TYPE_CHECKING:
    from shoal.encoding.tables import CodedColumn

_KIND_CODES = {"interval": INTERVAL, "node": NODE, "set": SET}


def build_space(columns: Sequence[CodedColumn], weights: FloatArray) -> Space:
    """Lay the columns' costs out as the flat arrays the kernels read."""
    starts, positions = [], [np.zeros(0)]
    parents, highs, costs = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0)]
    domains, word_starts = [], [0]
    for column in columns:
        words = 0
        if column.kind == "interval":
            assert column.position is not None  # noqa: S101
            starts.append(sum(map(len, positions)))
            position, width = _finite_positions(column.position)
            positions.append(position)
            domains.append(width)
        elif column.kind == "node":
            starts.append(sum(map(len, parents)))
            parent, high, cost = _node_arrays(column)
            parents.append(parent)
            highs.append(high)
            costs.append(cost)
            domains.append(float(len(column.values)))
        else:
            starts.append(0)
            words = (column.cardinality + 63) // 64
            domains.append(float(len(column.values)))
        word_starts.append(word_starts[-1] + words)
    return Space(
        kind=np.array([_KIND_CODES[column.kind] for column in columns], np.int32),
        weight=np.asarray(weights, np.float64),
        cardinality=np.array([column.cardinality for column in columns], np.int32),
        missing=np.array([column.missing for column in columns], np.int32),
        domain=np.array(domains, np.float64),
        start=np.array(starts, np.int64),
        position=np.concatenate(positions),
        node_parent=np.concatenate(parents),
        node_high=np.concatenate(highs),
        node_cost=np.concatenate(costs),
        word_start=np.array(word_starts, np.int64),
    )


def _finite_positions(position: FloatArray) -> tuple[FloatArray, float]:
    """Return positions that have a finite width, and that width; it is 1 where they do not differ, so that ranges cost 0.

    Numbers near the largest float are quartered, which is exact: their difference would be infinite.
    """
    if len(position) == 0:
        return position, 1.0
    low, high = float(position.min()), float(position.max())
    if np.isinf(high - low):
        return position / 4, high / 4 - low / 4
    return position, high - low or 1.0


def _node_arrays(column: CodedColumn) -> tuple[IntArray, IntArray, FloatArray]:
    """Return parent, largest leaf and cost of each node; a missing value is one more leaf below the root."""
    tree = column.hierarchy
    assert tree is not None  # noqa: S101
    if not column.has_missing:
        return tree.parent.astype(np.int32), tree.high.astype(np.int32), tree.cost
    missing = tree.n_leaves
    shifted = np.where(tree.parent >= missing, tree.parent + 1, tree.parent)
    root = tree.root + 1 if tree.root >= missing else tree.root
    parent = np.insert(shifted, missing, root).astype(np.int32)
    high = np.insert(tree.high, missing, missing).astype(np.int32)
    high[root] = missing
    return parent, high, np.insert(tree.cost, missing, 0.0)
