"""What is published of a hierarchy.

A file that the recipe names is declared, so its labels are public knowledge; what no released cell can stand for is left
out all the same. Any other hierarchy was computed from the table: its leaves are values of people who may have been
withheld, and its labels were cut to fit them. Of such a hierarchy only labels that stand in released cells are shown, each
below the closest other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from shoal.hierarchy import WORDS, Hierarchy
from shoal.publication.cells import ColumnCells, read_cells
from shoal.recipe import Recipe

ANY = "*"


def public_trees(recipe: Recipe, trees: Mapping[str, Hierarchy], released: pa.Table) -> dict[str, dict[str, Any]]:
    """Return the part of each hierarchy that released cells show."""
    declared = {name for name, choice in recipe.hierarchies.items() if choice not in {*WORDS, "(object)"}}
    found = {
        name: public_tree(tree, read_cells(released.column(name)), whole=name in declared)
        for name, tree in trees.items()
        if name in released.column_names
    }
    return {name: tree for name, tree in found.items() if tree is not None}


def public_tree(tree: Hierarchy, cells: ColumnCells, *, whole: bool) -> dict[str, Any] | None:
    """Return the part of a hierarchy that released cells show, as ``{"label": ..., "children": [...]}``.

    ``whole`` adds everything below a released label, and all labels above it. Any other tree says that it is partial: a label
    then stands for more values than those below it.
    """
    shown = {node for node in map(tree_nodes(tree).get, _labels(cells)) if node is not None}
    if not shown:
        return None
    parents = tree.parent.tolist()
    if whole:
        shown |= _below(tree, shown - ({tree.root} if tree.labels[tree.root] == ANY else set()), parents)
        shown |= _above(shown, parents)
    nested = _nested(tree, shown | {tree.root}, parents, sort=not whole)
    return nested if whole else nested | {"partial": True}


def tree_nodes(tree: Hierarchy) -> dict[str, int]:
    """Return the number of each node by its label."""
    return {label: node for node, label in enumerate(tree.labels)}


def _labels(cells: ColumnCells) -> Iterable[str]:
    """Give what could be a label: the text of a cell, and the value that it quotes."""
    for cell, text in zip(cells.cells, cells.texts, strict=True):
        if text is not None:
            yield text
        if cell.form == "value":
            yield cell.values[0]


def _below(tree: Hierarchy, nodes: set[int], parents: list[int]) -> set[int]:
    """Return all nodes below some nodes; a child has a smaller number than its parent."""
    found = set(nodes)
    for node in range(tree.n_nodes - 2, -1, -1):
        if parents[node] in found:
            found.add(node)
    return found


def _above(nodes: set[int], parents: list[int]) -> set[int]:
    """Return all nodes above some nodes."""
    found: set[int] = set()
    for node in nodes:
        above = parents[node]
        while above not in found:
            found.add(above)
            above = parents[above]
    return found


def _nested(tree: Hierarchy, nodes: set[int], parents: list[int], *, sort: bool) -> dict[str, Any]:
    """Return nodes as nested dicts, each below the closest other one; in the order of the tree, or sorted by label."""
    made: dict[int, dict[str, Any]] = {node: {"label": tree.labels[node], "children": []} for node in nodes}
    low = tree.low.tolist()
    order = sorted(
        nodes - {tree.root}, key=(lambda node: _natural(tree.labels[node])) if sort else (lambda node: low[node])
    )
    for node in order:
        above = parents[node]
        while above not in nodes:
            above = parents[above]
        made[above]["children"].append(made[node])
    for one in made.values():
        if not one["children"]:
            del one["children"]
    return made[tree.root]


def _natural(label: str) -> tuple[int, float, str]:
    """Return a key by which numbers come in their order, before all other labels."""
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label
