"""What the slides of Zhong (2012) report of 1,000 records in two columns."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.papers.merge_split import METHODS, POINTS, code_points, points_row

from shoal.methods.base import Task
from shoal.methods.merge_split import MergeSplit

pytestmark = pytest.mark.compiled
SEEDS = 4


@pytest.mark.parametrize("points", ["uniform", "clustered"])
@pytest.mark.parametrize("k", [5, 20])
def test_groups_are_of_higher_quality_than_mondrians(points, k):
    mondrian, ours = (points_row(points, k, method, SEEDS) for method in METHODS[:2])
    assert ours["IPG"] > mondrian["IPG"]


@pytest.mark.parametrize("k", [10, 20, 50, 100])
def test_group_sizes_on_uniform_data_are_closer_to_k_than_mondrians(k):
    mondrian, ours = (points_row("uniform", k, method, SEEDS) for method in METHODS[:2])
    assert 0 <= ours["mean size"] - k < 0.5 * (mondrian["mean size"] - k)


def test_group_sizes_on_non_uniform_data_follow_its_density():
    points = POINTS["clustered"](np.random.default_rng(0))
    labels = MergeSplit().run(code_points(points), Task(k=10)).labels
    dense, sparse = labels[:600], labels[900:]
    sizes = np.bincount(labels)
    assert sizes.min() == 10
    assert sizes[dense].mean() > 1.5 * sizes.min()
    assert sizes[dense].mean() > sizes[sparse].mean()
