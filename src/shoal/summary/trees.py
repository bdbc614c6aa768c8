"""The hierarchies of a release, as far as its cells show them."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from shoal.cells.parse import parse_cell
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.part import nodes_above, part_of
from shoal.summary.schema import Node, Tree

_MOST_NODES = 40
_FLAT = 2
"""Levels of a hierarchy that has nothing but its values and a root."""


def shown_tree(tree: Hierarchy, released: pa.ChunkedArray, *, declared: bool) -> Tree | None:
    """Return the part of a hierarchy that a released column shows, its first levels if that is much; None if there is none to show."""
    records = _records(tree, released)
    if tree.levels <= _FLAT or not records:
        return None
    nodes = {*records, *(nodes_above(tree, records) if declared else ())}
    part = part_of(tree, nodes, sort=not declared)
    order = [tree.root]
    for node in order:  # by level; it grows while it is read
        order.extend(part[node])
    drawn = order[:_MOST_NODES]
    made: dict[int, Node] = {}
    for node in reversed(drawn):  # those below come first
        below = [made[child] for child in part[node] if child in made]
        made[node] = Node(label=tree.labels[node], records=records[node], below=below)
    return Tree(root=made[tree.root], more=len(order) - len(drawn))


def _records(tree: Hierarchy, released: pa.ChunkedArray) -> Counter[int]:
    """Return how many released cells are each node."""
    number = {label: node for node, label in enumerate(tree.labels)}
    records: Counter[int] = Counter()
    for one in released.cast(pa.string()).value_counts().to_pylist():
        cell = parse_cell(one["values"])
        label = cell.values[0] if cell.form == "value" else one["values"]
        if label in number:
            records[number[label]] += one["counts"]
    return records
