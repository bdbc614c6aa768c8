"""The best cut of an ordered list of records into groups of k to 2k - 1 (Hansen and Mukherjee 2003).

For one column in sorted order this is the optimal microaggregation; for several columns it is the best of all
groupings whose groups are runs of the given order (Domingo-Ferrer et al. 2006 call it MHM).
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compiling import kernel
from shoal.typing import FloatArray, IntArray, LongArray


@kernel()
def grow_run(matrix: FloatArray, record: int, size: int, mean: FloatArray) -> float:
    """Add a record to a run of ``size``: move its mean and return by how much the sum of squares grows."""
    growth = 0.0
    for column in range(mean.shape[0]):
        step = matrix[record, column] - mean[column]
        mean[column] += step / (size + 1)
        growth += step * (matrix[record, column] - mean[column])
    return growth


@kernel()
def split_path(matrix: FloatArray, order: LongArray, k: int) -> IntArray:
    """Return labels that cut ``order`` into runs with the least sum of squares; ties: the shorter last run.

    ``least[i]`` is the loss of the best cut of the first i records. The runs that end at i are grown
    backwards from i, one record at a time, so that no large sums are subtracted from each other.
    """
    n = order.shape[0]
    m = matrix.shape[1]
    least = np.full(n + 1, np.inf)
    before = np.zeros(n + 1, np.int64)
    least[0] = 0.0
    mean = np.empty(m)
    longest = 2 * k - 1 if n >= 2 * k else n
    for end in range(k, n + 1):
        mean[:] = 0.0
        loss = 0.0
        for size in range(min(longest, end)):
            loss += grow_run(matrix, order[end - 1 - size], size, mean)
            start = end - 1 - size
            if size + 1 >= k and least[start] + loss < least[end]:
                least[end] = least[start] + loss
                before[end] = start
    return label_runs(order, before)


@kernel()
def label_runs(order: LongArray, before: LongArray) -> IntArray:
    """Number the runs from the first to the last record of ``order``."""
    n = order.shape[0]
    labels = np.empty(n, np.int32)
    groups = 0
    end = n
    while end > 0:
        end = before[end]
        groups += 1
    end = n
    while end > 0:
        groups -= 1
        for place in range(before[end], end):
            labels[order[place]] = groups
        end = before[end]
    return labels
