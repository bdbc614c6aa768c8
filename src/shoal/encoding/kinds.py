"""How a column is released: as ranges, as nodes of its hierarchy, or as sets of values.

Code that depends on this asks the column's kind, one of three small objects. No other module compares kinds. Kernels ask
``kernels/space/kinds.py``, which alone compares the integer codes that a ``Space`` holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.kernels.space.space import INTERVAL, NODE, SET

if TYPE_CHECKING:
    from shoal.encoding.tables import CodedColumn


class Layout(NamedTuple):
    """What a range of a column's codes costs, as the flat arrays of a ``Space`` hold it."""

    domain: float
    """What the whole column counts: a width, or a number of values."""
    position: FloatArray | None = None
    """The number of each code, if a range costs its width."""
    nodes: tuple[IntArray, IntArray, FloatArray] | None = None
    """Parent, largest leaf and cost of each node, if a range costs what its node does."""
    words: int = 0
    """Words of 64 bits in which a cover keeps the values of each group."""


@dataclass(frozen=True)
class ColumnKind(ABC):
    """One way to release a column."""

    name: ClassVar[str]
    code: ClassVar[int]
    """What kernels know the kind by."""
    form: ClassVar[str]
    """What a cell is, in one word."""
    ordered: ClassVar[bool] = False
    """Whether codes follow an order that means something, so that a cell is all between two values."""
    by_members: ClassVar[bool] = False
    """Whether a cell stands for single values only, not for all codes between its ends."""

    @abstractmethod
    def layout(self, column: CodedColumn) -> Layout:
        """Return what ranges of codes cost."""

    def released(self, column: CodedColumn, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:  # noqa: ARG002
        """Return the ends of the cells of groups, given the lowest and highest code of each; by default these codes."""
        return low, high

    @abstractmethod
    def shown(self, column: CodedColumn, codes: LongArray) -> LongArray:
        """Return, in rising order and without the missing value, all codes that a cell represents if it must hold ``codes``."""

    @abstractmethod
    def count_shown(self, column: CodedColumn, low: IntArray, high: IntArray, cost: FloatArray) -> FloatArray:
        """Return how many values cells stand for, from the lowest and highest code and the cost of each."""

    @abstractmethod
    def join_costs(self, column: CodedColumn, present: LongArray, domain: float) -> FloatArray:
        """Return for each code what it costs to release it together with the codes ``present``; missing values are left to the caller."""

    @abstractmethod
    def narrower(self, column: CodedColumn, present: LongArray, records: LongArray, own: int) -> LongArray:
        """Return the codes among ``present`` that a cell one step narrower would keep, ``own`` among them.

        ``records`` says how many records of the group have each code.
        """


class Ranges(ColumnKind):
    """Numbers, dates, and values in an order that the user gave: a cell is a range."""

    name = "interval"
    code = INTERVAL
    form = "range"
    ordered = True

    def layout(self, column: CodedColumn) -> Layout:
        """Return the positions of the codes; a range costs its width."""
        position, width = _finite_positions(_position(column))
        return Layout(width, position=position)

    def shown(self, column: CodedColumn, codes: LongArray) -> LongArray:  # noqa: ARG002
        """Return all codes between the ends."""
        return np.arange(codes[0], codes[-1] + 1)

    def count_shown(self, column: CodedColumn, low: IntArray, high: IntArray, cost: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the number of values between the ends; all if a missing value is mixed in."""
        mixed = (high == column.missing) & (low != high)
        return np.where(mixed, max(len(column.values), 1), high - low + 1).astype(np.float64)

    def join_costs(self, column: CodedColumn, present: LongArray, domain: float) -> FloatArray:
        """Return the width of each range as a share of the column's."""
        codes, position = np.arange(column.cardinality), np.append(_position(column), 0.0)
        low, high = np.minimum(codes, present[0]), np.maximum(codes, present[-1])
        return np.asarray((position[high] - position[low]) / (domain or 1.0), np.float64)

    def narrower(self, column: CodedColumn, present: LongArray, records: LongArray, own: int) -> LongArray:  # noqa: ARG002
        """Leave out the end that fewer records have."""
        ends = [end for end in (0, len(present) - 1) if present[end] != own]
        return np.delete(present, min(ends, key=lambda end: int(records[end])))


class Nodes(ColumnKind):
    """Categories with a hierarchy: a cell is a node, which stands for all leaves below it."""

    name = "node"
    code = NODE
    form = "node"

    def layout(self, column: CodedColumn) -> Layout:
        """Return parent, largest leaf and cost of each node; a missing value is one more leaf below the root."""
        tree, missing = column.tree, column.tree.n_leaves
        domain = float(len(column.values))
        if not column.has_missing:
            return Layout(domain, nodes=(tree.parent.astype(np.int32), tree.high.astype(np.int32), tree.cost))
        shifted = np.where(tree.parent >= missing, tree.parent + 1, tree.parent)
        root = tree.root + 1 if tree.root >= missing else tree.root
        parent = np.insert(shifted, missing, root).astype(np.int32)
        high = np.insert(tree.high, missing, missing).astype(np.int32)
        high[root] = missing
        return Layout(domain, nodes=(parent, high, np.insert(tree.cost, missing, 0.0)))

    def shown(self, column: CodedColumn, codes: LongArray) -> LongArray:
        """Return all leaves below the closest node above the codes."""
        (node,) = column.tree.nodes_above(codes[:1], codes[-1:])
        return np.arange(column.tree.low[node], column.tree.high[node] + 1)

    def count_shown(self, column: CodedColumn, low: IntArray, high: IntArray, cost: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the leaves below the closest node above each range of codes; all if a missing value is mixed in."""
        tree, single = column.tree, low == high
        mixed = (high == column.missing) & ~single
        first = np.where(mixed, tree.root, np.minimum(low, tree.n_leaves - 1))
        node = tree.nodes_above(first, np.where(mixed | single, 0, high))
        return (tree.high[node] - tree.low[node] + 1).astype(np.float64)

    def join_costs(self, column: CodedColumn, present: LongArray, domain: float) -> FloatArray:  # noqa: ARG002
        """Go up from the closest node above ``present``: every ancestor is the cost of the codes it adds."""
        tree, costs = column.tree, np.ones(column.cardinality)
        known = present[present < tree.n_leaves]
        if not known.size:  # only missing values: whatever joins them hides all
            return costs
        path = [int(known[0])]
        while path[-1] != tree.root:
            path.append(int(tree.parent[path[-1]]))
        for node in reversed(path):
            if tree.high[node] >= known[-1]:
                leaves = int(tree.high[node] - tree.low[node]) + 1
                costs[tree.low[node] : tree.high[node] + 1] = leaves / tree.n_leaves
        return costs

    def narrower(self, column: CodedColumn, present: LongArray, records: LongArray, own: int) -> LongArray:  # noqa: ARG002
        """Keep what lies below the child, on the way to ``own``, of the closest node above all codes."""
        tree, node = column.tree, own
        # ends: each round goes one level up, and the root covers every value
        while not (tree.low[tree.parent[node]] <= present[0] and present[-1] <= tree.high[tree.parent[node]]):
            node = int(tree.parent[node])
        return np.asarray(present[(present >= tree.low[node]) & (present <= tree.high[node])], np.int64)


class Sets(ColumnKind):
    """Categories without a hierarchy: a cell is the set of its values."""

    name = "set"
    code = SET
    form = "set"
    by_members = True

    def layout(self, column: CodedColumn) -> Layout:
        """Return room for one bit a value; a set costs the number of its values."""
        return Layout(float(len(column.values)), words=(column.cardinality + 63) // 64)

    def shown(self, column: CodedColumn, codes: LongArray) -> LongArray:  # noqa: ARG002
        """Return the codes themselves."""
        return codes

    def count_shown(self, column: CodedColumn, low: IntArray, high: IntArray, cost: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the number of values of each set, which is what it costs."""
        return np.maximum(np.rint(cost * max(len(column.values), 1)), 1)

    def join_costs(self, column: CodedColumn, present: LongArray, domain: float) -> FloatArray:
        """Return the share of the values that are in the set, the new one included."""
        codes = np.arange(column.cardinality)
        return np.asarray((len(present) + ~np.isin(codes, present)) / (domain or 1.0), np.float64)

    def narrower(self, column: CodedColumn, present: LongArray, records: LongArray, own: int) -> LongArray:  # noqa: ARG002
        """Leave out the value that fewest records have."""
        others = np.flatnonzero(present != own)
        return np.delete(present, others[records[others].argmin()])


RANGES, NODES, SETS = Ranges(), Nodes(), Sets()


def _position(column: CodedColumn) -> FloatArray:
    assert column.position is not None  # noqa: S101
    return column.position


def _finite_positions(position: FloatArray) -> tuple[FloatArray, float]:
    """Return positions that have a finite width, and that width; it is 1 if they do not differ, so that ranges cost 0.

    Numbers near the largest float are quartered, which is exact: their difference would be infinite.
    """
    if len(position) == 0:
        return position, 1.0
    low, high = float(position.min()), float(position.max())
    if np.isinf(high - low):
        return position / 4, high / 4 - low / 4
    return position, high - low or 1.0
