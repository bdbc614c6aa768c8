"""A tree over values in order: neighbours are next to each other, in parts of about equal size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

Name = Callable[[str, str], str]
"""From the first and the last value of a run to the label of the run."""

_MOST_WITH_MIDDLE = 7
"""A scale of so many values or fewer has a middle value that belongs to neither side."""


def halving_groups(order: Sequence[str], name: Name) -> dict[str, tuple[str, ...]]:
    """Return the runs above each value, from the smallest to the largest; the run of all values is the root."""
    groups: dict[str, tuple[str, ...]] = {}
    stack: list[tuple[int, int, tuple[str, ...]]] = [(0, len(order), ())]
    while stack:  # ends: each part is smaller than the one it was cut from
        start, end, above = stack.pop()
        if end - start == 1:
            groups[order[start]] = above
            continue
        inside = above if end - start == len(order) else (name(order[start], order[end - 1]), *above)
        bounds = [start, *_cuts(start, end), end]
        stack.extend((low, high, inside) for low, high in itertools.pairwise(bounds))
    return groups


def _cuts(start: int, end: int) -> list[int]:
    """Return where a run is cut: in halves, or into two sides and the middle of a short scale."""
    size = end - start
    if size == 2:
        return [start + 1]
    if size % 2 and 3 < size <= _MOST_WITH_MIDDLE:
        return [start + size // 2, start + size // 2 + 1]
    return [start + (size + 1) // 2]


def run_name(first: str, last: str) -> str:
    """Return the label of a run of ordered texts."""
    return f"{first} to {last}"
