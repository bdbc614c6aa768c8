"""How the models of a task are kept: in the search if it can see them, by mending or withholding elsewhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numba
import numpy as np

from shoal.arrays import BoolArray, IntArray
from shoal.cells.recode import released_cover
from shoal.enforcement.guarded import GuardedSearch, search_guarded
from shoal.enforcement.guarded_params import GuardedParams
from shoal.enforcement.leaving_out import mend_or_leave_out
from shoal.enforcement.mending import repair_equal_boxes
from shoal.enforcement.neighbours import number_without_gaps
from shoal.enforcement.people import MENDABLE, group_in_layers, group_together, layered_unit
from shoal.errors import PrivacyError
from shoal.methods.base import Family, Grouping, Method, Task, most_withheld
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.problem import Problem
from shoal.methods.stopping import Stop, cancellable
from shoal.privacy.base import Shown, failing_groups, read_cells
from shoal.privacy.compiled_models import CompiledModels, all_known, compile_models
from shoal.privacy.histograms import HistogramRequirement

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_POLISHING = GuardedParams(rounds=3, rebuilds=0)
"""The few cold rounds that mended groups get."""


def group_records(method: Method, table: CodedTable, task: Task) -> Grouping:
    """Group the records of a table by a method so that k and all models hold."""
    running = replace(task, progress=cancellable(task.progress, task.cancel))
    if task.together:
        return group_together(method, table, running)
    if not task.requirements:
        return method.run(table, running)
    if isinstance(method, Optimize) and task.release == "ranges" and all_known(task.requirements):
        case = compile_models(table, task.k, task.requirements)
        return replace(search_guarded(method, table, running, case), typical=method.typical)
    grouping = method.run(table, running)
    if table.units and grouping.cuts is None and _mostly_few_people(grouping, task):
        grouping = group_in_layers(method, table, running, layered_unit(table))
    return keep_models(grouping, table, task, method.info.family)


def _mostly_few_people(grouping: Grouping, task: Task) -> bool:
    """Return whether so many groups lack persons that groups found layer by layer lose less than mended ones."""
    groups = int(grouping.labels.max(initial=-1)) + 1
    people = [one for one in task.requirements if isinstance(one, HistogramRequirement) and one.row.sparse]
    return bool(groups) and float(failing_groups(people, grouping.labels, groups).mean()) > MENDABLE


def keep_models(grouping: Grouping, table: CodedTable, task: Task, family: Family) -> Grouping:
    """Return a grouping that meets the task's requirements, made from one that meets k."""
    if not task.requirements:
        return grouping
    if grouping.cuts is not None or family == "global":
        shown = Shown(table.space, released_cover(table, grouping)) if read_cells(task.requirements) else None
        return replace(grouping, labels=withhold_failing(grouping.labels, task, shown))
    return replace(grouping, labels=mend_and_polish(table, grouping.labels, task))


def mend_and_polish(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Mend groups that fail and improve those that were mended, by the search with models if it knows them all."""
    mended = mend_or_leave_out(table, labels, task)
    if mended is labels or not all_known(task.requirements):
        return mended
    return polish_mended(table, labels, mended, task, compile_models(table, task.k, task.requirements))


def withhold_failing(labels: IntArray, task: Task, shown: Shown | None = None) -> IntArray:
    """Withhold the groups that fail with the cells they are released with, or raise if more records than allowed would be lost."""
    groups = int(labels.max(initial=-1)) + 1
    failing = failing_groups(task.requirements, labels, groups, shown)
    if not failing.any():
        return labels
    lost = (labels < 0) | np.append(failing, True)[labels]
    if lost.sum() > most_withheld(task.max_suppression, len(labels)):
        raise PrivacyError(
            f"The models do not hold in {int(failing.sum())} of {groups} groups, and withholding them would take "
            f"{int(lost.sum())} of {len(labels)} records, more than 'max_suppression' allows.",
            hint="allow more suppression, relax the models, raise k, or take a method that is not global.",
        )
    return number_without_gaps(np.where(lost, -1, labels))


def polish_mended(table: CodedTable, before: IntArray, mended: IntArray, task: Task, case: CompiledModels) -> IntArray:
    """Improve the groups that mending changed, among themselves and without breaking a rule; the others stay as they are."""
    changed = changed_groups(before, mended)
    labels = np.where(np.append(changed, False)[mended], mended, -1).astype(np.int32)
    if not changed.any():
        return mended
    stop = Stop(cancel=task.cancel, clock=task.clock)
    search = GuardedSearch(Optimize(), Problem.of(table, task), case, task, stop, part=True)
    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        found = search.anneal(search.solution(labels), pool, _POLISHING.rounds, _POLISHING)
    apart = np.where(found.labels >= 0, found.labels + len(changed), mended)
    labels = number_without_gaps(apart)
    if case.closed_under_union:
        return labels
    try:
        return repair_equal_boxes(table, labels, task)
    except PrivacyError:
        return mended


def changed_groups(before: IntArray, after: IntArray) -> BoolArray:
    """Return which groups of ``after`` are not groups of ``before``."""
    kept = after >= 0
    groups = int(after.max(initial=-1)) + 1
    size, old_size = np.bincount(after[kept], minlength=groups), np.bincount(before[before >= 0], minlength=1)
    origin = np.full(groups, -1, np.int32)
    origin[after[kept]] = before[kept]  # any one member's
    same = np.bincount(after[kept], origin[after[kept]] == before[kept], groups) == size
    return np.asarray(~(same & (origin >= 0) & (old_size[origin] == size)), np.bool_)
