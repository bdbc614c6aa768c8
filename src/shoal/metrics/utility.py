"""How far means, variances, correlations and regressions of released numbers are from those of the original.

Each function takes two matrices with the same records (rows) and columns: the original numbers and the released ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import FloatArray
from shoal.errors import ParameterError


@dataclass(frozen=True)
class NumbersChange:
    """How far statistics of the release are from those of the original; all 0 if nothing changed."""

    means: FloatArray
    """Difference of each column's mean, in standard deviations of the original."""
    variances: FloatArray
    """Variance released ÷ original - 1, for each column."""
    correlations: FloatArray
    """Difference of each pair's correlation, (m, m)."""

    @property
    def largest_mean(self) -> float:
        """The largest change of a mean."""
        return float(np.abs(self.means).max(initial=0.0))

    @property
    def mean_variance(self) -> float:
        """The mean absolute change of a variance."""
        return float(np.abs(self.variances).mean()) if self.variances.size else 0.0

    @property
    def mean_correlation(self) -> float:
        """The mean absolute change of a correlation between two different columns."""
        pairs = self.correlations[np.triu_indices(len(self.correlations), 1)]
        return float(np.abs(pairs).mean()) if pairs.size else 0.0


def check_alike(original: FloatArray, released: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both as matrices of floats if they have the same shape, or raise."""
    before, after = np.asarray(original, np.float64), np.asarray(released, np.float64)
    if before.shape != after.shape or before.ndim != 2 or not len(before):
        raise ParameterError(
            "Original and released numbers must be two matrices with the same records and columns. "
            f"Got shapes {before.shape} and {after.shape}.",
            hint="leave withheld records out of both.",
        )
    return before, after


def _divided(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the quotient, 0 where the denominator is 0: a constant column stays as it is."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _correlations(numbers: FloatArray) -> FloatArray:
    centred = numbers - numbers.mean(axis=0)
    products = centred.T @ centred
    spread = np.sqrt(np.diag(products))
    return _divided(products, np.outer(spread, spread))


def numbers_change(original: FloatArray, released: FloatArray) -> NumbersChange:
    """Return how far means, variances and correlations have moved."""
    before, after = check_alike(original, released)
    variance = before.var(axis=0)
    return NumbersChange(
        means=_divided(after.mean(axis=0) - before.mean(axis=0), np.sqrt(variance)),
        variances=_divided(after.var(axis=0) - variance, variance),
        correlations=_correlations(after) - _correlations(before),
    )


def coefficients(numbers: FloatArray, target: int) -> FloatArray:
    """Return the least-squares coefficients that predict one column from the others, then the intercept."""
    others = np.delete(numbers, target, axis=1)
    design = np.column_stack([others, np.ones(len(numbers))])
    return np.asarray(np.linalg.lstsq(design, numbers[:, target], rcond=None)[0], np.float64)


def coefficients_change(original: FloatArray, released: FloatArray, target: int) -> FloatArray:
    """Return by how much each coefficient that predicts the column ``target`` has changed, on the original's scale.

    Both tables are standardised by the original's means and standard deviations, so that coefficients of
    columns in different units can be compared; the intercept comes last.
    """
    before, after = check_alike(original, released)
    centre, spread = before.mean(axis=0), before.std(axis=0)
    before, after = (_divided(one - centre, np.broadcast_to(spread, one.shape)) for one in (before, after))
    return coefficients(after, target) - coefficients(before, target)
