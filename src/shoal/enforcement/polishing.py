"""Mended groups of any method, improved by the search with models; the groups that were not mended stay as they are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numba
import numpy as np

from shoal.arrays import BoolArray, IntArray
from shoal.enforcement.guarded import GuardedSearch
from shoal.enforcement.guarded_params import GuardedParams
from shoal.enforcement.mending import mend_alike
from shoal.enforcement.neighbours import number_without_gaps
from shoal.errors import PrivacyError
from shoal.methods.base import Task
from shoal.methods.optimise import Optimise
from shoal.methods.optimise.problem import Problem
from shoal.methods.stopping import Stop
from shoal.privacy.case import Case

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_POLISHING = GuardedParams(rounds=3, rebuilds=0)


def polish_mended(table: CodedTable, before: IntArray, mended: IntArray, task: Task, case: Case) -> IntArray:
    """Improve the groups that mending changed, among themselves and without breaking a rule; the others stay as they are."""
    changed = changed_groups(before, mended)
    labels = np.where(np.append(changed, False)[mended], mended, -1).astype(np.int32)
    if not changed.any():
        return mended
    stop = Stop(cancel=task.cancel, clock=task.clock)
    search = GuardedSearch(Optimise(), Problem.of(table, task), case, task, stop, part=True)
    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        found = search.anneal(search.solution(labels), pool, _POLISHING.rounds, _POLISHING)
    apart = np.where(found.labels >= 0, found.labels + len(changed), mended)
    labels = number_without_gaps(apart)
    if case.closed_under_union:
        return labels
    try:
        return mend_alike(table, labels, task)
    except PrivacyError:
        return mended


def changed_groups(before: IntArray, after: IntArray) -> BoolArray:
    """Tell which groups of ``after`` are not groups of ``before``."""
    kept = after >= 0
    groups = int(after.max(initial=-1)) + 1
    size, old_size = np.bincount(after[kept], minlength=groups), np.bincount(before[before >= 0], minlength=1)
    origin = np.full(groups, -1, np.int32)
    origin[after[kept]] = before[kept]  # any one member's
    same = np.bincount(after[kept], origin[after[kept]] == before[kept], groups) == size
    return np.asarray(~(same & (origin >= 0) & (old_size[origin] == size)), np.bool_)
