"""How strongly columns go together, before and after.

After the release every value is drawn evenly from the values of its cell, as an analyst with ordinary tools would do. Numbers and orders: Pearson's correlation. Two categories: Cramér's V with Bergsma's
correction (2013). A category and a number: the correlation ratio, adjusted for the number of categories.
The corrections matter: without them a column of many rare values seems to go together with everything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.arrays import FloatArray, LongArray
from shoal.summary.schema import Association, Measure

MOST_PAIRS = 12


@dataclass(frozen=True)
class Variable:
    """A column as codes before and after (-1: missing), with numbers if codes have them."""

    name: str
    before: LongArray
    after: LongArray
    position: FloatArray | None = None


def associations(variables: list[Variable]) -> list[Association]:
    """Return the strongest associations of the original, at most twelve, and what is left of each."""
    found = [_associate(one, other) for one, other in combinations(variables, 2)]
    return sorted(found, key=lambda pair: -abs(pair.before))[:MOST_PAIRS]


def _associate(one: Variable, other: Variable) -> Association:
    measure = _measure(one, other)
    before, after = (_strength(measure, one, other, when) for when in ("before", "after"))
    return Association(first=one.name, second=other.name, measure=measure, before=before, after=after)


def _measure(one: Variable, other: Variable) -> Measure:
    numbers = (one.position is not None) + (other.position is not None)
    return ("Cramér's V", "correlation ratio", "correlation")[numbers]


def _strength(measure: Measure, one: Variable, other: Variable, when: str) -> float:
    first, second = getattr(one, when), getattr(other, when)
    both = (first >= 0) & (second >= 0)
    first, second = first[both], second[both]
    if first.size < 3:
        return 0.0
    if measure == "Cramér's V":
        return cramers_v(first, second)
    if measure == "correlation":
        assert one.position is not None and other.position is not None  # noqa: S101, PT018
        return pearson(one.position[first], other.position[second])
    if one.position is not None:
        return correlation_ratio(second, one.position[first])
    assert other.position is not None  # noqa: S101
    return correlation_ratio(first, other.position[second])


def pearson(first: FloatArray, second: FloatArray) -> float:
    """Return Pearson's correlation; 0 if a column does not vary."""
    first, second = first - first.mean(), second - second.mean()
    scale = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / scale if scale > 0 else 0.0


def correlation_ratio(category: LongArray, number: FloatArray) -> float:
    """Return the square root of the variance explained by the categories, adjusted for their number (ε)."""
    _, code, count = np.unique(category, return_inverse=True, return_counts=True)
    total = float(((number - number.mean()) ** 2).sum())
    if total <= 0 or len(number) <= len(count):
        return 0.0
    mean = np.bincount(code, number) / count
    within = float(((number - mean[code]) ** 2).sum())
    explained = 1.0 - within / total * (len(number) - 1) / (len(number) - len(count))
    return math.sqrt(max(explained, 0.0))


def cramers_v(first: LongArray, second: LongArray) -> float:
    """Return Cramér's V with Bergsma's correction; 0 if a column does not vary."""
    rows, columns = np.unique(first, return_inverse=True)[1], np.unique(second, return_inverse=True)[1]
    a, b, n = int(rows.max()) + 1, int(columns.max()) + 1, len(rows)
    pair, seen = np.unique(rows.astype(np.int64) * b + columns, return_counts=True)
    expected = np.bincount(rows)[pair // b] * np.bincount(columns)[pair % b] / n
    phi2 = float((seen**2 / expected).sum()) / n - 1.0
    phi2 = max(phi2 - (a - 1) * (b - 1) / (n - 1), 0.0)
    least = min(a - (a - 1) ** 2 / (n - 1), b - (b - 1) ** 2 / (n - 1)) - 1.0
    return math.sqrt(min(phi2 / least, 1.0)) if least > 0 else 0.0
