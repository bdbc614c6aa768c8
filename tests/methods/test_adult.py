"""What methods reach on UCI Adult."""

from __future__ import annotations

import warnings

import pytest

import shoal
from benchmarks import adult
from shoal.errors import ColumnLeftOutWarning


@pytest.fixture(scope="module")
def census(data_path):
    data_path("adult/adult.csv")
    return adult.train()


@pytest.mark.parametrize(
    ("k", "published"), [(2, 0.051), (5, 0.137), (10, 0.223), (25, 0.359), (50, 0.483), (100, 0.543)]
)
def test_strict_mondrian_loses_no_more_than_the_published_baseline(census, k, published):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnLeftOutWarning)
        result = shoal.anonymize(census, k=k, method="mondrian", **adult.setting("X"))
    assert result.audit.k >= k
    assert 0.5 * published < result.metrics["ncp"] <= 1.02 * published
