from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import ParameterError, PrivacyWarning
from shoal.methods.microaggregation.individual import individual_ranking
from tests import reference_microaggregation as reference


def test_each_column_is_grouped_as_well_as_possible_for_itself():
    numbers = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.warns(PrivacyWarning, match="need not be k-anonymous"):
        released = individual_ranking(numbers, 3)
    for column in range(2):
        least, _ = reference.optimum(numbers[:, [column]].tolist(), 3)
        assert ((numbers[:, column] - released[:, column]) ** 2).sum() == pytest.approx(least)
        assert np.unique(released[:, column], return_counts=True)[1].min() >= 3
    assert np.unique(released, axis=0, return_counts=True)[1].min() < 3


def test_missing_values_and_a_k_above_the_records_are_refused():
    with pytest.raises(ParameterError, match="finite"):
        individual_ranking(np.array([[1.0], [np.nan]]), 2)
    with pytest.raises(ParameterError, match="from 2 to 3"):
        individual_ranking(np.zeros((3, 1)), 4)
