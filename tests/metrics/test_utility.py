from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import ParameterError
from shoal.metrics.utility import coefficients, coefficients_change, numbers_change


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(500, 2)), rng.normal(size=500) / 10
    return np.column_stack([x, 3 * x[:, 0] - 2 * x[:, 1] + 5 + noise])


def test_an_unchanged_table_has_no_change(numbers):
    change = numbers_change(numbers, numbers)
    assert change.largest_mean == change.mean_variance == change.mean_correlation == 0
    assert not coefficients_change(numbers, numbers, 2).any()


def test_changes_are_those_of_textbook_formulas(numbers):
    released = numbers * [1.0, 2.0, 1.0] + [0.0, 0.0, 1.0]
    released[:, 0] = released[::-1, 0]
    change = numbers_change(numbers, released)
    assert change.variances == pytest.approx([0, 3, 0])
    assert change.means[2] == pytest.approx(1 / numbers[:, 2].std())
    expected = np.corrcoef(released.T) - np.corrcoef(numbers.T)
    assert np.allclose(change.correlations, expected)
    pairs = [expected[0, 1], expected[0, 2], expected[1, 2]]
    assert change.mean_correlation == pytest.approx(np.abs(pairs).mean())


def test_group_means_keep_the_mean_and_lower_the_variance(numbers):
    order = np.argsort(numbers[:, 0])
    released = numbers.copy()
    for start in range(0, 500, 5):
        released[order[start : start + 5]] = numbers[order[start : start + 5]].mean(axis=0)
    change = numbers_change(numbers, released)
    assert change.largest_mean == pytest.approx(0, abs=1e-12)
    assert (change.variances < 0).all()


def test_coefficients_of_a_linear_law_are_found(numbers):
    assert coefficients(numbers, 2) == pytest.approx([3, -2, 5], abs=0.05)


def test_coefficients_change_on_the_scale_of_the_original(numbers):
    released = numbers.copy()
    released[:, 2] = numbers[:, 2] + numbers[:, 0]  # the slope of the first column grows by one
    change = coefficients_change(numbers, released, 2)
    assert change[0] == pytest.approx(numbers[:, 0].std() / numbers[:, 2].std(), rel=1e-6)
    assert change[1] == pytest.approx(0, abs=1e-9)


def test_a_constant_column_changes_nothing():
    numbers = np.column_stack([np.ones(10), np.arange(10.0)])
    change = numbers_change(numbers, numbers)
    assert change.means.tolist() == [0, 0]
    assert change.correlations.tolist() == [[0, 0], [0, 0]]


def test_tables_of_different_shapes_are_refused():
    with pytest.raises(ParameterError, match=r"\(3, 2\)"):
        numbers_change(np.zeros((3, 2)), np.zeros((2, 2)))
