from __future__ import annotations

import numpy as np

from shoal.kernels.common.copying import copy_values


def test_every_value_is_copied_whatever_the_steps_in_memory_are():
    source, target = np.arange(12).reshape(3, 4), np.zeros((4, 3), np.int64)
    copy_values(source[:, 1], target[2])
    copy_values(source[2, :], target[:, 0])
    assert target.tolist() == [[8, 0, 0], [9, 0, 0], [10, 5, 9], [11, 0, 0]]


def test_only_as_many_values_are_copied_as_the_target_takes():
    target = np.zeros(2)
    copy_values(np.ones(5), target)
    assert target.tolist() == [1.0, 1.0]
