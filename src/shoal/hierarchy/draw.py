"""A tree drawn with box characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from shoal.hierarchy.tree import Hierarchy

Node = TypeVar("Node")


def branches(root: Node, below: Callable[[Node], Sequence[Node]]) -> Iterator[tuple[str, Node]]:
    """Yield each node of a tree, depth first, with the box characters before it."""
    stack = [(root, "", "")]
    while stack:
        node, indent, branch = stack.pop()
        yield indent + branch, node
        children = below(node)
        inner = indent + {"": "", "├── ": "│   ", "└── ": "    "}[branch]
        last = len(children) - 1
        stack.extend((children[place], inner, "└── " if place == last else "├── ") for place in range(last, -1, -1))


def draw(hierarchy: Hierarchy, max_leaves: int | None) -> str:
    """Return one line a node, at most ``max_leaves`` leaves, and a last line that counts the leaves left out."""
    limit = hierarchy.n_leaves if max_leaves is None else max_leaves
    lines: list[str] = []
    drawn = 0
    for before, label in branches(hierarchy.labels[hierarchy.root], hierarchy.children):
        if drawn == limit:
            break
        inner = bool(hierarchy.children(label))
        lines.append(f"{before}{label} ({hierarchy.size(label)})" if inner else f"{before}{label}")
        drawn += not inner
    if drawn < hierarchy.n_leaves:
        lines.append(f"… {hierarchy.n_leaves - drawn} more")
    return "\n".join(lines)
