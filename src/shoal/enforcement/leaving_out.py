"""The last resort of mending: what not even all records together keep may hold without some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, IntArray
from shoal.enforcement.mending import mend
from shoal.enforcement.neighbours import merge_equal_boxes, number_without_gaps
from shoal.errors import PrivacyError
from shoal.methods.base import Task, most_withheld
from shoal.privacy.base import failing_groups
from shoal.privacy.compiled_models import parts_of
from shoal.privacy.histograms import HistogramRequirement

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


def mend_or_leave_out(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Return labels of groups that meet all requirements: mended, or if nothing mends them with as many records withheld as it takes.

    Whole groups that fail are withheld if they may be: the others then stay as narrow as they were. Else the values are thinned that the
    table as a whole has too many records of, and what is left is mended.
    """
    try:
        return mend(table, labels, task)
    except PrivacyError:
        kept = _without_failing(table, labels, task)
        if kept is not None:
            return kept
        thinned = _thinned(table, labels, task)
        if thinned is None:
            raise
    return mend(table, thinned, task)


def _without_failing(table: CodedTable, labels: IntArray, task: Task) -> IntArray | None:
    """Return labels with all groups withheld that fail as they are released; None if these are too many."""
    together = merge_equal_boxes(table, labels)
    lost = np.append(_failing(together, task), True)[together]
    if lost.all() or lost.sum() > most_withheld(task.max_suppression, len(labels)):
        return None
    return number_without_gaps(np.where(lost, -1, together))


def _failing(labels: IntArray, task: Task) -> BoolArray:
    return failing_groups(task.requirements, labels, int(labels.max(initial=-1)) + 1)


def _thinned(table: CodedTable, labels: IntArray, task: Task) -> IntArray | None:
    """Return labels without the fewest records of too frequent values, so that all others together meet the requirements; None if these are too many."""
    kept = np.asarray(labels >= 0)
    for part in parts_of(task.requirements):
        if isinstance(part, HistogramRequirement) and not part.row.sparse and part.row.person is None:
            kept = _thinned_values(part, kept, np.append(_failing(labels, task), True)[labels])
    fails = _failing(np.where(kept, 0, -1).astype(np.int32), task)
    most = most_withheld(task.max_suppression, table.records)
    if kept.sum() < task.k or fails.any() or (~kept).sum() > most:
        return None
    return number_without_gaps(np.where(kept, labels, -1))


def _thinned_values(part: HistogramRequirement, kept: BoolArray, failing: BoolArray) -> BoolArray:
    """Return which records stay if each value has at most as many as its column can have; those of groups that fail go first."""
    records = np.flatnonzero(kept)
    order = records[np.lexsort((failing[records], part.row.codes[records]))]
    codes = part.row.codes[order]
    place = np.arange(len(order)) - np.searchsorted(codes, codes)  # among the records of the same value

    def staying(cap: int) -> BoolArray:
        stays = np.zeros(len(kept), np.bool_)
        stays[order[place < cap]] = True
        return stays

    low, high = 0, int(place.max(initial=0)) + 1
    while low < high:  # ends: the interval shrinks; the more of a value may stay, the further off is the bound
        cap = (low + high + 1) // 2
        holds = not part.failing(np.where(staying(cap), 0, -1).astype(np.int32), 1).any()
        low, high = (cap, high) if holds else (low, cap - 1)
    return staying(low)
