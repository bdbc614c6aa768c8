from __future__ import annotations

import numpy as np
import pytest

from shoal.attacks.distance import distance_linked
from shoal.errors import ParameterError


def plain_share(original, released):
    spread = original.std(axis=0)
    spread[spread == 0] = 1
    known, shown = original / spread, released / spread
    right = 0.0
    for true, point in enumerate(shown):
        distance = ((known - point) ** 2).sum(axis=1)
        nearest = np.flatnonzero(distance == distance.min())
        equal = (known == known[nearest[0]]).all(axis=1)
        right += (true in np.flatnonzero(equal)) / equal.sum()
    return right / len(shown)


def test_unchanged_distinct_records_are_all_linked():
    numbers = np.random.default_rng(0).normal(size=(50, 2))
    assert distance_linked(numbers, numbers) == 1.0


def test_equal_records_are_picked_among_blindly():
    numbers = np.repeat([[0.0, 0.0], [5.0, 5.0]], 4, axis=0)
    assert distance_linked(numbers, numbers) == pytest.approx(1 / 4)


def test_a_table_of_one_mean_gives_at_most_one_record_away():
    numbers = np.random.default_rng(1).normal(size=(40, 3))
    assert distance_linked(numbers, np.tile(numbers.mean(axis=0), (40, 1))) == pytest.approx(1 / 40)


@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_that_of_comparing_every_pair(seed):
    rng = np.random.default_rng(seed)
    original = rng.integers(0, 6, (60, 3)).astype(float)
    released = original + rng.normal(scale=0.7, size=original.shape)
    assert distance_linked(original, released) == pytest.approx(plain_share(original, released))


def test_shapes_that_differ_are_refused():
    with pytest.raises(ParameterError):
        distance_linked(np.zeros((3, 1)), np.zeros((4, 1)))


def test_a_tie_of_different_records_is_shared():
    """Four records at the corners of a square, each released as its middle: a guess is right one time in four."""
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert distance_linked(corners, np.full((4, 2), 0.5)) == pytest.approx(1 / 4)
    original = np.vstack([corners, [[9.0, 9.0]]])
    released = np.vstack([np.full((4, 2), 0.5), [[9.0, 9.0]]])
    assert distance_linked(original, released) == pytest.approx((4 * 1 / 4 + 1) / 5)


def test_a_tie_counts_equal_records_as_often_as_they_occur():
    assert distance_linked(np.array([[0.0], [0.0], [2.0]]), np.full((3, 1), 1.0)) == pytest.approx(1 / 3)
