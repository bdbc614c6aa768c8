from __future__ import annotations

from dataclasses import replace

import pytest

import shoal
from shoal.enforcement.dispatch import keep_models, withhold_failing
from shoal.errors import PrivacyError
from shoal.methods.base import Grouping
from shoal.privacy.base import failing_groups
from tests.enforcement.cases import random_table
from tests.enforcement.test_mending import blocks, bound


def test_groups_of_a_global_recoding_are_withheld_or_refused():
    table = random_table(2, n=40)
    labels = blocks(40, 8)
    task = bound(table, [shoal.LDiversity(3, column="s")], k=8, max_suppression=1.0)
    failing = failing_groups(task.requirements, labels, 5)
    assert failing.any()
    kept = keep_models(Grouping(labels, cuts=()), table, task, "global").labels
    assert (kept < 0).tolist() == failing[labels].tolist()
    assert kept.max() + 1 == (~failing).sum()
    with pytest.raises(PrivacyError, match="max_suppression"):
        withhold_failing(labels, replace(task, max_suppression=0.0))
