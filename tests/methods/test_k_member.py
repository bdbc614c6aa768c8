from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.frames import Frame
from shoal.methods.base import Task
from tests.methods.optimize.test_optimize import loss_of
from tests.support import reference_optimize
from tests.support.tables import coded_table, coded_tables


@example(coded_table(11, "nnnn", 18), 3, 0)  # records of equal cost, which rounding told apart in the kernel only
@example(coded_table(11, "nnnn", 21, weighted=True), 3, 0)
@example(coded_table(11, "nnnn", 31), 3, 0)
@settings(max_examples=60, deadline=None)
@given(coded_tables(most=25), st.integers(2, 5), st.integers(0, 9))
def test_k_member_equals_its_slow_twin_in_every_cost(table, k, seed):
    if k > table.records:
        return
    found = shoal.KMember().run(table, Task(k=k, seed=seed)).labels
    first = int(np.random.default_rng(seed).integers(table.records))
    expected = np.array(reference_optimize.k_member(table, k, first), np.int32)
    assert found.tolist() == expected.tolist()


def test_a_record_left_over_between_two_groups_joins_the_first():
    table = encode(Frame(pa.table({"x": [0, 0, 10, 10, 5]})), ["x"])
    assert shoal.KMember().run(table, Task(k=2, seed=0)).labels.tolist() == [
        0,
        0,
        1,
        1,
        0,
    ]  # the zeros were grouped first


def test_k_member_passes_every_common_check():
    shoal.testing.check_method(shoal.KMember())


def test_groups_of_k_member_are_cheaper_than_those_of_mondrian():
    table = coded_table(400, "inf", 3)
    assert loss_of(table, shoal.KMember().run(table, Task(k=5)).labels) < loss_of(
        table, shoal.Mondrian().run(table, Task(k=5)).labels
    )
