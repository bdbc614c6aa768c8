"""What is published of a hierarchy.

A file that the recipe names is declared, so its labels are public knowledge; what no released cell can stand for is left
out all the same. Any other hierarchy was computed from the table: its leaves are values of people who may have been
withheld, and its labels were cut to fit them. Of such a hierarchy only labels that occur in released cells are shown, each
below the closest other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from shoal.hierarchy import Hierarchy
from shoal.hierarchy.part import Part, nodes_above, part_of
from shoal.publication.cells import ColumnCells, read_cells
from shoal.recipe import Recipe, declared_hierarchies

ANY = "*"


def public_trees(recipe: Recipe, trees: Mapping[str, Hierarchy], released: pa.Table) -> dict[str, dict[str, Any]]:
    """Return the part of each hierarchy that released cells show."""
    declared = declared_hierarchies(recipe)
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
    if whole:
        shown |= _below(tree, shown - ({tree.root} if tree.labels[tree.root] == ANY else set()))
        shown |= nodes_above(tree, shown)
    nested = _nested(tree, part_of(tree, shown, sort=not whole))
    return nested if whole else nested | {"partial": True}


def tree_nodes(tree: Hierarchy) -> dict[str, int]:
    """Return the number of each node by its label."""
    return {label: node for node, label in enumerate(tree.labels)}


def _labels(cells: ColumnCells) -> Iterable[str]:
    """Yield what could be a label: the text of a cell, and the value that it quotes."""
    for cell, text in zip(cells.cells, cells.texts, strict=True):
        if text is not None:
            yield text
        if cell.form == "value":
            yield cell.values[0]


def _below(tree: Hierarchy, nodes: set[int]) -> set[int]:
    """Return all nodes below some nodes; a child has a smaller number than its parent."""
    found, parents = set(nodes), tree.parent.tolist()
    for node in range(tree.n_nodes - 2, -1, -1):
        if parents[node] in found:
            found.add(node)
    return found


def _nested(tree: Hierarchy, part: Part) -> dict[str, Any]:
    """Return a part as nested dicts."""
    made: dict[int, dict[str, Any]] = {node: {"label": tree.labels[node]} for node in part}
    for node, below in part.items():
        if below:
            made[node]["children"] = [made[child] for child in below]
    return made[tree.root]
