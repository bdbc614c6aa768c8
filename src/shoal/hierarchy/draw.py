"""A tree drawn with box characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.hierarchy.tree import Hierarchy


def draw(hierarchy: Hierarchy, max_leaves: int | None) -> str:
    """Return one line a node, at most ``max_leaves`` leaves, and a last line that counts the leaves left out."""
    limit = hierarchy.n_leaves if max_leaves is None else max_leaves
    lines: list[str] = []
    drawn = 0
    stack = [(hierarchy.labels[hierarchy.root], "", "")]
    while stack and drawn < limit:
        label, indent, branch = stack.pop()
        children = hierarchy.children(label)
        count = f" ({hierarchy.size(label)})" if children else ""
        lines.append(f"{indent}{branch}{label}{count}")
        drawn += not children
        below = indent + {"": "", "├── ": "│   ", "└── ": "    "}[branch]
        stack.extend((child, below, "└── " if child == children[-1] else "├── ") for child in reversed(children))
    if drawn < hierarchy.n_leaves:
        lines.append(f"… {hierarchy.n_leaves - drawn} more")
    return "\n".join(lines)
