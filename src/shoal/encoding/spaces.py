"""What ranges of codes cost, laid out as the flat arrays the kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.space import INTERVAL, NODE, SET, Space
from shoal.typing import FloatArray, IntArray

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
            positions.append(column.position)
            domains.append(float(np.ptp(column.position)) if len(column.position) else 0.0)
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
