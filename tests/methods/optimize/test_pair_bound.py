"""The bound by nearest records: what a plain loop finds, never above a grouping, and of use where cells are too many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("vl_convert")

from benchmarks.cliffs import SHAPES, made

from shoal.kernels.optimize.cells.pair_bound import BINS, bound_by_pairs
from shoal.kernels.space.range_costs import tabulate_costs
from shoal.methods.base import Task
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimize.bounds import lower_bound
from shoal.methods.optimize.problem import Problem
from shoal.methods.stopping import Stop
from tests.support.reference import group_cost
from tests.support.tables import coded_tables


@settings(max_examples=40, deadline=None)
@given(coded_tables(most=20), st.integers(2, 5))
def test_a_record_costs_what_it_costs_with_the_farthest_of_its_nearest(table, k):
    if k > table.records:
        return
    rows, ones = np.ascontiguousarray(table.codes.T), np.ones(table.records, np.int32)
    everyone, bound = np.arange(table.records), np.zeros(table.records)
    columns = np.arange(len(table.columns))
    bound_by_pairs(table.space, tabulate_costs(table.space), rows, ones, columns, everyone, k, bound)
    step = float(table.space.weight.sum()) / BINS
    for one in everyone:
        pairs = sorted(group_cost(table, [int(one), int(other)]) for other in everyone if other != one)
        assert pairs[k - 2] - 1.01 * step <= bound[one] <= pairs[k - 2] + 1e-12


@pytest.mark.compiled
def test_with_many_columns_the_bound_says_something():
    problem = Problem.of(made(SHAPES["survey"], 1_500), Task(k=50))
    by_cells = lower_bound(problem.table, 50, 200, lambda *_: None, Stop())
    by_pairs = lower_bound(problem.table, 50, 200, lambda *_: None, Stop(), 10_000_000)
    loss = problem.completed(Mondrian().run(problem.table, Task(k=50)).labels).loss
    assert 3.0 * by_cells < by_pairs
    assert 0.3 * loss < by_pairs < loss
    assert lower_bound(problem.table, 50, 200, lambda *_: None, Stop(), 1_000_000) < by_pairs  # a part of the records
