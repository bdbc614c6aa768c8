from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from benchmarks.papers import certificate
from benchmarks.papers.certificate import certify
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.errors import MissingExtraError, ParameterError
from shoal.methods.base import Task
from shoal.methods.microaggregation.sse import minimize_sse
from tests.kernels.microaggregation.test_mdav import tables
from tests.support import reference_microaggregation as reference


def relaxation(rows, k):
    """Return the least cost of groups of k to 2k - 1 records, taken in parts, that hold each record once in all."""
    sizes = range(k, min(2 * k - 1, len(rows)) + 1)
    groups = [group for size in sizes for group in combinations(range(len(rows)), size)]
    cost = [reference.loss([rows[i] for i in group], [0] * len(group)) for group in groups]
    member = np.array([[i in group for group in groups] for i in range(len(rows))], float)
    return linprog(cost, A_eq=member, b_eq=np.ones(len(rows)), method="highs").fun


@settings(deadline=None, max_examples=40)
@given(tables(most=10, columns=2), st.integers(2, 3))
def test_no_grouping_is_below_the_bound_which_is_the_best_that_prices_can_prove(matrix, k):
    matrix = matrix / max(1.0, np.abs(matrix).max())
    labels = minimize_sse(matrix, Task(k=k, effort="fast"))
    proof = certify(matrix, k, labels)
    least, _ = reference.optimum(matrix.tolist(), k)
    assert proof.bound <= least + 1e-9
    assert proof.optimal_relaxation
    solver = 1e-7 * len(matrix)  # HiGHS keeps each record's price within 1e-7 of what its constraints allow
    assert proof.bound == pytest.approx(relaxation(matrix.tolist(), k), rel=5e-5, abs=solver)
    assert least - 1e-9 <= proof.loss <= reference.loss(matrix.tolist(), labels.tolist()) + 1e-9
    assert proof.loss == pytest.approx(reference.loss(matrix.tolist(), proof.labels.tolist()))
    assert 0 <= proof.gap <= 1


def test_a_bound_reached_before_the_end_holds_too(clock):
    matrix = np.random.default_rng(2).normal(size=(11, 2))
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], np.int32)
    patient = certify(matrix, 3, labels)
    clock.step = 1.0
    hasty = certify(matrix, 3, labels, seconds=1e-9)
    least, _ = reference.optimum(matrix.tolist(), 3)
    assert 0 < hasty.bound <= patient.bound <= least + 1e-9
    assert not hasty.optimal_relaxation


def test_a_better_grouping_met_on_the_way_is_returned():
    matrix = np.array([[0.0], [10.0], [0.1], [10.1], [0.2], [10.2]])
    proof = certify(matrix, 3, np.array([0, 0, 0, 1, 1, 1], np.int32))
    assert proof.labels[[0, 2, 4]].tolist() in ([0, 0, 0], [1, 1, 1])
    assert proof.gap == pytest.approx(0, abs=1e-4)


def test_records_in_clear_clusters_are_proven_optimal():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-100, 100, (40, 2))
    matrix = np.repeat(centres, 3, axis=0) + rng.normal(size=(120, 2))
    labels = np.repeat(np.arange(40), 3).astype(np.int32)
    assert certify(matrix, 3, labels).gap < 1e-3


def test_too_many_records_are_refused():
    with pytest.raises(ParameterError, match="5,000"):
        certify(np.zeros((5_001, 1)), 3, np.zeros(5_001, np.int32))


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(certificate, "has_solver", lambda: False)
    with pytest.raises(MissingExtraError, match="exact"):
        certify(np.zeros((4, 1)), 2, np.zeros(4, np.int32))


@pytest.mark.compiled
def test_with_groups_of_neighbours_in_the_program_it_is_solved_in_few_rounds(clock):
    matrix = np.random.default_rng(1).normal(size=(150, 3))
    labels = minimize_sse(matrix, Task(k=4, effort="fast"))
    clock.step = 1.0
    proof = certify(matrix, 4, labels, seconds=30, recombine=False)  # two looks at the clock in each round
    assert proof.optimal_relaxation  # after 11 rounds; 25 without the neighbours
