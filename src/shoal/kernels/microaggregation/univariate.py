"""The best cut of an ordered list of records into groups of k to 2k - 1 (Hansen and Mukherjee 2003).

For one column in sorted order this is the optimal microaggregation; for several columns it is the best of all
groupings whose groups are runs of the given order (Domingo-Ferrer et al. 2006 call it MHM).
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.copying import copy_values


@kernel()
def split_path(matrix: FloatArray, order: LongArray, k: int) -> IntArray:
    """Return labels that cut ``order`` into runs with the least sum of squares; ties: the shorter last run.

    ``least[i]`` is the loss of the best cut of the first i records. The runs that end at i are grown backwards from i, one record at a time.
    What is summed up are differences to the run's last record, so that no large sums are subtracted from each other:
    the loss of s records is Σd² - (Σd)²/s.
    """
    n, m = order.shape[0], matrix.shape[1]
    path = np.empty((n, m))
    for place in range(n):
        copy_values(matrix[order[place]], path[place])
    longest = 2 * k - 1 if n >= 2 * k else n
    share = np.empty(longest + 1)
    for size in range(1, longest + 1):
        share[size] = 1.0 / size
    least, before = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    least[0] = 0.0
    total = np.empty(m)
    for end in range(k, n + 1):
        if m == 1:
            least[end], before[end] = best_last_run(path[:, 0], least, share, end, k)
            continue
        total[:] = 0.0
        squares = 0.0
        for size in range(1, min(longest, end) + 1):
            start = end - size
            squared_total = 0.0
            for column in range(m):
                step = path[start, column] - path[end - 1, column]
                total[column] += step
                squares += step * step
                squared_total += total[column] * total[column]
            if size >= k:
                loss = least[start] + max(0.0, squares - squared_total * share[size])
                if loss < least[end]:
                    least[end], before[end] = loss, start
    return label_runs(order, before)


@kernel(allocates=False)
def best_last_run(values: FloatArray, least: FloatArray, share: FloatArray, end: int, k: int) -> tuple[float, int]:
    """Return the loss of the best cut of the first ``end`` values of one column, and where its last run begins."""
    last, total, squares = values[end - 1], 0.0, 0.0
    for start in range(end - 1, end - k, -1):
        step = values[start] - last
        total += step
        squares += step * step
    best, begin = np.inf, 0
    for size in range(k, min(share.shape[0] - 1, end) + 1):
        step = values[end - size] - last
        total += step
        squares += step * step
        loss = least[end - size] + max(0.0, squares - total * total * share[size])
        if loss < best:
            best, begin = loss, end - size
    return best, begin


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
