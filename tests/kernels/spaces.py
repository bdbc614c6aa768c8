"""Spaces built by hand, and what a set of codes costs said in the plainest Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.space.space import INTERVAL, NODE, SET, Space


@dataclass(frozen=True)
class Interval:
    """Numbers in rising order; code c stands for ``positions[c]``, a missing value for one code more."""

    positions: tuple[float, ...]
    missing: bool = False

    @property
    def cardinality(self):
        return len(self.positions) + self.missing

    @property
    def domain(self):
        return self.positions[-1] - self.positions[0]

    def cost(self, codes):
        if len(set(codes)) == 1:
            return 0.0
        if self.missing and max(codes) == len(self.positions):
            return 1.0
        return (self.positions[max(codes)] - self.positions[min(codes)]) / self.domain


@dataclass(frozen=True)
class Values:
    """Values without order, released as a set."""

    count: int
    missing: bool = False

    @property
    def cardinality(self):
        return self.count + self.missing

    @property
    def domain(self):
        return float(self.count)

    def cost(self, codes):
        distinct = set(codes)
        if len(distinct) == 1:
            return 0.0
        return 1.0 if self.missing and self.count in distinct else len(distinct) / self.count


@dataclass(frozen=True)
class Tree:
    """A hierarchy as nested tuples; "leaf" is a leaf, numbered from the left. A missing value hangs below the root."""

    root: tuple
    missing: bool = False
    domain = 0.0

    @property
    def leaves(self):
        return len(_leaves(self.root))

    @property
    def cardinality(self):
        return self.leaves + self.missing

    def cost(self, codes):
        if len(set(codes)) == 1:
            return 0.0
        if self.missing and self.leaves in codes:
            return 1.0
        return self._smallest(self.root, 0, set(codes)) / self.leaves

    def _smallest(self, node, first, codes):
        """Count the leaves of the smallest node below ``node`` (leaves from ``first`` on) that has all ``codes``."""
        for child in node:
            size = len(_leaves(child))
            if codes <= set(range(first, first + size)):
                return 1 if child == "leaf" else self._smallest(child, first, codes)
            first += size
        return len(_leaves(node))

    def arrays(self):
        """Return parent, high and cost of each node: the leaves first, then the inner nodes."""
        count = self.cardinality
        parent, high, cost = [0] * count, list(range(count)), [0.0] * count

        def add(node, first):
            number = len(parent)
            parent.append(number)
            high.append(first + len(_leaves(node)) - 1)
            cost.append(len(_leaves(node)) / self.leaves)
            for child in node:
                child_number = first if child == "leaf" else add(child, first)
                parent[child_number] = number
                first += len(_leaves(child))
            return number

        root = add(self.root, 0)
        if self.missing:
            parent[self.leaves] = root
            high[root] = self.leaves
        return parent, high, cost


def _leaves(node):
    return ["leaf"] if node == "leaf" else [leaf for child in node for leaf in _leaves(child)]


KIND = {Interval: INTERVAL, Tree: NODE, Values: SET}


def build_space(columns, weights=None):
    """Return the Space of ``columns`` (Interval, Tree or Values objects)."""
    start, word_start, position, parent, high, cost = [], [0], [], [], [], []
    for column in columns:
        start.append(len(position) if isinstance(column, Interval) else len(parent))
        words = 0
        if isinstance(column, Interval):
            position += [*column.positions, *[0.0] * column.missing]
        elif isinstance(column, Tree):
            for total, own in zip((parent, high, cost), column.arrays(), strict=True):
                total.extend(own)
        else:
            words = (column.cardinality + 63) // 64
        word_start.append(word_start[-1] + words)
    return Space(
        kind=np.array([KIND[type(column)] for column in columns], np.int32),
        weight=np.array([1.0] * len(columns) if weights is None else weights, np.float64),
        cardinality=np.array([column.cardinality for column in columns], np.int32),
        missing=np.array([column.cardinality - 1 if column.missing else -1 for column in columns], np.int32),
        domain=np.array([column.domain for column in columns], np.float64),
        start=np.array(start, np.int64),
        position=np.array(position, np.float64),
        node_parent=np.array(parent, np.int32),
        node_high=np.array(high, np.int32),
        node_cost=np.array(cost, np.float64),
        word_start=np.array(word_start, np.int64),
    )
