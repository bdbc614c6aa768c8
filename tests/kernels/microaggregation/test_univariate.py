from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.microaggregation.univariate import split_path
from tests.kernels.microaggregation.test_mdav import tables
from tests.support import reference_microaggregation as reference


@given(tables(most=12, columns=1), st.integers(2, 4))
def test_one_sorted_column_is_grouped_as_well_as_any_grouping_can(matrix, k):
    k = min(k, len(matrix))
    labels = split_path(matrix, np.argsort(matrix[:, 0], kind="stable"), k)
    least, _ = reference.optimum(matrix.tolist(), k)
    assert reference.loss(matrix.tolist(), labels.tolist()) == pytest.approx(least, abs=1e-9, rel=1e-9)


@given(tables(most=20), st.integers(2, 5), st.randoms(use_true_random=False))
def test_any_order_is_cut_with_the_least_loss_of_all_cuts(matrix, k, random):
    k = min(k, len(matrix))
    order = list(range(len(matrix)))
    random.shuffle(order)
    labels = split_path(matrix, np.array(order), k)
    found = reference.loss(matrix.tolist(), labels.tolist())
    assert found == pytest.approx(reference.best_cut(matrix.tolist(), tuple(order), k), abs=1e-9, rel=1e-9)


@given(tables(), st.integers(2, 6))
def test_groups_are_runs_of_k_to_2k_minus_1_numbered_along_the_order(matrix, k):
    k = min(k, len(matrix))
    labels = split_path(matrix, np.arange(len(matrix)), k)
    assert labels[0] == 0
    assert set(np.diff(labels).tolist()) <= {0, 1}
    assert k <= np.bincount(labels).min()
    assert np.bincount(labels).max() <= 2 * k - 1


def test_large_numbers_far_from_zero_lose_no_digits():
    matrix = 1e9 + np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    assert split_path(matrix, np.arange(6), 3).tolist() == [0, 0, 0, 1, 1, 1]
