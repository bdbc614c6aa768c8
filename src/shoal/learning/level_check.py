"""What each level of a hierarchy would leave of a column: how many groups, how many people in the smallest, and what says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.hierarchy import Hierarchy

_LOPSIDED = 0.9
"""Share of the people in one group of a level that makes the level nearly useless."""


@dataclass(frozen=True)
class Level:
    """One level of a hierarchy, with the values of a column at it."""

    level: int
    groups: int
    """Groups that occur."""
    values: float
    """Values of the hierarchy in a group that occurs, on average."""
    smallest: int
    """People in the smallest group that occurs: the k that releasing this column alone at this level would have."""
    below: int
    """People in groups of fewer than k."""
    largest: float
    """Share of the people in the largest group."""


@dataclass(frozen=True)
class Checked:
    """The levels of a hierarchy, and remarks on them."""

    levels: tuple[Level, ...]
    remarks: tuple[str, ...]


def check_tree(tree: Hierarchy, codes: IntArray, k: int, person: IntArray | None = None) -> Checked:
    """Return what each level leaves of a column coded by the tree; missing values (codes beyond the leaves) are left out."""
    known = codes < tree.n_leaves
    leaf = codes[known].astype(np.int64)
    owner: LongArray = (np.arange(len(codes)) if person is None else person)[known].astype(np.int64)
    levels = tuple(_level(tree, number, leaf, owner, k) for number in range(tree.levels))
    return Checked(levels, tuple(_remarks(tree, levels, leaf, owner, k)))


def _level(tree: Hierarchy, number: int, leaf: LongArray, owner: LongArray, k: int) -> Level:
    node = tree.ancestors_at(number).astype(np.int64)
    people = _people(node[leaf], owner, tree.n_nodes)
    found = np.flatnonzero(people)
    sizes = (tree.high - tree.low + 1)[found]
    total = max(len(np.unique(owner)), 1)
    counts = people[found]
    return Level(
        number,
        len(found),
        float(sizes.mean()) if len(found) else 0.0,
        int(counts.min()) if len(found) else 0,
        int(counts[counts < k].sum()),
        float(counts.max(initial=0) / total),
    )


def _people(group: LongArray, owner: LongArray, groups: int) -> LongArray:
    """Return how many different people each group has."""
    pairs = np.unique(np.stack([group, owner]), axis=1)
    return np.bincount(pairs[0], minlength=groups)


def _below_root(tree: Hierarchy) -> LongArray:
    """Return the node right below the root that each leaf is in, which may be the leaf."""
    node = np.arange(tree.n_leaves, dtype=np.int64)
    while (inside := tree.parent[node] != tree.root).any():  # ends: each round goes one level up
        node = np.where(inside, tree.parent[node], node)
    return node


def _remarks(tree: Hierarchy, levels: tuple[Level, ...], leaf: LongArray, owner: LongArray, k: int) -> Iterator[str]:
    """Yield a sentence for each thing that should be looked at; none names a value."""
    for lower, upper in pairwise(levels):
        if lower.groups == upper.groups > 1:
            yield f"Level {upper.level} says the same as level {lower.level} of every value that occurs: leave it out."
    for one in levels[1:-1]:
        if one.largest > _LOPSIDED and one.groups > 1:
            yield f"Level {one.level} is unbalanced: one of its {one.groups:,} groups holds {one.largest:.0%} of the people."
    alone = sum(len(children) == 1 for children in map(tree.children, tree.labels))
    if alone:
        yield f"{_many(alone, 'group has', 'groups have')} a single group or value below, which is not a step."
    people = _people(leaf, owner, tree.n_leaves)
    last = _below_root(tree)
    above = _people(last[leaf], owner, tree.n_nodes)
    lost = np.flatnonzero((people > 0) & (above[last] < k))
    if len(lost):
        yield (
            f"{len(lost):,} of the values that occur ({_many(int(people[lost].sum()), 'person', 'people')}) will always be suppressed: "
            f"even below the root their group has fewer than {k} people."
        )
    rare = int(((people > 0) & (people < k)).sum())
    if rare:
        yield f"{_many(rare, 'value has', 'values have')} fewer than {k} people, and can only be released in a group."


def _many(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
