"""A small decision tree: how well a column is predicted from others if no formula was found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.derived.columns import Column
from shoal.derived.criteria import FEWEST, holds

_BINS = 24
_DEPTH = 7
_SMALLEST = 8
_MOST_CLASSES = 40
_ROWS = 4_000


@dataclass(frozen=True)
class Predicted:
    """A column that a tree predicts."""

    sources: tuple[str, ...]
    share: float


class Trees:
    """Known columns, put into few bins each, from which trees are grown on one half of a sample and tried on the other."""

    def __init__(self, columns: Sequence[Column], records: int) -> None:
        self.columns = list(columns)
        self.rows = min(records, _ROWS)
        self.bins = np.stack([_binned(one, self.rows) for one in columns]) if columns else np.zeros((0, 0), np.int32)

    def predict(self, column: Column) -> Predicted | None:
        """Return how often a tree is right about records it has not seen, if that is most of them."""
        codes = column.codes[: self.rows]
        known = np.flatnonzero(codes >= 0)
        if len(self.columns) == 0 or not 2 <= len(np.unique(codes[known])) <= _MOST_CLASSES or len(known) < 4 * FEWEST:
            return None
        train, test = known[::2], known[1::2]
        used: set[int] = set()
        guessed = np.zeros(self.rows, np.int32)
        self._grow(codes, train, test, guessed, used, _DEPTH)
        hits = int((guessed[test] == codes[test]).sum())
        guess = float(np.bincount(codes[test]).max()) / len(test)
        if not holds(hits, len(test), guess, math.log(max(len(self.columns), 2))):
            return None
        return Predicted(tuple(self.columns[row].name for row in sorted(used)), hits / len(test))

    def _grow(
        self, codes: IntArray, train: LongArray, test: LongArray, guessed: IntArray, used: set[int], depth: int
    ) -> None:
        """Split the records of a node, and write the guess of each leaf down for the records it is tried on."""
        classes, number = np.unique(codes[train], return_inverse=True)
        best = None if depth == 0 or len(classes) == 1 or len(train) < 2 * _SMALLEST else self._split(number, train)
        if best is None:
            guessed[test] = classes[np.bincount(number).argmax()]
            return
        row, left = best
        used.add(row)
        for side in (left, ~left):
            inside = side[self.bins[row]]
            self._grow(codes, train[inside[train]], test[inside[test]], guessed, used, depth - 1)

    def _split(self, number: LongArray, train: LongArray) -> tuple[int, BoolArray] | None:
        """Return the column and its bins on the left by which the classes are told apart best (Gini)."""
        classes = int(number.max()) + 1
        bins = self.bins[:, train]
        place = (np.arange(len(bins))[:, None] * _BINS + bins) * classes + number
        counts = np.bincount(place.ravel(), minlength=len(bins) * _BINS * classes).reshape(len(bins), _BINS, classes)
        below, alone = np.cumsum(counts, axis=1), counts
        total = counts.sum(axis=1, keepdims=True)
        gains = np.stack([_purity(one, total - one) for one in (below, alone)])
        way, row, at = np.unravel_index(int(gains.argmax()), gains.shape)
        whole = float((total[0, 0].astype(np.float64) ** 2).sum()) / len(train)
        if gains[way, row, at] <= whole + 1e-9:
            return None
        left = np.arange(_BINS) <= at if way == 0 else np.arange(_BINS) == at
        return int(row), left


def _purity(one: LongArray, other: LongArray) -> FloatArray:
    """Return how alike the records on both sides are; -1 if a side is too small."""
    sizes = [side.sum(axis=2) for side in (one, other)]
    parts = [
        (side.astype(np.float64) ** 2).sum(axis=2) / np.maximum(size, 1)
        for side, size in zip((one, other), sizes, strict=True)
    ]
    found = parts[0] + parts[1]
    found[(sizes[0] < _SMALLEST) | (sizes[1] < _SMALLEST)] = -1.0
    return np.asarray(found, np.float64)


def _binned(column: Column, rows: int) -> IntArray:
    """Return the bin of each record: numbers by their quantiles, categories by how frequent they are; the last bin is for the rest."""
    codes = column.codes[:rows]
    if column.numbers is not None:
        values = column.numbers[:rows]
        known = np.isfinite(values)
        if not known.any():
            return np.full(rows, _BINS - 1, np.int32)
        edges = np.unique(np.quantile(values[known], np.linspace(0, 1, _BINS)[1:-1]))
        return np.where(known, np.searchsorted(edges, np.where(known, values, 0.0)), _BINS - 1).astype(np.int32)
    counts = np.bincount(codes[codes >= 0], minlength=len(column.values))
    place = np.full(len(counts) + 1, _BINS - 1, np.int32)
    common = np.argsort(-counts, kind="stable")[: _BINS - 1]
    place[common] = np.arange(len(common))
    return place[codes]
