"""A tree for one column, from the groups its values meet in.

**No value of fewer than k people has a place of its own.** Before anything is counted, the values below a node that fewer than k people have become one
part, together with the next rarest until k people have one of them. Learning sees only such parts, so neither which of the rare values a
person has, nor with whom they meet, can change the tree; and the names of nodes list none of them. In a known order a rare value joins the
next value instead. The groups themselves hold k records each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from shoal.arrays import AnyArray, IntArray, LongArray
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.halves import Name
from shoal.learning.agglomerate import merge_parts
from shoal.learning.node_names import name_node

People = Callable[[LongArray], int]
"""From codes of values to how many people have one of them."""


@dataclass(frozen=True)
class Known:
    """What a tree is grown over: the known one (a flat one if nothing is known), and names for runs if its leaves have an order."""

    tree: Hierarchy
    run_name: Name | None = None
    """Set if the leaves have an order, in which they are numbered."""


@dataclass
class _Grown:
    """A tree as it grows: nested lists of labels."""

    known: Known
    k: int
    people: People
    taken: set[str]
    common: set[str]
    """The values that k people have, and that names may list."""
    weight: list[int]
    """The people of each leaf, by which names list the most frequent first."""
    nodes: dict[int, dict[str, list[Nested]]] = field(default_factory=dict)


Nested: TypeAlias = "str | dict[str, list[Nested]]"


def grow_tree(
    known: Known, k: int, people: People, records: LongArray, labels: Sequence[IntArray], codes: IntArray
) -> Hierarchy:
    """Return the known tree with learned nodes between each node and its children.

    ``labels`` are the groups of one or more quick releases, ``codes`` the leaves of the records (beyond the leaves: missing), and
    ``records`` counts the records of each leaf.
    """
    tree = known.tree
    common = {leaf for code, leaf in enumerate(tree.leaves) if people(np.array([code])) >= k}
    grown = _Grown(known, k, people, set(tree.labels), common, records.tolist())
    for node in range(tree.n_leaves, tree.n_nodes):  # children come before their parent
        grown.nodes[node] = _grow_node(grown, node, labels, codes)
    return Hierarchy.from_dict(grown.nodes[tree.root])


def _grow_node(grown: _Grown, node: int, labels: Sequence[IntArray], codes: IntArray) -> dict[str, list[Nested]]:
    """Return a node of the known tree with everything below it."""
    tree = grown.known.tree
    children = [tree.node(label) for label in tree.children(tree.labels[node])]
    nested: list[Nested] = [tree.labels[child] if child < tree.n_leaves else grown.nodes[child] for child in children]
    if len(children) > 2:
        nested = _joined(grown, node, children, nested, labels, codes)
    return {tree.labels[node]: nested}


def _joined(
    grown: _Grown, node: int, children: list[int], nested: list[Nested], labels: Sequence[IntArray], codes: IntArray
) -> list[Nested]:
    """Return the children of a node, in learned nodes of two."""
    tree = grown.known.tree
    leaves = [np.arange(tree.low[child], tree.high[child] + 1) for child in children]
    ordered = grown.known.run_name is not None
    parts = (_runs if ordered else _pooled)(grown, leaves)
    if len(parts) == 1:
        return nested
    part_of = np.full(tree.n_leaves + 1, -1, np.int64)
    for part, members in enumerate(parts):
        for child in members:
            part_of[leaves[child]] = part
    sizes = [sum(len(leaves[child]) for child in members) for members in parts]
    place = part_of[np.minimum(codes, tree.n_leaves)]
    meetings: dict[tuple[int, ...], float] = defaultdict(float)
    for groups in labels:
        _count_meetings(groups, place, meetings)
    below = [
        _group(grown, node, [children[child] for child in members], [nested[child] for child in members])
        for members in parts
    ]
    held = [np.concatenate([leaves[child] for child in members]) for members in parts]
    joins = [[children[child] for child in members] for members in parts]
    merges = merge_parts(sizes, meetings, in_order=ordered)
    for step, (one, two) in enumerate(merges):
        both = sorted((one, two), key=lambda part: (int(held[part].min()), part))
        held.append(np.concatenate([held[part] for part in both]))
        joins.append([child for part in both for child in joins[part]])
        inside = [nest for part in both for nest in below[part]]
        below.append(inside if step == len(merges) - 1 else [{_name(grown, held[-1], joins[-1]): inside}])
    return below[-1]


def _group(grown: _Grown, node: int, children: list[int], nested: list[Nested]) -> list[Nested]:
    """Return one part: a child as it is, or several that are pooled because too few people have them."""
    if len(nested) == 1:
        return nested
    tree = grown.known.tree
    if grown.known.run_name is not None:
        return [{_name(grown, np.arange(tree.low[children[0]], tree.high[children[-1]] + 1)): nested}]
    above = tree.labels[node]
    label = "other values" if node == tree.root else f"other {above}"
    while label in grown.taken:
        label = f"{label} …"
    grown.taken.add(label)
    return [{label: nested}]


def _pooled(grown: _Grown, leaves: Sequence[LongArray]) -> list[list[int]]:
    """Return the parts of a node without an order: the children that k people have, and one of all others."""
    count = [grown.people(codes) for codes in leaves]
    order = sorted(range(len(leaves)), key=lambda child: (count[child], child))
    pool = [child for child in order if count[child] < grown.k]
    rest = order[len(pool) :]
    while pool and rest and grown.people(np.concatenate([leaves[child] for child in pool])) < grown.k:
        pool.append(rest.pop(0))
    return [*([sorted(pool)] if pool else []), *([child] for child in sorted(rest))]


def _runs(grown: _Grown, leaves: Sequence[LongArray]) -> list[list[int]]:
    """Return the parts of a node whose children have an order: runs that k people have; a rare value joins the next one."""
    runs: list[list[int]] = [[]]
    for child in range(len(leaves)):
        runs[-1].append(child)
        if grown.people(np.concatenate([leaves[one] for one in runs[-1]])) >= grown.k:
            runs.append([])
    rest = runs.pop()
    if rest and runs:
        runs[-1].extend(rest)
    return runs or [rest]


def _name(grown: _Grown, leaves: LongArray, children: Sequence[int] = ()) -> str:
    """Return the label of a learned node; one that joins known groups is named by them."""
    tree = grown.known.tree
    held = leaves.tolist()
    if grown.known.run_name is not None:
        label = grown.known.run_name(tree.leaves[min(held)], tree.leaves[max(held)])
        while label in grown.taken:
            label = f"{label} …"
        grown.taken.add(label)
        return label
    if children and all(child >= tree.n_leaves for child in children):
        groups = [tree.labels[child] for child in children]
        rest = [label for label in tree.labels[tree.n_leaves :] if label not in groups]
        return name_node(groups, 0, rest, grown.taken)
    inside = set(held)
    shown = sorted(
        (code for code in held if tree.leaves[code] in grown.common), key=lambda code: (-grown.weight[code], code)
    )
    others = [leaf for code, leaf in enumerate(tree.leaves) if code not in inside]
    return name_node([tree.leaves[code] for code in shown], len(held) - len(shown), others, grown.taken)


def _count_meetings(labels: IntArray, place: LongArray, meetings: dict[tuple[int, ...], float]) -> None:
    """Add, for each group, its records with a part to the set of the parts in it."""
    kept = (labels >= 0) & (place >= 0)
    for members, records in _sets(labels[kept], place[kept]):
        if len(members) > 1:
            meetings[members] += records


def _sets(labels: AnyArray, place: AnyArray) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the distinct parts in each group, and how many of its records have one."""
    order = np.lexsort((place, labels))
    group, part = labels[order], place[order]
    start = np.flatnonzero(np.append(True, group[1:] != group[:-1])) if len(group) else np.zeros(0, np.int64)
    first = (
        np.append(True, (group[1:] != group[:-1]) | (part[1:] != part[:-1])) if len(group) else np.zeros(0, np.bool_)
    )
    ends = np.append(start[1:], len(group))
    for begin, end in zip(start.tolist(), ends.tolist(), strict=True):
        yield tuple(part[begin:end][first[begin:end]].tolist()), end - begin
