"""The hierarchy of a column, as the dictionary carries it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tree:
    """A rooted tree of labels; its leaves are the values of the column."""

    paths: Mapping[str, tuple[str, ...]]
    """Each label, in the order of the tree, with all labels from the root down to it."""
    leaves: Mapping[str, tuple[str, ...]]
    """The leaves below each label; a leaf has itself."""

    @classmethod
    def of(cls, nested: Mapping[str, Any]) -> Tree:
        """Read ``{"label": …, "children": […]}``."""
        paths = dict(_walk(nested))
        inner = {path[-2] for path in paths.values() if len(path) > 1}
        leaves: dict[str, list[str]] = {label: [] for label in paths}
        for label, path in paths.items():
            for above in path if label not in inner else ():
                leaves[above].append(label)
        return cls(paths, {label: tuple(below) for label, below in leaves.items()})

    @property
    def root(self) -> str:
        """The label at the top."""
        return next(iter(self.paths))

    @property
    def depth(self) -> int:
        """The number of levels below the root."""
        return max(map(len, self.paths.values())) - 1

    def at(self, label: str, level: int) -> str | None:
        """Return the label ``level`` steps below the root on the way to a label; None if that one is higher up.

        A leaf that ends before the level is its own label there.
        """
        path = self.paths[label]
        if level < len(path):
            return path[level]
        return label if self.leaves[label] == (label,) else None


def _walk(root: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    waiting: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [(root, ())]
    while waiting:  # ends: each round takes one node of a finite tree
        node, above = waiting.pop()
        path = (*above, str(node["label"]))
        yield path[-1], path
        waiting.extend((child, path) for child in reversed(node.get("children") or ()))
