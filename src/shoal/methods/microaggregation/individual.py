"""Microaggregation of each column for itself: individual ranking, as users of sdcMicro know it."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray
from shoal.errors import ParameterError, PrivacyWarning, warn
from shoal.kernels.microaggregation.univariate import split_path
from shoal.validation import check_int


def individual_ranking(numbers: FloatArray, k: int) -> FloatArray:
    """Return the matrix (records, columns) with each value replaced by the mean of its group in that column alone.

    Every column is grouped optimally (Hansen and Mukherjee 2003). Much less is lost than when records are grouped as a
    whole, and much less is protected: each value occurs k times, but combinations of values may be unique. So
    this is no method of ``anonymize``, and it warns.
    """
    values = np.asarray(numbers, np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ParameterError(
            f"Individual ranking needs a matrix of finite numbers. Got {values.ndim} dimensions or missing values.",
            hint="replace or drop missing values first.",
        )
    check_int("individual_ranking", "k", k, least=2, most=len(values))
    warn(
        "Individual ranking protects each column for itself: rows of the release need not be k-anonymous.",
        PrivacyWarning,
    )
    released = np.empty_like(values)
    for column in range(values.shape[1]):
        one = np.ascontiguousarray(values[:, column : column + 1])
        labels = split_path(one, np.argsort(one[:, 0], kind="stable"), k)
        released[:, column] = (np.bincount(labels, one[:, 0]) / np.bincount(labels))[labels]
    return released
