"""Changing a hierarchy: every change gives a new one, and the old one stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from shoal.errors import HierarchyError
from shoal.hierarchy import Hierarchy

Parents = dict[str, str]


def parents_of(tree: Hierarchy) -> Parents:
    """Return each node but the root with its parent."""
    return {tree.labels[node]: tree.labels[int(tree.parent[node])] for node in range(tree.root)}


def _rebuilt(tree: Hierarchy, change: Callable[[Parents], Any]) -> Hierarchy:
    """Apply a change to the links; groups that are left without values go."""
    links = parents_of(tree)
    leaves = set(tree.leaves)
    change(links)
    while True:
        filled = set(links.values())
        empty = [label for label in links if label not in filled and label not in leaves]
        if not empty:
            return Hierarchy.from_parents(links)
        for label in empty:
            del links[label]


def move(tree: Hierarchy, labels: Iterable[str], target: str) -> Hierarchy:
    """Put nodes below another group."""
    chosen = [label for label in labels if label != target]
    if target in tree.leaves:
        raise HierarchyError(f"{target!r} is a value, not a group.", hint="choose a group to move to.")
    for label in chosen:
        if _lies_below(tree, target, label):
            raise HierarchyError(f"{target!r} lies below {label!r}.", hint="choose a group outside it.")
    return _rebuilt(tree, lambda links: links.update(dict.fromkeys(chosen, target)))


def _lies_below(tree: Hierarchy, label: str, other: str) -> bool:
    """Return whether a node lies below another, or is it."""
    node, above = tree.node(label), tree.node(other)
    return bool(tree.low[above] <= tree.low[node] and tree.high[node] <= tree.high[above] and node <= above)


def merge(tree: Hierarchy, labels: Sequence[str], name: str) -> Hierarchy:
    """Put nodes together in a new group, below the closest group above them all."""
    _check_new(tree, name)
    if len(labels) < 2:
        raise HierarchyError("A group needs at least two members.", hint="tick two or more.")
    above = tree.common_ancestor([leaf for label in labels for leaf in tree.leaves_below(label)])
    home = above if above not in labels else tree.labels[int(tree.parent[tree.node(above)])]

    def change(links: Parents) -> None:
        links[name] = home
        links.update(dict.fromkeys(labels, name))

    return _rebuilt(tree, change)


def rename(tree: Hierarchy, label: str, name: str) -> Hierarchy:
    """Rename a group; values keep theirs."""
    if label in tree.leaves:
        raise HierarchyError("Values cannot be renamed: the table has them so.", hint="rename the group above.")
    _check_new(tree, name)

    def swap(one: str) -> str:
        return name if one == label else one

    return Hierarchy.from_parents({swap(child): swap(parent) for child, parent in parents_of(tree).items()})


def dissolve(tree: Hierarchy, label: str) -> Hierarchy:
    """Remove a group; what was in it goes to the group above."""
    if label in tree.leaves or label == tree.labels[tree.root]:
        raise HierarchyError("Only a group below the top can be dissolved.")
    above = parents_of(tree)[label]

    def change(links: Parents) -> None:
        for child in tree.children(label):
            links[child] = above
        del links[label]

    return _rebuilt(tree, change)


def add(tree: Hierarchy, values: Iterable[str]) -> Hierarchy:
    """Put values that have no place yet below the root."""
    root = tree.labels[tree.root]
    links = parents_of(tree) if tree.n_nodes > 1 else {}
    return Hierarchy.from_parents({**links, **dict.fromkeys(values, root)})


def _check_new(tree: Hierarchy, name: str) -> None:
    if not name.strip():
        raise HierarchyError("A group needs a name.")
    if name in tree.labels:
        raise HierarchyError(f"There is a node called {name!r} already.", hint="choose another name.")


def count_nodes(tree: Hierarchy, counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many records lie below each node."""
    found = [counts.get(leaf, 0) for leaf in tree.leaves] + [0] * (tree.n_nodes - tree.n_leaves)
    for node in range(tree.root):  # a node comes before its parent
        found[int(tree.parent[node])] += found[node]
    return dict(zip(tree.labels, found, strict=True))


def level_counts(tree: Hierarchy, counts: Mapping[str, int]) -> list[list[tuple[str, int]]]:
    """Return, for each level from the values to the root, its groups with their records."""
    paths = [tree.path(leaf) for leaf in tree.leaves]
    levels: list[list[tuple[str, int]]] = []
    for level in range(tree.levels):
        sums: dict[str, int] = {}
        for leaf, path in zip(tree.leaves, paths, strict=True):
            label = path[min(level, len(path) - 1)]
            sums[label] = sums.get(label, 0) + counts.get(leaf, 0)
        levels.append(list(sums.items()))
    return levels
