"""Answers to a COUNT or SUM query, true from the records and estimated from the released boxes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.bits import count_common, count_values
from shoal.kernels.space.kinds import has_members, has_order, shown_range
from shoal.kernels.space.space import Cover, Space


class Asked(NamedTuple):
    """What a query asks of each of m columns."""

    used: BoolArray
    """Whether the column is asked about."""
    low: FloatArray
    """INTERVAL columns: the least number asked for."""
    high: FloatArray
    """INTERVAL columns: the greatest number asked for."""
    start: LongArray
    """NODE and SET columns: where their entries begin in ``before``."""
    before: IntArray
    """NODE and SET columns: how many codes below each code are asked for."""
    words: WordArray
    """SET columns: bits of the values asked for, laid out as in a cover."""


@kernel()
def _holds(space: Space, asked: Asked, column: int, code: int) -> bool:
    """Return whether a value is among those asked for; a missing one never is."""
    if not has_order(space.kind[column]):
        place = asked.start[column] + code
        return asked.before[place + 1] > asked.before[place]
    if code == space.missing[column]:
        return False
    number = space.position[space.start[column] + code]
    return asked.low[column] <= number <= asked.high[column]


@kernel()
def true_answer(space: Space, codes: IntArray, asked: Asked, amounts: FloatArray) -> float:
    """Return the sum of ``amounts`` over the records that satisfy a query."""
    total = 0.0
    for record in range(codes.shape[1]):
        inside = True
        for column in range(codes.shape[0]):
            if asked.used[column] and not _holds(space, asked, column, codes[column, record]):
                inside = False
                break
        if inside:
            total += amounts[record]
    return total


@kernel()
def released_codes(space: Space, cover: Cover) -> tuple[IntArray, IntArray]:
    """Return the first and last code that each cell may stand for, (m, g); last below first if it is missing.

    A node stands for all its leaves; a cell in which a missing value is mixed with others stands for all values.
    """
    first, last = cover.low.copy(), cover.high.copy()
    for column in range(first.shape[0]):
        missing = space.missing[column]
        for group in range(first.shape[1]):
            if last[column, group] == missing:
                first[column, group] = 1 if first[column, group] == missing else 0
                last[column, group] = missing - 1 if first[column, group] == 0 else 0
            else:
                low, high = shown_range(space, column, first[column, group], last[column, group])
                first[column, group] = low
                last[column, group] = (
                    high if missing < 0 else min(high, missing - 1)
                )  # below a root that contains it too
    return first, last


@kernel()
def _interval_share(low: float, high: float, asked_low: float, asked_high: float, whole: bool) -> float:
    """Return the share of ``low..high`` that is asked for: of its whole numbers, or of its length."""
    bottom, top = max(low, asked_low), min(high, asked_high)
    if whole:
        return max(0.0, math.floor(top) - math.ceil(bottom) + 1.0) / (high - low + 1.0)
    if top < bottom:
        return 0.0
    return 1.0 if low == high else (top - bottom) / (high - low)


@kernel()
def _set_share(space: Space, cover: Cover, asked: Asked, column: int, group: int) -> float:
    """Return the share of a group's set of values that are asked for."""
    begin, end = space.word_start[column], space.word_start[column + 1]
    words = cover.words[group]
    return count_common(words, asked.words, begin, end) / count_values(words, begin, end)


@kernel()
def _share_asked(
    space: Space, cover: Cover, first: IntArray, last: IntArray, asked: Asked, whole: BoolArray, group: int
) -> float:
    """Return the share of a group that satisfies a query if its records are spread evenly over its box: by length, by values of a set, or by leaves."""
    share = 1.0
    for column in range(space.kind.shape[0]):
        if not asked.used[column]:
            continue
        low, high = first[column, group], last[column, group]
        if low > high:
            return 0.0
        if has_order(space.kind[column]):
            start = space.start[column]
            bottom, top = space.position[start + low], space.position[start + high]
            share *= _interval_share(bottom, top, asked.low[column], asked.high[column], whole[column])
        elif has_members(space.kind[column]) and cover.high[column, group] != space.missing[column]:
            share *= _set_share(space, cover, asked, column, group)
        else:
            start = asked.start[column]
            share *= (asked.before[start + high + 1] - asked.before[start + low]) / (high - low + 1)
        if share == 0.0:
            break
    return share


@kernel()
def _mean_asked(
    space: Space, first: IntArray, last: IntArray, asked: Asked, whole: BoolArray, column: int, group: int
) -> float:
    """Return the middle of the part of a group's range that is asked for, 0 if it is missing."""
    low, high = first[column, group], last[column, group]
    if low > high:
        return 0.0
    start = space.start[column]
    bottom = max(space.position[start + low], asked.low[column])
    top = min(space.position[start + high], asked.high[column])
    if whole[column]:
        bottom, top = math.ceil(bottom), math.floor(top)
    return (bottom + top) / 2.0


@kernel()
def estimated_answer(
    space: Space,
    cover: Cover,
    first: IntArray,
    last: IntArray,
    asked: Asked,
    whole: BoolArray,
    amounts: FloatArray,
    summed: int,
) -> float:
    """Return the answer to a query by the released boxes.

    ``first`` and ``last`` come from ``released_codes``; ``amounts`` holds what each group counts for: its records
    (COUNT) or its sum of a column that is released as it is. When the column ``summed`` (-1: none) is itself
    released as ranges, each record counts for the middle of the part of the range that is asked for.
    """
    total = 0.0
    for group in range(cover.size.shape[0]):
        amount = amounts[group] * _share_asked(space, cover, first, last, asked, whole, group)
        if summed >= 0 and amount > 0.0:
            amount *= _mean_asked(space, first, last, asked, whole, summed, group)
        total += amount
    return total


@kernel()
def sum_by_group(labels: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Return the sum of ``values`` in each group."""
    sums = np.zeros(groups)
    for record in range(labels.shape[0]):
        if labels[record] >= 0:
            sums[labels[record]] += values[record]
    return sums
