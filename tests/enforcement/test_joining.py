from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.enforcement.dispatch import group_records, keep_models
from shoal.errors import PrivacyError
from shoal.methods.base import Grouping, Task
from shoal.methods.optimize import Optimize
from shoal.privacy.base import Requirement, failing_groups
from tests.enforcement.cases import random_table
from tests.enforcement.test_mending import blocks


class BothHalves(Requirement):
    """A model of a user's own: every group has records of the first and of the second half of the table."""

    def failing(self, labels, groups):
        first, second = np.array_split(labels, 2)
        found = [np.bincount(half[half >= 0], minlength=groups) > 0 for half in (first, second)]
        return ~(found[0] & found[1])


class Never(Requirement):
    """A model that nothing meets."""

    def failing(self, labels, groups):
        return np.ones(groups, np.bool_)


def test_a_model_of_ones_own_is_kept_by_joining_groups():
    table = random_table(1)
    start = blocks(table.records, 6)
    told = []
    task = Task(k=4, requirements=(BothHalves(),), progress=lambda share, text: told.append(text))
    labels = keep_models(Grouping(start), table, task, "local").labels
    groups = int(labels.max()) + 1
    assert groups > 1
    assert not task.requirements[0].failing(labels, groups).any()
    assert all(len(np.unique(labels[start == group])) == 1 for group in range(start.max() + 1))
    assert "slow" in told[0]


def test_a_model_of_ones_own_beside_one_of_shoals_is_kept_too():
    table = random_table(2)
    task = Task(k=4, requirements=(BothHalves(), shoal.LDiversity(3, column="s").bind(table)))
    labels = keep_models(Grouping(blocks(table.records, 4)), table, task, "local").labels
    assert not failing_groups(task.requirements, labels, int(labels.max()) + 1).any()


def test_a_model_of_ones_own_that_not_even_one_group_meets_is_refused():
    table = random_table(3)
    with pytest.raises(PrivacyError, match="No grouping"):
        keep_models(Grouping(blocks(table.records, 4)), table, Task(k=4, requirements=(Never(),)), "local")


def test_optimize_keeps_a_model_of_ones_own_and_says_that_it_is_slow():
    table, told = random_table(1), []
    task = Task(k=4, requirements=(BothHalves(),), effort="fast", progress=lambda share, text: told.append(text))
    labels = group_records(Optimize(), table, task).labels
    assert not task.requirements[0].failing(labels, int(labels.max()) + 1).any()
    assert any("slow" in text for text in told)
