"""By which columns records are alone: the smallest sets of columns that single a record out.

A record alone in one set of columns is alone in every larger one and cannot be equal to another there, so each set only
looks at the records that the set without its last column left together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from shoal.arrays import AnyArray, BoolArray, IntArray, LongArray
from shoal.frames import to_frame
from shoal.kernels.measuring.uniques import mark_alone
from shoal.recount.tuples import column_codes
from shoal.validation import check_columns, check_int

_MOST_CELLS = 1 << 24
"""Up to this many possible combinations are counted in one array; more are sorted."""


@dataclass(frozen=True)
class UniqueSet:
    """Columns that single out records which no smaller part of them does."""

    columns: tuple[str, ...]
    minimal: int
    """Records alone by these columns and not by any fewer of them."""
    unique: int
    """Records alone by these columns."""


@dataclass(frozen=True)
class _Together:
    """Records that are not alone by some columns: who they are, and with whom."""

    records: LongArray
    label: LongArray
    labels: int


def unique_sets(data: Any, columns: Sequence[str] = (), *, largest: int = 3) -> list[UniqueSet]:
    """Find the sets of up to ``largest`` columns by which records are alone; those that single out most come first.

    Only sets that single out somebody whom no smaller set does are listed. These are the minimal sample uniques of
    Elliot, Manning & Ford (2002), counted by set of columns instead of by record.
    """
    frame = to_frame(data)
    names = check_columns("a column to combine", columns or frame.names, frame.names)
    most = check_int("unique_sets", "largest", largest, least=1)
    codes = column_codes(frame.table, names)
    alone: dict[tuple[int, ...], AnyArray] = {(): np.zeros((frame.records + 7) // 8, np.uint8)}  # bits, to save room
    found = []
    for size in range(1, min(most, len(names)) + 1):
        here: dict[tuple[int, ...], AnyArray] = {}
        for chosen, mask in _walk(codes, size):
            below = np.zeros_like(alone[chosen[:-1]])
            for part in combinations(chosen, size - 1):
                below |= alone[part]
            here[chosen] = np.packbits(mask)
            minimal = (
                int(np.bitwise_count(here[chosen] & ~below).sum()) if _COUNTS_BITS else _count(here[chosen] & ~below)
            )
            if minimal:
                found.append(UniqueSet(tuple(names[place] for place in chosen), minimal, int(mask.sum())))
        alone = here
    return sorted(found, key=lambda one: (-one.minimal, len(one.columns), one.columns))


_COUNTS_BITS = hasattr(np, "bitwise_count")


def _count(bits: Any) -> int:
    return int(np.unpackbits(bits).sum())


def _walk(codes: IntArray, size: int) -> Iterator[tuple[tuple[int, ...], BoolArray]]:
    """Yield each set of ``size`` columns with a mask of the records that are alone by it."""
    records = codes.shape[1]
    spans = [int(row.max(initial=0)) + 1 for row in codes]
    start = _Together(np.arange(records), np.zeros(records, np.int64), 1)
    path: list[tuple[int, _Together]] = []
    for chosen in combinations(range(len(codes)), size):
        while path and tuple(column for column, _ in path) != chosen[: len(path)]:
            path.pop()
        while len(path) < size - 1:
            column = chosen[len(path)]
            before = path[-1][1] if path else start
            path.append((column, _split(before, codes[column], spans[column])))
        yield chosen, _alone(path[-1][1] if path else start, codes[chosen[-1]], spans[chosen[-1]])


def _alone(before: _Together, row: IntArray, span: int) -> BoolArray:
    """Return which records are alone once one more column is known; all who are in no group are."""
    alone = np.ones(len(row), np.bool_)
    cells = before.labels * span
    if cells > max(_MOST_CELLS, 4 * len(before.records)):
        alone[_split(before, row, span).records] = False
        return alone

    mark_alone(before.records, before.label, row, span, np.zeros(cells, np.uint8), alone)
    return alone


def _split(before: _Together, row: IntArray, span: int) -> _Together:
    """Return records apart by one more column."""
    key = before.label * span + row[before.records]
    cells = before.labels * span
    if cells <= max(_MOST_CELLS, 4 * len(key)):
        count = np.bincount(key, minlength=cells)
        number = np.cumsum(count > 1) - 1
        kept = count[key] > 1
        labels = int(number[-1]) + 1 if cells else 0
        return _Together(before.records[kept], number[key[kept]], labels)
    _, label, count = np.unique(key, return_inverse=True, return_counts=True)
    number = np.cumsum(count > 1) - 1
    kept = count[label] > 1
    return _Together(before.records[kept], number[label[kept]], int(number[-1]) + 1)
