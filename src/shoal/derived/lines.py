"""Fitting y = a · f + b so that most records fit to the last digit, even if some do not fit at all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shoal.arrays import FloatArray
from shoal.derived.columns import LARGEST

_ROUNDS = 4
_KEPT = 0.8
"""Share of the records, nearest to the line, by which it is fitted again."""
_FINE = 1e-7
"""Width, in spreads of the column, within which numbers without a step count as equal."""
_NEAR = 0.02
"""How far a round factor may be from the fitted one, as a share of it; further if the window is wide."""
_EXACTLY = 1e-9
_EDGE = 1e-6
"""Share of a step that is cut off, so that two neighbouring multiples never lie in one window."""
_SPARED = 0.002
"""Share of the records that a round factor may fit less than the best one."""
_ROUND_FACTORS = (
    1.0,
    12.0,
    7.0,
    24.0,
    60.0,
    365.25,
    365.2425,
    365.0,
    30.4375,
    30.0,
    52.0,
    703.0,
    2.54,
    1.8,
    0.45359237,
    1.609344,
)


@dataclass(frozen=True)
class Line:
    """y lies in ``[a · f + low, a · f + low + width]``."""

    factor: float
    low: float
    width: float
    hits: int
    tried: int

    @property
    def middle(self) -> float:
        """The shift of the middle of the window."""
        return self.low + self.width / 2

    def predict(self, values: FloatArray) -> FloatArray:
        """Return the middle of what y may be."""
        return self.factor * values + self.middle


def fit_line(values: FloatArray, column: FloatArray, width: float) -> Line:
    """Return the line of which a window of ``width`` holds as many records as possible; no value may be missing."""
    factor = _first_slope(values, column)
    for _ in range(_ROUNDS):
        factor = _fitted_again(values, column, factor)
    if not 1 / LARGEST < abs(factor) < LARGEST:
        factor = 0.0
    best = _window(values, column, factor, width)
    off = width / (abs(factor) * float(np.ptp(values))) if factor and np.ptp(values) else 0.0
    for rounder in _rounder(factor, max(off, _NEAR)):
        tried = _window(values, column, rounder, width)
        if tried.hits >= best.hits - _SPARED * best.tried:
            return tried
    return best


def fine_width(column: FloatArray, step: float) -> float:
    """Return the width within which values count as given: less than a step, or what is lost by computing."""
    spread = float(np.ptp(column)) if len(column) else 0.0
    return max(step * (1.0 - _EDGE), _FINE * spread)


def _first_slope(values: FloatArray, column: FloatArray) -> float:
    """Return the median slope between the records with small and with large values."""
    order = np.argsort(values, kind="stable")
    third = max(len(order) // 3, 1)
    run = values[order[-third:]] - values[order[:third]]
    rise = column[order[-third:]] - column[order[:third]]
    apart = run > 0
    return float(np.median(rise[apart] / run[apart])) if apart.any() else 0.0


def _fitted_again(values: FloatArray, column: FloatArray, factor: float) -> float:
    rest = column - factor * values
    off = np.abs(rest - np.median(rest))
    near = off <= np.quantile(off, _KEPT)
    x, y = values[near] - values[near].mean(), column[near] - column[near].mean()
    across = float(x @ x)
    return float(x @ y) / across if across > 0 else factor


def _window(values: FloatArray, column: FloatArray, factor: float, width: float) -> Line:
    """Return where a window of a width holds the most records."""
    rest = np.sort(column - factor * values)
    inside = np.searchsorted(rest, rest + width, side="right") - np.arange(len(rest))
    place = int(inside.argmax())
    last = rest[place + int(inside[place]) - 1]
    spare = (width - (last - rest[place])) / 2
    return Line(factor, float(rest[place] - spare), width, int(inside[place]), len(rest))


def _rounder(factor: float, off: float) -> list[float]:
    """Return round numbers within a share ``off`` of a factor: powers of ten, and the usual numbers of units in each other."""
    if factor == 0.0:
        return []
    sign, size = math.copysign(1.0, factor), abs(factor)
    near = []
    for base in (*_ROUND_FACTORS, *(1 / one for one in _ROUND_FACTORS)):
        exponent = round(math.log10(size / base))
        near.append(base * 10.0**exponent)
    near += [round(size, digits) for digits in range(4)]
    return [sign * one for one in dict.fromkeys(near) if one and abs(one - size) <= off * size]


def factor_text(factor: float) -> str:
    """Return how a formula goes on with a factor: `` · 10⁴``, `` · 703``, `` / 365.25``; nothing for 1."""
    size = abs(factor)
    if abs(size - 1.0) <= _EXACTLY:
        return ""
    if any(abs(size * one - 1.0) <= _EXACTLY for one in _ROUND_FACTORS):
        return f" / {1 / size:.7g}"
    exponent = round(math.log10(size)) if size else 0
    if size and abs(size / 10.0**exponent - 1.0) <= _EXACTLY:
        return " · 10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(one)] if one != "-" else "⁻" for one in str(exponent))
    return f" · {size:.6g}"
