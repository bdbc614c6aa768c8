from __future__ import annotations

import numpy as np
import pytest

from shoal.enforcement.dispatch import changed_groups, mend_and_polish, polish_mended
from shoal.enforcement.guarded import GuardedSearch
from shoal.enforcement.mending import mend
from shoal.errors import PrivacyError
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.problem import Problem
from shoal.methods.stopping import Stop
from shoal.privacy.base import failing_groups
from shoal.privacy.compiled_models import compile_models
from tests.enforcement.cases import EVERY, case_of, searching
from tests.enforcement.test_mending import total_cost
from tests.kernels.optimize.groups import recount


@pytest.mark.compiled
@pytest.mark.parametrize("name", EVERY)
def test_polished_groups_meet_every_model_and_lose_no_more_than_mended_ones(name):
    gained = 0.0
    for seed in range(3):
        table, task = case_of(name, seed, k=4)
        start = np.argsort(np.argsort(table.codes[0], kind="stable")).astype(np.int32) // 4
        polished = mend_and_polish(table, start, task)
        assert np.bincount(polished).min() >= 4
        assert not failing_groups(task.requirements, polished, int(polished.max()) + 1).any()
        gained += total_cost(table, mend(table, start, task)) - total_cost(table, polished)
        if compile_models(table, task.k, task.requirements).closed_under_union:
            assert gained >= -1e-9
    assert gained > 0.0 or name in {"delta", "persons"}  # where next to nothing had to be mended


@pytest.mark.parametrize("module", ["guarded", "polishing"])
def test_groups_that_cannot_be_told_apart_again_leave_those_that_were_good(monkeypatch, module):
    table, task = case_of("delta", 0, effort="fast")
    failed = []

    def fail(*_):
        failed.append(module)
        raise PrivacyError("no way")

    start = np.arange(table.records, dtype=np.int32) // 4
    if module == "polishing":
        monkeypatch.setattr("shoal.enforcement.dispatch.repair_equal_boxes", fail)
        assert mend_and_polish(table, start, task).tolist() == mend(table, start, task).tolist()
    else:
        search = GuardedSearch(
            Optimize(), Problem.of(table, task), compile_models(table, 3, task.requirements), task, Stop()
        )
        good = search.solution(mend(table, start, task))
        monkeypatch.setattr("shoal.enforcement.guarded.repair_equal_boxes", fail)
        assert search.solution(start) is good
        search.seen.clear()
        with pytest.raises(PrivacyError, match="no way"):
            search.solution(start)
    assert failed


OPEN = {"delta", "presence", "persons and diversity"}
"""Models that two groups may meet and fail as one."""


@pytest.mark.parametrize("name", EVERY)
def test_two_groups_meet_as_one_what_each_meets_where_a_case_is_closed_under_union(name):
    table, task = case_of(name, 0)
    assert compile_models(table, task.k, task.requirements).closed_under_union == (name not in OPEN)
    if name in OPEN:
        return
    labels = mend(table, np.arange(table.records, dtype=np.int32) // 4, task)
    groups = int(labels.max()) + 1
    assert groups > 1
    for one in range(groups - 1):
        joined = np.where(labels == one, groups - 1, labels)
        failing = failing_groups(task.requirements, np.where(joined == groups - 1, 0, -1).astype(np.int32), 1)
        assert not failing.any()


def test_only_groups_that_were_mended_are_polished():
    search = searching("equal", 3)
    table, task = search.problem.table, search.task
    before = np.argsort(np.argsort(table.codes[0], kind="stable")).astype(np.int32) // 6
    mended = mend(table, before, task)
    changed = changed_groups(before, mended)
    assert changed.any()
    assert not changed.all()
    polished = polish_mended(table, before, mended, task, search.case)
    assert not failing_groups(task.requirements, polished, int(polished.max()) + 1).any()
    assert np.bincount(polished).min() >= search.case.k
    assert recount(table, polished) < recount(table, mended)
    for group in np.flatnonzero(~changed):
        assert len(np.unique(polished[mended == group])) == 1
        assert (mended[polished == polished[mended == group][0]] == group).all()


def test_a_group_is_changed_unless_its_records_were_a_group_before():
    before = np.array([0, 0, 1, 1, 2, 2, -1, -1], np.int32)
    after = np.array([1, 1, 0, 0, 0, 0, 2, -1], np.int32)
    assert changed_groups(before, after).tolist() == [True, False, True]
