"""Linking released numbers to the original ones by distance, as an intruder who knows the originals would."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, LongArray
from shoal.errors import ParameterError
from shoal.kernels.search.kdtree import build_tree
from shoal.kernels.search.nearest import nearest_of

_LEAF = 16
_CHUNK = 20_000
"""Searches between two chances to interrupt."""
_SLACK = 1e-9
"""Squared distances that differ by a smaller share are equal: rounding separates them by about 1e-15."""


def distance_linked(original: FloatArray, released: FloatArray) -> float:
    """Return the share of released records that an intruder links to the true original record by taking the nearest one.

    Both are matrices (records, columns) in the same order of records; distances are Euclidean on columns
    standardized by the original. If several original records are equally near, the intruder picks one of them
    blindly, so the record counts for one divided by their number.
    """
    before, after = np.asarray(original, np.float64), np.asarray(released, np.float64)
    if before.shape != after.shape or before.ndim != 2 or not len(before):
        raise ParameterError(
            "Original and released numbers must be two matrices with the same records and columns. "
            f"Got shapes {before.shape} and {after.shape}.",
            hint="leave withheld records out of both.",
        )
    spread = before.std(axis=0)
    spread[spread == 0] = 1.0
    known, own, count = np.unique(before / spread, axis=0, return_inverse=True, return_counts=True)
    shown, form = np.unique(after / spread, axis=0, return_inverse=True)
    own, form = own.reshape(-1), form.reshape(-1)
    limit, tied = _nearest(known, count.astype(np.int64), shown)
    distance = np.zeros(len(own))
    for column in range(known.shape[1]):  # column by column, as the search adds up
        distance += (known[own, column] - shown[form, column]) ** 2
    return float(((distance <= limit[form]) / tied[form]).mean())


def _nearest(known: FloatArray, count: LongArray, shown: FloatArray) -> tuple[FloatArray, LongArray]:
    """Return for each shown point the squared distance that counts as nearest, and the records that are so near."""
    tree = build_tree(np.ascontiguousarray(known), _LEAF)
    shown = np.ascontiguousarray(shown)
    parts = [
        nearest_of(tree, shown, count, _SLACK, first, min(first + _CHUNK, len(shown)))
        for first in range(0, len(shown), _CHUNK)
    ]
    limits, ties = zip(*parts, strict=True)
    return np.concatenate(limits), np.concatenate(ties)
