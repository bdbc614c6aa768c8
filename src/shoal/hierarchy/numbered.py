"""A tree as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from shoal.arrays import AnyArray, FloatArray, IntArray
from shoal.hierarchy.links import Links, cycle_error
from shoal.hierarchy.texts import match_texts
from shoal.knowledge.reading import Reading
from shoal.validation import check_int


@dataclass(frozen=True, eq=False, repr=False)
class NumberedTree:
    """A rooted ordered tree whose nodes are numbered.

    Leaf i, counted depth first, is node i; then come the inner nodes, each after its children, the root last.
    The leaves below a node are then the codes ``low[node]..high[node]``.

    Attributes
    ----------
    labels
        The text of each node; no two are equal.
    parent
        The parent of each node; the root is its own.
    n_leaves
        Number of leaves.
    node_weights
        How much each node counts, None if leaves count 1 and inner nodes 0.
    reading
        What the leaves were recognized as, for a suggested tree.
    """

    labels: tuple[str, ...]
    parent: IntArray
    n_leaves: int
    node_weights: FloatArray | None = None
    reading: Reading | None = None

    def __post_init__(self) -> None:
        _frozen(self.parent)

    @classmethod
    def _from_links(cls, links: Links) -> Self:
        """Number the nodes: leaves depth first, then inner nodes, each after its children."""
        children: dict[str, list[str]] = {}
        for child, parent in links.parents.items():
            children.setdefault(parent, []).append(child)
        order = _children_first(links.root, children)
        leaves = [label for label in order if label not in children]
        labels = (*leaves, *(label for label in order if label in children))
        if len(labels) <= len(links.parents):
            raise cycle_error(links.parents, set(labels))
        number = {label: node for node, label in enumerate(labels)}
        parents = [number[links.parents.get(label, links.root)] for label in labels]
        return cls(labels, np.array(parents, np.int32), len(leaves))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the leaves among them."""
        return len(self.labels)

    @property
    def root(self) -> int:
        """The node above all others."""
        return len(self.labels) - 1

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The texts of the leaves, depth first."""
        return self.labels[: self.n_leaves]

    def nodes_above(self, low: AnyArray, high: AnyArray) -> AnyArray:
        """Return the closest node above each node ``low`` that holds the leaf ``high`` too."""
        node = np.array(low)
        # ends: each round goes one level up, and the root covers every leaf
        while (below := self.high[node] < high).any():
            node = np.where(below, self.parent[node], node)
        return node

    @cached_property
    def high(self) -> IntArray:
        """The largest leaf code below each node."""
        high = [*range(self.n_leaves), *([-1] * (self.n_nodes - self.n_leaves))]
        for node, parent in enumerate(self.parent.tolist()):  # a node comes before its parent
            high[parent] = max(high[parent], high[node])
        return _frozen(np.array(high, np.int32))

    @cached_property
    def low(self) -> IntArray:
        """The smallest leaf code below each node."""
        return _frozen((self.high + 1 - self._sizes).astype(np.int32))

    @cached_property
    def _sizes(self) -> IntArray:
        """The number of leaves below each node, itself included."""
        sizes = [1] * self.n_leaves + [0] * (self.n_nodes - self.n_leaves)
        for node, parent in enumerate(self.parent.tolist()[:-1]):
            sizes[parent] += sizes[node]
        return _frozen(np.array(sizes, np.int32))

    @cached_property
    def depth(self) -> IntArray:
        """The number of edges from the root to each node."""
        parents = self.parent.tolist()
        depth = [0] * self.n_nodes
        for node in range(self.n_nodes - 2, -1, -1):
            depth[node] = depth[parents[node]] + 1
        return _frozen(np.array(depth, np.int32))

    @cached_property
    def cost(self) -> FloatArray:
        """Leaves below each node ÷ all leaves; 0 for a leaf (NCP of Xu et al. 2006, section 3.2.2).

        With ``node_weights``: the weights of a node and of all below it ÷ those of all nodes.
        """
        cost = self._sizes / self.n_leaves
        if self.node_weights is not None:
            sums = self.node_weights.tolist()
            for node, parent in enumerate(self.parent.tolist()[:-1]):  # a node comes before its parent
                sums[parent] += sums[node]
            cost = np.array(sums) / sums[self.root]
        cost[: self.n_leaves] = 0.0
        return _frozen(cost)

    @cached_property
    def height(self) -> int:
        """The number of edges from the root to the deepest leaf."""
        return int(self.depth.max())

    @property
    def levels(self) -> int:
        """The number of levels, from the values themselves (0) to the root (``height``)."""
        return self.height + 1

    def ancestors_at(self, level: int) -> IntArray:
        """Return, for each leaf, the node ``level`` steps above it, or the root if there are fewer steps."""
        steps = check_int("Hierarchy.ancestors_at", "level", level, least=0)
        nodes = np.arange(self.n_leaves, dtype=np.int32)
        for _ in range(min(steps, self.height)):
            nodes = self.parent[nodes]
        return nodes

    def leaf_codes(self, texts: Iterable[str]) -> IntArray:
        """Return the leaf code of each text, -1 for one that is not a leaf; numbers match by number."""
        return np.array(match_texts(self._leaf_numbers, texts), np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NumberedTree):
            return NotImplemented
        same = self.labels == other.labels and np.array_equal(self.parent, other.parent)
        return same and np.array_equal(self.cost, other.cost)

    def __hash__(self) -> int:
        return hash((self.labels, self.parent.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.labels, self.parent, self.n_leaves, self.node_weights, self.reading))

    @cached_property
    def _leaf_numbers(self) -> dict[str, int]:
        return {label: leaf for leaf, label in enumerate(self.leaves)}

    @cached_property
    def _nodes(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self.labels)}

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        parents = self.parent.tolist()
        children: dict[int, list[int]] = {}
        for node in np.argsort(self.low, kind="stable").tolist():
            if node != self.root:
                children.setdefault(parents[node], []).append(node)
        return children


def _children_first(root: str, children: dict[str, list[str]]) -> list[str]:
    """Return the labels below and at ``root``, depth first, each after its children."""
    # taking the last child first, then turning the order round, puts every node after all below it
    order: list[str] = []
    stack = [root]
    while stack:
        label = stack.pop()
        order.append(label)
        stack.extend(children.get(label, ()))
    order.reverse()
    return order


def _frozen(array: AnyArray) -> AnyArray:
    array.flags.writeable = False
    return array
