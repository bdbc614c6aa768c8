"""Sums of products that are the same on every processor.

A product of matrices is left to BLAS, which adds in an order that depends on the processor. The last digits then differ, ties fall
differently, and the same table, recipe and seed give other groups on another machine. numpy's own sums have one order everywhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shoal.arrays import FloatArray


def row_sums_of_products(values: Any, factors: Any) -> FloatArray:
    """Return for each row of ``values`` the sum of its products with ``factors``."""
    return np.asarray((values * factors).sum(axis=-1, dtype=np.float64))


def sum_of_products(values: Any, factors: Any) -> float:
    """Return the sum of the products of two lists of numbers, rounded once: numbering groups otherwise does not change their loss."""
    return math.fsum((values * factors).tolist())
