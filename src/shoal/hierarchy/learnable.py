"""Which columns a tree can be learned for, and what is known of them beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from shoal.hierarchy.orders import is_calendar
from shoal.hierarchy.suggest import is_category, read_category
from shoal.hierarchy.texts import is_missing
from shoal.hierarchy.tree import Hierarchy
from shoal.knowledge import Reading

_LEAST_VALUES = 3
"""Two values have one tree."""
_MOST_GROUPS = 0.5
"""Known groups at the top, for each value: with more, most groups hold one value, and say nothing about which values are alike."""


class Learnable(NamedTuple):
    """The tree that is known of a column (a flat one if nothing is), and what its values were recognized as."""

    tree: Hierarchy
    reading: Reading | None


def learnable(meanings: Mapping[str, Any], name: str = "") -> Learnable | None:
    """Return what is known of a column of categories; None for numbers, dates, codes and paths, whose trees say all there is.

    Values with an order are placed in it below the root, months below their quarters and years, known categories below their groups.
    """
    values = [value for value in meanings.values() if not is_missing(value)]
    if len(values) < _LEAST_VALUES or not is_category(values, name):
        return None
    reading = read_category(values, name)
    if reading is not None and (not reading.order or is_calendar(reading)):
        tree = Hierarchy.suggest(meanings, name)
        if len(tree.children(tree.labels[tree.root])) <= len(values) * _MOST_GROUPS:
            return Learnable(tree, reading)
        reading = None
    if reading is not None and set(reading.order) == set(meanings):
        return Learnable(Hierarchy.flat(reading.order), reading)
    return Learnable(Hierarchy.flat(sorted(meanings)), None)
