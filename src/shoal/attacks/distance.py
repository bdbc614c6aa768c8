"""Linking released numbers to the original ones by distance, as an intruder would who knows the originals."""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, LongArray
from shoal.kernels.search.kdtree import build_tree
from shoal.kernels.search.nearest import nearest_of
from shoal.metrics.utility import check_alike

_LEAF = 16
_CHUNK = 20_000
"""Searches between two chances to interrupt."""


def distance_linked(original: FloatArray, released: FloatArray) -> float:
    """Return the share of released records whose nearest original record is the true one.

    Both are matrices (records, columns) in the same order of records; distances are Euclidean on columns
    standardised by the original. Where several original records are equal, the intruder picks one of them
    blindly, so the record counts for one divided by their number.
    """
    before, after = check_alike(original, released)
    spread = before.std(axis=0)
    spread[spread == 0] = 1.0
    known, own, count = np.unique(before / spread, axis=0, return_inverse=True, return_counts=True)
    shown, form = np.unique(after / spread, axis=0, return_inverse=True)
    nearest = _nearest_rows(known, shown)[form.reshape(-1)]
    own = own.reshape(-1)
    return float(((nearest == own) / count[own]).mean())


def _nearest_rows(known: FloatArray, shown: FloatArray) -> LongArray:

    tree = build_tree(np.ascontiguousarray(known), _LEAF)
    shown = np.ascontiguousarray(shown)
    parts = [nearest_of(tree, shown, first, min(first + _CHUNK, len(shown))) for first in range(0, len(shown), _CHUNK)]
    return np.concatenate(parts)
