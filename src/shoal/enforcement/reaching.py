"""Boxes widened until each person of a population fits one, if a model promises that.

A person who fits no released group is known not to be in the table. Groups of a local method follow their own records, so some people of the
population usually lie between them. The box that costs least is widened for each such person, if its group still keeps the models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray
from shoal.kernels.models.population_rules import people_reached
from shoal.kernels.space.space import Cover, group_costs
from shoal.privacy.base import Requirement, Shown, failing_groups, unreached_people
from shoal.privacy.people import gather_points

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_TRIES = 64
"""Groups that are tried for one person, the cheapest first."""


def reach_everyone(table: CodedTable, cover: Cover, requirements: Sequence[Requirement]) -> Cover:
    """Return boxes that reach each person whom a model asks for, or the boxes as they are if that is not possible."""
    asking = [one for one in requirements if one.by_cells]
    waiting = unreached_people(asking, Shown(table.space, cover))
    wider = cover._replace(low=cover.low.copy(), high=cover.high.copy(), words=cover.words.copy())
    while waiting.size:  # ends: each round reaches a person more, or gives up
        group = _widen_for(table, wider, waiting[:, 0], asking)
        if group < 0:
            return cover
        points = gather_points([waiting])
        reached = people_reached(points, 0, table.space, _box(wider, group))
        waiting = np.ascontiguousarray(points.value[:, ~reached])
    return wider


def _widen_for(table: CodedTable, cover: Cover, person: IntArray, asking: Sequence[Requirement]) -> int:
    """Widen one box so that it holds a person; return its group, -1 if none can be widened."""
    held = _widened(table, cover, person)
    if held is None:
        return -1
    added = (group_costs(table.space, held) - group_costs(table.space, cover)) * cover.size
    for group in np.argsort(added, kind="stable")[:_TRIES].tolist():
        trial = _box(held, group)
        labels = np.zeros(int(cover.size[group]), np.int32)
        if not _equals_another(cover, trial, group) and not failing_groups(
            asking, labels, 1, Shown(table.space, trial)
        ):
            cover.low[:, group], cover.high[:, group] = trial.low[:, 0], trial.high[:, 0]
            cover.words[group] = trial.words[0]
            return int(group)
    return -1


def _widened(table: CodedTable, cover: Cover, person: IntArray) -> Cover | None:
    """Return all boxes, each widened so that it holds a person; None if the values of the table do not reach that far."""
    low, high, words = cover.low.copy(), cover.high.copy(), cover.words.copy()
    for row, (column, place) in enumerate(zip(table.columns, person.tolist(), strict=True)):
        last = len(column.values) - 1
        first, end = place // 2, (place + 1) // 2
        if place < 0 or (end > last and place != 2 * column.missing):  # only * holds such a value
            if column.hierarchy is None and not column.has_missing:
                return None
            first, end = 0, column.cardinality - 1
        low[row], high[row] = np.minimum(low[row], first), np.maximum(high[row], end)
        if column.kind.by_members:
            words[:, table.space.word_start[row] + (end >> 6)] |= np.uint64(1) << np.uint64(end & 63)
    return Cover(low, high, words, cover.size)


def _box(cover: Cover, group: int) -> Cover:
    """Return the box of one group."""
    one = slice(group, group + 1)
    low, high = np.ascontiguousarray(cover.low[:, one]), np.ascontiguousarray(cover.high[:, one])
    return Cover(low, high, cover.words[one], cover.size[one])


def _equals_another(cover: Cover, box: Cover, group: int) -> bool:
    """Return whether another group is released with the same box, so that both would be one."""
    same = (cover.low == box.low).all(axis=0) & (cover.high == box.high).all(axis=0)
    same &= (cover.words == box.words).all(axis=1)
    same[group] = False
    return bool(same.any())
