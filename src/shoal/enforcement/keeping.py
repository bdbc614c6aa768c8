"""How the models of a task are kept: in the search where it can see them, by mending or withholding elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray
from shoal.enforcement.companions import group_together
from shoal.enforcement.guarded import search_guarded
from shoal.enforcement.layers import MENDABLE, group_in_layers, layered_unit
from shoal.enforcement.mending import mend
from shoal.enforcement.neighbours import number_without_gaps
from shoal.enforcement.polishing import polish_mended
from shoal.errors import PrivacyError
from shoal.methods.base import Family, Grouping, Method, Task, most_withheld
from shoal.methods.optimise import Optimise
from shoal.methods.stopping import cancellable
from shoal.privacy.base import failing_groups
from shoal.privacy.case import all_known, build_case
from shoal.privacy.histograms import HistogramRequirement

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


def group_records(method: Method, table: CodedTable, task: Task) -> Grouping:
    """Group the records of a table by a method so that k and all models hold."""
    running = replace(task, progress=cancellable(task.progress, task.cancel))
    if task.together:
        return group_together(method, table, running)
    if not task.requirements:
        return method.run(table, running)
    if isinstance(method, Optimise) and task.release == "ranges" and all_known(task.requirements):
        case = build_case(table, task.k, task.requirements)
        return replace(search_guarded(method, table, running, case), typical=method.typical)
    grouping = method.run(table, running)
    if table.units and grouping.cuts is None and _mostly_few_people(grouping, task):
        grouping = group_in_layers(method, table, running, layered_unit(table))
    return keep_models(grouping, table, task, method.info.family)


def _mostly_few_people(grouping: Grouping, task: Task) -> bool:
    """Tell whether so many groups lack persons that groups found layer by layer lose less than mended ones."""
    groups = int(grouping.labels.max(initial=-1)) + 1
    people = [one for one in task.requirements if isinstance(one, HistogramRequirement) and one.row.sparse]
    return bool(groups) and float(failing_groups(people, grouping.labels, groups).mean()) > MENDABLE


def keep_models(grouping: Grouping, table: CodedTable, task: Task, family: Family) -> Grouping:
    """Return a grouping that meets the task's requirements, made from one that meets k."""
    if not task.requirements:
        return grouping
    if grouping.cuts is not None or family == "global":
        return replace(grouping, labels=withhold_failing(grouping.labels, task))
    return replace(grouping, labels=mend_and_polish(table, grouping.labels, task))


def mend_and_polish(table: CodedTable, labels: IntArray, task: Task) -> IntArray:
    """Mend groups that fail and improve those that were mended, by the search with models where it knows them all."""
    mended = mend(table, labels, task)
    if mended is labels or not all_known(task.requirements):
        return mended
    return polish_mended(table, labels, mended, task, build_case(table, task.k, task.requirements))


def withhold_failing(labels: IntArray, task: Task) -> IntArray:
    """Withhold the groups that fail, or raise if more records than allowed would be lost."""
    groups = int(labels.max(initial=-1)) + 1
    failing = failing_groups(task.requirements, labels, groups)
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
