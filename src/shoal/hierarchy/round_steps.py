"""Round steps for numbers that are dense in one place and sparse elsewhere: the steps follow their quantiles, the ends are open."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from shoal.hierarchy.links import ROOT, Chain
from shoal.hierarchy.texts import value_text

_STEPS = 16
"""Parts into which the quantiles cut the numbers at the finest level."""
_LEAST_VALUES = 40
"""With fewer different numbers, steps of equal width say as much."""
_MOST_IN_ONE = 0.35
"""Share of the numbers in one of twenty equal parts of their span that makes equal steps useless."""


def skewed_chains(values: Sequence[Any]) -> list[Chain]:
    """Return chains of numbers whose span equal steps would leave nearly empty; none for other numbers.

    The bounds are quantiles, rounded to one or two digits; each coarser level keeps every second bound. The lowest part of a level is called
    ``below 500``, the highest ``20000 or more``, so that no end is the value of one person.
    """
    numbers = sorted({float(value) for value in values})
    if len(numbers) < _LEAST_VALUES or not _is_skewed(numbers):
        return []
    bounds = _round_bounds(numbers)
    levels = [bounds]
    while len(levels[-1]) > 3:  # ends: each level has about half the bounds of the one before
        levels.append(levels[-1][1::2])
    ordered = sorted((float(value), value_text(value)) for value in values)
    return [Chain((text, *(_label(number, level) for level in levels), ROOT)) for number, text in ordered]


def _is_skewed(numbers: Sequence[float]) -> bool:
    counts, _ = np.histogram(np.array(numbers), bins=20)
    return bool(counts.max() > _MOST_IN_ONE * len(numbers))


def _round_bounds(numbers: Sequence[float]) -> list[Decimal]:
    """Return the quantiles, each rounded to a quarter of the distance to its neighbours or finer, without repetitions."""
    quantiles = np.quantile(np.array(numbers), np.arange(1, _STEPS) / _STEPS)
    gaps = np.diff(quantiles, prepend=numbers[0], append=numbers[-1])
    found: list[Decimal] = []
    for place, quantile in enumerate(quantiles.tolist()):
        gap = float(min(gaps[place], gaps[place + 1]))
        bound = _rounded(quantile, gap)
        if numbers[0] < bound <= numbers[-1] and (not found or bound > found[-1]):
            found.append(bound)
    return found


def _rounded(number: float, gap: float) -> Decimal:
    """Return a number rounded to 1, 2 or 5 times a power of ten, at most about a third of ``gap``."""
    if gap <= 0:
        return Decimal(value_text(number))
    power = math.floor(math.log10(gap))
    step = max(
        (Decimal(digit).scaleb(power - down) for digit in (1, 2, 5) for down in (0, 1)),
        key=lambda one: (float(one) <= gap / 2, one if float(one) <= gap / 2 else -one),
    )
    return (Decimal(repr(number)) / step).to_integral_value() * step


def _label(number: float, bounds: Sequence[Decimal]) -> str:
    place = bisect_right([float(bound) for bound in bounds], number)
    if place == 0:
        return f"below {value_text(bounds[0])}"
    if place == len(bounds):
        return f"{value_text(bounds[-1])} or more"
    return f"{value_text(bounds[place - 1])} to below {value_text(bounds[place])}"
