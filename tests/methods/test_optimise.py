from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.kernels.space import cost_table, cover_groups
from shoal.methods.base import Task
from tests.tables import coded_tables


def loss_of(table, labels):
    cover = cover_groups(table.space, table.codes, labels, int(labels.max()) + 1)
    total = float(table.space.weight @ cost_table(table.space, cover) @ cover.size)
    return total / (table.records * float(table.space.weight.sum()))


@settings(max_examples=60, deadline=None)
@given(coded_tables(), st.integers(2, 5), st.sampled_from(["fast", "balanced"]))
def test_it_never_loses_more_than_mondrian(table, k, effort):
    if k > table.records:
        return
    task = Task(k=k, effort=effort)
    found = shoal.Optimise().run(table, task)
    assert np.bincount(found.labels).min() >= k
    assert loss_of(table, found.labels) <= loss_of(table, shoal.Mondrian().run(table, task).labels) + 1e-12


@settings(max_examples=30, deadline=None)
@given(coded_tables(least=10), st.integers(2, 4))
def test_the_loss_falls_from_round_to_round_and_ends_at_that_of_a_recount(table, k):
    found = shoal.Optimise().run(table, Task(k=k, effort="balanced"))
    losses = found.details["losses"]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(losses))
    assert losses[-1] == pytest.approx(loss_of(table, found.labels), abs=1e-12)
