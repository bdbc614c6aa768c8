"""From what a user writes to *links*: each node's one parent, with an error for everything that is wrong.

Links keep the order in which nodes first appear; siblings come in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from shoal.errors import HierarchyError
from shoal.hierarchy.texts import value_text
from shoal.validation import wrong

ROOT = "*"


class Chain(NamedTuple):
    """A leaf and its ancestors up to the top, and where they were written ("Line 3: ", or "")."""

    labels: Sequence[str]
    place: str = ""


class Links(NamedTuple):
    """The parent of every node but the root, in order of first appearance."""

    parents: dict[str, str]
    root: str


def links_from_chains(chains: Iterable[Chain]) -> Links:
    """Join chains into one tree; labels repeated one after the other in a chain are one node."""
    parents: dict[str, str] = {}
    tops: dict[str, str] = {}
    leaves: dict[str, str] = {}
    for chain in chains:
        labels = _without_repeats(chain)
        leaves.setdefault(labels[0], chain.place)
        tops.setdefault(labels[-1], chain.place)
        for child, parent in pairwise(labels):
            if parents.setdefault(child, parent) != parent:
                raise _two_parents(chain.place, child, parents[child], parent)
    _refuse_leaf_with_children(parents, leaves)
    return _with_root(parents, tops)


def links_from_parents(child_to_parent: Mapping[Any, Any]) -> Links:
    """Read a mapping child → parent; a top node is its own parent, or has None, or is not a key."""
    if not isinstance(child_to_parent, Mapping):
        raise wrong("Hierarchy.from_parents", "child_to_parent", "a dict of each node's parent", child_to_parent)
    parents: dict[str, str] = {}
    tops: dict[str, str] = {}
    for child_value, parent_value in child_to_parent.items():
        child = value_text(child_value)
        parent = child if parent_value is None else _checked_label(value_text(parent_value))
        if child == parent:
            tops[child] = ""
        elif parents.setdefault(child, parent) != parent:
            raise _two_parents("", child, parents[child], parent)
    for parent in dict.fromkeys(parents.values()):
        if parent not in parents:
            tops.setdefault(parent, "")
    return _with_root(parents, tops)


def links_from_nested(nested: Any) -> Links:
    """Read nested dicts and lists; a leaf is an item of a list, or a key with the value None."""
    items = _nested_items(nested, ROOT)
    single_root = isinstance(nested, Mapping) and len(items) == 1
    root = items[0][0] if single_root else ROOT
    parents: dict[str, str] = {}
    stack = [(root, items[0][1] if single_root else nested)]
    while stack:
        label, below = stack.pop()
        children = [] if below is None else _nested_items(below, label)
        passed = [below]
        while len(children) == 1 and children[0][0] == label:
            below = children[0][1]
            if any(below is one for one in passed):  # ends: each turn meets another object, and there are finitely many
                raise HierarchyError(f"The group {label!r} holds itself.", hint="write out what is below it")
            passed.append(below)
            children = [] if below is None else _nested_items(below, label)
        for child, _ in children:
            if child in parents or child == root:
                raise HierarchyError(
                    f"The label {child!r} is in two places of the hierarchy.",
                    hint="give every value and every group a label of its own",
                )
            parents[child] = label
        stack.extend(children)
    return Links(parents, root)


def _nested_items(below: Any, label: str) -> list[tuple[str, Any]]:
    """Return the children written below a node, each with what is below it in turn."""
    if isinstance(below, Mapping):
        items = list(below.items())
    elif isinstance(below, (str, bytes)) or not isinstance(below, Iterable):
        raise HierarchyError(
            f"The group {label!r} must hold a dict or a list. Got {type(below).__name__} instead.",
            hint='write {"North": ["a", "b"], "South": ["c"]}',
        )
    else:
        items = [pair for item in below for pair in (item.items() if isinstance(item, Mapping) else [(item, None)])]
    if not items:
        raise HierarchyError(f"The group {label!r} has no values below it.", hint="name its values or leave it out")
    return [(value_text(name) if value is None else _checked_label(value_text(name)), value) for name, value in items]


def _without_repeats(chain: Chain) -> list[str]:
    labels: list[str] = []
    for label in chain.labels:
        if not labels or label != labels[-1]:
            labels.append(_checked_label(label, chain.place) if labels else label)  # a value may be an empty text
    if len(set(labels)) < len(labels):
        doubled = next(label for label in labels if labels.count(label) > 1)
        raise HierarchyError(
            f"{_told(chain.place, doubled)} stands above itself, with other labels between.",
            hint="a line goes from the value to ever larger groups; remove one of the two",
            values=[doubled],
        )
    return labels


def _checked_label(label: str, place: str = "") -> str:
    """Return the label of a group; only a value may be an empty text."""
    if not label or label.isspace():
        raise HierarchyError(f"{place}The label of a group is empty.", hint="give every group a text")
    return label


def _two_parents(place: str, child: str, one: str, other: str) -> HierarchyError:
    parents = "here and in another line" if place else f"{one!r} and {other!r}"
    return HierarchyError(
        f"{_told(place, child)} has two parents, {parents}.",
        hint="put it below one of them, or give the two nodes different labels",
        values=[child, one, other],
    )


def _told(place: str, label: str) -> str:
    """Return a label as a message names it: by its line if it comes from a file, which may be the table itself."""
    return f"{place}A label" if place else repr(label)


def _refuse_leaf_with_children(parents: dict[str, str], leaves: dict[str, str]) -> None:
    for parent in parents.values():
        if parent in leaves:
            raise HierarchyError(
                f"{_told(leaves[parent], parent)} is a value here and a group of other values elsewhere.",
                hint="give the group a label of its own",
                values=[parent],
            )


def _with_root(parents: dict[str, str], tops: dict[str, str]) -> Links:
    """Return the links under one root; several tops get the root ``*``, unless it is one of them already."""
    for top, place in tops.items():
        if top in parents:
            raise HierarchyError(
                f"{_told(place, top)} is at the top here, but below another label elsewhere.",
                hint="carry every line on to the root",
                values=[top, parents[top]],
            )
    if not tops:
        if parents:
            raise cycle_error(parents, set())
        raise HierarchyError("The hierarchy has no values.", hint="give at least one")
    if len(tops) == 1:
        return Links(parents, next(iter(tops)))
    if ROOT in tops:
        other = next(top for top in tops if top != ROOT)
        raise HierarchyError(
            f"{_told(tops[other], other)} is at the top here, but {ROOT!r} is the root elsewhere.",
            hint=f"put it below {ROOT!r}",
            values=[other],
        )
    if ROOT in parents:
        raise HierarchyError(f"{ROOT!r} is below {parents[ROOT]!r} but should be the root.", hint="rename it")
    parents.update(dict.fromkeys(tops, ROOT))
    return Links(parents, ROOT)


def cycle_error(parents: dict[str, str], reached: set[str]) -> HierarchyError:
    """Return which node is below itself; ``reached`` are the nodes that hang from the root."""
    label = next(child for child in parents if child not in reached)
    seen: set[str] = set()
    while label not in seen:  # going up from a node that never meets the root ends in a circle
        seen.add(label)
        label = parents[label]
    return HierarchyError(f"{label!r} is its own ancestor.", hint="remove one of the links of this circle")
