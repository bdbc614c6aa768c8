"""Names of learned nodes: the part that their values have in common, or the values."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_LISTED = 4
_LONGEST = 60
_LEAST_COMMON = 3
"""A common beginning of fewer characters says too little."""


def name_node(values: Sequence[str], hidden: int, others: Sequence[str], taken: set[str]) -> str:
    """Return a label for a node that holds ``values`` and, unnamed, ``hidden`` values more; ``others`` are the values outside it.

    The label is added to ``taken``, so that no two nodes have the same.
    """
    label = _common(values, others) if not hidden else None
    label = label or _listed(values, hidden)
    number, plain = 2, label
    while label in taken:
        label, number = f"{plain} ({number})", number + 1
    taken.add(label)
    return label


def _common(values: Sequence[str], others: Sequence[str]) -> str | None:
    """Return what all values begin with, up to the end of a word, if no other value begins with it."""
    first, last = min(values), max(values)  # what these two begin with, all begin with
    length = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    found = re.match(r".*[\W_]", first[:length])
    start = found[0] if found and len(values) > 1 else ""
    if len(start.strip()) < _LEAST_COMMON or any(other.startswith(start) for other in others):
        return None
    return f"{start.rstrip()}*"


def _listed(values: Sequence[str], hidden: int) -> str:
    """Return a list of the values, cut short if there are many."""
    shown = list(values)
    while len(shown) > 1 and (len(shown) > _MOST_LISTED or len(", ".join(shown)) > _LONGEST):
        shown.pop()
    rest = len(values) - len(shown) + hidden
    if not shown:
        return "other values"
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
