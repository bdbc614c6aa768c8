from __future__ import annotations

import numpy as np
import pytest

from shoal.enforcement.guarded import GuardedSearch
from shoal.enforcement.keeping import group_records, mend_and_polish
from shoal.enforcement.mending import mend
from shoal.errors import PrivacyError
from shoal.methods.base import Task
from shoal.methods.optimise import Optimise
from shoal.methods.optimise.problem import Problem
from shoal.methods.stopping import Stop
from shoal.privacy.base import failing_groups
from shoal.privacy.case import build_case
from tests.enforcement.cases import EVERY, case_of, random_table
from tests.enforcement.test_mending import BothHalves, total_cost


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
        if build_case(table, task.k, task.requirements).closed_under_union:
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
        monkeypatch.setattr("shoal.enforcement.polishing.mend_alike", fail)
        assert mend_and_polish(table, start, task).tolist() == mend(table, start, task).tolist()
    else:
        search = GuardedSearch(
            Optimise(), Problem.of(table, task), build_case(table, 3, task.requirements), task, Stop()
        )
        good = search.solution(mend(table, start, task))
        monkeypatch.setattr("shoal.enforcement.guarded.mend_alike", fail)
        assert search.solution(start) is good
        search.seen.clear()
        with pytest.raises(PrivacyError, match="no way"):
            search.solution(start)
    assert failed


def test_optimise_keeps_a_model_of_ones_own_and_says_that_it_is_slow():
    table, told = random_table(1), []
    task = Task(k=4, requirements=(BothHalves(),), effort="fast", progress=lambda share, text: told.append(text))
    labels = group_records(Optimise(), table, task).labels
    assert not task.requirements[0].failing(labels, int(labels.max()) + 1).any()
    assert any("slow" in text for text in told)


OPEN = {"delta", "presence", "persons and diversity"}
"""Models that two groups may meet and fail as one."""


@pytest.mark.parametrize("name", EVERY)
def test_two_groups_meet_as_one_what_each_meets_where_a_case_is_closed_under_union(name):
    table, task = case_of(name, 0)
    assert build_case(table, task.k, task.requirements).closed_under_union == (name not in OPEN)
    if name in OPEN:
        return
    labels = mend(table, np.arange(table.records, dtype=np.int32) // 4, task)
    groups = int(labels.max()) + 1
    assert groups > 1
    for one in range(groups - 1):
        joined = np.where(labels == one, groups - 1, labels)
        failing = failing_groups(task.requirements, np.where(joined == groups - 1, 0, -1).astype(np.int32), 1)
        assert not failing.any()
