"""The part of a hierarchy that released cells show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.hierarchy.tree import Hierarchy

Part = dict[int, list[int]]
"""The nodes right below each node of a part."""


def nodes_above(tree: Hierarchy, nodes: Iterable[int]) -> set[int]:
    """Return all nodes above some nodes."""
    parents = tree.parent.tolist()
    found: set[int] = set()
    for node in nodes:
        above = parents[node]
        while above not in found:
            found.add(above)
            above = parents[above]
    return found


def part_of(tree: Hierarchy, nodes: Iterable[int], *, sort: bool) -> Part:
    """Return some nodes and the root as a hierarchy of their own: each below the closest other one, in the order of the tree, or sorted by label."""
    parents, low = tree.parent.tolist(), tree.low.tolist()
    part: Part = {node: [] for node in {*nodes, tree.root}}
    order = sorted(
        part.keys() - {tree.root}, key=(lambda node: _natural(tree.labels[node])) if sort else low.__getitem__
    )
    for node in order:
        above = parents[node]
        while above not in part:
            above = parents[above]
        part[above].append(node)
    return part


def _natural(label: str) -> tuple[int, float, str]:
    """Return a key by which numbers come in their order, before all other labels."""
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label
