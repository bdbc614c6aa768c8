"""What ranges of codes cost, laid out as the flat arrays the kernels read.

Every cost is a finite number, whatever the values are. Otherwise a loop that looks for the cheapest would not end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import FloatArray
from shoal.kernels.space.space import Space

if TYPE_CHECKING:
    from shoal.encoding.tables import CodedColumn


def build_space(columns: Sequence[CodedColumn], weights: FloatArray) -> Space:
    """Lay the columns' costs out as the flat arrays the kernels read."""
    layouts = [column.kind.layout(column) for column in columns]
    positions, trees = [np.zeros(0)], [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))]
    starts = []
    for one in layouts:
        start = 0
        if one.position is not None:
            start = sum(map(len, positions))
            positions.append(one.position)
        elif one.nodes is not None:
            start = sum(len(parent) for parent, _, _ in trees)
            trees.append(one.nodes)
        starts.append(start)
    parent, high, cost = (np.concatenate(part) for part in zip(*trees, strict=True))
    return Space(
        kind=np.array([column.kind.code for column in columns], np.int32),
        weight=np.asarray(weights, np.float64),
        cardinality=np.array([column.cardinality for column in columns], np.int32),
        missing=np.array([column.missing for column in columns], np.int32),
        domain=np.array([one.domain for one in layouts], np.float64),
        start=np.array(starts, np.int64),
        position=np.concatenate(positions),
        node_parent=parent,
        node_high=high,
        node_cost=cost,
        word_start=np.cumsum([0, *(one.words for one in layouts)], dtype=np.int64),
    )
