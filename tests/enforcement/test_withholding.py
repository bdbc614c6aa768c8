from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.enforcement.dispatch import group_records
from shoal.errors import PrivacyError
from shoal.frames import Frame
from shoal.methods.base import Task, most_withheld
from shoal.methods.optimize import Optimize
from shoal.privacy.base import failing_groups
from tests.enforcement.cases import EVERY, case_of
from tests.enforcement.test_mending import total_cost
from tests.enforcement.test_polishing import OPEN

SHARES = (0.0, 0.01, 0.03, 0.1, 0.4)


@pytest.mark.compiled
@pytest.mark.parametrize("name", EVERY)
def test_more_room_to_withhold_never_loses_more_and_every_model_holds(name):
    for seed in range(2):
        losses, withheld = [], 0
        for share in SHARES:
            table, task = case_of(name, seed, k=4, n=150, effort="fast", max_suppression=share)
            labels = group_records(Optimize(), table, task).labels
            withheld = int((labels < 0).sum())
            assert withheld <= most_withheld(share, table.records)
            assert np.bincount(labels[labels >= 0]).min() >= 4
            assert not failing_groups(task.requirements, labels, int(labels.max()) + 1).any()
            losses.append(total_cost(table, labels))
        assert all(more <= less + 1e-9 for less, more in pairwise(losses)) or name in OPEN
        assert losses[-1] <= losses[0] + 1e-9


def far_one(share):
    """Return the groups of nine records near each other and one far away, of which a share may be withheld."""
    table = pa.table({"a": [*range(9), 1000], "s": ["x", "y"] * 5})
    coded = encode(Frame(table), ["a"], attributes=["s"])
    task = Task(k=4, requirements=(shoal.LDiversity(2).bind(coded),), effort="fast", max_suppression=share)
    return group_records(Optimize(), coded, task).labels


def test_a_record_for_whose_sake_others_lose_much_is_withheld_where_that_is_allowed():
    assert far_one(0.0).min() == 0
    assert far_one(0.09).min() == 0
    assert np.flatnonzero(far_one(0.1) < 0).tolist() == [9]
    assert np.flatnonzero(far_one(0.9) < 0).tolist() == [9]  # no other pays


def test_where_no_grouping_of_all_records_meets_a_model_those_that_must_be_are_withheld():
    people = pa.table({"a": [*range(10), *range(100, 105)]})
    coded = encode(Frame(pa.table({"a": [0, 3, 6, 9, *range(100, 105)]})), ["a"])
    task = Task(k=3, requirements=(shoal.DeltaPresence(0.0, 0.45, people).bind(coded),), effort="fast")
    with pytest.raises(PrivacyError):
        group_records(Optimize(), coded, task)
    labels = group_records(Optimize(), coded, replace(task, max_suppression=0.6)).labels
    assert np.flatnonzero(labels < 0).tolist() == [4, 5, 6, 7, 8]
    assert not failing_groups(task.requirements, labels, int(labels.max()) + 1).any()
